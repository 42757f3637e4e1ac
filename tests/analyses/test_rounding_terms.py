"""Every term of the error analysis: against its formula, written down once more, and against fractions."""

from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.rational_steps import ABSOLUTE, LEAKY, RELU, affine, network_of, rational_values
from reluscope.networks.evaluation.rounded_forward import (
    coded_forward,
    forward_with_errors,
    rounded_codes,
    rounded_forward,
)
from reluscope.tolerance import Tolerance

EPS = 2.0**-52
KINKED = ("pointwise", [-0.5, 1.0], [-0.7, 0.0, 2.3], [-0.35, 0.0, -2.3])


def by_the_formula(steps, point, gamma):
    """Return values, bounds, and for every gate whether a unit is in doubt: one number after the other."""
    values, errors, doubts = list(map(float, point)), [0.0] * len(point), []
    for step in steps:
        if step[0] == "affine":
            weight, bias = step[1], step[2]
            errors = [
                sum(abs(w) * (e + gamma * abs(v)) for w, e, v in zip(row, errors, values, strict=True)) + gamma * abs(b)
                for row, b in zip(weight, bias, strict=True)
            ]
            values = (weight @ np.array(values) + bias).tolist()
        elif step[0] == "pointwise":
            points, slopes, intercepts = step[1:]
            passed, kept, doubt = [], [], False
            for v, e in zip(values, errors, strict=True):
                piece = sum(v > t for t in points)
                slope, intercept = slopes[piece], intercepts[piece]
                is_near = any(abs(v - t) <= e for t in points)
                doubt |= any(0 < abs(v - t) <= e for t in points)
                kept.append(slope * v + intercept)
                is_plain = slope in (0, 1, -1) and intercept == 0
                own = 0.0 if is_plain else gamma * (abs(slope * v) + abs(intercept))
                passed.append((max(map(abs, slopes)) if is_near else abs(slope)) * e + own)
            values, errors = kept, passed
            doubts.append(doubt)
        else:
            size, kept, passed, doubt = step[1], [], [], False
            for i in range(0, len(values), size):
                v, e = values[i : i + size], errors[i : i + size]
                least = max(a - b for a, b in zip(v, e, strict=True))
                close = [a + b >= least for a, b in zip(v, e, strict=True)]
                doubt |= any(is_close and a < max(v) for is_close, a in zip(close, v, strict=True))
                kept.append(max(v))
                passed.append(max(b for is_close, b in zip(close, e, strict=True) if is_close))
            values, errors = kept, passed
            doubts.append(doubt)
    return values, errors, doubts


def random_steps(seed, kinks=(LEAKY, KINKED, ABSOLUTE, RELU)):
    generator = np.random.default_rng(seed)
    kink = kinks[seed % len(kinks)]
    return [
        affine(generator.normal(size=(4, 3)), generator.normal(size=4)),
        kink,
        affine(generator.normal(size=(6, 4)), generator.normal(size=6)),
        ("max", 3),
        affine(generator.normal(size=(2, 2)), generator.normal(size=2)),
    ]


@given(st.integers(0, 10_000))
def test_bounds_and_doubts_are_those_of_the_formula(seed):
    steps = random_steps(seed)
    # A generous gamma brings many units near their kinks.
    tolerance = Tolerance(rounding=2.0 ** (52 - 1 - seed % 8))
    points = np.random.default_rng(seed).normal(size=(30, 3))
    found = rounded_forward(network_of(steps, 3), points, tolerance=tolerance)
    for row, point in enumerate(points):
        values, errors, doubts = by_the_formula(steps, point, tolerance.rounding * EPS)
        assert np.allclose(found.outputs[row], values, rtol=1e-9, atol=1e-12)
        assert np.allclose(found.errors[row], errors, rtol=1e-9)
        assert found.doubtful[row].tolist() == doubts


def test_a_kink_that_is_met_counts_with_its_steepest_slope():
    """At the kink the piece in use is flat; a value a little above it would move with the slope one."""
    steps = [affine([[0.1, 0.2, 0.3]], [-0.6]), RELU, affine([[1.0]], [0.0])]
    found = rounded_forward(network_of(steps, 3), np.ones((1, 3)))
    truth = rational_values(steps, np.ones(3))[-1][0]
    assert abs(Fraction(found.outputs[0, 0]) - truth) <= Fraction(found.errors[0, 0])
    below = [affine([[0.1, 0.2, -0.1]], [-0.2]), RELU, affine([[1.0]], [0.0])]
    for shift in range(-3, 4):  # float64 is at zero or below it, and fractions are above for some
        point = np.array([[1.0, 1.0 + shift * EPS, 1.0]])
        found, truth = rounded_forward(network_of(below, 3), point), rational_values(below, point[0])[-1][0]
        assert abs(Fraction(found.outputs[0, 0]) - truth) <= Fraction(found.errors[0, 0])


