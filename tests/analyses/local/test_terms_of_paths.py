"""Errors of values along paths, term by term: knots, sizes and rounding set by hand, against fractions and formulas."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from oracles.rational_steps import LEAKY, RELU, affine, network_of
from reluscope.analyses.local import path_values as module
from reluscope.analyses.local.path_values import PathValues
from reluscope.tolerance import EPSILON, Tolerance

# Of small values nothing is left to round but constants.
RAISED = ("pointwise", [0.0], [0.3, 0.5], [0.7, 0.7])
BENT = ("pointwise", [-1.0, 1.0], [0.3, 1.0, 0.7], [-0.7, 0.0, 0.3])


@pytest.mark.parametrize("gate", [LEAKY, RELU, BENT, RAISED])
def test_what_gates_give_is_off_by_what_fractions_say(gate):
    """Large values with errors of their own, and ones that are known: slopes and constants are rounded."""
    (stage,) = network_of([gate], 1).stages
    points, slopes, starts = ([Fraction(one) for one in part] for part in gate[1:])
    draw, apart = np.random.default_rng(0), 0
    for _ in range(300):
        pre = draw.normal() * 10.0 ** draw.choice([-3, 0, 3])
        error = draw.choice([0.0, 1e-12, 0.5])
        seen = [torch.tensor([[one]], dtype=torch.float64) for one in (pre, error)]
        found = Fraction(float(stage.gate.apply(seen[0]).reshape(-1)[0]))
        bound = Fraction(float(module._error_behind(stage.gate, *seen)[0, 0]))
        for value in (Fraction(pre) - Fraction(error), Fraction(pre), Fraction(pre) + Fraction(error)):
            piece = sum(value > point for point in points)
            off = abs(slopes[piece] * value + starts[piece] - found)
            assert off <= bound
            apart += not error and off > 0
        assert bound <= 2 * Fraction(error) + 8 * Fraction(EPSILON) * (abs(Fraction(pre)) + 1)
    assert apart > 10 or gate is RELU


def test_what_a_max_gate_gives_is_off_by_the_largest_error_of_its_candidates():
    net = network_of([affine(np.ones((4, 1)), np.zeros(4)), ("max", 2)], 1)
    gate = next(stage.gate for stage in net.stages)
    errors = torch.tensor([[[1.0, 3.0], [2.0, 0.5]]], dtype=torch.float64)
    assert module._error_behind(gate, errors, errors).tolist() == [[3.0, 2.0]]


def path(net, starts, ends, offsets, shares, moved):
    return PathValues(
        net,
        np.array(starts, dtype=float),
        np.array(ends, dtype=float),
        np.array(offsets),
        np.array(shares, dtype=float),
        np.array(moved, dtype=float),
        Tolerance(),
    )


NET = network_of([affine([[1.0, 0.0], [0.0, 2.0]], [8.0, 8.0]), RELU, affine([[3.0, 1.0], [0.0, 1.0]], [0.0, 1.0])], 2)
SHARES, MOVED = [[0.0, 0.25], [0.25, 1.0], [0.0, 1.0]], [[0.0, 1e-3], [2e-3, 0.0], [0.0, 0.5]]


@pytest.mark.parametrize("noisy", [0.0, 1.0])
@pytest.mark.parametrize("moving", [0.0, 1.0])
def test_lengths_of_images_are_off_by_errors_of_both_ends_and_by_knots_that_slide(noisy, moving, monkeypatch):
    moved = moving * np.array(MOVED)
    found = path(NET, [[0.0, 0.0], [4.0, 3.0]], [[4.0, 3.0], [4.0, 3.5]], [0, 2, 3], SHARES, moved)
    noise = [np.full((3, 2), 0.25 * noisy), np.full((3, 2), 0.5 * noisy)]
    proper = PathValues._values
    monkeypatch.setattr(
        PathValues, "_values", lambda self, points: (proper(self, points)[0], [one[: len(points)] for one in noise])
    )
    for name, errors, speeds in (("kink", 0.25, ([4, 6], [4, 6], [0, 1])), ("output", 0.5, ([18, 6], [18, 6], [1, 1]))):
        key = next(one for one in found.stretched if one.startswith(name))
        for row, (speed, width, length) in enumerate(zip(speeds, (0.25, 0.75, 1.0), (5.0, 5.0, 0.5), strict=True)):
            stretched = float(np.linalg.norm(speed)) * width
            error = 2 * noisy * float(np.hypot(errors, errors))
            ends = np.abs(found.starts) + np.abs(found.ends)
            position = sum(moved[row]) + 2 * 4 * EPSILON * float(np.linalg.norm(ends[found.owner[row]]))
            share = min(1.0, position / (width * length))
            expected = stretched, error + share * (stretched + error)
            assert found.stretched[key][row] == pytest.approx(expected, rel=1e-12)


def test_knots_of_pieces_without_length_slide_over_all_of_them():
    found = path(NET, [[1.0, 2.0]], [[2.0, 2.0]], [0, 1], [[0.5, 0.5]], [[0.0, 0.0]])
    length, error = found.stretched["output"][0]
    assert length == 0
    assert 0 < error < 1e-11


def test_rounding_of_knots_moves_short_pieces():
    """Of a piece a few roundings long, between ends that are far away, nearly nothing is known."""
    far = [[1e6, 0.0], [1.0, 1e6]]
    for start, end in (far, far[::-1]):
        found = path(NET, [start], [end], [0, 1], [[0.5, 0.5 + 2.0**-50]], [[0.0, 0.0]])
        length, error = found.stretched["output"][0]
        assert error > length


def test_deviations_are_off_by_rounding_of_knots_and_ends_and_by_what_moves(monkeypatch):
    """Outputs, their errors, and lengths of images are given; the chord is between outputs of the segment's ends."""
    given = {
        (0.0, 0.0): ([1.0, 2.0], [0.5, 0.0]),
        (4.0, 3.0): ([3.0, -2.0], [0.0, 0.25]),
        (1.0, 0.75): ([9.0, 9.0], [3.0, 4.0]),
    }

    def at(points, tolerance):
        chosen = [given[tuple(point)] for point in points.tolist()]
        outputs, errors = (np.array([one[part] for one in chosen]) for part in (0, 1))
        return SimpleNamespace(forward=SimpleNamespace(outputs=outputs, errors=errors))

    for moved in (0.0, 0.125):
        found = path(NET, [[0.0, 0.0]], [[4.0, 3.0]], [0, 2], SHARES[:2], [[0.0, moved], [moved / 2, 0.0]])
        object.__setattr__(found, "network", SimpleNamespace(at=at))
        vars(found)["stretched"] = {"output": np.array([[2.0, 0.5], [6.0, 1.5]])}
        size = float(np.hypot(4.0, 4.0))
        apart = float(np.hypot(9 - 0.75 * 1 - 0.25 * 3, 9 - 0.75 * 2 + 0.25 * 2))
        for row, (slope, slid) in enumerate(((2.5 / 1.25, moved), (7.5 / 3.75, moved / 2))):
            noise = 5.0 + 0.5 + 8 * EPSILON * size
            expected = apart, noise + slid * (slope + size / 5.0), size
            assert found.deviations[row] == pytest.approx(expected, rel=1e-12)
        rounded = found.deviations[0, 1] - 5.5 - moved * (2.0 + size / 5.0)
        assert moved or rounded == pytest.approx(8 * EPSILON * size, rel=0.5)


@pytest.mark.parametrize(("apart", "joined"), [(0.0, True), (0.9, True), (1.1, False)])
def test_segments_are_joined_where_ends_are_the_same_up_to_rounding(apart, joined):
    room = 4 * EPSILON * np.sqrt(2) * 8.0
    for axis in (0, 1):
        start = np.array([1.0, 4.0])
        start[axis] += apart * room
        found = path(NET, [[0.0, 0.0], start], [[1.0, 4.0], [9.0, 9.0]], [0, 2, 3], SHARES, MOVED)
        assert found.follows.tolist() == ([1, 2] if joined else [1])
