"""Partitions of three and more dimensions, and of whole spaces, through `rs.partition` and its table."""

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from oracles.reference_vectors import VECTORS
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.findings import Claim
from reluscope.partitions.table.boundedness import decide
from reluscope.testing.references import pseudo_random_network
from reluscope.testing.strategies import degenerate_networks

SOLID = [vector for vector in VECTORS if vector.num_inputs > 2]


def codes_of(part):
    return {row.tobytes() for row in part.codes.words}


def neighbours(part):
    names = [row.tobytes() for row in np.ascontiguousarray(part.codes.words)]
    return {frozenset((names[a], names[b])) for a, b in zip(part.facets.left, part.facets.right, strict=True)}


def default_network(sizes):
    import torch

    torch.manual_seed(0)
    layers = [torch.nn.Linear(a, b) for a, b in pairwise(sizes)]
    return rs.load([(one.weight.detach().double().numpy(), one.bias.detach().double().numpy()) for one in layers])


@pytest.mark.few(15)
@pytest.mark.parametrize("vector", SOLID, ids=lambda v: f"{v.num_inputs}-{v.widths}")
@pytest.mark.parametrize("method", ["incidence", "cellwise"])
@pytest.mark.parametrize("cells", [0, 5])
def test_published_vectors(vector, method, cells, chunks_of, monkeypatch):
    if cells:
        chunks_of(cells)
        monkeypatch.setattr(import_module("reluscope.partitions.cells.cellwise"), "BATCH", cells)
    net = rs.load(pseudo_random_network(vector.num_inputs, vector.widths))
    part = rs.partition(net, rs.Box(-1, 1, vector.num_inputs), method=method)
    assert (len(part), part.claim) == (vector.box, Claim.EXACT)
    assert part.volumes().sum() == pytest.approx(2.0**vector.num_inputs, rel=1e-9)
    assert part.is_bounded().all()
    np.testing.assert_array_equal(net.codes(part.witnesses).words, part.codes.words)


@pytest.mark.few(7)
@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v.num_inputs}-{v.widths}")
def test_whole_spaces(vector):
    net = rs.load(pseudo_random_network(vector.num_inputs, vector.widths))
    part = rs.partition(net, rs.Space(vector.num_inputs))
    found = len(part), int(part.is_bounded().sum()), len(part.facets)
    assert found == (vector.space, vector.bounded, vector.adjacent)
    assert (part.claim, part.num_undecided) == (Claim.EXACT, 0)
    assert "an unbounded domain" in part.finding().method
    assert (np.isfinite(part.volumes()) == part.is_bounded()).all()
    degrees = part.adjacency().sum(axis=0)
    assert degrees.max() == vector.max_degree
    np.testing.assert_array_equal(part.locate(part.witnesses), np.arange(len(part)))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("sizes", "count"), [([3, 16, 16, 1], None), ([3, 32, 32, 32, 1], 20724), ([8, 8, 8, 1], 2026)]
)
def test_counts_of_default_networks(sizes, count):
    net = default_network(sizes)
    box = rs.Box(-1, 1, sizes[0])
    part = rs.partition(net, box)
    if count is None:
        other = rs.partition(net, box, method="cellwise")
        assert (codes_of(part), neighbours(part)) == (codes_of(other), neighbours(other))
    else:
        assert len(part) == count
    assert part.claim is Claim.EXACT
    assert ("cell by cell for 8 dimensions" in part.finding().method) == (sizes[0] == 8)


@settings(max_examples=60, deadline=None)
@given(degenerate_networks(num_inputs=3, max_layers=2), st.sampled_from([0, 2]))
def test_both_engines_agree_on_degenerate_networks(layers, cells):
    from reluscope.partitions.complexes import incidence

    net, box = rs.load(layers), rs.Box(-2, 2, 3)
    with pytest.MonkeyPatch.context() as patch:
        if cells:
            patch.setattr(incidence, "_chunk_cells", lambda *_: cells)
        one = rs.partition(net, box)
    other = rs.partition(net, box, method="cellwise")
    assert codes_of(one) == codes_of(other)
    assert neighbours(one) == neighbours(other)
    assert (one.claim, other.claim) == (Claim.EXACT, Claim.EXACT)
    assert one.volumes().sum() == pytest.approx(64.0, rel=1e-9)


