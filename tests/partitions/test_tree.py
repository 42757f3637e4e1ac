"""The tree of linear programs against published counts, rational splitting, and one program per prefix of a code."""

from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from oracles import fractions_plane
from oracles.codes_by_lp import codes_by_lp
from oracles.reference_vectors import VECTORS, Vector
from oracles.zaslavsky import num_cells, num_central_cells
from partitions.layered import GATES, gate_layers, network_of
from reluscope.budget import Budget
from reluscope.codes.packing import unpack_pieces
from reluscope.effort import Effort
from reluscope.errors import DegenerateGeometryError, ShapeError
from reluscope.geometry.cutting import crossing
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.table.boundedness import boundedness
from reluscope.partitions.tree.tree import TreeRegions, tree_regions
from reluscope.partitions.tree.tree_facets import tree_facets
from reluscope.progress import RegionProgress
from reluscope.stopping import words_of
from reluscope.testing import default_network, networks, pseudo_random_network, reference_networks, zigzag_network


def codes_of(network, regions):
    codes = set(map(tuple, unpack_pieces(regions.words, network.layout).tolist()))
    assert len(codes) == len(regions)
    return codes


def check(network, domain, regions):
    """Witnesses are strictly inside the domain and have their codes in a forward pass; nothing is open."""
    assert (regions.num_undecided, regions.num_open, words_of(regions.stop)) == (0, 0, "")
    assert (network.codes(regions.witnesses).words == regions.words).all()
    if isinstance(domain, rs.Box):
        assert ((regions.witnesses > domain.lo) & (regions.witnesses < domain.hi)).all()
    elif isinstance(domain, rs.Polyhedron):
        assert domain.contains(regions.witnesses).all()


@pytest.mark.few(7)
@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v.num_inputs}-{v.widths}")
def test_reference_vectors(vector: Vector):
    network, everywhere = from_arrays(pseudo_random_network(*vector[:2])), rs.Space(vector.num_inputs)
    box = rs.Box(-1, 1, vector.num_inputs)
    regions, inside = tree_regions(network, everywhere), tree_regions(network, box)
    check(network, everywhere, regions)
    check(network, box, inside)
    assert (len(regions), len(inside)) == (vector.space, vector.box)
    assert codes_of(network, inside) <= codes_of(network, regions)
    assert boundedness(network, everywhere, regions.words).is_bounded.sum() == vector.bounded
    assert boundedness(network, box, inside.words).is_bounded.all()


@pytest.mark.parametrize("seed", range(20))
def test_a_line_is_decided_wherever_it_is_asked(seed):
    """Slopes that nearly cancel have fewer digits than the resolution asks for, and known signs all the same."""
    net = from_arrays(default_network([1, 8, 8, 1], seed=seed))
    part, other = (rs.partition(net, rs.Space(1), method=method) for method in ("tree", "cellwise"))
    assert (part.claim, len(part), part.num_undecided) == ("EXACT", len(other), 0)
    assert set(map(bytes, part.codes.words)) == set(map(bytes, other.codes.words))


def test_a_root_within_rounding_of_another_stays_open():
    """relu(x) - (1 - t) relu(x) - t turns at 1 within its rounding: where another unit turns, too."""
    tiny = 2.0**-48
    first = from_arrays(
        [
            ([[1.0], [1.0]], [0.0, -1.0]),
            ([[1.0, 0.0], [tiny - 1.0, 0.0]], [0.0, 0.0]),
            ([[1.0, 1.0]], [-tiny]),
            ([[1.0]], [0.0]),
        ]
    )
    part = rs.partition(first, rs.Space(1), method="tree")
    assert len(part) <= 4
    assert part.claim == "LOWER" or len(part) == len(rs.certify(rs.partition(first, rs.Box(-9, 9, 1))))


@pytest.mark.few(5)
@pytest.mark.parametrize("vector", [v for v in VECTORS if v.space < 140], ids=lambda v: f"{v.num_inputs}-{v.widths}")
def test_reference_facets(vector: Vector):
    network, everywhere = from_arrays(pseudo_random_network(*vector[:2])), rs.Space(vector.num_inputs)
    regions = tree_regions(network, everywhere)
    facets = tree_facets(network, everywhere, regions)
    assert (len(facets), facets.num_unmatched) == (vector.adjacent, 0)
    degrees = Counter([*facets.left.tolist(), *facets.right.tolist()])
    assert max(degrees.values()) == vector.max_degree


