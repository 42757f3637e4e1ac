"""Partitions and findings as data frames and graphs."""

import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import reluscope as rs
from reluscope.errors import ReluscopeError

NET = rs.load(rs.testing.default_network([2, 6, 6, 1], seed=0))
PART = rs.partition(NET, rs.Box(-2, 2, 2))


def test_graph():
    graph = PART.to_networkx()
    expected = nx.from_scipy_sparse_array(PART.adjacency())
    assert nx.utils.graphs_equal(nx.Graph(graph.edges), nx.Graph(expected.edges))
    assert list(graph) == list(range(len(PART)))
    assert sum(nx.get_node_attributes(graph, "volume").values()) == pytest.approx(16)
    codes = PART.codes.to_array()
    places = np.cumsum([0, *(gate.num_units for gate in NET.gates)])
    for left, right, units in graph.edges(data="units"):
        flips = sorted(places[gate] + unit for gate, unit in units)
        assert flips == np.flatnonzero(codes[left] != codes[right]).tolist()
    for node, witness in graph.nodes(data="witness"):
        assert (PART.locate([witness]) == node).all()


def test_graphs_without_regions_between_and_without_volumes():
    affine = rs.partition(rs.load([(np.eye(2), None)]), rs.Box(-1, 1, 2)).to_networkx()
    assert (len(affine), affine.number_of_edges()) == (1, 0)
    unbounded = rs.partition(NET, rs.Space(2)).to_networkx()
    assert len(unbounded) == len(rs.partition(NET, rs.Space(2)))


def test_data_frames():
    frame = PART.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == len(PART)
    np.testing.assert_array_equal(frame["volume"], PART.volumes())
    found = rs.local.region_sizes(NET, [[0.1, 0.2], [1.0, -1.0]], domain=rs.Box(-2, 2, 2))
    assert found.to_pandas().equals(found.to_table().to_pandas())


@pytest.mark.parametrize(("package", "work"), [("pandas", PART.to_pandas), ("networkx", PART.to_networkx)])
def test_packages_that_are_not_installed(monkeypatch, package, work):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ReluscopeError, match=f"expected {package}, and it is not installed: run pip install {package}"):
        work()
