"""Rows asked about together, against linear programs one by one; what is called redundant has to be so for certain."""

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

import reluscope as rs
from geometry.bodies import bodies_of
from reluscope.geometry.polyhedra import facet_rows as facets
from reluscope.geometry.programs.passable_rows import passable_rows


def random_body(dim: int, number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of length 1, some far out and some close to others; with a box they bound a body around 0."""
    draw = np.random.default_rng(seed)
    A = draw.standard_normal((number, dim))
    A[number // 2 :] = A[: number - number // 2] + 0.3 * A[number // 2 :]
    b = draw.uniform(0.5, 1.0, number) * np.where(draw.uniform(size=number) < 0.5, 1.4, 1.0)
    return A / np.linalg.norm(A, axis=1, keepdims=True), b


def greatest(A: np.ndarray, b: np.ndarray, row: int, side: float | None) -> float:
    """Return the maximum along one row if all others hold."""
    others = np.delete(np.arange(len(b)), row)
    bounds = (None, None) if side is None else (-side, side)
    rows, ends = np.r_[A[others], A[row : row + 1]], np.r_[b[others], 2 * b[row]]
    return -linprog(-A[row], rows, ends, bounds=bounds, method="highs").fun


@pytest.mark.parametrize(("dim", "number", "seed"), [(3, 20, 0), (8, 40, 1), (20, 60, 2)])
def test_agrees_with_programs_one_by_one(dim: int, number: int, seed: int) -> None:
    A, b = random_body(dim, number, seed)
    found = passable_rows(bodies_of([(A, b)], -1.0, 1.0), np.arange(number), np.full(number, 1e-9))
    values = np.array([greatest(A, b, row, 1.0) for row in range(number)])
    assert (values[found.is_passed] > b[found.is_passed]).all()
    assert (values[found.is_implied] < b[found.is_implied]).all()
    assert found.is_implied.any()
    assert found.is_passed.any()
    is_open = ~found.is_passed & ~found.is_implied
    # What is left open is hard to tell.
    assert is_open.mean() < 0.2
    for row in np.flatnonzero(found.is_passed):
        point = found.points[row]
        assert A[row] @ point > b[row]
        assert (np.delete(A @ point - b, row) <= 1e-12).all()
        assert np.abs(point).max() <= 1 + 1e-12
    assert np.isnan(found.points[~found.is_passed]).all()


def test_rows_that_touch_a_corner_or_an_edge_are_left_open() -> None:
    A = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-12]]) / np.sqrt(2)
    body = bodies_of([(A, np.array([np.sqrt(2), np.sqrt(2) * (1 + 1e-12)]))], -1.0, 1.0)
    found = passable_rows(body, np.arange(2), np.full(2, 1e-9))
    assert not found.is_passed.any()
    assert not found.is_implied.any()


def test_without_bounds_only_points_are_found() -> None:
    A, b = random_body(4, 30, 3)
    body = bodies_of([(A, b)])
    found = passable_rows(body, np.arange(30), np.full(30, 1e-9))
    assert not found.is_implied.any()
    assert found.is_passed.any()
    values = np.array([greatest(A, b, row, None) for row in np.flatnonzero(found.is_passed)])
    assert (values > b[found.is_passed]).all()


def dead_pixels() -> tuple[rs.Network, int]:
    """Return a trained-looking network: inputs that no unit reads, and units that are copies of others."""
    torch.manual_seed(0)
    dim, width = 20, 30
    first, second = torch.randn(width, dim).double(), torch.randn(width, width).double() / 5
    first[:, 5:9] = 0
    first[3], first[4] = first[2], 2 * first[2]
    second[7] = second[6]
    biases = [torch.randn(width).double() / 4 for _ in range(2)]
    biases[0][3], biases[0][4], biases[1][7] = biases[0][2], 2 * biases[0][2], biases[1][6]
    layers = [(first, biases[0]), (second, biases[1]), (torch.randn(3, width).double(), torch.zeros(3).double())]
    return rs.load([(weight.numpy(), bias.numpy()) for weight, bias in layers]), dim


@pytest.mark.slow
def test_regions_with_dead_inputs_and_copies_of_units(monkeypatch) -> None:
    """Facets of regions, dead inputs and all, are those that sequential elimination leaves."""
    net, dim = dead_pixels()
    monkeypatch.setattr(facets, "MANY_DIMENSIONS", 1)
    # No row is found on the way, so that all are asked about together.
    nothing = np.zeros(0, dtype=np.int64), np.zeros((0, dim))
    monkeypatch.setattr(facets, "_hit_along_normals", lambda normals, depths: nothing)
    monkeypatch.setattr(facets, "_reached_on_hyperplanes", lambda *given: nothing)
    x = np.random.default_rng(0).uniform(0, 1, (1, dim))
    P = rs.region(net, x, domain=rs.Box(0, 1, dim)).polyhedron
    found = P.facets()
    scaled = P.A / np.linalg.norm(P.A, axis=1, keepdims=True), P.b / np.linalg.norm(P.A, axis=1)
    inside = P.insphere().center
    left = list(range(len(P.b)))
    for row in range(len(P.b)):
        keep = np.array([one for one in left if one != row])
        A, b = scaled[0], scaled[1] - scaled[0] @ inside
        rows, ends = np.r_[A[keep], A[row : row + 1]], np.r_[b[keep], b[row] + 1.0]
        if -linprog(-A[row], rows, ends, bounds=(None, None), method="highs").fun <= b[row] + 1e-9:
            left.remove(row)
    assert {int(group[-1]) for group in found} == set(left)
    assert len(found) < len(P.b) - 4
    points = P.facet_points()
    slack = scaled[1] - points @ scaled[0].T
    for facet, group in enumerate(found):
        assert np.abs(slack[facet, group]).max() < 1e-9
        assert (np.delete(slack[facet], group) > 0).all()
