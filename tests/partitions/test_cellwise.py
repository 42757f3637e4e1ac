"""The cell-wise engine against published vectors, the other engine, and all codes by linear programs."""

from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from oracles.reference_vectors import VECTORS
from reluscope.budget import Budget
from reluscope.codes.packed import Codes
from reluscope.effort import Effort
from reluscope.errors import DegenerateGeometryError
from reluscope.partitions.cells.cellwise import supports, walk_cells
from reluscope.partitions.table.gathered_cells import gather
from reluscope.stopping import words_of
from reluscope.testing.references import pseudo_random_network
from reluscope.testing.strategies import degenerate_networks
from reluscope_studies.bounds import central_arrangement, zaslavsky


def cells_of(net, domain, **options):
    run = walk_cells(net, domain, Effort(Budget(**options)))
    return gather(run.parts, domain.dim, net.layout.num_words), run


def check_codes(net, found):
    """The code at every witness is the region's, but where rounding alone decides the sign of what is zero."""
    seen, expected = net.codes(found.witnesses).to_array(), Codes(found.words, net.layout).to_array()
    clear = np.hstack([np.abs(pre.numpy()) > 1e-9 for pre in net.preactivations(found.witnesses)])
    np.testing.assert_array_equal(seen[clear], expected[clear])
    assert (expected[~clear] == 0).all()


def neighbours(regions):
    """Pairs of codes, whatever the order of the rows."""
    names = [row.tobytes() for row in np.ascontiguousarray(regions.words)]
    left, right, _ = regions.facets.inner
    return {frozenset((names[a], names[b])) for a, b in zip(left, right, strict=True)}


def cube_as_polyhedron(dim, reach=1.0):
    return rs.Polyhedron(np.vstack([np.eye(dim), -np.eye(dim)]), np.full(2 * dim, reach))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v.num_inputs}-{v.widths}")
def test_published_vectors(vector):
    net = rs.load(pseudo_random_network(vector.num_inputs, vector.widths))
    found, run = cells_of(net, rs.Space(vector.num_inputs))
    assert (len(found.words), int(found.is_bounded.sum()), len(found.facets.left)) == (
        vector.space,
        vector.bounded,
        vector.adjacent,
    )
    degrees = np.bincount(np.concatenate([found.facets.left, found.facets.right]), minlength=len(found.words))
    assert degrees.max() == vector.max_degree
    assert degrees.mean() == pytest.approx(vector.mean_degree, abs=1e-4)
    assert (run.num_undecided, run.left, found.num_unmatched) == (0, (), 0)
    for domain in (rs.Box(-1, 1, vector.num_inputs), cube_as_polyhedron(vector.num_inputs)):
        boxed, _ = cells_of(net, domain)
        assert len(boxed.words) == vector.box
        assert boxed.is_bounded.all()


@pytest.mark.parametrize(("sizes", "count"), [([3, 16, 16, 1], 5028), ([6, 12, 12, 1], 7990)])
def test_counts_of_default_networks(sizes, count):
    import torch

    torch.manual_seed(0)
    layers = [torch.nn.Linear(a, b) for a, b in pairwise(sizes)]
    net = rs.load([(one.weight.detach().double().numpy(), one.bias.detach().double().numpy()) for one in layers])
    found, run = cells_of(net, rs.Space(3) if sizes[0] == 3 else rs.Box(-1, 1, 6))
    assert (len(found.words), run.num_undecided, found.num_unmatched) == (count, 0, 0)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 2).flatmap(lambda n: degenerate_networks(num_inputs=n, max_layers=3)), st.sampled_from([1.0, 4.0])
)
def test_degenerate_networks_as_the_other_engine_has_them(layers, reach):
    net = rs.load(layers)
    box = rs.Box(-reach, reach, net.num_inputs)
    part = rs.partition(net, box)
    expected = neighbours(part.geometry)
    for domain in (box, cube_as_polyhedron(net.num_inputs, reach)):
        found, run = cells_of(net, domain)
        assert {row.tobytes() for row in found.words} == {row.tobytes() for row in part.codes.words}
        assert neighbours(found) == expected
        assert (run.num_undecided, found.num_unmatched) == (0, 0)
        check_codes(net, found)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4).flatmap(lambda n: degenerate_networks(num_inputs=n, max_layers=2)))
