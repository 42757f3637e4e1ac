"""Which units differ between pairs of codes, as ragged lists."""

import numpy as np
from jaxtyping import Int
from numba import njit

from reluscope.codes.packed import Codes
from reluscope.interruption import held


def differences(
    codes: Codes, first: Int[np.ndarray, " f"], second: Int[np.ndarray, " f"]
) -> tuple[Int[np.ndarray, " f1"], Int[np.ndarray, " units"]]:
    """Return the units in which pairs of codes of one batch differ.

    Parameters
    ----------
    codes : Codes
    first, second : (f,) int
        Rows of the pairs.

    Returns
    -------
    offsets : (f + 1,) int64
    units : (offsets[-1],) int64
        Pair i differs in ``units[offsets[i] : offsets[i + 1]]``, ascending and numbered through all gates.

    Notes
    -----
    Cost: one pass over the words of every pair, and memory for the result alone.

    Examples
    --------
    >>> import numpy as np
    >>> from reluscope.codes import CodeLayout, Codes, GateLayout
    >>> codes = Codes.from_pieces([np.array([[0, 1, 1], [1, 1, 0]])], CodeLayout((GateLayout("relu", 3),)))
    >>> differences(codes, np.array([0]), np.array([1]))
    (array([0, 2]), array([0, 2]))
    """
    layout = codes.layout
    starts = np.array([layout.words(index).start for index in range(len(layout))], dtype=np.int64)
    planes = np.array([gate.num_planes for gate in layout], dtype=np.int64)
    widths = np.array([gate.words_per_plane for gate in layout], dtype=np.int64)
    units = np.array([layout.units(index).start for index in range(len(layout))], dtype=np.int64)
    first, second = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    return _differences(np.asarray(codes.words), first, second, starts, planes, widths, units)


@held
@njit(cache=True)
def _differences(words, first, second, starts, planes, widths, unit_starts):
    offsets = np.zeros(first.shape[0] + 1, dtype=np.int64)
    units = np.empty(max(16, 2 * first.shape[0]), dtype=np.int64)
    used = 0
    for pair in range(first.shape[0]):
        a, b = words[first[pair]], words[second[pair]]
        for gate in range(starts.shape[0]):
            for w in range(widths[gate]):
                changed = np.uint64(0)
                for plane in range(planes[gate]):
                    column = starts[gate] + plane * widths[gate] + w
                    changed |= a[column] ^ b[column]
                bit = 0
                while changed != np.uint64(0):
                    # Whole empty bytes first: most words differ in one bit.
                    while changed & np.uint64(0xFF) == np.uint64(0):
                        changed >>= np.uint64(8)
                        bit += 8
                    if changed & np.uint64(1):
                        if used == units.shape[0]:
                            longer = np.empty(2 * used, dtype=np.int64)
                            longer[:used] = units
                            units = longer
                        units[used] = unit_starts[gate] + 64 * w + bit
                        used += 1
                    changed >>= np.uint64(1)
                    bit += 1
        offsets[pair + 1] = used
    return offsets, units[:used].copy()
