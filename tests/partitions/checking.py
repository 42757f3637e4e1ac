"""What every partition must satisfy, and how it is compared with the rational oracle."""

import numpy as np

from oracles import fractions_plane
from reluscope.findings import Claim
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.partitions import Partition


def truth_on(layers, window: Box) -> dict[tuple, fractions_plane.Piece]:
    """Return the regions of the oracle by code; there is one per code."""
    corners = (window.lo[0], window.hi[0]) if window.dim == 1 else fractions_plane.rectangle(window.lo, window.hi)
    pieces = fractions_plane.split(layers, corners)
    truth = {piece.code: piece for piece in pieces}
    assert len(truth) == len(pieces)
    return truth


def found_in(part: Partition) -> dict[tuple, float]:
    """Return length or area by code; a code must not come twice."""
    found = dict(zip(map(tuple, part.codes.to_array().tolist()), part.volumes().tolist(), strict=True))
    assert len(found) == len(part)
    return found


def check_equal(part: Partition, truth: dict, *, accuracy: float = 1e-9) -> None:
    """The partition is EXACT and has the codes of the oracle, each with its length or area."""
    assert part.claim is Claim.EXACT
    found = found_in(part)
    assert found.keys() == truth.keys()
    total = float(sum(piece.measure for piece in truth.values()))
    for code, piece in truth.items():
        assert abs(found[code] - float(piece.measure)) <= accuracy * total


def measure_of(part: Partition) -> float:
    """Return the length or area of the window."""
    window = part.domain.window if isinstance(part.domain, Slice) else part.domain
    return window.volume()


def check_structure(part: Partition, *, accuracy: float = 1e-9) -> None:
    """Sizes sum to the window, the incidences are those of a cell complex, witnesses lie where they should."""
    volumes = part.volumes()
    assert (volumes > 0).all()
    assert abs(volumes.sum() - measure_of(part)) <= accuracy * measure_of(part)
    check_incidences(part)
    np.testing.assert_array_equal(part.locate(part.witnesses), np.arange(len(part)))
    assert part.is_bounded().all()


def check_incidences(part: Partition) -> None:
    """Euler characteristic 1, every side of every region is made of facets, neighbours differ."""
    every = part.facets_with_ends
    assert every.num_unmatched == 0
    if part.dim == 1:
        assert len(part.vertices) == len(part) + 1 == len(every.right)
    else:
        assert len(part.vertices) - len(every.right) + len(part) == 1
        check_sides(part)
    assert (every.left >= 0).all()
    facets = part.facets
    assert len(facets) == (every.right >= 0).sum()
    assert (facets.left != facets.right).all()
    assert (np.diff(facets.flip_offsets) >= 1).all()
    adjacency = part.adjacency()
    assert (adjacency != adjacency.T).nnz == 0
    assert adjacency.diagonal().sum() == 0
    assert adjacency.nnz == 2 * len(np.unique(np.sort(np.stack([facets.left, facets.right], axis=1), axis=1), axis=0))


def check_sides(part: Partition) -> None:
    """The perimeter of every polygon is the total length of the facets beside it."""
    offsets, ids = part.region_vertices
    corners = part.vertices[ids]
    following = np.arange(1, len(ids) + 1)
    following[offsets[1:] - 1] = offsets[:-1]
    perimeter = np.add.reduceat(np.linalg.norm(corners - corners[following], axis=1), offsets[:-1])
    every = part.facets_with_ends
    length = np.linalg.norm(part.vertices[every.ends[:, 0]] - part.vertices[every.ends[:, 1]], axis=1)
    inner = every.right >= 0
    beside = np.bincount(every.left, length, len(part)) + np.bincount(every.right[inner], length[inner], len(part))
    np.testing.assert_allclose(beside, perimeter, rtol=1e-9)


def lift(part: Partition, where: np.ndarray) -> np.ndarray:
    """Return points of the domain in input space."""
    return part.domain.lift(where) if isinstance(part.domain, Slice) else where
