"""Partitions of networks whose gates jump, against the fuzzer's oracle, which holds pieces and joins nothing."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch

import reluscope as rs
from fuzzer import true_layers, truth
from reluscope.errors import DiscontinuousNetworkError, InputError
from reluscope.networks.building.builder import GraphBuilder

# Breakpoints, slopes and intercepts of one unit: steps, JumpReLUs, falling jumps, several, some of them at one place.
GATES = {
    "step": ([0.0], [0.0, 0.0], [0.0, 1.0]),
    "jumprelu": ([0.5], [0.0, 1.0], [0.0, 0.0]),
    "jumprelu below zero": ([-0.5], [0.0, 1.0], [0.0, 0.0]),
    "falling": ([0.25], [1.0, 1.0], [1.0, -1.0]),
    "kink and jump": ([-0.5, 0.5], [0.0, 1.0, 0.5], [0.0, 0.5, -2.0]),
    "two at one place": ([0.25, 0.25, 1.0], [0.0, 3.0, 1.0, 0.0], [-1.0, 5.0, 0.0, 0.0]),
    "relu": ([0.0], [0.0, 1.0], [0.0, 0.0]),
}


def network(layers):
    """Return a network of dense layers and gates, and the oracle's form of it."""
    builder, exact = GraphBuilder(), []
    value = builder.input((len(layers[0][0][0]),))
    for layer in layers:
        if isinstance(layer, int):
            if layer < value.shape[0]:
                value = builder.top_k(value, layer, 0)
                exact.append(true_layers.TrueTop(1, layer))
        elif isinstance(layer, str):
            points, slopes, intercepts = GATES[layer]
            value = builder.pointwise(value, layer, points, slopes, intercepts, may_jump=True)
            pieces = tuple(zip(map(Fraction, slopes), map(Fraction, intercepts), strict=True))
            units = value.shape[0]
            exact.append(true_layers.TruePointwise((tuple(map(Fraction, points)),) * units, (pieces,) * units))
        else:
            weight, bias = (np.array(part, dtype=float) for part in layer)
            value = builder.linear(value, torch.from_numpy(weight), torch.from_numpy(bias))
            rows = [tuple(map(Fraction, row)) for row in weight.tolist()]
            exact.append(true_layers.Dense(tuple(rows), tuple(map(Fraction, bias.tolist()))))
    return builder.build(value), exact


def dyadic(generator, rows, columns):
    return generator.integers(-4, 5, size=(rows, columns)) / 4, generator.integers(-4, 5, size=rows) / 4


def drawn(seed, dim):
    """Return a small network of drawn gates; some rows come twice, or turned round."""
    generator = np.random.default_rng(seed)
    widths = [dim, *generator.integers(1, 5, size=generator.integers(1, 4))]
    layers = []
    for before, after in pairwise(widths):
        weight, bias = dyadic(generator, after, before)
        if after > 1 and generator.random() < 0.5:
            weight[-1], bias[-1] = (weight[0], bias[0]) if generator.random() < 0.5 else (-weight[0], -bias[0])
        layers += [(weight, bias), str(generator.choice(list(GATES)))]
    return network([*layers, dyadic(generator, 2, widths[-1])])


def drawn_tops(seed, dim):
    """Return a small network that compares units for the largest; some are equal, or dead, and tie all over."""
    generator = np.random.default_rng(seed)
    first, last = dyadic(generator, 5, dim), dyadic(generator, 2, 4)
    for weight, bias in (first,):
        weight[3], bias[3] = weight[0], bias[0]
        weight[4], bias[4] = 0.0, (-1.0, 0.25)[seed % 2]
    between = dyadic(generator, 4, 5)
    gates = [["relu", 2], [2, "relu"], [3, 1], [1, "jumprelu"]][seed % 4]
    middle = [gates[0], gates[1], between] if seed % 4 == 0 else [gates[0], between, gates[1]]
    tail = dyadic(generator, 2, 4) if seed % 4 == 0 else last
    return network([first, *middle, *([] if seed % 4 else ["relu"]), tail])


def box(dim):
    rows = []
    for axis in range(dim):
        for sign in (1, -1):
            rows.append((*(Fraction(sign * (i == axis)) for i in range(dim)), Fraction(2)))
    return truth.TrueDomain(dim, tuple(rows))


def rows_of(codes):
    return [tuple(row) for row in codes.to_array().tolist()]


