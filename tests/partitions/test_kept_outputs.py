"""Outputs that a walk had at vertices are those of a forward pass; of many classes those that lead decide."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.networks.building.builder import GraphBuilder
from reluscope.partitions.complexes import incidence
from reluscope.partitions.decisions import decision_pieces
from reluscope.partitions.decisions.decision_pieces import contenders
from reluscope.partitions.engines import few_dimensions
from reluscope.partitions.table import assembly
from reluscope.testing import default_network


@pytest.fixture(params=[1, 2])
def plane(request):
    return rs.Box(-2, 2, request.param)


@pytest.fixture
def kept(monkeypatch):
    monkeypatch.setattr(few_dimensions, "MIN_BYTES", 0)
    monkeypatch.setattr(few_dimensions, "OUTPUTS", 0)


def assert_outputs(net, part):
    assert part.geometry.corners.outputs is not None
    np.testing.assert_allclose(part.outputs, net(part.vertices).reshape(len(part.vertices), -1), rtol=0, atol=1e-12)


def test_outputs_are_those_of_a_pass(plane, kept, monkeypatch):
    net = rs.load(default_network([plane.dim, 24, 24, 5], 1))
    assert_outputs(net, rs.partition(net, plane))
    monkeypatch.setattr(incidence, "CHUNK_CELLS", 16)
    monkeypatch.setattr(incidence, "CACHE_BYTES", 1)
    monkeypatch.setattr(incidence, "CHUNK_BYTES", 1)
    monkeypatch.setattr(incidence, "TASKS", 4)
    part = rs.partition(net, plane)
    assert_outputs(net, part)
    with ThreadPoolExecutor(2) as executor:
        assert_outputs(net, rs.partition(net, plane, executor=executor))
    assert_outputs(net, rs.partition(net, plane, budget=rs.Budget(regions=9)))
    some = part.geometry.take(np.arange(0, len(part), 3)).corners
    np.testing.assert_allclose(some.outputs, net(some.vertices).reshape(len(some.vertices), -1), rtol=0, atol=1e-12)


def test_residuals_max_gates_and_several_segments(kept):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = torch.nn.Linear(2, 8), torch.nn.Linear(8, 8), torch.nn.Linear(4, 3)

        def forward(self, x):
            first = torch.relu(self.a(x))
            return self.c(torch.nn.functional.max_pool1d((torch.relu(self.b(first)) + first)[:, None], 2)[:, 0])

    torch.manual_seed(0)
    net = rs.load(Model(), input_shape=(2,))
    part = rs.partition(net, rs.Box(-3, 3, 2))
    assert_outputs(net, part)
    for one in rs.partitions(net, [rs.Segment([-1.0, 0.0], [1.0, 2.0]), rs.Segment([0.0, 0.0], [1.0, -2.0])]):
        assert one.geometry.corners.outputs is not None
        np.testing.assert_allclose(one.outputs, net(one.domain.lift(one.vertices)), rtol=0, atol=1e-12)


def test_pieces_of_one_region_that_are_joined_keep_the_outputs_of_their_corners(kept, monkeypatch):
    # Where two of three candidates tie below the third, cells are cut, and joined in the end: corners inside go.
    seen = []

    def merging(words, corners, facets):
        merged = assembly_merge(words, corners, facets)
        seen.append((words, corners, words[merged.first], merged.corners))
        return merged

    assembly_merge = assembly._merge_equal_codes
    monkeypatch.setattr(assembly, "_merge_equal_codes", merging)

    generator, builder = torch.Generator().manual_seed(2), GraphBuilder()

    def linear(value, rows):
        weight = torch.randn(rows, value.shape[0], dtype=torch.float64, generator=generator)
        return builder.linear(value, weight, torch.randn(rows, dtype=torch.float64, generator=generator))

    net = builder.build(linear(builder.maxout(linear(builder.input((2,)), 8), 0, 4), 3))
    part = rs.partition(net, rs.Box(-4, 4, 2))
    ((words, before, others, after),) = seen
    assert len(words) > len(others) == len(np.unique(others, axis=0))
    assert len(before.vertices) > len(after.vertices) == len(after.outputs)
    known = {tuple(point): row for row, point in enumerate(before.vertices.tolist())}
    for point, outputs in zip(after.vertices.tolist(), after.outputs, strict=True):
        np.testing.assert_array_equal(outputs, before.outputs[known[tuple(point)]])
    assert_outputs(net, part)
    assert part.volumes().sum() == pytest.approx(64)


@pytest.mark.slow
def test_where_they_are_kept(tmp_path):
    assert not few_dimensions.keeps_outputs(rs.load(default_network([2, 24, 24, 5])))
    net = rs.load(default_network([2, 20000, 5]))
    part = rs.partition(net, rs.Box(-3e-5, 3e-5, 2))
    assert_outputs(net, part)
    many = rs.partition(rs.load(default_network([2, 20000, 2000])), rs.Box(-1e-9, 1e-9, 2))
    assert many.geometry.corners.outputs is None
    part.save(tmp_path / "part.arrow")
    again = rs.Partition.load(tmp_path / "part.arrow", network=net)
    np.testing.assert_allclose(again.outputs, part.outputs, rtol=0, atol=1e-12)


def test_of_many_classes_those_count_that_lead(monkeypatch):
    net = rs.load(default_network([2, 12, 12, 60], 3))
    part = rs.partition(net, rs.Box(-20, 20, 2))
    few = rs.decision_boundary(part)
    leading = np.unique(net(torch.rand(20000, 2, dtype=torch.float64) * 40 - 20).argmax(1).numpy())
    chosen = contenders(part.scores, *part.region_vertices, 1e-12)
    assert set(leading.tolist()) <= set(chosen.tolist())
    assert len(chosen) < 40
    assert set(np.unique(few.classes).tolist()) <= set(chosen.tolist())
    monkeypatch.setattr(decision_pieces, "FEW_CLASSES", 60)
    every = rs.decision_boundary(part)
    for name in ("regions", "classes", "ends"):
        np.testing.assert_array_equal(getattr(few, name), getattr(every, name))


def test_a_class_that_leads_inside_alone_counts():
    """At the ends of a segment others are ahead, in its middle a third."""
    scores = np.full((2, 12), -9.0)
    scores[0, :3], scores[1, :3] = [4.0, 0.0, 3.0], [0.0, 4.0, 3.0]
    found = contenders(scores, np.array([0, 2]), np.array([0, 1]), 0.0)
    assert found.tolist() == [0, 1, 2]