@pytest.mark.few(3)
@pytest.mark.parametrize("analysis", [rounded_forward, forward_with_errors])
@pytest.mark.parametrize("kink", [LEAKY, KINKED, RELU, ABSOLUTE])
def test_bounds_hold_where_all_that_is_left_is_rounding(analysis, kink):
    """Large terms that cancel, in the input, in the bias and after the kink; outputs as small as their rounding."""
    for seed in range(25):
        generator = np.random.default_rng(seed)
        first = affine(generator.normal(size=(8, 5)), 1e8 * generator.normal(size=8))
        inner = rational_values([first, kink], np.zeros(5))[-1]
        weight = generator.normal(size=(3, 8))
        second = affine(weight, -weight @ np.array([float(value) for value in inner]))
        steps, points = [first, kink, second], generator.normal(size=(4, 5)) * 2.0 ** generator.integers(-30, 20)
        found = analysis(network_of(steps, 5), points)
        outputs, errors = (found.outputs, found.errors) if analysis is rounded_forward else found
        for output, error, point in zip(outputs, errors, points, strict=True):
            truth = rational_values(steps, point)[-1]
            assert all(abs(Fraction(a) - b) <= Fraction(e) for a, b, e in zip(output, truth, error, strict=True))


@pytest.mark.parametrize("steps", [[LEAKY], [("pointwise", [0.0], [0.3, 1.7], [0.0, 0.0])]])
def test_what_a_gate_rounds_itself_is_allowed_for(steps):
    """A gate alone: no sum before or after it hides the rounding of its product."""
    points = np.random.default_rng(1).normal(size=(60, 1))
    for outputs, errors in (
        forward_with_errors(network_of(steps, 1), points),
        (lambda found: (found.outputs, found.errors))(rounded_forward(network_of(steps, 1), points)),
    ):
        for point, output, error in zip(points, outputs[:, 0], errors[:, 0], strict=True):
            assert abs(Fraction(output) - rational_values(steps, point)[-1][0]) <= Fraction(error)


@pytest.mark.parametrize("kink", [RELU, KINKED, ("max", 2)])
def test_shared_bounds_doubt_what_a_point_by_itself_doubts(kink):
    """Some points in doubt among many that are not; exact ties, and what ties with padding, are none."""
    generator = np.random.default_rng(3)
    steps = [
        affine(generator.normal(size=(4, 2)), generator.normal(size=4)),
        kink,
        affine(np.ones((1, 4 if kink[0] == "pointwise" else 2)), [0.0]),
    ]
    net = network_of(steps, 2)
    tolerance = Tolerance(rounding=2.0**44)
    points = generator.normal(size=(400, 2))
    alone = rounded_forward(net, points, tolerance=tolerance)
    shared, codes = coded_forward(net, points, tolerance=tolerance)
    assert 0 < alone.doubtful.sum() < shared.doubtful.sum() < 200
    assert shared.doubtful[alone.doubtful].all()
    assert (codes.words == net.codes(points).words).all()
    assert np.allclose(shared.outputs, alone.outputs)
    # By the same bound for all: a point is in doubt iff a kink is within it.
    size = np.abs(points).max(axis=0)
    bound = tolerance.rounding * EPS * (np.abs(steps[0][1]) @ size + np.abs(steps[0][2]))
    pre = points @ steps[0][1].T + steps[0][2]
    if kink[0] == "pointwise":
        expected = (np.abs(pre[..., None] - np.array(kink[1])) <= bound[:, None]).any(axis=(1, 2))
    else:
        pre, bound = pre.reshape(-1, 2, 2), bound.reshape(2, 2)
        close = pre + bound >= (pre - bound).max(axis=2, keepdims=True)
        expected = (close & (pre < pre.max(axis=2, keepdims=True))).any(axis=(1, 2))
    assert shared.doubtful[:, 0].tolist() == expected.tolist()


