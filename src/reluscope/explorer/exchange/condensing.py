"""Answers made smaller for files: corners named by number, and bytes in an order in which gzip finds what repeats.

A vertex belongs to about four polygons and as many edges: it is kept once, in the order in which polygons come to it,
and they name it. Bytes of equal weight of all numbers of an array stand together, because high ones hardly vary.
``web/restoring.js`` undoes both, to the last bit.
"""

from collections.abc import Mapping

import numpy as np

from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.exchange.wire import carried

# Which arrays hold places that others hold, too, and what their numbers are called then.
PLACES = {"corners": "corner_vertices", "edge_ends": "edge_vertices"}
VERTICES = "vertices"


def condensed(answer: Answer) -> Answer:
    """Return an answer with the same arrays in fewer bytes after compression.

    All its arrays are uint8; ``header["condensed"]`` lists name, dtype and shape of the arrays that they hold.
    """
    arrays = {name: carried(array) for name, array in _with_numbers(answer.arrays).items()}
    listed = [{"name": name, "dtype": one.dtype.name, "shape": list(one.shape)} for name, one in arrays.items()]
    return Answer({**answer.header, "condensed": listed}, {name: _by_weight(one) for name, one in arrays.items()})


def _with_numbers(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return arrays with every place once, and its number wherever it stood."""
    shared = [name for name in PLACES if name in arrays]
    if not shared:
        return dict(arrays)
    places = np.concatenate([np.ascontiguousarray(arrays[name], np.float32).reshape(-1, 2) for name in shared])
    # Equal to the last bit: 0 and -0 stay two.
    _, first, numbers = np.unique(places.view(np.uint64).ravel(), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    ends = np.cumsum([arrays[name].size // 2 for name in shared])[:-1]
    named = dict(zip(shared, np.split(rank[numbers].astype(np.int32), ends), strict=True))
    return {VERTICES: places[first[order]]} | {
        PLACES.get(name, name): named[name].reshape(array.shape[:-1]) if name in named else array
        for name, array in arrays.items()
    }


def _by_weight(array: np.ndarray) -> np.ndarray:
    """Return the bytes of an array: the first of every number, then the second of every number, and so on."""
    return np.ascontiguousarray(np.frombuffer(array.tobytes(), np.uint8).reshape(-1, array.itemsize).T).ravel()