@pytest.mark.few(15)
@pytest.mark.parametrize("method", ["auto", "tree"])
@pytest.mark.parametrize("seed", range(24))
def test_regions_are_those_of_the_oracle(seed, method):
    dim = 1 + seed % 3
    net, exact = drawn(seed, dim)
    known = truth.Truth(exact, box(dim), seconds=60.0)
    part = rs.partition(net, rs.Box(-2, 2, dim), method=method)
    assert sorted(rows_of(part.codes)) == sorted(cell.code for cell in known.regions)
    assert str(part.claim) == "EXACT"
    place = {cell.code: row for row, cell in enumerate(known.regions)}
    order = [place[code] for code in rows_of(part.codes)]
    if method == "auto":
        np.testing.assert_allclose(part.volumes(), [float(known.volumes[row]) for row in order], atol=1e-12)
    maps = part.maps
    for row, weight, bias in zip(order, maps.weight.tolist(), maps.bias.tolist(), strict=True):
        forms = [[float(entry) for entry in form] for form in known.regions[row].outputs]
        np.testing.assert_allclose(np.column_stack([weight, bias]), forms, atol=1e-12)
    assert part.locate(part.witnesses).tolist() == list(range(len(part)))


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(12))
def test_regions_by_the_largest_are_those_of_the_oracle(seed):
    dim = 1 + seed % 3
    net, exact = drawn_tops(seed, dim)
    known = truth.Truth(exact, box(dim), seconds=60.0)
    part = rs.partition(net, rs.Box(-2, 2, dim))
    assert sorted(rows_of(part.codes)) == sorted(cell.code for cell in known.regions)
    assert str(part.claim) == "EXACT"
    assert "top-k gates" in part.method
    place = {cell.code: row for row, cell in enumerate(known.regions)}
    volumes = [float(known.volumes[place[one]]) for one in rows_of(part.codes)]
    np.testing.assert_allclose(part.volumes(), volumes, atol=1e-12)
    maps = part.maps
    for code, weight, bias in zip(rows_of(part.codes), maps.weight.tolist(), maps.bias.tolist(), strict=True):
        forms = [[float(entry) for entry in form] for form in known.regions[place[code]].outputs]
        np.testing.assert_allclose(np.column_stack([weight, bias]), forms, atol=1e-12)
    assert part.locate(part.witnesses).tolist() == list(range(len(part)))
    for found in rs.regions(net, part.witnesses[:5], domain=rs.Box(-2, 2, dim)):
        (code,) = rows_of(found.code)
        assert found.polyhedron.volume() == pytest.approx(float(known.volumes[place[code]]))


@pytest.mark.few(11)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("draw", [drawn, drawn_tops])
def test_regions_of_a_whole_space(draw, seed):
    dim = 1 + seed % 2
    net, exact = draw(100 + seed, dim)
    known = truth.Truth(exact, truth.TrueDomain(dim, ()), seconds=60.0)
    part = rs.partition(net, rs.Space(dim))
    assert sorted(rows_of(part.codes)) == sorted(cell.code for cell in known.regions)
    bounded = {cell.code for cell in known.regions if cell.cone.is_bounded}
    assert {code for code, inside in zip(rows_of(part.codes), part.is_bounded(), strict=True) if inside} == bounded
    assert rs.count(net, rs.Space(dim)).value == len(known.regions)


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(6))
def test_regions_at_points_are_rows_of_the_partition(seed):
    net, _ = drawn(200 + seed, 2)
    part = rs.partition(net, rs.Box(-2, 2, 2))
    for row, found in enumerate(rs.regions(net, part.witnesses, domain=rs.Box(-2, 2, 2))):
        assert rows_of(found.code) == rows_of(part.codes[row : row + 1])
        assert found.polyhedron.volume() == pytest.approx(part.volumes()[row])
        torch.testing.assert_close(found.map.weight, part.maps.weight[row : row + 1])


def test_a_plane_through_more_inputs():
    net, exact = drawn(7, 4)
    plane = rs.Slice(np.zeros(4), np.eye(2, 4), rs.Box(-2, 2, 2))
    embedding = tuple(tuple(Fraction(int(i == j)) for j in range(3)) if i < 2 else (Fraction(0),) * 3 for i in range(4))
    known = truth.Truth(exact, truth.TrueDomain(2, box(2).rows, embedding), seconds=60.0)
    part = rs.partition(net, plane)
    assert sorted(rows_of(part.codes)) == sorted(cell.code for cell in known.regions)


