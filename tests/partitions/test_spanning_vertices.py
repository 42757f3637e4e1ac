"""Values at all vertices from values at some: the same numbers and regions, errors within what is said of them."""

from importlib import import_module
from inspect import unwrap
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.geometry.cutting.complexes import from_polygon
from reluscope.geometry.cutting.splitting import Placement, Subdivision, subdivide
from reluscope.partitions.complexes import chunks, spanning_vertices
from reluscope.partitions.complexes.spanning_vertices import KINKS, MOST_DRIFT, MOST_FACTOR

CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
LINES = np.random.default_rng(3).normal(size=(14, 3)) * [1, 1, 0.3]


@pytest.fixture(scope="module")
def lines() -> Subdivision:
    """A square cut by fourteen lines."""
    square, heights = from_polygon(4), CORNERS @ LINES[:, :2].T + LINES[:, 2]
    error, slopes = np.full(14, 1e-15), np.linalg.norm(LINES[:, :2], axis=1)
    placement = Placement.exact(square, CORNERS)
    return subdivide(square, placement, np.full(4, -1), heights, rounding=error, slopes=slopes, floor=error, limit=999)


@pytest.fixture(scope="module")
def found(lines):
    return spanning_vertices.spanning_vertices(lines.complex, lines.placement, 1e-12)


def hinges(points: np.ndarray) -> np.ndarray:
    """Return functions that bend at the lines."""
    bends = np.abs(points @ LINES[:, :2].T + LINES[:, 2])
    return bends @ np.random.default_rng(5).normal(size=(14, 6)) + points @ np.ones((2, 6))


def test_values_are_found_again_from_fewer_than_half(lines, found):
    points = lines.placement.points
    assert len(found.evaluated) < 0.55 * len(points)
    values = torch.from_numpy(hinges(points))
    np.testing.assert_allclose(found.expanded(found.rows(values)), values, rtol=0, atol=1e-12)


def test_errors_grow_by_the_factor_and_no_more(found):
    assert MOST_FACTOR / 2 < found.factor.max() <= MOST_FACTOR
    weights = np.zeros((len(found.factor), len(found.factor)))
    weights[found.evaluated, found.evaluated] = 1
    for row, start, stop in zip(found.derived, found.offsets, found.offsets[1:], strict=False):
        weights[row, found.ids[start:stop]] = found.weights[start:stop]
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-13)
    np.testing.assert_allclose(np.abs(weights).sum(axis=1), found.factor, rtol=1e-12)


def test_factors_and_drifts_of_what_is_evaluated_go_on(lines, found):
    number = len(found.factor)
    kinks, given, none = np.zeros(number), np.full(number, 2.0), np.zeros(number)
    again = spanning_vertices._kernels.spanning_vertices(
        *lines.complex.cell_vertices(), lines.placement.points, kinks, given, none + 1e-9, 2 * MOST_FACTOR, 1e-6
    )
    assert again[4].min() == 2
    assert again[4].max() > MOST_FACTOR
    assert again[5].min() == 1e-9
    assert again[5].max() > 5e-9
    exact = spanning_vertices._kernels.spanning_vertices(
        *lines.complex.cell_vertices(), lines.placement.points, kinks + KINKS * 1e-9, given, none, 99.0, MOST_DRIFT
    )
    assert exact[5][exact[1]].min() > 2 * KINKS * 1e-9
    assert exact[5][exact[0]].max() == 0


def test_moved_kinks_move_values_by_the_drift_at_most(lines):
    """The lines are 1e-6 from where they are thought to be: cells bend inside, and values are off."""
    points, skew = lines.placement.points, 1e-6
    placement = Placement(points, np.full(len(points), skew), np.full(int(lines.complex.size[1]), skew),
                          lines.placement.factor, lines.placement.drift)  # fmt: skip
    found = spanning_vertices.spanning_vertices(lines.complex, placement, 1e-12)
    moved = LINES + np.outer(np.linalg.norm(LINES[:, :2], axis=1) * np.where(np.arange(14) % 2, skew, -skew), [0, 0, 1])
    values = torch.from_numpy(np.abs(points @ moved[:, :2].T + moved[:, 2]))
    off = np.abs((found.expanded(found.rows(values)) - values).numpy())
    slopes = np.linalg.norm(LINES[:, :2], axis=1)
    assert off.max() > 1e-7
    assert (off <= slopes * (found.drift[:, None] + 1e-12)).all()


