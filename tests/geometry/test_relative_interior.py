"""Points in the relative interior: floats and fractions agree, and small polyhedra of any scale have an answer."""

import numpy as np
import pytest

from reluscope.errors import SolverError
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.relative_interior import _in_fractions, relative_interior


@pytest.mark.parametrize("seed", range(40))
def test_floats_and_fractions_agree(seed):
    draw = np.random.default_rng(seed)
    dim = int(draw.integers(1, 4))
    rows = draw.integers(-2, 3, (int(draw.integers(dim + 1, 8)), dim)).astype(float)
    ends = draw.integers(0, 3, len(rows)).astype(float)
    if seed % 2:
        rows[-1], ends[-1] = -rows[0], -ends[0]
    polyhedron = Polyhedron(rows, ends)
    found, exact = relative_interior(polyhedron), _in_fractions(polyhedron, 1.0, SolverError(""))
    assert (found is None) == (exact is None)
    if found is None or exact is None:
        return
    assert found.dim == exact.dim
    assert (exact.radius > 0) == (exact.dim > 0)
    assert polyhedron.contains(exact.point, 1e-12)
    assert len(exact.polyhedron.C) >= dim - exact.dim


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("other", [1e-8, 1.0, 1e8])
def test_rows_of_very_different_size(scale, other):
    # A triangle of that size, and one that a fourth row makes a segment.
    rows = np.array([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0], [1.0, 0.0]]) * np.array([[1.0], [other], [1.0], [other]])
    for width, dim in ((0.5, 2), (0.0, 1)):
        ends = np.array([0.0, 0.0, scale, width * scale * other])
        found = relative_interior(Polyhedron(rows, ends), tolerance=1e-9 * scale, cap=scale)
        assert found is not None
        assert found.dim == dim
