"""Partitions by the tree of linear programs, through `rs.partition` and its table, against engines with vertices."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import nn

import reluscope as rs
from oracles.reference_vectors import VECTORS
from partitions.layered import gate_layers, network_of
from reluscope import budget
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Claim
from reluscope.geometry.cutting.crossing import UNDECIDED
from reluscope.partitions.exact import exact_rows
from reluscope.partitions.tree import tree, tree_facets
from reluscope.partitions.tree.tree_items import Block, Search
from reluscope.progress import RegionProgress
from reluscope.testing import default_network, pseudo_random_network
from reluscope.testing.strategies import degenerate_networks


def codes_of(part):
    return {row.tobytes() for row in part.codes.words}


def neighbours(part):
    names = [row.tobytes() for row in np.ascontiguousarray(part.codes.words)]
    return {frozenset((names[a], names[b])) for a, b in zip(part.facets.left, part.facets.right, strict=True)}


def bounded(part):
    return {row.tobytes() for row, is_bounded in zip(part.codes.words, part.is_bounded(), strict=True) if is_bounded}


def check_same(part, other, points=()):
    """All that both engines know is the same."""
    assert not part.has_vertices
    assert (part.claim, len(part)) == (other.claim, len(other))
    assert codes_of(part) == codes_of(other)
    assert neighbours(part) == neighbours(other)
    assert bounded(part) == bounded(other)
    if len(points):
        mine, its = part.locate(points), other.locate(points)
        np.testing.assert_array_equal(mine < 0, its < 0)
        found = mine >= 0
        np.testing.assert_array_equal(part.codes.words[mine[found]], other.codes.words[its[found]])


class Maxout(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 8), nn.Linear(4, 3)

    def forward(self, x):
        return torch.relu(self.second(self.first(x).reshape(-1, 4, 2).amax(dim=2)))


@pytest.fixture(scope="module")
def maxout():
    torch.manual_seed(1)
    return rs.load(Maxout().double(), input_shape=(3,))


@pytest.mark.few(2)
@pytest.mark.parametrize("vector", VECTORS[::2], ids=lambda v: f"{v.num_inputs}-{v.widths}")
def test_published_vectors(vector):
    net, dim = rs.load(pseudo_random_network(vector.num_inputs, vector.widths)), vector.num_inputs
    inside = rs.partition(net, rs.Box(-1, 1, dim), method="tree")
    points = np.random.default_rng(0).uniform(-1.2, 1.2, (300, dim))
    for method in ("incidence", "cellwise"):
        check_same(inside, rs.partition(net, rs.Box(-1, 1, dim), method=method), points)
    if vector.space < 300:
        everywhere = rs.partition(net, rs.Space(dim), method="tree")
        found = len(everywhere), int(everywhere.is_bounded().sum()), len(everywhere.facets)
        assert found == (vector.space, vector.bounded, vector.adjacent)
        assert everywhere.adjacency().sum(axis=0).max() == vector.max_degree


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(degenerate_networks(num_inputs=3, max_layers=2))
def test_degenerate_networks(layers):
    net = rs.load(layers)
    points = np.random.default_rng(0).uniform(-2, 2, (50, 3))
    check_same(rs.partition(net, rs.Box(-2, 2, 3), method="tree"), rs.partition(net, rs.Box(-2, 2, 3)), points)
    check_same(rs.partition(net, rs.Space(3), method="tree"), rs.partition(net, rs.Space(3)))


@settings(max_examples=6, deadline=None)
@given(gate_layers(2, kinds=("relu", "leaky", "clamp", "max")))
def test_all_gates_in_the_plane(layers):
    net, box = network_of(layers, 2), rs.Box(-2, 2, 2)
    listed, plane = rs.partition(net, box, method="tree"), rs.partition(net, box)
    assert codes_of(listed) == codes_of(plane)
    assert neighbours(listed) == neighbours(plane)


def test_a_planted_fault_is_seen(monkeypatch):
    net, box = rs.load(pseudo_random_network(3, (4, 4))), rs.Box(-1, 1, 3)
    truth = rs.partition(net, box)
    monkeypatch.setattr(tree_facets, "_bears_facet", lambda *question: UNDECIDED)
    monkeypatch.setattr(exact_rows, "MULTIPLICATIONS", 0)
    faulty = rs.partition(net, box, method="tree")
    assert neighbours(faulty) != neighbours(truth)
    assert faulty.adjacency_finding().claim is Claim.LOWER
    assert faulty.adjacency_finding().num_undecided > 0
    assert truth.adjacency_finding().claim is Claim.EXACT


def test_max_gates_everywhere(maxout):
    everywhere, box = rs.partition(maxout, rs.Space(3)), rs.Box(-3, 3, 3)
    assert everywhere.method == "tree of linear programs for an unbounded domain with max gates"
    assert everywhere.claim is Claim.EXACT
    listed, solid = rs.partition(maxout, box, method="tree"), rs.partition(maxout, box)
    check_same(listed, solid, np.random.default_rng(0).uniform(-3, 3, (200, 3)))
    assert codes_of(solid) <= codes_of(everywhere)
    seen = maxout.codes(np.random.default_rng(1).normal(size=(5_000, 3)) * 100).unique()
    assert {row.tobytes() for row in seen.words} <= codes_of(everywhere)
    beyond = everywhere.locate(np.full((1, 3), 1e6))
    np.testing.assert_array_equal(everywhere.codes.words[beyond], maxout.codes(np.full((1, 3), 1e6)).words)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("sizes", "because"), [([12, 6, 4, 1], "12 dimensions"), ([784, 4, 3, 2], "784 dimensions"), ([9, 3, 1], "9 dim")]
)
def test_many_inputs(sizes, because):
    net, dim = rs.load(default_network(sizes, seed=3)), sizes[0]
    part = rs.partition(net, rs.Box(-1, 1, dim))
    assert part.method.startswith(f"tree of linear programs for {because}")
    assert part.claim is Claim.EXACT
    np.testing.assert_array_equal(net.codes(part.witnesses).words, part.codes.words)
    np.testing.assert_array_equal(part.locate(part.witnesses), np.arange(len(part)))
    assert part.locate(np.full(dim, 3.0)).tolist() == [-1]
    seen = net.codes(np.random.default_rng(0).uniform(-1, 1, (2_000, dim))).unique()
    assert {row.tobytes() for row in seen.words} <= codes_of(part)
    # The regions of an affine image of lower dimension are connected through facets that flip at least one unit.
    facets = part.facets
    assert set(np.concatenate([facets.left, facets.right]).tolist()) == set(range(len(part)))
    assert (np.diff(facets.flip_offsets) >= 1).all()
    assert part.is_bounded().all()
    row = part[0]
    assert row.polyhedron.contains(row.witness)
    expected = net(row.witness[None]).numpy().ravel()
    found = row.map.weight.numpy()[0] @ row.witness + row.map.bias.numpy()[0]
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.slow
def test_the_same_regions_in_many_inputs_as_in_few():
    """Inputs that nothing reads change nothing."""
    layers = pseudo_random_network(3, (6, 4))
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(12, 12)))[0][:3]
    wide = rs.load([(layers[0][0] @ turn, layers[0][1]), *layers[1:]])
    part, few = rs.partition(wide, rs.Space(12)), rs.partition(rs.load(layers), rs.Space(3))
    assert (codes_of(part), neighbours(part)) == (codes_of(few), neighbours(few))
    assert not part.is_bounded().any()


def test_slices_obey_the_law():
    net = rs.load(default_network([20, 6, 4, 1]))
    generator = np.random.default_rng(0)
    domain = rs.Slice(generator.normal(size=20), generator.normal(size=(3, 20)), rs.Box(-1, 1, 3))
    part, restricted = rs.partition(net, domain, method="tree"), rs.partition(net.restrict(domain), domain.window)
    check_same(part, restricted)
    several = rs.partitions(net, [domain, domain], method="tree")
    assert [codes_of(one) for one in several] == [codes_of(part)] * 2


def test_what_lists_cannot_say(tmp_path):
    part = rs.partition(rs.load(pseudo_random_network(3, (4,))), rs.Box(-1, 1, 3), method="tree")
    for ask in (lambda: part.vertices, lambda: part.region_vertices, lambda: part.outputs, lambda: part[0].vertices):
        with pytest.raises(InputError, match=r'corners of regions are not known.*take method="cellwise"'):
            ask()
    for ask in (part.volumes, lambda: part[0].volume):
        with pytest.raises(InputError, match=r"exact volumes are not known.*estimate them with rs\.region_volumes"):
            ask()
    with pytest.raises(InputError, match="bounded lines and planes"):
        rs.decision_boundary(part)
    with pytest.raises(ShapeError, match="3 coordinates"):
        part.locate(np.zeros(2))
    with pytest.raises(InputError, match=r"^domains of at most 10 dimensions are certified"):
        rs.certify(rs.partition(rs.load(default_network([12, 2, 1])), rs.Box(-1, 1, 12)))
    for method in ("cellwise", "incidence"):
        with pytest.raises(InputError, match=f"method='{method}' does not cover 12 dimensions"):
            rs.partition(rs.load(default_network([12, 2, 1])), rs.Box(-1, 1, 12), method=method)


def test_tables_and_notebooks():
    part = rs.partition(rs.load(default_network([12, 4, 1])), rs.Space(12))
    table = part.to_table()
    assert table.num_rows == len(part)
    assert table.column_names == ["code", *(f"witness_{axis}" for axis in range(12))]
    shown = part._repr_html_()
    assert "12 dimensions" in shown
    assert "facet_columns" not in vars(part)  # nothing was looked for just to be shown
    assert repr(part) == f"Partition({len(part)} regions, EXACT, of all of R^12)"
    finding = part.finding()
    assert (int(finding), finding.claim, finding.interval) == (len(part), Claim.EXACT, None)


@pytest.mark.parametrize("domain", [rs.Box(-1, 1, 3), rs.Space(3)], ids=lambda d: d.describe())
def test_storage(tmp_path, domain):
    net = rs.load(pseudo_random_network(3, (4, 4)))
    part = rs.partition(net, domain, method="tree")
    part.save(tmp_path / "part.arrow")
    again = rs.Partition.load(tmp_path / "part.arrow", net)
    check_same(again, part)
    assert again.finding() == part.finding()
    alone = rs.Partition.load(tmp_path / "part.arrow")
    np.testing.assert_array_equal(alone.witnesses, part.witnesses)
    with pytest.raises(InputError, match=r"loaded without one: Partition\.load\(path, network=net\)"):
        alone.adjacency()
    if isinstance(domain, rs.Space):
        with pytest.raises(InputError, match="loaded without one"):
            alone.is_bounded()
    else:
        assert alone.is_bounded().all()


@pytest.mark.parametrize("regions", [0, 1, 60])
def test_budgets_give_lower_bounds(regions):
    net = rs.load(pseudo_random_network(3, (8, 8)))
    part = rs.partition(net, rs.Space(3), method="tree", budget=rs.Budget(regions=regions))
    finding = part.finding()
    assert finding.claim == Claim.LOWER
    assert part.note.partition(":")[0] == f"budget of {regions:,} regions"
    # Every open cell is sure to hold a region of its own.
    assert regions <= len(part) < int(finding) == len(part) + part.num_open <= 654
    assert finding.interval == (int(finding), np.inf)
    part.adjacency()  # facets to regions that are missing are no reason for a warning


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by 50 ms whenever it is looked at, so that no machine is too slow; how often that was."""
    looks = []
    monkeypatch.setattr(budget.time, "time", lambda: looks.append(None) or 1e9 + 0.05 * len(looks))
    return looks


