"""Distances to hyperplanes of units, and whether feet are within, term by term: rows and their rounding set by hand."""

from fractions import Fraction
from inspect import unwrap
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from reluscope.analyses.robustness import distances_to_units as module
from reluscope.geometry.numbers.norms import Norm
from reluscope.networks.evaluation.unit_half_spaces import Rows

NORMS = ["l1", "l2", "linf"]


def of_point(rows, norm, exact=None):
    """Return what is found for rows (normal, slack, noise, below), all of one gate."""
    normals, slack, noise, below = (np.array(one, dtype=float) for one in zip(*rows, strict=True))
    number = len(rows)
    sources = np.stack([np.zeros(number), np.arange(number), np.zeros(number)], axis=1).astype(np.int64)
    gate = Rows(normals, np.zeros(number), sources, np.ones(number, dtype=bool), slack, noise, below)
    at = SimpleNamespace(
        half_spaces=[tuple(table[None] for table in gate)],
        pieces=[np.zeros((1, number), dtype=np.int64)],
    )
    at.points = {0: SimpleNamespace(reshape=lambda _: SimpleNamespace(cpu=lambda: SimpleNamespace(numpy=lambda: None)))}
    return unwrap(module._of_point)(at, 0, 7, Norm(norm), exact or SimpleNamespace(is_small=False))


@pytest.mark.parametrize("norm", NORMS)
def test_distances_are_as_wide_as_rounding_of_slack_and_of_all_entries(norm):
    dual = Norm(norm).dual
    normal = np.array([3.0, -4.0])
    length, ones = float(dual.size(normal)), float(dual.size_of_ones(2))
    for slack, noise, below in product((5.0, 0.25), (0.0, 0.5), (0.0, 0.25)):
        (found,) = of_point([(normal, slack, noise, below)], norm)
        assert found[:4].tolist() == [7, 0, 0, 0]
        value, lower, upper = found[4:7]
        wrong = ones * below
        assert value == pytest.approx(slack / length if slack > noise else 0.0)
        assert lower == pytest.approx(max(slack - noise, 0.0) / (length + wrong))
        assert upper == pytest.approx((slack + noise) / (length - wrong))
        if not (noise or below):  # rounding of the length, in either direction
            assert lower < slack / length * (1 - 1e-15)
            assert upper > slack / length * (1 + 1e-15)


def test_hyperplanes_of_rows_that_rounding_may_have_made_have_no_upper_end():
    for slack, below, lower in ((1.0, 1.0, 1.0 / 1.5), (0.0, 1.0, 0.0)):
        (found,) = of_point([([0.5, 0.0], slack, 0.0, below)], "linf")
        assert found[5] == pytest.approx(slack / 2.5)
        assert (found[4], found[6]) == (found[5], np.inf)
        assert (found[7], found[8], found[9]) == (1, 0, 1)
        assert lower >= found[5]
    (found,) = of_point([([0.0, 0.0], 1.0, 0.5, 0.0)], "linf")
    assert found[4:].tolist() == [np.inf, np.inf, np.inf, 0, 0, 0]


def test_fractions_are_asked_of_hidden_rows_alone_while_there_is_work_left(monkeypatch):
    rows = [([1.0, 0.0], 1.0, 0.0, 0.0), ([0.5, 0.0], 1.0, 0.0, 1.0), ([0.0, 0.5], 1.0, 0.0, 1.0)]
    asked = []

    def decide(code, point, source, left):
        asked.append((source[1], left))
        facet = None if source[1] == 1 else (2.0, 1.5, 3.0, SimpleNamespace())
        return (Found(facet), 10) if facet else (None, 10)

    class Found(tuple):
        __slots__ = ()
        normal = np.array([0.0, 1.0])

        def __new__(cls, numbers):
            return super().__new__(cls, numbers)

    monkeypatch.setattr(module, "MULTIPLICATIONS", 25)
    found = of_point(rows, "linf", SimpleNamespace(is_small=True, decide=decide))
    assert asked == [(1, 25), (2, 15)]
    assert found[0, 4] == 1.0
    assert found[1, 4:7].tolist() == [np.inf] * 3
    assert found[2, 4:7].tolist() == [2.0, 1.5, 3.0]
    spent = of_point(rows, "linf", SimpleNamespace(is_small=True, decide=lambda *_: None))
    assert np.isinf(spent[1:, 6]).all()
    assert np.isfinite(spent[1:, 4]).all()


