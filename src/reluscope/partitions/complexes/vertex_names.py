"""Names of vertices: the same in all chunks that a vertex is made in, whatever their number and order.

A vertex made by a cut lies between the two ends of an edge, which it divides for good: no two vertices are made between
the same two. Its name is a hash of theirs. An edge between two chunks is cut on both sides by the same units in the
same order, so that its vertices have the same names there, without a look at where they lie.
"""

import numpy as np
from jaxtyping import Int, UInt64

_STEP, _FIRST, _SECOND = (np.uint64(factor) for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def first_names(number: int) -> UInt64[np.ndarray, " v"]:
    """Return the names of the corners of a domain."""
    return mixed(np.arange(number, dtype=np.uint64))


def extend_names(
    names: UInt64[np.ndarray, " v"], tail: Int[np.ndarray, " n"], head: Int[np.ndarray, " n"]
) -> UInt64[np.ndarray, " w"]:
    """Return the names of vertices and of new ones, each between two that precede it.

    The name of a new vertex does not depend on the order of the two.
    """
    first = len(names)
    found = np.concatenate([names, np.zeros(len(tail), dtype=np.uint64)])
    is_known = np.arange(len(found)) < first
    todo = np.arange(len(tail))
    while len(todo):
        ready = is_known[tail[todo]] & is_known[head[todo]]
        rows = todo[ready]
        one, other = found[tail[rows]], found[head[rows]]
        found[first + rows] = mixed(np.minimum(one, other) + mixed(np.maximum(one, other)))
        is_known[first + rows] = True
        todo = todo[~ready]
    return found


def mixed(words: UInt64[np.ndarray, " n"]) -> UInt64[np.ndarray, " n"]:
    """Return words with all their bits mixed: one to one (splitmix64 by Steele, Lea and Flood, 2014)."""
    words = words + _STEP
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))
