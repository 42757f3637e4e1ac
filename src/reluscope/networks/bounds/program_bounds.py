"""Bounds of values and shapes of rows, for mixed-integer programs of networks."""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from reluscope.errors import InputError
from reluscope.geometry.polyhedra.bounding_box import bounding_box
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.bounds.ranges import Ranges
from reluscope.networks.graph.choosing_gates import Max


class _Values(NamedTuple):
    """Values as affine functions of the program's columns: ``matrix @ columns + constant``, up to an error each."""

    matrix: scipy.sparse.csr_array
    constant: np.ndarray
    error: np.ndarray


class _Bounds(NamedTuple):
    """Bounds of values, and the sum of the magnitudes of their terms."""

    lower: np.ndarray
    upper: np.ndarray
    terms: np.ndarray


def _corners(domain: Box | Polyhedron) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of a bounding box."""
    if isinstance(domain, Box):
        return domain.lo, domain.hi
    found = bounding_box(domain)
    if found is None:
        raise InputError(
            f"a program needs a bounded domain, got {domain.describe()}: give a Box or a bounded Polyhedron"
        )
    return found


def _is_open(levels: np.ndarray, bounds: _Bounds) -> np.ndarray:
    """Return which breakpoints (p, u) have values on both sides, where being at a breakpoint is being below."""
    return (bounds.lower <= levels) & (bounds.upper > levels)


def _contenders(row: np.ndarray, bounds: _Bounds) -> np.ndarray:
    """Return the candidates that may be chosen: no other one is larger everywhere, or as large and earlier."""
    places = np.flatnonzero(row >= 0)
    low, high = bounds.lower[row[places]], bounds.upper[row[places]]
    before = np.maximum.accumulate(np.append(-np.inf, low[:-1]))
    return places[(high >= low.max()) & ((high > before) | (np.arange(len(places)) == 0))]


def _by_entry(gate: Max, ranges: Ranges, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of the input's entries from those of the candidates."""
    index = gate.index.cpu().numpy()
    real = index >= 0
    lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
    np.maximum.at(lower, index[real], ranges.lower[real])
    np.minimum.at(upper, index[real], ranges.upper[real])
    return lower, upper


def _meet(bounds: _Bounds, lower: np.ndarray, upper: np.ndarray) -> _Bounds:
    return _Bounds(np.maximum(bounds.lower, lower), np.minimum(bounds.upper, upper), bounds.terms)


def padded(matrix: scipy.sparse.sparray, width: int) -> scipy.sparse.csr_array:
    """Return a matrix with columns of zeros for what was added to the program later."""
    rows = scipy.sparse.csr_array(matrix)
    return scipy.sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(len(rows.indptr) - 1, width))
