"""Closed forms against the exact geometry of the explicit networks and against the reference's table."""

from fractions import Fraction
from math import exp, factorial, log, pi, sqrt

import numpy as np
import pytest

import reluscope as rs
from reluscope.datasets import ball_shell, circle_annulus
from reluscope.errors import InputError
from reluscope_studies.annulus import (
    ball_volume,
    cross_polytope,
    cross_polytope_layers,
    decision_region,
    expanded_simplex,
    expanded_simplex_layers,
    expected_cosine,
    inner_radius,
    orthogonality,
    outer_radius,
    random_orthogonality,
    root_polytope_layers,
    shell_volume_ratio,
    simplex_corner_layers,
)

# Dimension: inner radius, ratios of both, kinds of facets, shells cross over simplex, shell over ball of the cross.
TABLE = {
    2: (0.866025, 1.154701, 1.414214, 1, 3, 1),
    3: (0.707107, 1.414214, 1.732051, 2, 2.29495, 4.19615),
    4: (0.645497, 1.549193, 2, 2, 3.15126, 15),
    5: (0.577350, 1.732051, 2.236068, 3, 3.76337, 54.9017),
    6: (0.540062, 1.851640, 2.449490, 3, 5.47029, 215),
    7: (0.500000, 2, 2.645751, 4, 7.13774, 906.493),
    8: (0.474342, 2.108185, 2.828427, 4, 10.522, 4095),
    9: (0.447214, 2.236068, 3, 5, 14.0934, 19682),
    10: (0.428174, 2.335497, 3.162278, 5, 20.7154, 99999),
}


@pytest.mark.parametrize("dim", TABLE)
def test_table_of_the_reference(dim):
    simplex, cross = expanded_simplex(dim), cross_polytope(dim)
    found = (
        simplex.inner_radius.value,
        simplex.ratio.value,
        cross.ratio.value,
        len(simplex.facet_kinds),
        shell_volume_ratio(dim).value,
        cross.shell_ratio.value,
    )
    assert found == pytest.approx(TABLE[dim], rel=2e-6)
    assert simplex.num_facets == 2 ** (dim + 1) - 2


@pytest.mark.parametrize("dim", range(2, 7))
@pytest.mark.parametrize(
    ("solution", "layers"), [(cross_polytope, cross_polytope_layers), (expanded_simplex, expanded_simplex_layers)]
)
def test_closed_forms_against_the_geometry_of_the_networks(dim, solution, layers):
    closed, region = solution(dim), decision_region(layers(dim))
    assert (region.num_facets, len(region.vertices)) == (closed.num_facets, closed.num_vertices)
    assert np.linalg.norm(region.vertices, axis=1) == pytest.approx(1.0)
    kinds = [
        (kind.num_vertices, sqrt(kind.distance_squared)) for kind in closed.facet_kinds for _ in range(kind.number)
    ]
    found = zip(region.incidence.sum(axis=1), region.offsets, strict=True)
    assert np.array(sorted(found)) == pytest.approx(np.array(sorted(kinds)))
    assert inner_radius(region).value == pytest.approx(closed.inner_radius.value)
    assert outer_radius(region).value / inner_radius(region).value == pytest.approx(closed.ratio.value)
    assert region.polyhedron.volume() == pytest.approx(closed.volume.value)


def test_root_polytopes_are_affine_images():
    # Of the basis e_i, -sum e_i to a simplex: a map of determinant C(2n, n) / n! over the volume.
    for dim in (2, 3, 4):
        region = decision_region(root_polytope_layers(dim))
        squared = expanded_simplex(dim).volume_squared * 2**dim / (dim + 1)
        assert region.polyhedron.volume() == pytest.approx(sqrt(squared))


def test_radii_scale_the_networks():
    for layers in (cross_polytope_layers, expanded_simplex_layers):
        assert outer_radius(decision_region(layers(3, radius=2.5))).value == pytest.approx(2.5)


def test_limits_as_corrected():
    # Equation 4.13 the other way round, and 4.17 with its factor.
    near = [expanded_simplex(dim).inner_radius.value / cross_polytope(dim).inner_radius.value for dim in (20, 200)]
    assert near == pytest.approx([1.3817, 1.4107], abs=5e-5)
    found = [shell_volume_ratio(dim).value / 2 ** (dim / 2) for dim in (10, 20, 50, 100, 200)]
    assert found == pytest.approx([0.6474, 0.6280, 0.6154, 0.6110, 0.6088], abs=5e-5)
    assert found[-1] == pytest.approx(exp(-0.5), rel=0.004)


def test_exact_forms():
    assert expanded_simplex(4).inner_radius.definition == "sqrt(5/12)"
    assert cross_polytope(4).ratio.definition == "2"
    assert expanded_simplex(7).ratio_squared == 4
    assert cross_polytope(5).volume_squared == Fraction(32, 120) ** 2
    assert expanded_simplex(3).ratio.claim is rs.Claim.EXACT