def test_signs_at_a_vertex_are_open_up_to_its_factor_and_its_drift():
    square, heights = from_polygon(4), np.array([[5e-10], [-1.0], [-1.0], [-1.0]])
    one = np.full(1, 1e-10)
    for factor, drift, is_open in ((1.0, 0.0, False), (10.0, 0.0, True), (1.0, 1e-9, True)):
        exact = Placement.exact(square, CORNERS)
        placement = Placement(CORNERS, exact.blur, exact.skew, np.full(4, factor), np.full(4, drift))
        work = subdivide(
            square, placement, np.full(4, -1), heights, rounding=one, slopes=np.ones(1), floor=one, limit=9
        )
        assert (work.complex.num_cells == 1) is is_open
        if not is_open:
            continue
        crossed = subdivide(
            square, placement, np.full(4, -1), CORNERS[:, :1] + 0.5, rounding=one, slopes=np.ones(1), floor=one, limit=9
        )
        assert crossed.placement.blur.max() >= 9e-10
        assert crossed.placement.skew.max() >= 9e-10
        assert crossed.placement.factor.tolist() == [factor] * 6
        assert crossed.placement.drift.tolist() == [drift] * 6


class Sum(nn.Module):
    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return sum(branch(x) for branch in self.branches)


def residual() -> rs.Network:
    torch.manual_seed(4)
    body = [nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 3, padding=1)]
    layers = [Sum(nn.Sequential(*body), nn.Identity()), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 12)]
    module = nn.Sequential(*layers, nn.ReLU6(), nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 3))
    return rs.load(module, input_shape=(2, 4, 4))


@pytest.mark.parametrize("make", [residual, lambda: rs.load(rs.testing.default_network([2, 20, 20, 20, 3]))])
def test_partitions_are_those_of_all_vertices_evaluated(make, monkeypatch):
    network = make()
    plane = rs.Box(-2, 2, 2) if network.num_inputs == 2 else rs.Plane(*np.random.default_rng(0).random((3, 32)))
    monkeypatch.setattr(import_module("reluscope.partitions.engines.few_dimensions"), "MIN_BYTES", 0)
    monkeypatch.setattr(import_module("reluscope.partitions.engines.few_dimensions"), "OUTPUTS", 0)
    plain = rs.partition(network, plane)
    asked = []

    def told(*arguments):
        asked.append(spanning_vertices.spanning_vertices(*arguments))
        return asked[-1]

    monkeypatch.setattr(chunks, "spanning_vertices", told)
    monkeypatch.setattr(chunks, "pays", lambda leg, number: bool(leg.plan))
    part = rs.partition(network, plane)
    assert sum(one is not None for one in asked) >= 2
    assert part.claim is plain.claim is rs.Claim.EXACT
    assert set(map(bytes, part.codes.words)) == set(map(bytes, plain.codes.words))
    np.testing.assert_allclose(part.volumes().sum(), plain.volumes().sum(), rtol=1e-12)
    points = part.vertices if network.num_inputs == 2 else plane.lift(part.vertices)
    np.testing.assert_allclose(part.outputs, network(points), rtol=0, atol=1e-12)


def test_combinations_pay_by_the_products_that_they_save():
    """Of an entry, of each vertex, and of all vertices; without vertices none do."""
    for products, shape, number, answer in (
        (2**17, 10, 2, True),
        (2**17 - 1, 10, 2, False),
        (2**17, 10, 1, False),
        (2**18, 10, 1, True),
        (2**18 - 1, 10, 0, False),
        (2**18, 10, 0, True),
        (24 * 2**15 - 1, 2**15, 9, False),
        (24 * 2**15, 2**15, 9, True),
    ):
        one = SimpleNamespace(products=products, plan=((0, None),), shapes={0: (shape,)}, device=torch.device("cpu"))
        assert unwrap(spanning_vertices.pays)(one, number) == answer


def test_vertices_of_cells_in_space_are_evaluated_one_by_one(lines):
    chosen = unwrap(spanning_vertices.spanning_vertices)
    assert chosen(lines.complex, lines.placement, 1e-12) is not None
    assert chosen(SimpleNamespace(dim=3), lines.placement, 1e-12) is None
