"""Radii of decision regions whose facets are what is left of large weights: against fractions."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from oracles.rational_steps import fractions_of
from reluscope.errors import InputError
from reluscope.findings import Claim
from reluscope_studies.annulus import cross_polytope_layers, decision_region, inner_radius, outer_radius

SQUARE = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def cancelling(seed):
    """``|x_1| + |x_2| + s x <= c``, with s and c left of units with weights of ten thousand and biases of a million."""
    generator = np.random.default_rng(seed)
    large, small = 1e4 * generator.normal(size=2), generator.uniform(-0.2, 0.2, (2, 2))
    weight = np.concatenate([SQUARE, [large + small[0], -large + small[1]]])
    bias = np.concatenate([np.zeros(4), 1e6 * generator.uniform(1, 2, 2)])
    return [(weight, bias), (np.ones((1, 6)), np.array([-float(bias[4] + bias[5]) - 1.0]))]


def exact_facets(layers, region):
    """Return normals and offsets of the region's facets from the signs of the units, in fractions."""
    (weight, bias), (output, constant) = layers
    found = []
    for signs in region.signs:
        rows = [
            [Fraction(float(a)) * entry for entry in fractions_of([*row, b])]
            for row, b, a, sign in zip(weight, bias, output[0], signs, strict=True)
            if sign > 0
        ]
        total = [sum(column) for column in zip(*rows, strict=True)]
        found.append((total[:-1], -total[-1] - Fraction(float(constant[0]))))
    return found


def error_of(found):
    """Return how far the truth may be from the value: EXACT where that is less than the sixth digit."""
    if found.claim == "EXACT":
        assert found.tolerance <= 1e-6 * found.value
        return found.tolerance
    low, high = found.interval
    return min(found.value - low, high - found.value)


def test_the_inner_radius_is_within_the_rounding_of_facets():
    apart = 0
    with mpmath.workdps(60):
        for seed in range(20):
            layers = cancelling(seed)
            region = decision_region(layers)
            found = inner_radius(region)
            radii = [
                mpmath.mpf(offset.numerator)
                / offset.denominator
                / mpmath.sqrt(sum(mpmath.mpf(e.numerator) ** 2 / e.denominator**2 for e in normal))
                for normal, offset in exact_facets(layers, region)
            ]
            away = abs(mpmath.mpf(found.value) - min(radii))
            assert away <= error_of(found)
            apart += away > 1e-12 * found.value
    assert apart > 3


def test_the_outer_radius_is_within_the_rounding_of_vertices():
    apart = 0
    with mpmath.workdps(60):
        for seed in range(20):
            layers = cancelling(seed)
            region = decision_region(layers)
            facets, squares = exact_facets(layers, region), []
            for column in region.incidence.T:
                (a, e), (b, f) = (facets[row] for row in np.flatnonzero(column)[:2])
                det = a[0] * b[1] - a[1] * b[0]
                squares.append(((e * b[1] - f * a[1]) / det) ** 2 + ((a[0] * f - b[0] * e) / det) ** 2)
            exact = mpmath.sqrt(mpmath.mpf(max(squares).numerator) / max(squares).denominator)
            found = outer_radius(region)
            assert abs(mpmath.mpf(found.value) - exact) <= error_of(found)
            apart += abs(mpmath.mpf(found.value) - exact) > 1e-12 * found.value
    assert apart > 3


def test_what_is_stated_with_a_radius():
    region = decision_region(cross_polytope_layers(4))
    wide = inner_radius(replace(region, error=0.25))
    assert (wide.claim, wide.interval) == (Claim.ESTIMATE, (wide.value - 0.25, wide.value + 0.25))
    assert inner_radius(replace(region, error=0.0)).tolerance == pytest.approx(0.5e-12, abs=0.0)
    doubtful = outer_radius(replace(region, num_undecided=3))
    assert (doubtful.claim, doubtful.tolerance, doubtful.num_undecided) == (Claim.ESTIMATE, None, 3)
    assert outer_radius(region).num_undecided == 0


@pytest.mark.parametrize("measure", [inner_radius, outer_radius])
def test_regions_without_radii(measure):
    region = decision_region(cross_polytope_layers(3))
    assert measure(region).value > 0
    with pytest.raises(InputError, match="an unbounded one"):
        measure(replace(region, is_bounded=False))
    empty = decision_region([(SQUARE, np.zeros(4)), (np.ones((1, 4)), np.array([1.0]))])
    with pytest.raises(InputError, match="an empty one"):
        measure(empty)


def test_the_origin_outside_and_regions_that_are_not_convex():
    moved = [(SQUARE, np.array([-9.0, 9.0, 0.0, 0.0])), (np.ones((1, 4)), np.array([-1.0]))]
    assert inner_radius(decision_region(moved)).value == 0.0
    assert outer_radius(decision_region(moved)).value == pytest.approx(10.0)
    # A notch: the diamond |x_1| + |x_2| <= 1 less what is beyond x_1 = 1/4 or so; the nearest piece is within a cell.
    notch = [
        (np.concatenate([SQUARE, [[1.0, 0.0]]]), np.array([0.0, 0.0, 0.0, 0.0, -0.25])),
        (np.array([[1.0, 1.0, 1.0, 1.0, -0.9]]), np.array([-1.0])),
    ]
    region = decision_region(notch)
    assert not region.is_convex
    angles = np.linspace(0, 2 * np.pi, 20_001)
    circle = np.c_[np.cos(angles), np.sin(angles)]
    radius = inner_radius(region).value
    assert (region.network(0.9999 * radius * circle) < 0).all()
    assert (region.network(1.0001 * radius * circle) > 0).any()
