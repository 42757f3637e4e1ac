"""Quantities of regions: each is declared once, and tables, findings and pictures have it."""

from itertools import pairwise

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError
from reluscope.findings import Kind, declare
from reluscope.partitions.region_quantities import _DECLARED, region_quantities
from reluscope.plots.drawing.coloring import Scale, coloring

NAMES = [
    "volume",
    "num_corners",
    "num_neighbors",
    "is_bounded",
    "activation_rate",
    "num_active",
    "map_norm",
    "inradius",
    "aspect",
]
NAMES += ["log_volume_factor", "image_volume"]
OFFSET = declare("test_offset", "distance of the witness from the origin", unit="input")


def net(sizes=(2, 12, 8, 3), seed=0):
    generator = np.random.default_rng(seed)
    return rs.load([(generator.normal(size=(m, n)), generator.normal(size=m)) for n, m in pairwise(sizes)])


@pytest.fixture
def offset():
    @rs.declare_region_quantity(OFFSET, ends=lambda part, rows, values: (values - 1e-12, values + 1e-12))
    def test_offset(part, rows):
        return np.linalg.norm(part.witnesses[rows], axis=1)

    yield test_offset
    del _DECLARED[OFFSET.name]


def test_values_are_those_of_each_region():
    part = rs.partition(net(), rs.Box(-1, 1, 2))
    table = part.to_pandas("all")
    assert list(table.columns[3:]) == NAMES
    bodies = [row.polyhedron for row in part]
    np.testing.assert_allclose(table["volume"], [body.volume() for body in bodies], rtol=1e-9)
    np.testing.assert_allclose(table["inradius"], [body.insphere().radius for body in bodies], rtol=1e-6)
    aspects = [body.diameter().lower / body.width().upper for body in bodies]
    np.testing.assert_allclose(table["aspect"], aspects, rtol=1e-6)
    assert table["num_corners"].tolist() == [len(row.vertices) for row in part]
    assert table["num_neighbors"].tolist() == part.adjacency().sum(axis=1).tolist()
    assert table["is_bounded"].all()
    assert table["num_active"].tolist() == [
        int(code.to_array().sum()) for code in map(part.codes.__getitem__, range(len(part)))
    ]
    norms = [np.linalg.norm(row.map.weight[0].numpy(), 2) for row in part]
    np.testing.assert_allclose(table["map_norm"], norms, rtol=1e-12)


def test_findings_hold_the_values_between_their_ends():
    part = rs.partition(net(), rs.Box(-1, 1, 2))
    found = rs.measure_regions(part, "all")
    assert list(found) == NAMES
    assert found.keys["region"].tolist() == list(range(len(part)))
    for name in set(NAMES) - {"map_norm"}:
        assert found[name].is_exact.mean() > 0.95, name
    assert set(found["map_norm"].claims) == {"ESTIMATE"}
    assert found.total("volume").claim == "EXACT"
    assert found.total("volume").value == pytest.approx(4)


def test_neighbours_of_a_partition_that_stopped_are_a_lower_end():
    part = rs.partition(net(), rs.Box(-1, 1, 2), budget=rs.Budget(regions=10))
    assert part.num_open
    assert set(rs.measure_regions(part, "num_neighbors")["num_neighbors"].claims) == {"LOWER"}


def test_a_declared_quantity_is_in_tables_findings_and_pictures(offset):
    part = rs.partition(net(), rs.Box(-1, 1, 2))
    expected = np.linalg.norm(part.witnesses, axis=1)
    assert np.array_equal(part.to_table()["test_offset"], expected)
    assert set(rs.measure_regions(part)["test_offset"].claims) == {"EXACT"}
    scale = coloring(part, "test_offset")
    assert isinstance(scale, Scale)
    assert scale.label == "test offset"
    assert np.array_equal(scale.values, expected)


def test_a_partition_has_the_quantities_that_it_allows():
    listed = rs.partition(net(), rs.Box(-1, 1, 2), method="tree")
    assert "volume" not in listed.to_table().column_names
    with pytest.raises(InputError, match="volume needs the corners of regions"):
        listed.to_table("volume")
    solid = rs.partition(net((3, 8, 2)), rs.Box(-1, 1, 3))
    assert "inradius" not in rs.measure_regions(solid, "all")
    with pytest.raises(InputError, match="inradius needs a bounded plane"):
        solid.to_table(["inradius"])
    with pytest.raises(InputError, match="one of volume, num_corners"):
        solid.to_table("size")


def test_what_takes_longer_than_the_budget_is_left_out(offset):
    slow = declare("test_slow", "number that takes an hour", kind=Kind.COUNT)

    @rs.declare_region_quantity(slow, seconds=lambda part: 3600.0)
    def test_slow(part, rows):
        raise AssertionError("never begun")

    try:
        found = rs.measure_regions(rs.partition(net(), rs.Box(-1, 1, 2)), budget=rs.Budget(seconds=60))
    finally:
        del _DECLARED["test_slow"]
    assert list(found) == ["volume", "num_corners", "test_offset"]
    assert found.notes == ("Left out, for want of time: test slow, which takes about 3.6e+03 s.",)


def test_a_name_is_computed_by_one_function(offset):
    with pytest.raises(InputError, match="test_offset is computed already"):
        rs.declare_region_quantity(OFFSET)(lambda part, rows: part.witnesses[rows, 0])
    with pytest.raises(InputError, match="needs must be some of corners"):
        rs.declare_region_quantity(OFFSET, needs=("edges",))
    with pytest.raises(InputError, match="call the quantity something else"):
        rs.declare_region_quantity(declare("random", "some number"))


@pytest.mark.parametrize("domain", [rs.Segment([-1.0, -1.0], [1.0, 1.0]), rs.Box(-1, 1, 2), rs.Space(2)])
def test_costs_are_known_before(domain):
    part = rs.partition(net(), domain)
    for entry in region_quantities():
        if not entry.why_not(part):
            assert 0 < entry.cost(part) < 1
            assert len(entry.of(part)) == len(part)
