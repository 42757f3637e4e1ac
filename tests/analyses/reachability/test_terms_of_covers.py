"""Ends of numbers of covers, term by term: forms, boxes and reached points set by hand, against fractions."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.boxes.output_boxes import OutputBox
from reluscope.analyses.reachability import cover as module
from reluscope.networks.passes.forms import Forms
from reluscope.testing import default_network


def drawn(draw, dim, *, number=3, exponent=0):
    """Return a cover of random forms, whose boxes are their ranges."""
    size, forms = 10.0**exponent, []
    for _ in range(number):
        center = draw.normal(size=2)
        half = draw.uniform(0.1, 1, 2)
        parts = draw.normal(size=dim), draw.normal(size=(dim, 2)), draw.normal(size=(dim, 2)) / 8
        forms.append(OutputBox(center - half, center + half, Forms(*(size * one for one in parts), np.zeros(dim))))
    ranges = np.array([one.range(np.eye(dim)) for one in forms])
    reached = size * draw.normal(size=(4, dim))
    inputs = np.array([(one.lower, one.upper) for one in forms])
    ends = np.stack([ranges[:, 0].min(axis=0), ranges[:, 1].max(axis=0)])
    return module.Cover(inputs, ends, ranges, reached, np.zeros((4, dim)), tuple(forms))


def dot(weights, values):
    return sum((Fraction(w) * Fraction(y) for w, y in zip(weights, values, strict=True)), Fraction(0))


def corner_outputs(form):
    """Yield outputs at the corners of a form, in fractions."""
    parts = form.outputs
    centers, weights, noise = (one.tolist() for one in (parts.centers, parts.weights, parts.noise))
    ends = list(zip(form.lower.tolist(), form.upper.tolist(), strict=True))
    middle = [Fraction(one) for one in form.center.tolist()]
    for signs in product((-1, 1), repeat=4):
        chosen = [side[sign > 0] for sign, side in zip(signs[:2], ends, strict=True)]
        step = [Fraction(end) - one for end, one in zip(chosen, middle, strict=True)]
        yield [
            Fraction(c) + dot(row, step) + dot(rest, signs[2:])
            for c, row, rest in zip(centers, weights, noise, strict=True)
        ]


def test_largest_outputs_are_between_what_is_reached_and_what_forms_allow():
    draw, rounded = np.random.default_rng(0), 0
    for _ in range(60):
        dim = int(draw.choice([1, 2, 3, 5, 40]))
        found = drawn(draw, dim, exponent=int(draw.choice([-3, 0, 6])))
        weights = draw.normal(size=dim)
        scale = float((np.abs(found.reached) @ np.abs(weights)).max())
        errors = np.abs(draw.normal(size=(4, dim))) * draw.choice([0.0, 0.0, 1e-6]) * scale
        reached = found.reached if draw.random() < 0.7 else found.reached - 100 * scale * np.sign(weights)
        found = module.Cover(found.inputs, found.ends, found.boxes, reached, errors, found.forms)
        most = found.maximum(weights)
        low, high = most.interval or (most.value, most.value)
        truth = max(dot(weights.tolist(), one) for form in found.forms for one in corner_outputs(form))
        assert Fraction(most.value) >= truth
        assert most.value - float(truth) <= 1e-12 * scale
        exact = [dot(weights.tolist(), row) for row in reached.tolist()]
        least = [one - dot(np.abs(weights).tolist(), off) for one, off in zip(exact, errors.tolist(), strict=True)]
        assert Fraction(low) <= max(least) or low == high
        assert low <= most.value
        room = 1e-13 * np.abs(reached) + 2e-9 * errors
        assert min(float(max(least)), most.value) - low <= float((room @ np.abs(weights)).max())
        near = float((reached @ weights).max())
        rounded += not errors.any() and Fraction(near) > max(exact)
    assert rounded > 5


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_volumes_are_at_most_those_of_all_boxes_or_of_the_one_around_them(dim):
    draw, both = np.random.default_rng(dim), set()
    for _ in range(40):
        found = drawn(draw, dim, number=int(draw.integers(1, 5)))
        of_all = sum(
            prod(Fraction(high) - Fraction(low) for low, high in zip(*ends, strict=True))
            for ends in found.boxes.tolist()
        )
        around = prod(Fraction(high) - Fraction(low) for low, high in zip(*found.ends.tolist(), strict=True))
        volume = found.volume()
        assert Fraction(volume.value) >= min(of_all, around)
        assert volume.value <= float(min(of_all, around)) * (1 + 1e-13)
        assert (volume.claim, volume.interval) == ("UPPER", (0.0, volume.value))
        both.add(of_all < around)
    assert len(both) == 2


def test_outputs_lie_in_pieces_as_they_are_rounded_and_others_do_not():
    """Corners of forms, where diagonals end: in, even after rounding; beyond a diagonal by more than a reach: out."""
    draw = np.random.default_rng(1)
    for exponent in (-3, 0, 6) * 4:
        found = drawn(draw, 2, exponent=exponent)
        for index, form in enumerate(found.forms):
            points = np.array([[float(value) for value in one] for one in corner_outputs(form)])
            assert found._holds(index, points, 0.0).all()
            assert found.pieces[index].contains(points, 1e-12 * 10.0**exponent).all()
            for row in found._diagonals:
                across = points @ row
                for sign, end in ((1, int(across.argmax())), (-1, int(across.argmin()))):
                    away = sign * row / np.linalg.norm(row)
                    for reach in (0.0, 1e-3 * 10.0**exponent):
                        near, far = (points[[end]] + away * step for step in (0.99 * reach, 1.01 * reach))
                        assert found._holds(index, near, reach).all()
                        assert not reach or not found._holds(index, far, reach).any()
                    assert not found._holds(index, points[[end]] + 1e-9 * np.abs(points).max() * away, 0.0).any()
            assert found._boxes(0.25)[index] == pytest.approx(found.boxes[index] + [[-0.25], [0.25]])


def test_diagonals_are_sums_and_differences_over_ranges():
    found = drawn(np.random.default_rng(2), 3)
    wide = np.ptp(found.ends, axis=0)
    expected = [
        np.eye(3)[one] / wide[one] + sign * np.eye(3)[other] / wide[other]
        for one, other in ((0, 1), (0, 2), (1, 2))
        for sign in (1, -1)
    ]
    assert found._diagonals == pytest.approx(np.array(expected))
    ends = found.ends.copy()
    ends[1, 0] = ends[0, 0]  # an output that is constant
    flat = module.Cover(found.inputs, ends, found.boxes, found.reached, found.errors, found.forms)
    assert np.isfinite(flat._diagonals).all()


def test_boxes_are_halved_until_there_are_so_many_and_points_inside_are_reached():
    net, given = rs.load(default_network([2, 6, 2], seed=0)), np.array([[[-1.0, -1.0], [1.0, 1.0]]])
    for number in (1, 2, 3, 7, 40):
        assert len(module.cover(net, rs.Box(-1, 1, 2), given, number, rs.Budget())) == number
    corner = rs.Polyhedron([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]], [-1.5, 1.0, 1.0])
    found = module.cover(net, corner, given, 1, rs.Budget())
    inside = corner.insphere().center[None]
    assert found.reached == pytest.approx(net(inside).numpy())
    found = module.cover(net, corner, given, 40, rs.Budget())
    middles = found.inputs.mean(axis=1)
    assert 1 < len(found.reached) < 40
    assert found.reached == pytest.approx(net(middles[corner.contains(middles)]).numpy())
