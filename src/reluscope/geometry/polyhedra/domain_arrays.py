"""Domains and lists of polyhedra as named arrays."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from reluscope.files import stored
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron


def domain_arrays(domain: Domain) -> dict[str, np.ndarray]:
    """Return a domain as named arrays."""
    if isinstance(domain, Slice):
        return {"domain.origin": domain.origin, "domain.basis": domain.basis, **domain_arrays(domain.window)}
    if isinstance(domain, Box):
        return {"domain.lo": domain.lo, "domain.hi": domain.hi}
    if isinstance(domain, Space):
        return {"domain.dim": np.array([domain.dim])}
    return {"domain.A": domain.A, "domain.b": domain.b}


def domain_from_arrays(arrays: dict[str, np.ndarray]) -> Domain:
    """Return the domain that `domain_arrays` took apart."""
    if "domain.dim" in arrays:
        window = Space(int(arrays["domain.dim"][0]))
    elif "domain.A" in arrays:
        window = Polyhedron(arrays["domain.A"], arrays["domain.b"])
    else:
        window = Box(arrays["domain.lo"], arrays["domain.hi"])
    if "domain.origin" in arrays:
        return Slice(arrays["domain.origin"], arrays["domain.basis"], window)
    return window


def polyhedra_arrays(pieces: Sequence[Polyhedron], dim: int) -> dict[str, np.ndarray]:
    """Return polyhedra as named arrays: their rows one after the other, and how many rows each has."""
    arrays = {}
    for rows, offsets in (("A", "b"), ("C", "d")):
        tables = [getattr(piece, rows) for piece in pieces]
        arrays[rows] = np.concatenate([np.zeros((0, dim)), *tables])
        arrays[offsets] = np.concatenate([np.zeros(0), *(getattr(piece, offsets) for piece in pieces)])
        arrays[f"num_{rows}"] = np.array([len(table) for table in tables], dtype=np.int64)
    return arrays


def read_polyhedra(arrays: Mapping[str, np.ndarray], number: int, dim: int | None = None) -> Iterator[Polyhedron]:
    """Yield the polyhedra that `polyhedra_arrays` took apart; their dimension is that of the rows if none is given."""
    parts = {}
    for rows, sides in (("A", "b"), ("C", "d")):
        lengths = stored.array(arrays, f"num_{rows}", np.int64, (number,), least=0, below=2**31)
        total = int(lengths.sum())
        cuts = np.cumsum(lengths)[:-1]
        parts[rows] = np.split(stored.array(arrays, rows, np.float64, (total, dim)), cuts)
        parts[sides] = np.split(stored.array(arrays, sides, np.float64, (total,)), cuts)
    for index in range(number):
        yield Polyhedron(*(parts[name][index] for name in ("A", "b", "C", "d")))
