"""The pieces of a level set as chains: vertices, edges and polygons in space, vertices and segments in the plane."""

import numpy as np
from jaxtyping import Bool

from reluscope.analyses.topology.chains import Chains
from reluscope.partitions.levels.level_sets import LevelSet


def chains_of(found: LevelSet) -> "tuple[Chains, list[Bool[np.ndarray, ' _']]]":
    """Return the chains of a level set, and which faces of every dimension are on the boundary of its domain."""
    number, pieces = len(found.vertices), len(found)
    at_border = np.zeros(number, dtype=bool)
    at_border[found.border] = True
    none = np.zeros(pieces, dtype=bool)
    if found.dim == 2:
        return Chains((number, pieces), (found.offsets,), (found.ids,)), [at_border, none]
    following = np.arange(1, len(found.ids) + 1)
    following[found.offsets[1:] - 1] = found.offsets[:-1]
    edges, sides = _edges(np.stack([found.ids, found.ids[following]], axis=1), number)
    keys, border = _keys(edges, number), _keys(found.border, number)
    offsets = 2 * np.arange(len(edges) + 1)
    chains = Chains((number, len(edges), pieces), (offsets, found.offsets), (edges.reshape(-1), sides))
    return chains, [at_border, np.isin(keys, border), none]


def _edges(ends: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return edges, each once, and which of them each one given is."""
    _, first, row = np.unique(_keys(ends, number), return_index=True, return_inverse=True)
    return ends[first], row


def _keys(ends: np.ndarray, number: int) -> np.ndarray:
    return ends.min(axis=1) * number + ends.max(axis=1) if len(ends) else np.zeros(0, dtype=np.int64)