@pytest.mark.slow
def test_a_budget_of_time_is_kept_where_one_cell_has_many_units(clock):
    net = rs.load(default_network([200, 150, 150, 2]))
    part = rs.partition(net, rs.Box(-1, 1, 200), budget=rs.Budget(seconds=0.3))  # all of it would never end
    assert part.claim is Claim.LOWER
    assert part.num_open > 0
    assert len(clock) < 15


@pytest.mark.parametrize("after", [0, 2])
@pytest.mark.parametrize("place", ["gate", "search", "batch"])
def test_ctrl_c_keeps_the_finished_regions(after, place, monkeypatch):
    net, calls = rs.load(pseudo_random_network(3, (8, 8))), iter(range(10**9))
    owner, name = {"gate": (Block, "step"), "search": (Search, "step"), "batch": (tree, "tree_batch")}[place]
    original = getattr(owner, name)

    def interrupted(*arguments):
        if next(calls) == after:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.warns(UserWarning, match="interrupted.*LOWER"):
        part = rs.partition(net, rs.Space(3), method="tree")
    assert (part.claim, part.note) == (Claim.LOWER, "interrupted")
    assert len(part) <= int(part.finding()) <= 654
    assert part.finding().interval[1] == np.inf
    if len(part):
        np.testing.assert_array_equal(net.codes(part.witnesses).words, part.codes.words)