@pytest.mark.few(2)
@pytest.mark.parametrize("cells", [0, 2, 7])
def test_max_gates_in_space(cells, chunks_of):
    import torch
    from torch import nn

    if cells:
        chunks_of(cells)

    class Maxout(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(3, 12), nn.Linear(4, 3)

        def forward(self, x):
            return torch.relu(self.second(self.first(x).reshape(-1, 4, 3).amax(dim=2)))

    torch.manual_seed(1)
    net = rs.load(Maxout().double(), input_shape=(3,))
    part = rs.partition(net, rs.Box(-3, 3, 3))
    assert part.claim is Claim.EXACT
    assert len(codes_of(part)) == len(part)
    assert part.volumes().sum() == pytest.approx(216.0, rel=1e-9)
    points = np.random.default_rng(0).uniform(-3, 3, (20_000, 3))
    seen = net.codes(points).unique()
    assert {row.tobytes() for row in seen.words} <= codes_of(part)
    if cells:
        chunks_of(10_000)
        whole = rs.partition(net, rs.Box(-3, 3, 3))
        assert (codes_of(part), neighbours(part)) == (codes_of(whole), neighbours(whole))


def test_facets_flip_the_units_that_bend_there():
    net = rs.load([(np.vstack([np.eye(3), np.eye(3)[:1]]), np.zeros(4)), (np.ones((1, 4)), np.zeros(1))])
    part = rs.partition(net, rs.Box(-1, 1, 3))
    assert len(part) == 8
    flips = sorted(tuple(sorted(part.facets.flips_at(facet)[:, 1].tolist())) for facet in range(len(part.facets)))
    assert flips == [(0, 3)] * 4 + [(1,)] * 4 + [(2,)] * 4


def test_slices_of_three_dimensions_obey_the_law():
    generator = np.random.default_rng(0)
    layers = [(generator.normal(size=(6, 5)), generator.normal(size=6)), (np.ones((1, 6)), np.zeros(1))]
    net = rs.load(layers)
    domain = rs.Slice(generator.normal(size=5), generator.normal(size=(3, 5)), rs.Box(-1, 1, 3))
    part, restricted = rs.partition(net, domain), rs.partition(net.restrict(domain), domain.window)
    assert (codes_of(part), neighbours(part)) == (codes_of(restricted), neighbours(restricted))
    np.testing.assert_array_equal(net.codes(domain.lift(part.witnesses)).words, part.codes.words)


def test_polyhedra_in_space():
    net = rs.load(pseudo_random_network(3, (8,)))
    simplex = rs.Polyhedron(np.vstack([-np.eye(3), np.ones((1, 3)), np.ones((1, 3))]), [0.0, 0, 0, 2, 3])
    parts = [rs.partition(net, simplex, method=method) for method in ("incidence", "cellwise")]
    assert codes_of(parts[0]) == codes_of(parts[1])
    assert neighbours(parts[0]) == neighbours(parts[1])
    for part in parts:
        assert part.volumes().sum() == pytest.approx(8 / 6)


@pytest.mark.slow
def test_rows_of_the_table():
    net = rs.load(pseudo_random_network(3, (4, 4)))
    for domain in (rs.Box(-1, 1, 3), rs.Space(3)):
        part = rs.partition(net, domain)
        for row in part:
            assert row.polyhedron.contains(row.witness)
            assert all(row.polyhedron.contains(corner, 1e-7) for corner in row.vertices)
            # A polyhedron is its rounded rows, and rays of the region may not be rays of these.
            rows = -row.polyhedron.A[None]
            (is_bounded,), (is_proved,) = decide(rows, 1e-13 * np.abs(rows))
            assert not is_proved or is_bounded == part.is_bounded()[row.index] == row.polyhedron.is_bounded()
            np.testing.assert_allclose(
                row.map.weight.numpy().ravel() @ row.witness + row.map.bias.numpy().ravel(),
                net(row.witness[None]).numpy().ravel(),
                atol=1e-9,
            )
        table = part.to_table()
        assert table.num_rows == len(part)


@pytest.mark.slow
def test_polygons_of_unbounded_planes_are_where_they_are():
    net = rs.load(pseudo_random_network(2, (8, 8)))
    part = rs.partition(net, rs.Space(2))
    np.testing.assert_array_equal([row.polyhedron.contains(row.witness) for row in part], True)


def test_points_on_boundaries_lie_in_the_lowest_row():
    net = rs.load([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    part = rs.partition(net, rs.Box(-1, 1, 3))
    assert part.locate(np.zeros(3)).tolist() == [0]
    points = np.array([[0.0, 0.5, 0.5], [2.0, 0.0, 0.0], [-0.5, -0.5, -0.5], [1.0, 1.0, 1.0]])
    found = part.locate(points)
    for point, row in zip(points, found, strict=True):
        holders = [index for index in range(8) if part[index].polyhedron.contains(point, 1e-9)]
        assert row == (holders[0] if holders else -1)


@pytest.mark.slow
def test_storage(tmp_path):
    net = rs.load(pseudo_random_network(3, (4, 4)))
    wedge = rs.Polyhedron([[1.0, 0, 0]], [0.5])
    for domain in (rs.Box(-1, 1, 3), rs.Space(3), wedge):
        part = rs.partition(net, domain)
        part.save(tmp_path / "part.arrow")
        again = rs.Partition.load(tmp_path / "part.arrow", net)
        assert (codes_of(again), neighbours(again)) == (codes_of(part), neighbours(part))
        assert again.domain.describe() == part.domain.describe()
        assert again.finding() == part.finding()
        alone = rs.Partition.load(tmp_path / "part.arrow")
        with pytest.raises(InputError, match="loaded without one"):
            alone.locate(np.zeros(3))


@pytest.mark.parametrize("domain", [rs.Box(-1, 1, 3), rs.Space(3)], ids=lambda d: d.describe())
def test_budgets_give_lower_bounds(domain, chunks_of, monkeypatch):
    chunks_of(4)
    monkeypatch.setattr(import_module("reluscope.partitions.cells.cellwise"), "BATCH", 4)
    net = rs.load(pseudo_random_network(3, (8, 8)))
    every = rs.partition(net, domain)
    for number in (1, 20, 60):
        part = rs.partition(net, domain, budget=rs.Budget(regions=number))
        finding = part.finding()
        assert finding.claim is Claim.LOWER
        assert number <= len(part) <= int(finding) <= len(every) <= finding.interval[1]
        assert codes_of(part) <= codes_of(every)


def test_an_executor_changes_nothing(chunks_of):
    chunks_of(6)
    net = rs.load(pseudo_random_network(3, (8, 8)))
    alone = rs.partition(net, rs.Box(-1, 1, 3))
    with ThreadPoolExecutor(2) as executor:
        together = rs.partition(net, rs.Box(-1, 1, 3), executor=executor)
    assert (codes_of(alone), neighbours(alone)) == (codes_of(together), neighbours(together))
    assert together.claim is Claim.EXACT


def test_what_is_not_covered():
    from torch import nn

    net = rs.load(pseudo_random_network(3, (3,)))
    with pytest.raises(InputError, match=r"'incidence' does not cover an unbounded domain.*leave method out"):
        rs.partition(net, rs.Space(3), method="incidence")
    with pytest.raises(InputError, match="method must be auto, incidence, cellwise or tree, got 'tree2'"):
        rs.partition(net, rs.Space(3), method="tree2")
    pool = rs.load(nn.MaxPool1d(2), input_shape=(1, 4))
    with pytest.raises(InputError, match="'cellwise' does not cover an unbounded domain with max gates"):
        rs.partition(pool, rs.Space(4), method="cellwise")
    assert len(rs.partition(pool, rs.Box(-1, 1, 4))) == 4
    with pytest.raises(DegenerateGeometryError):
        rs.partition(net, rs.Polyhedron([[1.0, 0, 0], [-1.0, 0, 0]], [0.0, 0.0]))
    with pytest.raises(InputError, match="bounded lines and planes"):
        rs.decision_boundary(rs.partition(net, rs.Box(-1, 1, 3)))
