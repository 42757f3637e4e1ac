"""The complex that a subdivision begins with: a single polytope of any dimension.

A polytope is given by which vertices lie on which facets. Its faces are the intersections of facets, and the facets of
a face are the largest proper ones among its intersections with the facets of the polytope.
"""

import numpy as np
from jaxtyping import Bool

from reluscope.geometry.cutting.complexes import Complex


def from_polytope(incidence: Bool[np.ndarray, "v f"]) -> Complex:
    """Return the complex of one polytope and all its faces, from which vertices lie on which facets.

    The dimension follows from the incidences; facets may be listed twice, and vertices keep their order. Cost: faces
    times facets set operations (a cube of 8 dimensions has 6,561 faces).
    """
    facets = sorted({frozenset(np.flatnonzero(column).tolist()) for column in incidence.T}, key=sorted)
    top = frozenset(range(len(incidence)))
    # Level by level from the polytope down: each face with its own facets.
    levels: list[dict[frozenset[int], list[frozenset[int]]]] = []
    level = [top]
    while level and all(len(face) > 1 for face in level):
        below = {face: _facets_of(face, facets) for face in level}
        levels.append(below)
        level = sorted({child for children in below.values() for child in children}, key=sorted)
    if sorted(level, key=sorted) != [frozenset([vertex]) for vertex in range(len(incidence))]:
        raise ValueError("these incidences are not those of a polytope: some face has no vertices of its own")
    faces: list[list[frozenset[int]]] = [[frozenset([vertex]) for vertex in range(len(incidence))]]
    faces += [list(below) for below in reversed(levels)]
    children = [{}, *reversed(levels)]
    return _complex(faces, children)


def _facets_of(face: frozenset[int], facets: list[frozenset[int]]) -> list[frozenset[int]]:
    parts = {face & facet for facet in facets} - {face, frozenset()}
    return sorted((part for part in parts if not any(part < other for other in parts)), key=sorted)


def _complex(faces: list[list[frozenset[int]]], children: list[dict[frozenset[int], list[frozenset[int]]]]) -> Complex:
    """Return the complex of faces, numbered in the order given in each dimension."""
    dim = len(faces) - 1
    number = [{face: index for index, face in enumerate(level)} for level in faces]
    most = max(map(len, faces))
    start, count = (np.zeros((dim + 1, most), dtype=np.int32) for _ in range(2))
    pool: list[int] = []
    for k in range(1, dim + 1):
        for index, face in enumerate(faces[k]):
            below = [number[k - 1][child] for child in children[k][face]]
            start[k, index], count[k, index] = len(pool), len(below)
            pool.extend(below)
    return Complex(start, count, np.array(pool, dtype=np.int32), np.array([len(level) for level in faces]))