def test_ctrl_c_while_progress_is_shown(monkeypatch):
    from contextlib import contextmanager

    from reluscope import effort

    class Striking(RegionProgress):
        def __call__(self, number, done):
            raise KeyboardInterrupt

    @contextmanager
    def striking(*arguments, **options):
        yield Striking()

    monkeypatch.setattr(effort, "counting_regions", striking)
    with pytest.warns(UserWarning, match="interrupted"):
        part = rs.partition(rs.load(pseudo_random_network(3, (8, 8))), rs.Space(3), method="tree")
    assert len(part) > 0
    assert part.note == "interrupted"
    assert int(part.finding()) <= 654


@pytest.mark.slow
def test_an_executor_changes_nothing():
    net = rs.load(default_network([9, 8, 6, 1], seed=2))
    alone = rs.partition(net, rs.Box(-1, 1, 9))
    with ThreadPoolExecutor(1) as executor:
        together = rs.partition(net, rs.Box(-1, 1, 9), executor=executor)
    np.testing.assert_array_equal(together.codes.words, alone.codes.words)
    assert together.claim is Claim.EXACT


def test_tasks_share_one_budget(clock):
    net = rs.load(default_network([30, 14, 14, 1]))
    with ThreadPoolExecutor(1) as executor:
        part = rs.partition(net, rs.Box(-1, 1, 30), budget=rs.Budget(seconds=0.3), executor=executor)
    assert (part.claim, part.note.partition(":")[0]) == (Claim.LOWER, "budget of 0.3 s")
    assert part.num_open > 0
    # Some 250 tasks find at their first look that time is up; with a budget of its own each would look seven times.
    assert len(clock) < 600


def test_rounding_leaves_an_interval(monkeypatch):
    from reluscope.geometry.cutting import crossing, max_tree

    net = network_of([("affine", np.eye(3), np.zeros(3)), ("max", [[0, 1, 2]])], 3)
    monkeypatch.setattr(max_tree, "find_positive", lambda *rest: (crossing.UNDECIDED, 0))
    part = rs.partition(net, rs.Box(-1, 1, 3), method="tree")
    assert part.num_undecided > 0
    assert part.finding().claim is Claim.LOWER
    assert part.finding().interval[1] == np.inf