@pytest.mark.parametrize("norm", NORMS)
def test_feet_are_within_where_no_rounding_changes_that(norm):
    """Of another row so much is left at the foot as rounding may take, a little more or less, or the same beyond it."""
    draw, norm = np.random.default_rng(0), Norm(norm)
    for number in range(120):
        normals = draw.normal(size=(2, 2))
        value = draw.uniform(0.5, 2)
        steps = norm.steepest(normals)
        speed = float(steps[0] @ normals[1])
        kinds = np.array([draw.random() < 0.5 for _ in range(3)]) if number % 4 else np.zeros(3, dtype=bool)
        noise, below, wide = kinds * draw.uniform(0.01, 0.1, 3)
        harm = noise + value * float(np.abs(steps[0]).sum()) * below + 2 * wide * abs(speed)
        for share in (-1.1, -0.9, 0.9, 1.1):
            slack = value * speed + share * harm
            if not harm:
                slack = value * speed + share * 1e-6
            # The second row has no foot, and is in the way of the first.
            distances = np.array([[value, value - wide, value + wide], [np.inf, np.inf, np.inf]])
            given = normals, np.array([9.0, slack]), np.array([9.0, noise]), np.array([9.0, below]), distances, norm
            maybe, surely, most = unwrap(module._are_within)(*given)[0]
            assert surely == (share > (1 if harm else 0))
            assert maybe == most == (share > (-1 if harm else 0))


def test_feet_are_within_as_far_as_sums_are_rounded():
    """What is left is zero in fractions, by terms that are large: neither sure to be within nor to be out."""
    normals = np.array([[1.0, 0.0], [1 / 3, 1.0]])
    for value in (1.0, 1e6):
        distances = np.array([[value, value, value], [np.inf] * 3])
        slack = np.array([value, value / 3])
        found = unwrap(module._are_within)(normals, slack, np.zeros(2), np.zeros(2), distances, Norm("l2"))
        assert found[0].tolist() == [1, 0, 1]
    assert found[1].tolist() == [0, 0, 0]


def foot_in_fractions(normal, slack, norm):
    """Return the end of the steepest step to a hyperplane, from 0: in l1 along the largest entry, in linf along all."""
    normal = [Fraction(entry) for entry in normal]
    if norm == "l2":
        return [Fraction(slack) * entry / sum(one * one for one in normal) for entry in normal]
    if norm == "linf":
        return [Fraction(slack) / sum(map(abs, normal)) * (1 if entry > 0 else -1) for entry in normal]
    largest = max(map(abs, normal))
    return [Fraction(slack) / entry if abs(entry) == largest else Fraction(0) for entry in normal]


@pytest.mark.parametrize("norm", NORMS)
def test_feet_beside_hyperplanes_with_which_they_cancel_are_within_as_fractions_say(norm):
    """The step along the first row changes the second one by next to nothing, in terms that are large."""
    seen = []
    for seed in range(200):
        draw = np.random.default_rng(seed)
        first, second = draw.normal(size=(2, 6)) * 10.0 ** draw.choice([-3, 0, 8], size=(2, 1))
        slack = float(10.0 ** draw.choice([-2, 0, 6]))
        step = Norm(norm).steepest(first[None])[0]
        place = np.abs(step).argmax()
        second[place] *= norm == "l1"  # whose step goes along one input alone
        second[place] -= (second @ step) / step[place] * (norm != "l1")
        second[place] += 1e-6 * np.abs(second).max() * np.sign(step[place])
        foot = foot_in_fractions(first.tolist(), slack, norm)
        needed = sum(Fraction(entry) * at for entry, at in zip(second.tolist(), foot, strict=True))
        size = float(np.abs(second).max() * max(map(abs, foot)))
        room = draw.choice([-1e-9, -1e-17, 0.0, 1e-17, 1e-9]) * size
        other = max(float(needed) + room, 0.0)
        is_within = Fraction(other) >= needed
        maybe, surely, most = of_point([(first, slack, 0.0, 0.0), (second, other, 0.0, 0.0)], norm)[0, 7:]
        assert maybe == most
        assert surely <= is_within <= most
        seen.append((surely, most, is_within))
    is_decided = [surely == most for surely, most, _ in seen]
    assert 20 < sum(is_decided) < len(seen) - 20
    assert {(0, 0), (0, 1), (1, 1)} <= {(int(surely), int(most)) for surely, most, _ in seen}


def test_feet_of_rows_without_an_upper_end_may_be_within():
    distances = np.array([[1.0, 0.5, np.inf], [2.0, 2.0, 2.0], [np.inf] * 3])
    given = np.eye(3, 2), np.array([1.0, 2.0, 1.0]), np.zeros(3), np.zeros(3), distances, Norm("l2")
    assert unwrap(module._are_within)(*given).tolist() == [[1, 0, 1], [1, 1, 1], [0, 0, 0]]
