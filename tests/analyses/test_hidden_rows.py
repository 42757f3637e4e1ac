"""Claims about regions of networks too large for fractions, where rounding hides a row that cuts the region."""

import numpy as np
import pytest

import reluscope as rs
from hidden_rows import with_hidden_row
from reluscope.analyses.local.facets_of_regions import region_facets
from reluscope.analyses.local.likeliest_points import likeliest_in_regions

WIDTH, DOMAIN, POINT = 1100, rs.Box(-1, 1, 2), np.zeros((1, 2))


@pytest.fixture(scope="module")
def network():
    return with_hidden_row(WIDTH)


def test_sizes_and_balls_are_upper_bounds(network):
    sizes, balls = (
        rs.local.region_sizes(network, POINT, domain=DOMAIN),
        rs.inscribed_balls(network, POINT, domain=DOMAIN),
    )
    for found, truth in [
        (sizes.finding("inradius"), 0.75),
        (sizes.finding("minimal_width"), 1.5),
        (sizes.finding("diameter"), 2.5),
        (balls.finding("inradius"), 0.75),
    ]:
        assert found.interval[0] <= truth <= found.interval[1]


def test_the_number_of_facets_is_open(network):
    assert region_facets(network, POINT, domain=DOMAIN).number().claim != "EXACT"
    assert region_facets(with_hidden_row(20), POINT, domain=DOMAIN).number().claim == "EXACT"


def test_what_needs_the_whole_region_is_undefined(network):
    assert np.isnan(rs.local.region_classes(network, POINT, domain=DOMAIN)["num_classes"].value).all()
    assert np.isnan(rs.local.class_shares(network, POINT, domain=DOMAIN, draws=10)["class_share"].value).all()
    assert not len(likeliest_in_regions(network, POINT, domain=DOMAIN).rows)


def test_rows_are_known_near_points_that_are_far_from_what_is_hidden(network):
    here = rs.region(network, POINT)
    far = rs.region(with_hidden_row(20), POINT)
    assert not here.is_whole_within(POINT[0], POINT[0] + 1)
    assert far.is_whole_within(POINT[0] - np.inf, POINT[0] + np.inf)


def test_the_margin_of_an_inverse_is_an_upper_bound():
    network = with_hidden_row(WIDTH, shown=slice(1, 3))
    margin = rs.preimages.local_inverse(network, POINT[0], domain=DOMAIN).margin
    assert margin.interval[0] <= 0.5 <= margin.interval[1]


def test_ends_of_invariant_sets_are_upper_bounds():
    network = with_hidden_row(WIDTH, shown=slice(4, 6))
    found = rs.preimages.invariant_set(network, POINT[0], domain=DOMAIN, within="region")
    nearest, _ = found.nearest_end()
    assert nearest.interval[0] <= 0.5 <= nearest.interval[1]
    farthest, place = found.farthest()
    assert np.hypot(*place) <= farthest.interval[1]
    assert place[0] <= 0.5
    width, _ = found.least_width()
    assert width.interval[0] <= 1.5


# Layers of a copy h of the input thrice, a unit that sees h - h + share h, and one that brings it back.
CANCELLED = [
    (1.0, 1e-17, 0.0, 1e17, 1.0, -0.25, 0.125),
    (1.0, 1e-14, 0.0, 1e14, 1.0, -0.25, 0.125),
    (2.0, 1e-15, -2e-16, 1e15, 1.0, -0.5, 0.175),
    (1.0, 1e-9, 0.0, 1e9, 3.0, -1.0, 0.25),
]


@pytest.mark.parametrize(("scale", "share", "offset", "back", "other", "last", "truth"), CANCELLED)
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("dim", [1, 2])
def test_a_unit_that_varies_within_rounding_is_on_no_side(scale, share, offset, back, other, last, truth, norm, dim):
    """A set of regions that holds the unit to zero reaches to where it is above: no distance is found there."""
    first = np.zeros((3, dim))
    first[:, 0] = scale
    net = rs.load(
        [
            (first, np.zeros(3)),
            ([[1.0, -1.0, share], [0.0, 0.0, 1.0]], [offset, 0.0]),
            ([[back, other]], [last]),
        ]
    )
    x = np.full((1, dim), 0.68)
    found = rs.robustness.decision_distance(net, x, norm=norm, domain=rs.Box(-1, 1, dim))
    distance = found["decision_distance"]
    assert distance.lower[0] - 1e-12 <= x[0, 0] - truth <= distance.upper[0] + 1e-12
