"""Facets against sequential elimination by linear programs, in few and in many dimensions."""

import numpy as np
import pytest
from scipy.optimize import linprog

import reluscope as rs
from reluscope.errors import SolverError
from reluscope.geometry.polyhedra import facet_rows as facets


def by_elimination(A: np.ndarray, b: np.ndarray) -> set[int]:
    """Ask of one row after the other whether those that are left let a point beyond it."""
    left = list(range(len(b)))
    for row in range(len(b)):
        others = [one for one in left if one != row]
        rows, offsets = np.r_[A[others], A[row : row + 1]], np.r_[b[others], b[row] + 1.0]
        found = linprog(-A[row], rows, offsets, bounds=(None, None), method="highs")
        if -found.fun <= b[row] + 1e-9:
            left.remove(row)
    return set(left)


def rows_of(A: np.ndarray, b: np.ndarray) -> set[int]:
    """Return the facets, by the last row of each group, which is the one that sequential elimination leaves."""
    return {int(group[-1]) for group in rs.Polyhedron(A, b).facets()}


def bounded(dim: int, number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random rows around the origin, some of them far out, and a box."""
    draw = np.random.default_rng(seed)
    A = draw.standard_normal((number, dim))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    b = draw.uniform(0.5, 1.0, number) * np.where(draw.uniform(size=number) < 0.3, 4.0, 1.0)
    return np.r_[A, np.eye(dim), -np.eye(dim)], np.r_[b, np.full(2 * dim, 2.0)]


@pytest.mark.few(1)
@pytest.mark.parametrize(("dim", "number"), [(2, 12), (4, 40), (12, 60)])
@pytest.mark.parametrize("many", [1, 10**9], ids=["against all rows", "after Clarkson"])
def test_facets_are_those_of_sequential_elimination(dim, number, many, monkeypatch):
    monkeypatch.setattr(facets, "MANY_DIMENSIONS", many)
    for seed in range(3):
        A, b = bounded(dim, number, seed)
        assert rows_of(A, b) == by_elimination(A, b)


@pytest.mark.parametrize("many", [1, 10**9], ids=["against all rows", "after Clarkson"])
def test_duplicates_parallels_and_touching_rows(many, monkeypatch):
    monkeypatch.setattr(facets, "MANY_DIMENSIONS", many)
    square = np.r_[np.eye(2), -np.eye(2)]
    A = np.r_[square, square[:1], 2 * square[1:2], square[2:3], [[1.0, 1.0]], [[1.0, 0.0]]]
    b = np.r_[np.ones(4), 1.0, 2.0, 1.5, 2.0, 1.0 + 1e-3]
    groups = [group.tolist() for group in rs.Polyhedron(A, b).facets()]
    assert groups == [[0, 4], [1, 5], [2], [3]]


def test_products_of_rows_need_not_fit_into_memory(monkeypatch):
    A, b = bounded(6, 60, 5)
    truth = rows_of(A, b)
    monkeypatch.setattr(facets, "PRODUCTS_BYTES", 8 * len(b) * 7)
    assert rows_of(A, b) == truth


def test_points_on_hyperplanes_show_what_rays_miss(monkeypatch):
    """In many dimensions nearly all rows are facets, and no program has to be solved for that."""
    draw = np.random.default_rng(0)
    A = draw.standard_normal((300, 60))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    b = draw.uniform(1.0, 1.2, 300)
    monkeypatch.setattr(
        facets, "_hit_along_normals", lambda normals, depths: (np.zeros(0, dtype=int), np.zeros((0, 60)))
    )
    asked = []
    original = facets.LinearProgram.maximize
    monkeypatch.setattr(facets.LinearProgram, "maximize", lambda *given: asked.append(1) or original(*given))
    assert len(rs.Polyhedron(A, b).facets()) == 300
    assert len(asked) == 0


def test_a_simplex_method_that_gives_up_is_no_end(monkeypatch):
    A, b = bounded(5, 40, 2)
    truth, asked = by_elimination(A, b), []
    original = facets.LinearProgram.maximize

    def maximize(program, objective):
        asked.append(1)
        if len(asked) == 2:
            raise SolverError("gave up")
        return original(program, objective)

    monkeypatch.setattr(facets.LinearProgram, "maximize", maximize)
    assert rows_of(A, b) == truth
    assert len(asked) > 2