def test_the_value_beside_a_jump_is_that_of_the_region():
    net, _ = network([([[1.0]], [0.0]), "step", ([[2.0]], [1.0])])
    part = rs.partition(net, rs.Box(-1, 1, 1))
    offsets, ids = part.region_vertices
    seen = [part.outputs[ids[a:b]].ravel().tolist() for a, b in pairwise(offsets)]
    assert sorted(seen) == [[1.0, 1.0], [3.0, 3.0]]
    assert net([[0.0]]).item() == 1.0


def test_a_step_of_a_unit_that_is_dead_on_a_region():
    # sign(relu(x)): below zero the second gate stands on its breakpoint everywhere, and says 0.
    net, exact = network([([[1.0]], [0.0]), "relu", ([[1.0]], [0.0]), "step", ([[1.0]], [0.0])])
    part = rs.partition(net, rs.Space(1))
    assert sorted(rows_of(part.codes)) == [(0, 0), (1, 1)]
    assert len(truth.Truth(exact, truth.TrueDomain(1, ())).regions) == 2


def test_files_keep_what_jumps(tmp_path):
    net, _ = drawn(3, 2)
    part = rs.partition(net, rs.Box(-2, 2, 2))
    part.save(tmp_path / "part.arrow")
    again = rs.Partition.load(tmp_path / "part.arrow")
    assert again.jumps == part.jumps == net.jumps != ()
    assert rows_of(again.codes) == rows_of(part.codes)
    with pytest.raises(DiscontinuousNetworkError, match=r"Partition.adjacency rests on a continuous network"):
        again.adjacency()


def test_regions_stream_to_a_file(tmp_path):
    net, _ = drawn(4, 3)
    part = rs.partition(net, rs.Box(-2, 2, 3))
    streamed = rs.stream(net, rs.Box(-2, 2, 3), tmp_path / "regions.parquet")
    assert str(streamed.claim) == "EXACT"
    assert len(streamed) == len(part)


def test_the_notebook_shows_it():
    net, _ = drawn(3, 2)
    page = rs.partition(net, rs.Box(-2, 2, 2))._repr_html_()
    assert "share a facet" not in page


@pytest.mark.parametrize(
    "ask",
    [
        lambda net, part: part.facets,
        lambda net, part: part.adjacency_finding(),
        lambda net, part: part.faces,
        lambda net, part: part.to_networkx(),
        lambda net, part: rs.decision_boundary(part),
        lambda net, part: rs.decision_boundary(net, rs.Box(-2, 2, 2)),
        lambda net, part: rs.level_set(net, rs.Box(-2, 2, 2), level=0.0),
        lambda net, part: rs.neighbors(net, [0.1, 0.2]),
        lambda net, part: rs.count(net, rs.Box(-2, 2, 2), definition="affine"),
        lambda net, part: rs.forecast(net, rs.Box(-2, 2, 2)),
        lambda net, part: rs.coarse_partition(net, rs.Box(-2, 2, 2), rs.Budget(seconds=1)),
        lambda net, part: rs.robustness.certified_radius(net, [[0.1, 0.2]], norm="l2"),
    ],
)
def test_what_rests_on_continuity_is_refused(ask):
    net, _ = network([(np.eye(2), [0.0, 0.0]), "step", (np.ones((2, 2)), [0.0, 0.0])])
    part = rs.partition(net, rs.Box(-2, 2, 2))
    with pytest.raises(DiscontinuousNetworkError, match="rests on a continuous network, and 'step' jumps"):
        ask(net, part)


@pytest.mark.parametrize(
    "ask",
    [
        lambda net, box: rs.partition(net, box, method="incidence"),
        lambda net, box: rs.certify(rs.partition(net, box)),
    ],
)
def test_engines_that_rest_on_continuity_are_refused(ask):
    net, _ = network([(np.eye(2), [0.0, 0.0]), "step", (np.ones((2, 2)), [0.0, 0.0])])
    with pytest.raises(InputError, match="jump"):
        ask(net, rs.Box(-2, 2, 2))


def test_the_oracle_sees_a_planted_fault():
    _, exact = network([([[1.0]], [0.0]), "jumprelu", ([[1.0]], [-0.25]), "relu", ([[1.0]], [0.0])])
    assert len(truth.Truth(exact, box(1)).regions) == 2  # relu(jumprelu(x) - 1/4): the jump passes over 1/4
    exact[1] = true_layers.TruePointwise(((Fraction(0),),), exact[1].pieces)
    assert len(truth.Truth(exact, box(1)).regions) == 3  # without a jump it is met on the way


