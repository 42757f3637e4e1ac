"""Finite numbers near the ends of float64: a result, or one sentence."""

import contextlib

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import ReluscopeError

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
HUGE = np.array([[2e200, 1e200, 0.0], [-1e200, -1e200, -2e200], [-2e200, -2e200, -2e200]])
PLANE = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
LINE = [([[-1e200], [-6e199], [-1.2e200]], [-0.23, 0.0, 0.53]), ([[1.0, 1.0, 1.0]], [0.0])]
TINY = [([[1.0], [-1.0], [1.0]], [0.0, 0.0, 0.0]), (np.ones((2, 3)), [0.0, 5e-324])]
FAR = rs.Polyhedron(np.vstack([np.eye(2), -np.eye(2)]) * 1e-300, np.full(4, 1e300))


@pytest.mark.parametrize(
    ("layers", "domain", "method"),
    [
        ([(HUGE, np.zeros(3)), (np.ones((1, 3)), np.zeros(1))], rs.Box(-1e300, 1e300, 3), "cellwise"),
        (LINE, rs.Polyhedron([[-0.23]], [1.0]), "cellwise"),
        (TINY, rs.Box([0.0], [5e-324]), "tree"),
        (PLANE, FAR, "auto"),
    ],
)
def test_numbers_near_the_ends_of_floats(layers, domain, method):
    with contextlib.suppress(ReluscopeError):
        part = rs.partition(rs.load([tuple(map(np.array, layer)) for layer in layers]), domain, method=method)
        assert len(part) > 0
        assert len(part.facets.left) >= 0
