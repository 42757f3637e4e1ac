"""Both ends of distances where inputs, weights and kinks are of very different sizes: against fractions."""

from fractions import Fraction
from itertools import pairwise
from math import inf, isinf

import numpy as np
import pytest

import reluscope as rs
from fuzzer import true_answers as answers
from fuzzer.fuzz_runs import run_case
from fuzzer.layers import DenseLayer, GateModule, exact_layers
from fuzzer.truth import TrueDomain, Truth

# Ends that were on the wrong side of the truth: the nearest point was behind rows by 1e-12 of the largest input, a step
# was not the one that floats made of it, and a search was cut at a level without its rounding.
FOUND_WRONG = [225, 229, 406, 512, 623, 901, 924]


def drawn(seed):
    """Return layers, a point, the ends of a box or None, and a norm; sizes of inputs are from 1e-8 to 1e6."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 2, 3]))
    sizes = 10.0 ** rng.integers(-8, 7, n) if rng.random() < 0.7 else 2.0 ** rng.integers(-26, 20, n)
    depth = int(rng.choice([1, 1, 2]))
    x = rng.integers(-16, 17, n) / 8 * sizes
    if rng.random() < 0.5:
        x = x * rng.uniform(0.5, 1.5, n)
    widths = [n, *rng.integers(1, 4, depth), int(rng.choice([1, 2, 2, 3]))]
    layers = []
    for place, (a, b) in enumerate(pairwise(widths)):
        W, c = rng.integers(-4, 5, (b, a)) / 2, rng.integers(-8, 9, b) / 4
        if rng.random() < 0.5:
            W = W * rng.uniform(0.5, 1.5, (b, a))
        manner = rng.integers(4)
        if place == 0:
            if manner < 2:
                W = W / sizes
            elif manner == 2:
                W = W / sizes * (10.0 ** rng.integers(-3, 4, (b, 1)))
            if manner == 3:  # weights of any size, with kinks near the point
                W = W * 10.0 ** rng.integers(-8, 3, (b, a))
                c = -(W @ x) + rng.normal(size=b) * (np.abs(W) @ sizes) * 10.0 ** rng.integers(-6, 1)
            elif rng.random() < 0.5:
                c = c - W @ x
        layers.append((W, c))
    ends = None
    if rng.random() < 0.5:
        ends = x - rng.integers(1, 33, n) / 8 * sizes, x + rng.integers(1, 33, n) / 8 * sizes
        ends = ends if (ends[0] < x).all() and (x < ends[1]).all() else None
    return layers, x, ends, str(rng.choice(["l1", "l2", "linf"]))


def truth_of(layers, ends, n):
    rows = []
    for axis in range(n if ends else 0):
        unit = [Fraction(int(axis == other)) for other in range(n)]
        rows += [(*unit, -Fraction(ends[0][axis])), (*(-one for one in unit), Fraction(ends[1][axis]))]
    steps = [step for W, c in layers for step in (DenseLayer(W, c), GateModule("relu"))]
    return Truth(exact_layers(steps[:-1], n), TrueDomain(n, tuple(rows)), 300, 20.0)


def as_power(length, norm):
    """Return a length as the oracle gives it: its square in l2."""
    if isinf(length):
        return length
    return Fraction(length) ** 2 if norm == "l2" else Fraction(length)


def check_ends(findings, name, truth, norm):
    column = findings[name]
    low, high = (float(end[0]) for end in (column.lower, column.upper))
    assert as_power(low, norm) <= truth <= as_power(high, norm)
    if findings.finding(name, 0).claim == "EXACT":
        assert isinf(float(column.value[0])) == isinf(truth)


def check(seed):
    """Compare both ends of all distances of a point with the truth."""
    layers, x, ends, norm = drawn(seed)
    truth, point = truth_of(layers, ends, len(x)), tuple(map(Fraction, x.tolist()))
    label, ties = answers.class_at(truth, point)
    if ties:
        return
    parts = {"decision_distance": answers.changed_parts(truth.regions, label)}
    cells = [truth.regions[row] for row in truth.containing(point)]
    if len(cells) == 1:
        parts["decision_distance_within"] = answers.tied_parts(cells[0], label)
    least = {
        name: min((answers.distance_power(part, point, norm) for part in several), default=inf)
        for name, several in parts.items()
    }
    if len(cells) == 1:
        wall = answers.facet_distance(cells[0], point, norm)
        least["boundary_distance"] = inf if wall is None else wall
    net, domain = rs.load(layers), ends and rs.Box(*ends)
    for name, length in least.items():
        found = getattr(rs.robustness, name)(net, [x], norm=norm, domain=domain)
        check_ends(found, name, length, norm)


@pytest.mark.parametrize("seed", FOUND_WRONG)
def test_ends_that_were_wrong_hold_the_truth(seed):
    check(seed)


@pytest.mark.few(20)
@pytest.mark.parametrize("seed", range(150))
def test_the_truth_lies_between_the_ends(seed):
    check(seed)


def test_a_unit_whose_slopes_are_rounding_ends_no_distance():
    first = [([[8 / 3]] * 3, [-4.0] * 3)]
    second = [([[1e8, -1e8, 1e-9], [0.0, 0.0, 1.0]], [-2.6e-10, 0.0]), ([[1e9, 0.0]], [-0.5])]
    net = rs.load([*first, *second])
    found = rs.robustness.decision_distance(net, [[2.0]], norm="linf", domain=rs.Box([0.75], [2.25]))
    assert found["decision_distance"].lower[0] <= 2.0 - (0.76 + 4) * 3 / 8 <= found["decision_distance"].upper[0]


@pytest.mark.parametrize("number", [473, 9544])
def test_cases_of_the_fuzzer_that_were_false(number):
    """A tie that is seen at a point counts only if the point is surely in the region; a program without an answer."""
    assert not run_case(20261129, number, ("distances",)).failures


@pytest.mark.parametrize("size", [0.0, 1e-12, 1.97e-38, 1e-300, 5e-324])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("domain", [None, rs.Box(-2, 2, 2)])
def test_points_that_are_next_to_nothing(size, norm, domain):
    net = rs.load([([[0.0, 0.25]], [0.25]), ([[-0.25], [0.0]], [0.0, 0.0])])  # class 1 above x_2 = -1
    found = rs.robustness.decision_distance(net, [[0.0, size]], norm=norm, domain=domain)
    assert found.finding("decision_distance", 0).value == pytest.approx(1.0)
    within = rs.robustness.decision_distance_within(net, [[0.0, size]], norm=norm, domain=domain)
    assert within.finding("decision_distance_within", 0).value == pytest.approx(1.0)