@pytest.mark.parametrize("seed", range(4))
def test_distances_to_the_boundaries_of_regions(seed):
    net, _ = drawn(300 + seed, 2)
    part = rs.partition(net, rs.Box(-2, 2, 2))
    found = rs.robustness.boundary_distance(net, part.witnesses, norm="l2", domain=rs.Box(-2, 2, 2))
    offsets, ids = part.region_vertices
    for row, (start, stop) in enumerate(pairwise(offsets)):
        corners = part.vertices[ids[start:stop]]  # in order, so that pictures may join them
        ways = np.roll(corners, -1, axis=0) - corners
        away = part.witnesses[row] - corners
        heights = (ways[:, 0] * away[:, 1] - ways[:, 1] * away[:, 0]) / np.linalg.norm(ways, axis=1)
        assert (heights > 0).all()
        assert found["boundary_distance"].value[row] == pytest.approx(heights.min())


def test_points_at_a_jump_are_in_doubt_and_their_errors_hold_the_jump():
    # 0.1 + 0.2 - 0.3 is 5.6e-17 in floats and 2.8e-17 in truth; x - x is zero in both, and no rounding.
    net, _ = network([([[0.1, 0.2, -0.3]], [0.0]), "step", ([[7.0]], [0.0])])
    at = net.at([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert [one.name for one in at.status] == ["IN_DOUBT", "CERTAIN", "TIED"]
    assert at.errors[0] >= 7 > 1e-6 > max(at.errors[1], at.errors[2])


def test_pictures(tmp_path):
    for dim in (1, 2):
        net, _ = drawn(3 + 2 * dim, dim)
        part = rs.partition(net, rs.Box(-2, 2, dim))
        figure = rs.plots.partition(part)
        figure.savefig(tmp_path / "part.png")
        with pytest.raises(DiscontinuousNetworkError, match="class"):
            rs.plots.partition(part, color="class")


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(6))
def test_largest_of_what_jumps(seed):
    generator = np.random.default_rng(seed)
    first, last = dyadic(generator, 4, 2), dyadic(generator, 2, 2)
    points, slopes, intercepts = GATES["falling"]
    builder = GraphBuilder()
    value = builder.linear(builder.input((2,)), *map(torch.from_numpy, first))
    value = builder.pointwise(value, "falling", points, slopes, intercepts, may_jump=True)
    net = builder.build(builder.linear(builder.maxout(value, 0, 2), *map(torch.from_numpy, last)))
    pieces = tuple(zip(map(Fraction, slopes), map(Fraction, intercepts), strict=True))
    exact = [
        true_layers.Dense(
            tuple(tuple(map(Fraction, row)) for row in first[0].tolist()), tuple(map(Fraction, first[1].tolist()))
        ),
        true_layers.TruePointwise((tuple(map(Fraction, points)),) * 4, (pieces,) * 4),
        true_layers.TrueLargest(((0, 1), (2, 3))),
    ]
    known = truth.Truth(exact, box(2), seconds=60.0)
    part = rs.partition(net, rs.Box(-2, 2, 2))
    assert "tree" in part.method
    assert sorted(rows_of(part.codes)) == sorted(cell.code for cell in known.regions)
    assert sorted(part.volumes()) == pytest.approx(sorted(map(float, known.volumes)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", ["auto", "tree"])
def test_units_that_are_never_among_the_largest_change_nothing(seed, method):
    """Of thousands of units some dozen can be among the largest in a window: the others are not compared."""
    dim = 1 + seed % 3
    generator = np.random.default_rng(seed)
    (weight, bias), last = dyadic(generator, 5, dim), dyadic(generator, 2, 5)
    few, _ = network([(weight, bias), 2, last])
    far = 40
    wide = np.concatenate([weight, generator.normal(size=(far, dim))]), np.concatenate([bias, np.full(far, -50.0)])
    order = generator.permutation(5 + far)
    first = wide[0][order], wide[1][order]
    outer = np.concatenate([last[0], generator.normal(size=(2, far))], axis=1)[:, order]
    many, _ = network([first, 2, (outer, last[1])])
    small, large = (rs.partition(net, rs.Box(-2, 2, dim), method=method) for net in (few, many))
    places = np.argsort(order)[:5]
    kept = large.codes.to_array()
    assert sorted(map(tuple, kept[:, places].tolist())) == sorted(rows_of(small.codes))
    assert not np.delete(kept, places, axis=1).any()
    assert str(large.claim) == "EXACT"
    if method == "auto":
        np.testing.assert_allclose(sorted(large.volumes()), sorted(small.volumes()), atol=1e-12)
    everywhere = rs.partition(many, rs.Space(dim), method="tree")
    assert len(everywhere) >= len(large)
