"""Numbers for every region: norms, units, groups by the first gates, radii, and points that are located."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from explorer.asking import ZOOMS, ask, crossing, picture, session
from partitions.hostile import example
from partitions.layered import network_of
from reluscope.explorer.scene.session import Session
from reluscope.networks.truncation import up_to_gate
from reluscope.partitions.region_numbers import map_norms
from reluscope.partitions.table.largest_discs import largest_discs


def values(asked, view, **fields):
    return ask(asked, {"ask": "values", "version": view.version, **fields})


def check_groups(asked, view):
    """Groups by the first gates are the regions of the network that ends there, partitioned on its own."""
    for gates in range(1, len(view.network.gates) + 1):
        found = values(asked, view, of="prefix", gates=gates)
        part = rs.partition(up_to_gate(view.network, gates - 1), view.domain)
        groups = found.arrays["values"]
        number = found.header["num_groups"]
        if number["claim"] == "EXACT" and part.claim == "EXACT":
            assert number["value"] == len(part), gates
        # Every group has one code, and lies in one region of the truncated network.
        rows = part.locate(view.part.witnesses)
        pairs = set(zip(groups.tolist(), rows.tolist(), strict=True))
        assert len(pairs) == number["value"] == len(set(groups.tolist()))
        areas = np.bincount(groups, weights=view.part.volumes())
        own = part.volumes()
        for group, row in pairs:
            assert areas[group] == pytest.approx(own[row], rel=1e-6, abs=1e-9 * view.reach.prod())


@pytest.mark.parametrize("zoom", ZOOMS)
def test_groups_are_the_regions_of_the_truncated_network(zoom):
    asked = session((4, 8, 8, 8, 3))
    _, view = picture(asked, zoom, crossing(asked))
    check_groups(asked, view)


@given(st.integers(0, 10**6))
def test_groups_of_degenerate_networks(seed):
    layers, box = example(None, seed, ("relu", "max", "clamp", "abs"))
    asked = Session.of(network_of(layers, 2))
    window = {"center": ((box.lo + box.hi) / 2).tolist(), "reach": ((box.hi - box.lo) / 2).tolist()}
    found = ask(asked, {"ask": "partition", "window": window})
    check_groups(asked, asked.views[found.header["version"]])


def test_no_gates_are_one_group():
    asked = session()
    _, view = picture(asked)
    found = values(asked, view, of="prefix", gates=0)
    assert found.header["num_groups"]["value"] == 1
    assert not found.arrays["values"].any()


@pytest.mark.parametrize("sizes", [(5, 12, 12, 4), (3, 10, 1)])
def test_norms_are_those_of_the_maps_along_the_plane(sizes):
    asked = session(sizes)
    _, view = picture(asked)
    np.testing.assert_allclose(values(asked, view, of="norm").arrays["values"], map_norms.of(view.part), rtol=1e-5)


def test_every_declared_quantity_is_answered():
    asked = session()
    _, view = picture(asked)
    table = view.part.to_table("all")
    for name in table.column_names[3:]:
        found = values(asked, view, of=name).arrays["values"]
        np.testing.assert_allclose(found, table[name].to_numpy().astype(np.float32), rtol=1e-6)


def test_pieces_of_units_are_those_of_the_codes():
    layers, _ = example(None, 11, ("max", "clamp", "relu"))
    wide = [
        ("affine", np.random.default_rng(0).normal(size=(70, 2)), np.zeros(70)),
        ("pointwise", [0.0], [0.0, 1.0], [0.0, 0.0]),
        ("affine", np.random.default_rng(1).normal(size=(2, 70)), np.zeros(2)),
    ]
    for asked in (Session.of(network_of(layers, 2)), Session.of(network_of(wide, 2))):
        _, view = picture(asked)
        codes, layout = view.part.codes.to_array(), view.part.codes.layout
        for gate, one in enumerate(layout):
            for unit in {0, one.num_units // 2, one.num_units - 1}:
                found = values(asked, view, of="unit", gate=gate, unit=unit)
                np.testing.assert_array_equal(found.arrays["values"], codes[:, layout.units(gate).start + unit])
                assert found.header["pieces"] == one.num_pieces


@pytest.mark.parametrize("zoom", ZOOMS)
def test_discs_are_the_largest(zoom):
    asked = session()
    _, view = picture(asked, zoom, crossing(asked))
    found = values(asked, view, of="inradius").arrays["values"]
    rows = np.random.default_rng(0).permutation(len(view.part))[:20]
    expected = [view.part[int(row)].polyhedron.insphere().radius for row in rows]
    np.testing.assert_allclose(found[rows], expected, rtol=1e-4, atol=1e-9 * view.scale)


@given(st.integers(3, 9), st.integers(0, 10**6))
def test_discs_in_random_polygons(sides, seed):
    generator = np.random.default_rng(seed)
    angles = np.sort(generator.uniform(0, 2 * np.pi, sides))
    corners = np.stack([np.cos(angles), np.sin(angles)], axis=1) * [1.0, generator.uniform(0.01, 1)]
    if np.diff(angles).min() < 1e-3:
        return
    normals = np.roll(corners, -1, axis=0) - corners
    normals = np.stack([normals[:, 1], -normals[:, 0]], axis=1)
    expected = rs.Polyhedron(normals, (normals * corners).sum(axis=1)).insphere().radius
    found = largest_discs(corners, np.array([0, sides]), np.arange(sides))
    assert found[0] == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_flat_polygons_hold_no_disc():
    flat = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    assert largest_discs(flat, np.array([0, 3, 6]), np.arange(6)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("zoom", ZOOMS)
def test_points_are_located_as_the_partition_does(zoom):
    asked = session()
    _, view = picture(asked, zoom, crossing(asked))
    points = np.random.default_rng(0).uniform(-1.2, 1.2, (50, 2))
    found = ask(asked, {"ask": "locate", "version": view.version, "points": points.tolist()})
    expected = view.part.locate(points * view.scale)
    np.testing.assert_array_equal(found.arrays["rows"], expected)
    assert (found.arrays["classes"][expected < 0] == -1).all()
    if zoom == 1.0:
        inside = expected >= 0
        classes = view.network(view.domain.lift(points[inside] * view.scale)).numpy().argmax(axis=1)
        np.testing.assert_array_equal(found.arrays["classes"][inside], classes)


@pytest.mark.parametrize("zoom", ZOOMS)
def test_segments_are_those_of_a_partition(zoom):
    asked = session()
    _, view = picture(asked, zoom, crossing(asked))
    ends = np.array([[-0.9, -0.8], [0.7, 0.9]])
    found = ask(asked, {"ask": "segment", "version": view.version, "ends": ends.tolist()})
    places = ends * view.scale
    start, step = places[0], places[1] - places[0]
    middle = places.mean(axis=0)
    length = np.linalg.norm(step)
    domain = rs.Slice(
        view.domain.lift(middle), (step / length)[None] @ view.domain.basis, rs.Box([-length / 2], [length / 2])
    )
    part = rs.partition(view.network, domain)
    knots = np.unique(np.round(part.vertices[:, 0] / length + 0.5, 9))
    np.testing.assert_allclose(found.arrays["breakpoints"], np.sort(part.vertices[:, 0]) / length + 0.5, atol=1e-12)
    assert len(knots) == len(found.arrays["breakpoints"]) == found.header["num_regions"]["value"] + 1 == len(part) + 1
    # Outputs are those of the network at the breakpoints; regions those of the picture between them.
    along = start + found.arrays["breakpoints"][:, None] * step
    outputs = view.network(view.domain.lift(along)).numpy()
    shown = [entry["index"] for entry in found.header["outputs"]]
    np.testing.assert_allclose(found.arrays["outputs"], outputs[:, shown], rtol=1e-4, atol=1e-4)
    between = (along[1:] + along[:-1]) / 2
    wide = np.diff(found.arrays["breakpoints"]) > 1e-4
    np.testing.assert_array_equal(found.arrays["rows"][wide], view.part.locate(between)[wide])
    gates = found.arrays["gates"]
    assert len(gates) == len(part) - 1
    if zoom == 1.0:
        tie = np.abs(
            np.concatenate([pre.numpy() for pre in view.network.preactivations(view.domain.lift(along[1:-1]))], axis=1)
        )
        units = tie.argmin(axis=1)
        np.testing.assert_array_equal(gates, view.part.codes.layout.locate_units(units)[0])


def test_classes_along_a_segment_are_those_of_the_network():
    asked = session(seed=2)
    _, view = picture(asked)
    ends = np.array([[-0.95, -0.9], [0.9, 0.95]])
    found = ask(asked, {"ask": "segment", "version": view.version, "ends": ends.tolist()})
    spans, classes = found.arrays["class_ends"], found.arrays["classes"]
    assert spans[0, 0] == 0.0
    assert spans[-1, 1] == 1.0
    np.testing.assert_allclose(spans[1:, 0], spans[:-1, 1])
    assert len(set(classes.tolist())) > 1
    middles = ends[0] + spans.mean(axis=1)[:, None] * (ends[1] - ends[0])
    outputs = view.network(view.domain.lift(middles * view.scale)).numpy()
    wide = np.diff(spans, axis=1)[:, 0] > 1e-9
    np.testing.assert_array_equal(classes[wide], outputs.argmax(axis=1)[wide])