def test_facets_at_which_several_units_change():
    # relu(x), then relu(a) and relu(2 a): cells 000 and 111 share a facet (no code lies between them).
    layers = [([[1.0, 0.0]], [0.0]), ([[1.0], [2.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
    network, box = from_arrays(layers), rs.Box(-1, 1, 2)
    regions = tree_regions(network, box)
    assert codes_of(network, regions) == {(0, 0, 0), (1, 1, 1)}
    facets = tree_facets(network, box, regions)
    assert (facets.left.tolist(), facets.right.tolist(), facets.num_unmatched) == ([0], [1], 0)


def test_facets_are_those_of_the_plane_engine():
    network, box = from_arrays(default_network([2, 6, 5, 1], seed=4)), rs.Box(-1, 1, 2)
    regions, plane = tree_regions(network, box), rs.partition(network, box)
    facets = tree_facets(network, box, regions)
    words = [regions.words[facets.left], regions.words[facets.right]]
    found = {frozenset(pair) for pair in zip(*([w.tobytes() for w in part] for part in words), strict=True)}
    codes = [w.tobytes() for w in plane.codes.words]
    inner = plane.facets
    truth = {frozenset((codes[i], codes[j])) for i, j in zip(inner.left.tolist(), inner.right.tolist(), strict=True)}
    assert found == truth


@pytest.mark.parametrize(("dim", "units"), [(1, 5), (3, 7), (5, 8), (9, 9)])
def test_arrangements(dim, units):
    generator = np.random.default_rng(dim)
    weight, bias = generator.normal(size=(units, dim)), generator.normal(size=units)
    output = (np.ones((1, units)), np.zeros(1))
    general, central = from_arrays([(weight, bias), output]), from_arrays([(weight, 0 * bias), output])
    assert len(tree_regions(general, rs.Space(dim))) == num_cells(units, dim)
    assert len(tree_regions(central, rs.Space(dim))) == num_central_cells(units, dim)
    assert len(tree_regions(central, rs.Box(-3, 3, dim))) == num_central_cells(units, dim)


def test_zero_biases_on_spaces_have_no_bounded_region():
    network = from_arrays([(weight, 0 * bias) for weight, bias in default_network([3, 5, 4, 1])])
    regions = tree_regions(network, rs.Space(3))
    check(network, rs.Space(3), regions)
    assert not boundedness(network, rs.Space(3), regions.words).is_bounded.any()


@given(networks(st.integers(1, 4), max_layers=3, max_width=3))
@settings(max_examples=12)
def test_degenerate_networks_by_linear_programs(parameters):
    dim = parameters[0][0].shape[1]
    network = from_arrays(parameters)
    for domain, box in ((rs.Box(-2, 2, dim), (-2.0, 2.0)), (rs.Space(dim), None)):
        regions = tree_regions(network, domain)
        check(network, domain, regions)
        assert codes_of(network, regions) == set(codes_by_lp(parameters, box=box))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_units_that_bend_on_one_hyperplane_are_decided_on_all_of_space(dim):
    """After a layer their constants are sums of floats, equal but for rounding; fractions know that they are equal."""
    first = (-np.eye(dim), np.full(dim, 0.75))
    second = (np.outer([-2.0, -1.75, 0.0], np.eye(dim)[0]), np.array([1.5, 1.3125, 0.0]))
    parameters = [first, second, (np.zeros((1, 3)), np.zeros(1))]
    network = from_arrays(parameters)
    regions = tree_regions(network, rs.Space(dim))
    check(network, rs.Space(dim), regions)
    assert codes_of(network, regions) == set(codes_by_lp(parameters, box=None))


@given(gate_layers(2, kinds=("relu", "leaky", "abs", "clamp", "softshrink", "max")))
@settings(max_examples=30)
def test_all_gates_by_rational_splitting(layers):
    network, box = network_of(layers, 2), rs.Box(-2, 2, 2)
    regions = tree_regions(network, box)
    check(network, box, regions)
    truth = {piece.code for piece in fractions_plane.split(layers, fractions_plane.rectangle(-2, 2))}
    assert codes_of(network, regions) == truth


def test_the_rational_oracle_sees_a_planted_fault(monkeypatch):
    layers = [("affine", np.array([[1.0, 0.5], [-0.25, 1.0]]), np.array([0.25, 0.5])), ("pointwise", *GATES["clamp"])]
    network, box = network_of(layers, 2), rs.Box(-2, 2, 2)
    truth = {piece.code for piece in fractions_plane.split(layers, fractions_plane.rectangle(-2, 2))}
    assert codes_of(network, tree_regions(network, box)) == truth
    from reluscope.partitions.tree import tree_coordinates

    faithful = tree_coordinates.Coordinates.forms
    monkeypatch.setattr(
        tree_coordinates.Coordinates,
        "forms",
        lambda self, coefficients, errors, exactly: faithful(self, coefficients * [1, 1, 1.5], errors, exactly),
    )
    assert codes_of(network, tree_regions(network, box)) != truth


def test_max_and_clamp_in_four_inputs():
    generator = np.random.default_rng(3)
    table = generator.integers(-4, 5, (7, 5)) / 4
    layers = [
        ("affine", table[:, :-1], table[:, -1]),
        ("max", [[0, 1, 2], [3, 4], [5, 6, 0]]),
        ("affine", generator.integers(-4, 5, (3, 3)) / 2, np.array([0.25, -0.5, 0.0])),
        ("pointwise", *GATES["clamp"]),
    ]
    network, box = network_of(layers, 4), rs.Box(-1, 1, 4)
    regions = tree_regions(network, box)
    check(network, box, regions)
    dense = np.random.default_rng(0).uniform(-1, 1, (40_000, 4))
    assert set(map(tuple, network.codes(dense).to_array().tolist())) <= codes_of(network, regions)


@pytest.mark.parametrize("reference", reference_networks(), ids=lambda reference: reference.name)
def test_reference_networks(reference):
    if "proper_activation" in reference.counts:
        network = from_arrays(reference.parameters)
        assert len(tree_regions(network, rs.Space(reference.num_inputs))) == reference.counts["proper_activation"]


def test_bounded_below_and_above_agree_on_polyhedra():
    network = from_arrays(pseudo_random_network(3, (4, 4, 4)))
    box = rs.Box([-1, -0.5, 0], [1, 2, 3])
    turned = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    codes = codes_of(network, tree_regions(network, box))
    assert codes_of(network, tree_regions(network, box.polyhedron)) == codes
    # The same rows with a redundant slanted one, so that no bounding box is read off.
    rows = np.concatenate([box.polyhedron.A @ np.eye(3), turned]), np.append(box.polyhedron.b, [9.0] * 3)
    assert codes_of(network, tree_regions(network, rs.Polyhedron(*rows))) == codes
    slanted = rs.Polyhedron(np.array([[1.0, 1, 1], [-1, 2, 0], [0, -1, -1], [0.5, 0, -2]]), [1.0, 1, 1, 1])
    regions = tree_regions(network, slanted)
    check(network, slanted, regions)
    assert boundedness(network, slanted, regions.words).is_bounded.all() == slanted.is_bounded()


def test_slices_are_searched_in_their_own_coordinates():
    network = from_arrays(default_network([5, 8, 6, 1], seed=3))
    plane = rs.Plane(np.zeros(5), np.ones(5), np.arange(5.0))
    regions = tree_regions(network, plane)
    assert codes_of(network, regions) == set(map(tuple, rs.partition(network, plane).codes.to_array().tolist()))
    assert regions.witnesses.shape[1] == 2


@pytest.mark.slow
def test_a_narrow_first_layer_is_the_same_network():
    network = from_arrays(default_network([40, 4, 4, 1], seed=1))
    box = rs.Box(0, 1, 40)
    regions = tree_regions(network, box)
    check(network, box, regions)
    assert regions.work["programs"] <= 2.5 * len(regions)
    truth = set(codes_by_lp(default_network([40, 4, 4, 1], seed=1), box=(0.0, 1.0)))
    assert codes_of(network, regions) == truth
    everywhere = tree_regions(network, rs.Space(40))
    assert codes_of(network, everywhere) >= truth


def test_order_of_units_and_positive_scales_do_not_matter():
    parameters = default_network([4, 6, 5, 1], seed=8)
    (first, bias), (second, shift), last = parameters
    order, scale = np.array([3, 1, 0, 5, 4, 2]), np.array([8.0, 0.25, 1.0, 2.0, 64.0, 1.0])
    other = [
        (first[order] * scale[:, None], bias[order] * scale),
        (second[:, order] / scale, shift),
        last,
    ]
    box = rs.Box(-1, 1, 4)
    mine = tree_regions(from_arrays(parameters), box)
    its = tree_regions(from_arrays(other), box)
    found = np.array(sorted(codes_of(from_arrays(other), its)))
    back = np.empty_like(found)
    back[:, order] = found[:, :6]
    back[:, 6:] = found[:, 6:]
    assert codes_of(from_arrays(parameters), mine) == set(map(tuple, back.tolist()))


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_scale_does_not_matter(size):
    (first, bias), *others = pseudo_random_network(3, (4, 4, 4))
    network = from_arrays([(first / size, bias), *others])
    assert len(tree_regions(network, rs.Box(-size, size, 3))) == 40
    assert len(tree_regions(network, rs.Space(3))) == 135


@pytest.mark.parametrize("regions", [0, 1, 50])
def test_a_budget_of_regions_leaves_a_lower_bound(regions):
    network = from_arrays(pseudo_random_network(3, (8, 8)))
    found = tree_regions(network, rs.Space(3), Effort(Budget(regions=regions)))
    assert words_of(found.stop).startswith(f"budget of {regions:,} regions")
    assert regions <= len(found) <= regions + 8
    assert len(found) < len(found) + found.num_open <= 654
    assert codes_of(network, found) <= codes_of(network, tree_regions(network, rs.Space(3)))


def test_a_budget_that_is_just_enough_is_enough():
    network = from_arrays(pseudo_random_network(2, (8,)))
    found = tree_regions(network, rs.Space(2), Effort(Budget(regions=37)))
    assert (len(found), found.num_open, words_of(found.stop)) == (37, 0, "")


def test_a_budget_of_time():
    network = from_arrays(default_network([30, 14, 14, 1]))
    found = tree_regions(network, rs.Box(-1, 1, 30), Effort(Budget(seconds=0.3)))
    assert words_of(found.stop) == "budget of 0.3 s"
    assert found.num_open > 0


def test_an_interruption_keeps_what_was_found():
    network = from_arrays(pseudo_random_network(3, (8, 8)))
    told = []

    class Pressed(RegionProgress):
        def __call__(self, number, share):
            told.append(number)
            if len(told) == 3:
                raise KeyboardInterrupt

    found = tree_regions(network, rs.Space(3), Effort(count=Pressed()))
    assert words_of(found.stop) == "interrupted"
    assert len(found) == sum(told)
    assert 0 < len(found) < len(found) + found.num_open <= 654


@pytest.mark.slow
def test_executors_find_the_same():
    network, domain = from_arrays(default_network([6, 9, 7, 1], seed=2)), rs.Box(-1, 1, 6)
    alone = tree_regions(network, domain)
    with ThreadPoolExecutor(1) as executor:
        threads = tree_regions(network, domain, Effort(executor=executor))
    np.testing.assert_array_equal(threads.words, alone.words)
    check(network, domain, threads)


class Dying(ThreadPoolExecutor):
    """An executor whose workers have died."""

    def submit(self, function, /, *args, **kwargs):
        future: Future = Future()
        future.set_exception(BrokenProcessPool("a worker died"))
        return future


def test_the_cells_of_a_lost_worker_are_searched_again():
    network = from_arrays(pseudo_random_network(3, (8, 8)))
    with Dying(1) as executor:
        assert len(tree_regions(network, rs.Space(3), Effort(executor=executor))) == 654


def test_processes_find_the_same():
    network, domain = from_arrays(pseudo_random_network(2, (11, 11))), rs.Space(2)
    with ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as executor:
        assert len(tree_regions(network, domain, Effort(executor=executor))) == 263


def test_networks_without_gates_and_gates_without_effect():
    assert len(tree_regions(from_arrays([(np.ones((1, 3)), np.zeros(1))]), rs.Space(3))) == 1
    dead = from_arrays([(np.zeros((2, 3)), np.array([-1.0, 2.0])), (np.ones((1, 2)), np.zeros(1))])
    assert codes_of(dead, tree_regions(dead, rs.Space(3))) == {(0, 1)}


def test_bad_domains():
    network = from_arrays(zigzag_network())
    with pytest.raises(ShapeError, match="the network has 1 inputs"):
        tree_regions(network, rs.Box(-1, 1, 2))
    with pytest.raises(DegenerateGeometryError, match="empty or flat"):
        tree_regions(network, rs.Polyhedron([[1.0], [-1.0]], [0.0, 0.0]))
    with pytest.raises(DegenerateGeometryError, match="full-dimensional"):
        tree_regions(network, rs.Polyhedron([[1.0], [-1.0]], [1.0, 1.0], [[1.0]], [0.5]))


def test_nothing_is_lost_silently_when_the_method_gives_up(monkeypatch):
    """A search that decides nothing counts every question as undecided, and what it returns is still true."""
    network = network_of([("affine", np.eye(3), np.zeros(3)), ("max", [[0, 1, 2]])], 3)
    from reluscope.geometry.cutting import max_tree

    monkeypatch.setattr(max_tree, "find_positive", lambda *rest: (crossing.UNDECIDED, 0))
    regions: TreeRegions = tree_regions(network, rs.Box(-1, 1, 3))
    assert len(regions) >= 1
    assert regions.num_undecided > 0
    assert (network.codes(regions.witnesses).words == regions.words).all()
