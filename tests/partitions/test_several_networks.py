"""Several networks at once: each as it would be alone, whatever its weights, and what is asked of them together."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.errors import InputError, ShapeError
from reluscope.networks.models.stacked_networks import StackedNetworks
from reluscope.partitions.cells import cell_count
from reluscope.testing import default_network

SQUARE = rs.Box(-1, 1, 2)


def stacked(seed, number, *widths, coarse=False):
    generator = np.random.default_rng(seed)
    layers = []
    for before, after in pairwise(widths):
        weight, bias = generator.normal(size=(number, after, before)), generator.normal(size=(number, after)) / 2
        layers.append((weight.round(), bias.round()) if coarse else (weight, bias))
    return layers


def alone(layers, index):
    return rs.load([(weight[index], bias[index]) for weight, bias in layers])


def codes(part):
    return {one.tobytes() for one in part.codes.words}


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), dim=st.integers(1, 3), coarse=st.booleans())
def test_each_is_counted_as_alone(seed, dim, coarse):
    widths = np.random.default_rng(seed).integers(1, 7, size=2).tolist()
    layers, box = stacked(seed, 4, dim, *widths, 1, coarse=coarse), rs.Box(-1, 1, dim)
    column = rs.count(layers, box)["num_regions"]
    for index in range(4):
        one = rs.count(alone(layers, index), box)
        assert (column.value[index], column.claims[index]) == (one.value, one.claim)


@pytest.mark.parametrize("domain", [SQUARE, rs.Polyhedron([[1.0, 2.0]], [0.7]).intersect(SQUARE.polyhedron)])
def test_each_is_partitioned_as_alone(domain):
    layers = stacked(3, 5, 2, 6, 5, 2)
    parts = rs.partitions(layers, domain)
    for index, part in enumerate(parts):
        one = rs.partition(alone(layers, index), domain)
        assert part.fingerprint == one.fingerprint
        assert codes(part) == codes(one)
        assert part.claim == one.claim == "EXACT"
        assert part.adjacency().nnz == one.adjacency().nnz
        sizes, others = (rs.region_volumes(each)["region_volume"].value.sum() for each in (part, one))
        assert sizes == pytest.approx(others)
        assert (part.locate(part.witnesses) == np.arange(len(part))).all()


def test_networks_that_are_there_already_are_taken_together():
    nets = [rs.load(default_network([2, 7, 1], seed=seed)) for seed in range(6)]
    stack = StackedNetworks.of(nets)
    assert stack is not None
    assert stack[4] is nets[4]
    numbers = rs.count(nets, SQUARE)["num_regions"]
    assert "together" in numbers.method
    assert [len(part) for part in rs.partitions(nets, SQUARE)] == numbers.value.tolist()
    modules = [torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.LeakyReLU(0.2), torch.nn.Linear(4, 1)) for _ in "ab"]
    leaky = [rs.load(module, 2) for module in modules]
    assert rs.count(leaky, SQUARE)["num_regions"].value.tolist() == [int(rs.count(net, SQUARE)) for net in leaky]


def test_networks_of_several_shapes_and_other_domains_go_one_by_one():
    nets = [rs.load(default_network([2, width, 1], seed=1)) for width in (3, 8)]
    assert StackedNetworks.of(nets) is None
    for domain in (SQUARE, rs.Space(2), rs.Segment([-1.0, 0.0], [1.0, 0.5]), rs.Box([-1e-6, -1.0], [1e-6, 1.0])):
        expected = [len(rs.partition(net, domain)) for net in nets]
        assert [len(part) for part in rs.partitions(nets, domain)] == expected
        assert rs.count(nets, domain)["num_regions"].value.tolist() == expected
        same = [nets[0], nets[0]]
        assert rs.count(same, domain)["num_regions"].value.tolist() == [expected[0]] * 2
    each = rs.partitions(nets, [SQUARE, rs.Box(0, 1, 2)])
    assert [part.domain.lo[0] for part in each] == [-1, 0]
    convex = rs.count(nets, SQUARE, definition="convex")
    assert convex["num_regions"].value.tolist() == [int(rs.count(net, SQUARE, definition="convex")) for net in nets]


def test_cells_in_doubt_and_facets_that_do_not_fit_are_told(monkeypatch):
    layers = stacked(5, 3, 2, 5, 1)
    truth = rs.count(layers, SQUARE)["num_regions"].value
    of = cell_count.NumberOfCells.of

    def doubting(networks, tolerance, patch):
        patch.in_doubt[patch.owners == 1] = True
        patch.facet_keys[np.flatnonzero(patch.owners[patch.facet_cells] == 2)[:1]] = 0
        return of(networks, tolerance, patch)

    monkeypatch.setattr(cell_count.NumberOfCells, "of", doubting)
    found = rs.count(layers, SQUARE)["num_regions"]
    assert found.value.tolist() == truth.tolist()
    assert [str(claim) for claim in found.claims] == ["EXACT", "LOWER", "EXACT"]  # the last by a partition


def test_seconds_end_the_work_on_all():
    layers = stacked(1, 40, 3, 32, 32, 1)
    found = rs.count(layers, rs.Box(-1, 1, 3), budget=rs.Budget(seconds=0.05))
    assert found.stopped is not None
    assert {str(claim) for claim in found["num_regions"].claims} <= {"EXACT", "LOWER"}
    assert (found["num_regions"].upper == np.inf).any()


@pytest.mark.parametrize(
    ("networks", "error", "said"),
    [
        ([], InputError, r"must be a Network, a list of them, or stacked layers .* got \[\]"),
        (5, InputError, "got 5: open the model with reluscope.load"),
        ([rs.load(default_network([2, 3, 1])), 7], InputError, "got a list of 2 entries"),
        ([rs.load(default_network([n, 3, 1])) for n in (2, 3)], ShapeError, "of as many inputs each, got 2, 3"),
        ([(np.zeros((2, 3, 2)), np.zeros((3, 3)))], ShapeError, "stack the layers of all networks"),
        ([(np.full((2, 3, 2), np.nan), np.zeros((2, 3)))], InputError, "must be finite numbers"),
        ([(np.zeros((2, 3, 2)), np.zeros((2, 3))), (np.zeros((2, 1, 4)), np.zeros((2, 1)))], ShapeError, "3 inputs in"),
    ],
)
def test_what_are_no_networks_is_refused(networks, error, said):
    with pytest.raises(error, match=said):
        rs.count(networks, SQUARE)
    with pytest.raises(error, match=said):
        rs.partitions(networks, SQUARE)


def test_what_is_for_one_network_is_refused(tmp_path):
    layers = stacked(1, 2, 2, 3, 1)
    with pytest.raises(InputError, match="a checkpoint is for the count of one network, got 2 networks"):
        rs.count(layers, SQUARE, checkpoint=tmp_path)
    with pytest.raises(InputError, match="a budget of regions is for the count of one network"):
        rs.count(layers, SQUARE, budget=rs.Budget(regions=3))
    with pytest.raises(InputError, match="one for all networks or one for each, got 3 for 2 networks"):
        rs.partitions(layers, [SQUARE] * 3)


def test_pieces_in_the_place_of_smooth_functions_are_told():
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU(), torch.nn.Linear(4, 1))
    net, box = rs.load(module, 3, approximate={"gelu": 4}), rs.Box(-1, 1, 3)
    methods = [rs.count(net, box, method=name).method for name in ("cells", "partition")]
    methods += [rs.count([net, net], box)["num_regions"].method, rs.partitions([net, net], box)[0].method]
    assert all("4 pieces in the place of gelu" in method for method in methods)