@pytest.mark.parametrize("dim", [2, 3, 8])
def test_balls_and_shells_are_uniform_in_volume(dim):
    data = ball_shell(20_000, dim, radius=1.0, seed=3)
    distances = np.linalg.norm(data.points, axis=1)
    inner, outer = sqrt(dim), 2 ** (1 / dim) * sqrt(dim)
    for part, low, high in ((distances[::2], 0.0, 1.0), (distances[1::2], inner, outer)):
        shares = np.sort((part**dim - low**dim) / (high**dim - low**dim))
        assert np.abs(shares - np.linspace(0, 1, len(shares))).max() < 0.02  # Kolmogorov and Smirnov
    assert np.abs(data.points.mean(axis=0)).max() < 0.05
    assert ball_volume(dim, outer) == pytest.approx(2 * ball_volume(dim, inner))


def test_the_plane_has_the_radii_of_circle_and_annulus():
    ours, known = (np.linalg.norm(one.points, axis=1) for one in (ball_shell(4000), circle_annulus(4000)))
    for part in (slice(0, None, 2), slice(1, None, 2)):
        assert ours[part].max() == pytest.approx(known[part].max(), rel=0.01)
        assert ours[part].min() == pytest.approx(known[part].min(), abs=0.02)


def test_normalized_data():
    plain, scaled = ball_shell(500, 3), ball_shell(500, 3, is_normalized=True)
    assert scaled.points.std() == pytest.approx(1.0)
    assert scaled.points * plain.points.std() == pytest.approx(plain.points)
    assert any("standard deviation" in note for note in scaled.notes)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ball_shell(10, 1), "dimension of at least 2, got 1"),
        (lambda: ball_shell(10, 2, radius=1.0, inner=0.5), "0 < radius <= inner < outer"),
        (lambda: ball_shell(10, 2, inner=1.0, outer=1.0), "0 < radius <= inner < outer"),
        (lambda: ball_shell(0, 2), "at least 1, got 0"),
        (lambda: ball_shell(10, 2, radius=float("nan")), "above 0, got nan"),
        (lambda: cross_polytope(1), "dimension of at least 2, got 1"),
        (lambda: expanded_simplex_layers(1), "dimension of at least 2, got 1"),
        (lambda: cross_polytope_layers(2, radius=0.0), "above 0, got 0.0"),
        (lambda: simplex_corner_layers(3, 5), "between 1 and 4 corners"),
        (lambda: orthogonality([[1.0, 0.0], [0.0, 0.0]]), "at least two vectors"),
        (lambda: random_orthogonality(1), "at least 2 dimensions"),
        (lambda: expected_cosine(1), "at least 2 dimensions"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_random_directions_meet_their_expectation():
    for dim in (2, 5, 20):
        found = random_orthogonality(dim, trials=400, seed=1)
        assert found.mean.value == pytest.approx(expected_cosine(dim).value, abs=0.05)
        assert found.largest.value >= found.mean.value
    assert orthogonality(np.eye(4)).largest.value == 0.0


def test_volumes_whose_squares_are_no_floats():
    # 2^130 / 130! has the square 4e-362.
    expected = Fraction(2**130, factorial(130))
    volume = cross_polytope(130).volume
    assert abs(Fraction(volume.value) - expected) <= Fraction(volume.tolerance) < expected / 10**14
    with pytest.raises(InputError, match="smallest that float64 holds"):
        _ = cross_polytope(300).volume


def test_ratios_that_are_no_floats():
    assert cross_polytope(255).shell_ratio.value == pytest.approx(exp(255 / 2 * log(255)))
    for call in (lambda: cross_polytope(300).shell_ratio, lambda: shell_volume_ratio(3000)):
        with pytest.raises(InputError, match="largest that float64 holds"):
            call()


@pytest.mark.parametrize("scale", [1e200, 1e-200, 5e-324])
def test_cosines_of_very_long_and_short_vectors(scale):
    assert orthogonality([[scale, 0.0], [scale, 0.0]]).largest.value == 1.0
    assert orthogonality([[scale, 0.0], [1.0, 1.0]]).mean.value == pytest.approx(sqrt(0.5))


def test_expected_cosines_of_many_dimensions():
    for dim in (50, 98, 100, 400, 2000):
        half = dim // 2
        expected = float(Fraction(4**half * factorial(half) * factorial(half - 1), factorial(dim))) / pi
        assert expected_cosine(dim).value == pytest.approx(expected, rel=5e-14)
    # sqrt(2 / (pi n)) (1 + 1 / (4 n) + ...)
    assert expected_cosine(10**10).value == pytest.approx(sqrt(2 / pi) * 1e-5 * (1 + 0.25e-10), rel=1e-14, abs=0)
