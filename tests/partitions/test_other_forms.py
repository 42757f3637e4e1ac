"""Partitions and findings as data frames and graphs."""

import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import reluscope as rs
from reluscope.errors import ReluscopeError
from reluscope.findings import Column, Findings
from reluscope.partitions.other_forms import written_codes
from reluscope.testing import default_network

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


def test_data_frames_are_readable():
    net = rs.load(default_network([2, 6, 4, 3], seed=1))
    part = rs.partition(net, rs.Box(-2, 2, 2))
    frame = part.to_pandas()
    assert list(frame.columns)[:4] == ["code", "class", "witness_0", "witness_1"]
    assert list(frame.columns)[4:] == ["volume", "num_corners", "num_active", "map_norm"]
    for row, text in enumerate(frame["code"]):
        first, second = text.split(" ")
        assert [*map(int, first), *map(int, second)] == part.codes.to_array()[row].tolist()
        assert frame["num_active"][row] == text.count("1")
    assert frame["class"].tolist() == rs.classification.predicted_classes(net, part.witnesses).tolist()
    assert list(part.to_pandas("volume").columns) == ["code", "witness_0", "witness_1", "volume"]


@pytest.mark.parametrize(("decision", "has_class"), [("largest", False), (0.25, True)])
def test_one_output_has_classes_where_there_is_a_threshold(decision, has_class):
    net = NET.with_decision(decision)
    part = rs.partition(net, rs.Box(-2, 2, 2))
    frame = part.to_pandas()
    assert ("class" in frame) == has_class
    if has_class:
        outputs = NET(part.witnesses).numpy().ravel()
        assert frame["class"].tolist() == (outputs > decision).astype(int).tolist()


def test_codes_of_many_pieces_have_commas():
    layout = rs.CodeLayout((rs.GateLayout("pool", 2, num_pieces=12), rs.GateLayout("relu", 3)))
    codes = rs.Codes.from_pieces([[[11, 3], [0, 10]], [[0, 1, 1], [1, 0, 0]]], layout)
    assert written_codes(codes) == ["11,3 011", "0,10 100"]


def test_counts_are_whole_numbers():
    found = rs.measure_regions(PART, ["num_corners", "is_bounded", "volume"])
    kinds = found.to_pandas().dtypes
    assert [str(kinds[name]) for name in ("num_corners", "num_corners_upper", "is_bounded", "volume")] == [
        "int64",
        "int64",
        "int64",
        "float64",
    ]
    plain = found.to_dict()
    assert all(isinstance(value, int) for value in plain["num_corners"]["value"])
    assert all(isinstance(value, float) for value in plain["volume"]["value"])
    assert Findings.from_dict(plain).to_dict() == plain
    unknown = Findings.of(Column.of(found["num_corners"].quantity, [3.0, np.nan]), keys={"region": [0, 1]}).to_table()
    assert unknown["num_corners"].to_pylist() == [3, None]
    part = rs.partition(NET, rs.Box(-2, 2, 2), budget=rs.Budget(regions=5))
    open_ended = rs.measure_regions(part, "num_neighbors").to_pandas()
    assert str(open_ended.dtypes["num_neighbors"]) == "int64"
    assert np.isinf(open_ended["num_neighbors_upper"]).all()


@pytest.mark.parametrize(("package", "work"), [("pandas", PART.to_pandas), ("networkx", PART.to_networkx)])
def test_packages_that_are_not_installed(monkeypatch, package, work):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ReluscopeError, match=f"expected {package}, and it is not installed: run pip install {package}"):
        work()
