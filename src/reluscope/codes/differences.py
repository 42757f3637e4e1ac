"""Which units differ between pairs of codes, as ragged lists."""

import numpy as np
from jaxtyping import Int

from reluscope import _kernels
from reluscope.codes.packed import Codes


def differences(
    codes: Codes, first: Int[np.ndarray, " f"], second: Int[np.ndarray, " f"]
) -> tuple[Int[np.ndarray, " f1"], Int[np.ndarray, " units"]]:
    """Return offsets and units in which pairs of codes of one batch differ.

    `first` and `second` are rows. Pair i differs in ``units[offsets[i] : offsets[i + 1]]``, ascending and numbered
    through all gates.
    """
    layout = codes.layout
    starts = np.array([layout.words(index).start for index in range(len(layout))], dtype=np.int64)
    planes = np.array([gate.num_planes for gate in layout], dtype=np.int64)
    widths = np.array([gate.words_per_plane for gate in layout], dtype=np.int64)
    units = np.array([layout.units(index).start for index in range(len(layout))], dtype=np.int64)
    first, second = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    return _kernels.differences(np.asarray(codes.words), first, second, starts, planes, widths, units)
