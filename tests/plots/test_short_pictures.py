"""SVG texts that must be short: marks become pixels, words and axes stay."""

import re
from base64 import b64decode
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from reluscope.plots import to_svg


def crowded(number: int) -> Figure:
    rng = np.random.default_rng(0)
    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    axes.scatter(*rng.normal(size=(2, number)), c=rng.random(number), alpha=0.5)
    axes.set_xlabel("across")
    return figure


def sizes_of_images(text: str) -> list[int]:
    """Return the widths of all images, from their heads."""
    return [int.from_bytes(b64decode(one[:64])[16:20]) for one in re.findall(r"base64,([^\"]+)", text)]


def test_a_short_picture_stays_as_it_is():
    assert to_svg(crowded(10), max_bytes=100_000) == to_svg(crowded(10))


@pytest.mark.slow
def test_a_long_one_becomes_pixels_and_its_words_do_not():
    figure = crowded(4000)
    before = to_svg(figure)
    text = to_svg(figure, max_bytes=100_000)
    assert len(before.encode()) > 300_000
    assert len(text.encode()) <= 100_000
    shown = list(ElementTree.fromstring(text).itertext())
    assert "across" in shown
    assert text.count("<text") == before.count("<text")
    assert text.count("<use") < 100 < 4000 <= before.count("<use")
    assert to_svg(figure) == before, "what a figure draws as pixels is for this text alone"


@pytest.mark.slow
def test_fewer_pixels_where_bytes_are_few():
    figure = crowded(4000)
    texts = [to_svg(figure, max_bytes=most) for most in (100_000, 60_000, 1)]
    widths = [max(sizes_of_images(text)) for text in texts]
    assert widths[0] > widths[1] > widths[2] > 200, "72 an inch of three and more, however few bytes are asked for"
    assert ["across" in text for text in texts] == [True, True, False], "words become pixels last"


def test_what_pixels_would_make_longer_stays():
    figure = Figure(figsize=(2, 2))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    axes.plot([0, 1], [1, 0])
    assert to_svg(figure, max_bytes=1) == to_svg(figure)


def test_marks_cover_the_same_places():
    figure = Figure(figsize=(2, 2))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.axis("off")
    axes.scatter(*np.random.default_rng(1).uniform(0.1, 0.4, (2, 3000)), s=1, linewidths=0, color="red")
    found = re.search(r'base64,[^"]+"[^>]* x="([-\d.]+)"[^>]* width="([-\d.]+)"', to_svg(figure, max_bytes=50_000))
    assert found
    # A tenth to four tenths of two inches, 72 points each.
    assert abs(float(found[1]) - 14.4) <= 2
    assert abs(float(found[2]) - 43.2) <= 3