def test_a_whole_space_holds_its_boxes(layers):
    net = rs.load(layers)
    everywhere, run = cells_of(net, rs.Space(net.num_inputs))
    assert (run.num_undecided, everywhere.num_unmatched) == (0, 0)
    check_codes(net, everywhere)
    inside, _ = cells_of(net, rs.Box(-2, 2, net.num_inputs))
    codes = {row.tobytes() for row in everywhere.words}
    assert {row.tobytes() for row in inside.words} <= codes
    assert neighbours(inside) <= neighbours(everywhere)
    assert len(codes) == len(everywhere.words)


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
def test_one_layer_makes_as_many_cells_as_hyperplanes_do(dim):
    generator = np.random.default_rng(dim)
    weight, bias = generator.standard_normal((7, dim)), generator.standard_normal(7)
    net = rs.load([(weight, bias), (np.ones((1, 7)), np.zeros(1))])
    found, _ = cells_of(net, rs.Space(dim))
    assert len(found.words) == int(zaslavsky(7, dim))
    central, _ = cells_of(rs.load([(weight, np.zeros(7)), (np.ones((1, 7)), np.zeros(1))]), rs.Space(dim))
    assert len(central.words) == int(central_arrangement(7, dim))
    assert not central.is_bounded.any()


def test_gates_of_several_pieces():
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 6), nn.Hardtanh(), nn.Linear(6, 5), nn.LeakyReLU(), nn.Linear(5, 4), nn.ReLU6())
    net = rs.load(model.double(), input_shape=(2,))
    box = rs.Box(-6, 6, 2)
    part = rs.partition(net, box)
    found, run = cells_of(net, box)
    assert run.num_undecided == 0
    assert {row.tobytes() for row in found.words} == {row.tobytes() for row in part.codes.words}
    assert neighbours(found) == neighbours(part.geometry)


def test_volumes_of_the_cells_fill_the_box():
    from scipy.spatial import ConvexHull

    net = rs.load(pseudo_random_network(4, (6, 5)))
    found, _ = cells_of(net, rs.Box(-2, 2, 4))
    total = 0.0
    for a, b in pairwise(found.corners.offsets):
        total += ConvexHull(found.corners.cell_vertices[a:b, :4]).volume
    assert total == pytest.approx(4.0**4, rel=1e-10)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6, 1e9])
def test_scale_changes_nothing(scale):
    layers = pseudo_random_network(3, (4, 4, 4))
    net = rs.load(layers)
    scaled = rs.load([(layers[0][0] / scale, layers[0][1]), *layers[1:]])
    for domain, larger in ((rs.Space(3), rs.Space(3)), (rs.Box(-1, 1, 3), rs.Box(-scale, scale, 3))):
        one, _ = cells_of(net, domain)
        other, run = cells_of(scaled, larger)
        assert {row.tobytes() for row in one.words} == {row.tobytes() for row in other.words}
        assert run.num_undecided == 0


def test_boxes_of_any_size_miss_nothing():
    net = rs.load(pseudo_random_network(3, (8, 8)))
    everywhere, _ = cells_of(net, rs.Space(3))
    huge, _ = cells_of(net, rs.Box(-1e7, 1e7, 3))
    assert len(huge.words) == len(everywhere.words) == 654


def test_unbounded_polyhedra():
    net = rs.load(pseudo_random_network(2, (8,)))
    wedge = rs.Polyhedron([[-1.0, 0.0], [0.0, -1.0]], [0.0, 0.0])
    found, _ = cells_of(net, wedge)
    points = np.random.default_rng(0).random((20_000, 2)) * 200
    seen = net.codes(np.concatenate([points, points / 100])).unique()
    assert {row.tobytes() for row in seen.words} <= {row.tobytes() for row in found.words}
    assert (found.witnesses > 0).all()
    assert 0 < found.is_bounded.sum() < len(found.words)


