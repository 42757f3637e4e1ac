"""Where memory does not suffice, work ends with what it has, and says so: with an executor and without one."""

import sys
from importlib import import_module

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.counting import by_mip, by_rational_tree
from reluscope.analyses.counting.code_search import CodeSearch
from reluscope.analyses.counting.rational_codes import RationalCodes
from reluscope.findings import Claim
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.cells import cellwise
from reluscope.partitions.complexes import incidence
from reluscope.partitions.exact import exact_regions
from reluscope.partitions.tree import tree_items
from reluscope.partitions.tree.tree_count import tree_count
from reluscope.stopping import OUT_OF_MEMORY
from reluscope.testing import default_network

LACKS = {"python": MemoryError(), "torch": RuntimeError("DefaultCPUAllocator: can't allocate memory: 8 GB")}
PLACES = {"incidence": (incidence, "cut"), "cellwise": (cellwise, "cut_cells"), "tree": (tree_items.Search, "take")}


def starve(monkeypatch, owner, name, after, error):
    faithful, calls = getattr(owner, name), iter(range(10**6))

    def hungry(*arguments, **options):
        if next(calls) >= after:
            raise error
        return faithful(*arguments, **options)

    monkeypatch.setattr(owner, name, hungry)


@pytest.fixture
def small_steps(monkeypatch, chunks_of):
    chunks_of(4)
    monkeypatch.setattr(cellwise, "BATCH", 8)
    monkeypatch.setattr(cellwise, "MAX_MADE", 40)
    monkeypatch.setattr(import_module("reluscope.partitions.tree.tree_items"), "BATCH", 4)


@pytest.mark.few(11)
@pytest.mark.parametrize("lack", LACKS)
@pytest.mark.parametrize("after", [0, 1, 9])
@pytest.mark.parametrize("method", PLACES)
def test_a_partition_keeps_what_it_has(method, after, lack, small_steps, monkeypatch):
    net, box = from_arrays(default_network([3, 8, 8, 1], seed=2)), rs.Box(-1, 1, 3)
    whole = {tuple(code) for code in rs.partition(net, box).codes.to_array().tolist()}
    starve(monkeypatch, *PLACES[method], after, LACKS[lack])
    part = rs.partition(net, box, method=method)
    assert (part.claim, part.stop) == (Claim.LOWER, OUT_OF_MEMORY)
    assert part.num_open > 0
    assert {tuple(code) for code in part.codes.to_array().tolist()} < whole
    assert int(part.finding()) <= len(whole)
    assert after < 9 or len(part)


JOINS = {
    "planes": ("reluscope.partitions.engines.few_dimensions", "assemble", 2, "incidence"),
    "incidence": ("reluscope.partitions.engines.several_dimensions", "join", 3, "incidence"),
    "cellwise": ("reluscope.partitions.engines.several_dimensions", "gather", 3, "cellwise"),
    "tree": ("reluscope.partitions.tree.tree", "_by_code", 3, "tree"),
}


@pytest.mark.parametrize("lack", LACKS)
@pytest.mark.parametrize("place", JOINS)
def test_a_partition_that_memory_does_not_hold_keeps_some_of_it(place, lack, small_steps, monkeypatch):
    """The parts are there, and cannot be put together: those that can are given, and the others are open."""
    module, name, dim, method = JOINS[place]
    net, box = from_arrays(default_network([dim, 8, 8, 1], seed=2)), rs.Box(-1, 1, dim)
    whole = {tuple(code) for code in rs.partition(net, box, method=method).codes.to_array().tolist()}
    faithful, calls = getattr(sys.modules[module], name), iter(range(9))

    def hungry(parts, *arguments):
        if next(calls) < 1:
            parts.clear()  # as one does who is half done
            raise LACKS[lack]
        return faithful(parts, *arguments)

    monkeypatch.setattr(sys.modules[module], name, hungry)
    part = rs.partition(net, box, method=method)
    assert (part.claim, part.stop) == (Claim.LOWER, OUT_OF_MEMORY)
    assert 0 < len(part) < len(whole)
    assert {tuple(code) for code in part.codes.to_array().tolist()} < whole
    assert len(part) <= int(part.finding()) <= len(whole)
    assert part.num_open > 0


def test_a_partition_of_which_memory_holds_nothing_is_an_error(monkeypatch):
    starve(monkeypatch, sys.modules["reluscope.partitions.tree.tree"], "_by_code", 0, MemoryError())
    with pytest.raises(MemoryError):
        rs.partition(from_arrays(default_network([3, 5, 1], seed=2)), rs.Box(-1, 1, 3), method="tree")


@pytest.mark.parametrize("prove", [False, True])
def test_planes_keep_what_they_have(prove, small_steps, monkeypatch):
    net, box = from_arrays(default_network([2, 7, 6, 1], seed=2)), rs.Box(-1, 1, 2)
    part = rs.partition(net, box)
    starve(monkeypatch, incidence, "cut", 1 if prove else 8, MemoryError())
    part = rs.certify(part) if prove else rs.partition(net, box)
    assert (part.claim, part.stop) == (Claim.LOWER, OUT_OF_MEMORY)


def test_a_partition_without_memory_for_its_certificate_is_no_proof(monkeypatch):
    net, box = from_arrays(default_network([3, 5, 1], seed=2)), rs.Box(-1, 1, 3)
    starve(monkeypatch, exact_regions._Regions, "visit", 4, MemoryError())
    part = rs.certify(rs.partition(net, box))
    assert (part.claim, part.stop, part.certified) == (Claim.LOWER, OUT_OF_MEMORY, False)


def test_other_errors_are_not_hidden(monkeypatch):
    net, box = from_arrays(default_network([3, 5, 1], seed=2)), rs.Box(-1, 1, 3)
    starve(monkeypatch, cellwise, "cut_cells", 0, RuntimeError("something else"))
    with pytest.raises(RuntimeError, match="something else"):
        rs.partition(net, box, method="cellwise")


@pytest.mark.parametrize("lack", LACKS)
def test_counts_keep_what_they_have(lack, small_steps, monkeypatch):
    net, box = from_arrays(default_network([3, 8, 8, 1], seed=2)), rs.Box(-1, 1, 3)
    whole = tree_count(net, box).num_found
    starve(monkeypatch, tree_items.Search, "take", 25, LACKS[lack])
    found = tree_count(net, box)
    assert (found.stop, sum(found.left) > 0) == (OUT_OF_MEMORY, True)
    assert 0 < found.num_found + sum(found.left) <= whole


@pytest.mark.parametrize(
    ("owner", "name", "count"),
    [
        (CodeSearch, "next_code", by_mip.count_by_mip),
        (RationalCodes, "step", by_rational_tree.count_by_rational_tree),
    ],
    ids=["mip", "rational tree"],
)
def test_counts_of_codes_keep_what_they_have(owner, name, count, monkeypatch):
    net = from_arrays([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    starve(monkeypatch, owner, name, 2, MemoryError())
    counted = count(net, rs.Box(-1, 1, 2))
    assert counted.stop == OUT_OF_MEMORY
    assert (counted.finding.claim, 0 < int(counted.finding) <= 4) == (Claim.LOWER, True)
