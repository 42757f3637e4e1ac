"""Classes on a line, and counts of functions and of networks, against counts by listing."""

from itertools import pairwise, product
from math import log2

import numpy as np
import pytest

from reluscope.studies import Setting
from reluscope_studies import boolean, plots
from reluscope_studies.sattelberg2026_ch3 import representation as study
from reluscope_studies.sattelberg2026_ch3._counting import first_excess, functions_lower, networks_upper

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("inputs", "swaps"), list(product((1, 2, 3), range(4))))
def test_there_are_as_many_functions_of_few_changes(inputs, swaps):
    """All functions are listed, with the fewest changes of each by the library's exact search."""
    functions = [boolean.BooleanFunction(inputs, number) for number in range(2**2**inputs)]
    number = sum(int(boolean.swaps(one).value) <= swaps for one in functions)
    if swaps <= 2**inputs - 1:
        assert functions_lower(inputs, swaps) <= log2(number)
    # The construction itself, listed: changes along the binary numbers.
    changes = [sum(a != b for a, b in pairwise(row)) for row in product((0, 1), repeat=2**inputs)]
    listed = changes.count(swaps)
    assert listed == 0 or functions_lower(inputs, swaps) == pytest.approx(log2(listed))


def test_networks_have_no_more_functions_than_the_bound():
    """One unit of three inputs, by its weights in halves: the 104 threshold functions, no other."""
    inputs = np.array(list(product((0, 1), repeat=3)))
    weights = np.array(list(product(range(-2, 3), repeat=3)))
    hidden = np.maximum((weights @ inputs.T)[:, None] + np.arange(-6, 7)[:, None] / 2, 0)
    signs = np.concatenate([sign * hidden - sign * 0.25 > 0 for sign in (1, -1)])
    found = {tuple(row) for row in signs.reshape(-1, 8).tolist()}
    assert len(found) == 104
    bound = networks_upper(3, 1, 1)
    assert bound is not None
    assert log2(len(found)) <= bound
    assert networks_upper(1, 5, 2) is None  # more weights than signs: the bound says nothing


def test_counts_by_hand():
    """Of 3 x 7 units and 14 inputs, written out with whole numbers of weights."""
    found = first_excess(3)
    assert found is not None
    power, inputs, swaps, functions, networks = found
    assert (power, inputs, swaps) == (7, 14, 3**7 - 1)
    weights = [45 + 12 * layer for layer in range(7)]
    weights.append(weights[-1] + 4)
    units = [3] * 7 + [1]
    by_hand = sum(
        1 + w * (log2(2 * np.e) + log2(k) + 14 + log2(i) - log2(w))
        for i, (w, k) in enumerate(zip(weights, units, strict=True), start=1)
    )
    assert networks == pytest.approx(by_hand + 1)
    assert networks < functions <= 2**14


def test_a_wrong_sign_is_seen_inside_an_interval():
    """The wave is right at both ends of an interval around a whole period, and wrong within."""
    problem = study.Problem(np.array([[0.0, 2.0], [2.75, 3.25]]), np.array([0, 1]))
    assert study.wrong(study.wave(2, 2), problem) == [0]


def test_the_study(monkeypatch):
    monkeypatch.setattr(study, "WAVES", ((2, 1), (3, 2)))
    monkeypatch.setattr(study, "WIDTHS", (6,))
    monkeypatch.setattr(study, "LONGER", ())
    outcome = study.protocol(Setting("small", points=6))
    assert [verdict.word for verdict in outcome.verdicts] == ["confirmed", "confirmed", "contradicted", "not confirmed"]
    assert [int(one) for one in outcome.findings] == [6, 2, 9]
    assert [picture.name for picture in outcome.pictures] == ["line", "line-by-width", "line-by-depth"]
    for number, axes in enumerate(outcome.pictures[1].figure.axes[1:5], start=1):
        assert len(axes.lines[-1].get_xdata()) == number + 2  # its two ends and a bend for each unit


def test_a_picture_of_nothing():
    assert not plots.classes_on_line({}, np.zeros((0, 2)), np.zeros(0, dtype=np.int64)).axes
