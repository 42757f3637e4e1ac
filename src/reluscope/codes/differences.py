"""Which units differ between pairs of codes, as ragged lists."""

import numpy as np
from jaxtyping import Int

from reluscope import _kernels
from reluscope.codes.packed import Codes


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
    return _kernels.differences(np.asarray(codes.words), first, second, starts, planes, widths, units)
