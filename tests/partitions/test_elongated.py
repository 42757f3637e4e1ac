"""Boxes much longer along one axis than along another: thin is what is thin beside the axis across."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.partitions.complexes.elongated import sides_of
from reluscope.testing import default_network


@pytest.mark.parametrize("width", [1e2, 1e5, 1e8, 1e30])
@pytest.mark.parametrize("tilt", [0.0, 1e-8, 0.7])
def test_lines_apart_along_the_short_axis_are_kept_apart(width, tilt):
    net = rs.load([([[tilt / width, 1.0]] * 3, [-0.3, -0.3 - 1e-7, -0.3 - 2e-7]), (np.ones((1, 3)), np.zeros(1))])
    found = rs.partition(net, rs.Box([-width, 0], [width, 1]))
    assert (len(found), found.claim, found.num_undecided) == (4, "EXACT", 0)
    assert found.volumes().sum() == pytest.approx(2 * width)


@pytest.mark.parametrize("method", ["incidence", "cellwise", "tree"])
def test_units_change_no_region(method):
    layers = default_network([3, 6, 6, 1])
    sides = np.array([2.0**-20, 1.0, 2.0**17])
    (first, shift), *others = [(np.asarray(weight), np.asarray(bias)) for weight, bias in layers]
    plain, wide = rs.load(layers), rs.load([(first / sides, shift), *others])
    one = rs.partition(plain, rs.Box(-1, 1, 3), method=method)
    two = rs.partition(wide, rs.Box(-sides, sides), method=method)
    assert two.claim == "EXACT"
    assert set(map(bytes, one.codes.words)) == set(map(bytes, two.codes.words))
    assert two.domain.describe() == rs.Box(-sides, sides).describe()
    assert (two.locate(two.witnesses) == np.arange(len(two))).all()
    if method != "tree":
        np.testing.assert_allclose(np.sort(two.volumes()), np.sort(one.volumes()) * sides.prod(), rtol=1e-9)


def test_a_polyhedron_with_the_rows_of_a_box_is_walked_in_units():
    net = rs.load([([[0.0, 1.0], [0.0, 1.0]], [-0.3, -0.3 - 1e-6]), (np.ones((1, 2)), np.zeros(1))])
    rows = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1e-8, 1.0]]
    found = rs.partition(net, rs.Polyhedron(rows, [1e8, 1e8, 1.0, 0.0, 1.0]))
    assert (len(found), found.claim) == (3, "EXACT")
    assert found.volumes().sum() == pytest.approx(1.5e8)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_stream_holds_the_same_regions(dim, tmp_path):
    net = rs.load([(np.diag([1e-6, 1.0, 1.0])[:, :dim], np.full(3, -0.25)), (np.ones((1, 3)), np.zeros(1))])
    domain = rs.Box([-1e6, *[-1] * (dim - 1)], [1e6, *[1] * (dim - 1)])
    whole, streamed = rs.partition(net, domain), rs.stream(net, domain, tmp_path / "regions.parquet")
    assert len(streamed) == len(whole) == 2**dim
    assert streamed.claim == "EXACT"
    found = np.concatenate([whole.locate(rows.witnesses) for rows in streamed.blocks()])
    assert sorted(found) == list(range(len(whole)))
    assert (streamed.locate(whole.witnesses) >= 0).all()
    if dim == 2:
        volumes = np.concatenate([rows.volumes for rows in streamed.blocks()])
        assert volumes.sum() == pytest.approx(4e6)


def test_a_slice_with_an_elongated_window_keeps_its_coordinates():
    net = rs.load(
        [(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.array([-0.5, -0.25])), (np.ones((1, 2)), np.zeros(1))]
    )
    domain = rs.Slice([0.25, 0.25, 0.0], [[1e-6, 0.0, 0.0], [0.0, 0.0, 1.0]], rs.Box([-1e6, 0], [1e6, 1]))
    found = rs.partition(net, domain)
    assert len(found) == 4
    assert found.volumes().sum() == pytest.approx(2e6)


def test_level_sets_in_units_are_those_of_the_box():
    sides = np.array([2.0**-14, 1.0, 2.0**9])
    plain = rs.load(default_network([3, 6, 6, 1], seed=3))
    (first, shift), *others = [(np.asarray(a), np.asarray(b)) for a, b in default_network([3, 6, 6, 1], seed=3)]
    wide = rs.load([(first / sides, shift), *others])
    level = float(plain(np.zeros((1, 3))))
    one = rs.level_set(plain, rs.Box(-1, 1, 3), level=level)
    two = rs.level_set(wide, rs.Box(-sides, sides), level=level)
    assert (len(two), two.claim, len(two.vertices)) == (len(one), "EXACT", len(one.vertices))
    assert two.volume("above") == pytest.approx(one.volume("above") * sides.prod())
    for found, unit in ((one, 1.0), (two, sides)):
        values = (plain if found is one else wide)(found.vertices).numpy().reshape(-1)
        np.testing.assert_allclose(values, level, atol=1e-9)
        beyond = found.witnesses / unit
        assert (plain(beyond).numpy().reshape(-1) > level).all()


def test_bands_that_are_thin_beside_the_long_side_have_level_sets():
    gap = 1e-9
    first = ([[0.0, 1.0]] * 3, [-0.3, -0.3 - gap, -0.3 - 2 * gap])
    net = rs.load([first, ([[1 / gap, -2 / gap, 1 / gap]], [-0.5])])
    found = rs.level_set(net, rs.Box([-1e6, 0], [1e6, 1]))
    assert len(found) == 2


@pytest.mark.parametrize(
    ("low", "high"), [([1.0, 0.0], [1 + 2.0**-40, 1e300]), ([1e9, 0], [1e9 + 1e-3, 1e6]), ([0, 0], [5e-324, 1e300])]
)
def test_units_that_would_enlarge_rounding_or_overflow_are_not_taken(low, high):
    assert sides_of(rs.Box(low, high)) is None
    assert (sides_of(rs.Box([1.0, 0.0], [2.0, 2.0**20])) == [2.0**-20, 1.0]).all()