def test_exact_ties_are_read_as_ties_by_shared_bounds():
    net = network_of([affine(np.eye(4), np.zeros(4)), ("max", 2), affine(np.ones((1, 2)), [0.0])], 4)
    forward, _ = coded_forward(net, [[1.0, 1.0, 2.0, 3.0], [1.0, 1.0 + EPS, 2.0, 3.0]])
    assert forward.doubtful.ravel().tolist() == [False, True]
    net = network_of([affine(np.eye(1), np.zeros(1)), KINKED, affine(np.ones((1, 1)), [0.0])], 1)
    forward, _ = coded_forward(net, [[1.0], [1.0 + EPS], [-0.5], [-0.5 - EPS], [3.0]])
    assert forward.doubtful.ravel().tolist() == [False, True, False, True, False]


@given(st.integers(0, 10_000))
def test_where_nothing_is_in_doubt_codes_are_what_float64_shows(seed):
    """Candidates are multiples of one number that are a little apart, and a difference of which little is known."""
    generator = np.random.default_rng(seed)
    weight = np.outer(1 + 2.0 ** -generator.integers(38, 50, 3), [1.0, 0.0])
    weight[2] = generator.choice([1e2, 1e4]) * np.array([1.0, -1.0])
    net = network_of([affine(weight, [0.0, 0.0, -9.0]), ("max", 3), affine(np.ones((1, 1)), [0.0])], 2)
    points = np.repeat(2.0 ** generator.integers(-10, 11, (20, 1)), 2, axis=1)
    for evaluate in (coded_forward, rounded_codes):
        forward, codes = evaluate(net, points)
        sure = ~forward.doubtful.any(axis=1)
        assert (codes.words == net.codes(points).words)[sure].all()


def test_a_kink_that_is_exactly_as_far_as_the_bound_is_a_doubt():
    half = Tolerance(rounding=2.0**51)  # half of every term
    net = network_of([affine([[1.0]], [0.0]), ("pointwise", [0.5], [1.0, 2.0], [0.0, -0.5]), affine([[1.0]], [0.0])], 1)
    points = np.array([[1.0], [1.0 + EPS], [4.0]])  # bounds 1/2 and about 1/2 and 2; the kink is at 1/2
    assert rounded_forward(net, points[:1], tolerance=half).doubtful.ravel().tolist() == [True]
    assert coded_forward(net, points[:1], tolerance=half)[0].doubtful.ravel().tolist() == [True]
    assert rounded_forward(net, points, tolerance=half).doubtful.ravel().tolist() == [True, False, False]
    # What counts then is the steeper slope.
    assert rounded_forward(net, points[:1], tolerance=half).errors[0, 0] == 0.5 * 2 + 0.5 * (2.0 + 0.5) + 0.5 * 1.5


def test_chunks_of_points_change_nothing(monkeypatch):
    rounding = import_module("reluscope.networks.evaluation.rounded_forward")
    net, points = network_of(random_steps(1), 3), np.random.default_rng(0).normal(size=(50, 3))
    whole, alone = coded_forward(net, points), rounded_forward(net, points)
    monkeypatch.setattr(rounding, "CLOSE_BUDGET", 7 * net.bytes_per_point)
    monkeypatch.setattr(rounding, "BUDGET", 28 * net.bytes_per_point)
    (parts, codes), again = coded_forward(net, points), rounded_forward(net, points)
    assert parts.outputs == pytest.approx(whole[0].outputs)
    assert (parts.errors <= whole[0].errors * (1 + 1e-12)).all()  # the largest values of fewer points
    assert (codes.words == whole[1].words).all()
    assert again.errors == pytest.approx(alone.errors, rel=1e-9, abs=0)
    assert again.doubtful.tolist() == alone.doubtful.tolist()


@pytest.mark.few(4)
@pytest.mark.parametrize("analysis", [rounded_forward, forward_with_errors])
@pytest.mark.parametrize("kink", [LEAKY, RELU, KINKED, ("max", 1)])
def test_what_was_rounded_early_is_still_there_when_values_are_small(analysis, kink):
    apart = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        first = affine(generator.normal(size=(3, 2)), 1e9 * generator.uniform(1, 2, 3))
        inner = [float(value) for value in rational_values([first, LEAKY], np.zeros(2))[-1]]
        weight = generator.normal(size=(2, 3))
        steps = [first, LEAKY, affine(weight, 1.5 - weight @ inner), kink, affine([[1.0, -0.3]], [-0.7])]
        points = generator.normal(size=(3, 2))
        found = analysis(network_of(steps, 2), points)
        outputs, errors = (found.outputs, found.errors) if analysis is rounded_forward else found
        for output, error, point in zip(outputs[:, 0], errors[:, 0], points, strict=True):
            away = abs(Fraction(output) - rational_values(steps, point)[-1][0])
            assert away <= Fraction(error)
            apart += away > Fraction(1, 10**9)
    assert apart > 5