def test_domains_without_interior():
    net = rs.load(pseudo_random_network(2, (4,)))
    with pytest.raises(DegenerateGeometryError, match="must have an interior"):
        cells_of(net, rs.Polyhedron([[1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0]))
    with pytest.raises(DegenerateGeometryError, match="must have an interior"):
        cells_of(net, rs.Polyhedron([[1.0, 0.0], [-1.0, 0.0]], [0.0, -1.0]))


def test_networks_without_gates_have_one_region():
    net = rs.load([(np.eye(3), np.ones(3))])
    found, _ = cells_of(net, rs.Space(3))
    assert (len(found.words), found.is_bounded.tolist(), len(found.facets.left)) == (1, [False], 0)


def test_a_budget_leaves_whole_regions(monkeypatch):
    monkeypatch.setattr(import_module("reluscope.partitions.cells.cellwise"), "BATCH", 4)
    net = rs.load(pseudo_random_network(3, (8, 8)))
    every, _ = cells_of(net, rs.Box(-1, 1, 3))
    found, run = cells_of(net, rs.Box(-1, 1, 3), regions=20)
    assert words_of(run.stop) == "budget of 20 regions"
    assert sum(run.left) > 0
    assert 20 <= len(found.words) < len(every.words)
    assert {row.tobytes() for row in found.words} <= {row.tobytes() for row in every.words}
    assert neighbours(found) <= neighbours(every)


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_batches_change_nothing(monkeypatch, batch):
    net = rs.load(pseudo_random_network(3, (4, 4, 4)))
    every, _ = cells_of(net, rs.Space(3))
    monkeypatch.setattr(import_module("reluscope.partitions.cells.cellwise"), "BATCH", batch)
    found, _ = cells_of(net, rs.Space(3))
    assert {row.tobytes() for row in found.words} == {row.tobytes() for row in every.words}
    assert neighbours(found) == neighbours(every)


def test_max_gates_go_elsewhere():
    from torch import nn

    net = rs.load(nn.MaxPool1d(2), input_shape=(1, 4))
    assert supports(net) == "max gates"
    assert supports(rs.load(pseudo_random_network(2, (3,)))) is None


def test_codes_are_packed_as_everywhere():
    net = rs.load(pseudo_random_network(3, (8, 8)))
    found, _ = cells_of(net, rs.Box(-1, 1, 3))
    codes = Codes(found.words, net.layout)
    assert (codes.to_array() == net.codes(found.witnesses).to_array()).all()


@pytest.mark.parametrize("shift", [2e-14, 2e-10, 2e-3])
def test_facets_at_which_a_unit_is_all_but_zero_are_matched_or_counted(shift: float) -> None:
    # The second unit is positive everywhere, and within rounding of zero where the first one bends.
    network = rs.load([([[0.0, 1.0]], [1.0]), ([[1.0]], [shift]), ([[0.0]], [0.0])])
    for domain in (rs.Space(2), rs.Box(-3, 3, 2)):
        pairs = rs.partition(network, domain, method="cellwise").adjacency_finding()
        assert (int(pairs), pairs.claim) in [(1, rs.Claim.EXACT), (0, rs.Claim.LOWER)]


def test_volumes_do_not_hang_on_the_order_of_corners():
    """Qhull gives up on one order of the corners of one of the regions, which is not thin."""
    net = rs.load(
        [
            (
                [
                    [4.7366557121276855, -0.0730762854218483, -6.176666259765625, -0.12058091908693314],
                    [-1.3771306276321411, -1.9343461990356445, -1.574730634689331, -1.3714338541030884],
                    [1.5788853168487549, -0.024358762428164482, -2.0588886737823486, -0.04019363969564438],
                    [1.5788853168487549, -0.024358762428164482, -2.0588886737823486, -0.04019363969564438],
                ],
                [-14571.2158203125, 20.674591064453125, -4857.072265625, -4856.822265625],
            ),
            (
                [
                    [0.555558979511261, -0.635242223739624, 2.0954296588897705, 0.5341642498970032],
                    [-1.105544090270996, -0.5088754892349243, -1.4463471174240112, 0.761550784111023],
                    [1.0641800165176392, 1.7208635807037354, 0.5926409959793091, -1.0157991647720337],
                ],
                [0.0, 0.0, 0.0],
            ),
            ([[0.37400580273169115, -0.4321220955055568, -4.20730900498675]], [1.841628806479487]),
        ]
    )
    part = rs.partition(net, rs.Box([3000.0, 0.0, -0.5, -2999.25], [3002.5, 1.75, 0.75, -2998.0]), method="cellwise")
    assert part.volumes().sum() == pytest.approx(6.8359375, rel=1e-9)
    assert part.volumes().min() > 1e-7
