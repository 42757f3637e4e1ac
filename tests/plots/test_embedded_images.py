"""Images within pictures, written shorter: the same pixels, seen by a decoder of others."""

import io
import re
from base64 import b64decode, b64encode

import numpy as np
import pytest
from matplotlib.image import imread, imsave

from reluscope.plots.drawing.embedded_images import with_palettes


def svg_of(pixels):
    file = io.BytesIO()
    imsave(file, pixels, format="png")
    return f'<image xlink:href="data:image/png;base64,\n{b64encode(file.getvalue()).decode()}"/>'


def pixels_of(svg):
    text = re.search('base64,([^"]+)', svg)[1]
    return np.rint(255 * imread(io.BytesIO(b64decode(text)), format="png")).astype(int)


@pytest.mark.parametrize("colors", [1, 2, 256, 257])
def test_pixels_stay_the_same(colors):
    """Seen red with lines of the palette in another order, and with transparency left out."""
    generator = np.random.default_rng(colors)
    table = generator.integers(0, 256, (colors, 4), dtype=np.uint8)
    pixels = table[np.append(generator.integers(0, colors, 160 * 90 - colors), np.arange(colors)).reshape(90, 160)]
    svg = svg_of(pixels)
    shorter = with_palettes(svg)
    assert np.array_equal(pixels_of(shorter), pixels)
    assert (shorter == svg) == (colors == 257 or len(svg) < 20_000)


def test_few_colors_take_few_bytes():
    pixels = np.random.default_rng(0).integers(0, 2, (300, 300, 1), dtype=np.uint8) * np.array(
        [[[9, 8, 7, 255]]], np.uint8
    )
    svg = svg_of(pixels)
    assert len(with_palettes(svg)) < len(svg)
