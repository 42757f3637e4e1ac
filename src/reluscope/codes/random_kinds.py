"""Kinds of codes that mean nothing, to tell regions apart: equal codes are of one kind wherever they are seen."""

import numpy as np
from jaxtyping import Int

from reluscope.codes.packed import Codes


def random_kinds(codes: Codes) -> Int[np.ndarray, " s"]:
    """Return one of six kinds per code: equal codes are of one kind everywhere, codes at distance 1 of two kinds.

    The number of set bits is even or odd, which tells neighbours apart where one unit of two pieces flips; the rest is
    a hash of the words.
    """
    words = np.asarray(codes.words)
    parity = np.bitwise_count(words).sum(axis=1, dtype=np.int64) % 2
    mixed = np.zeros(len(words), dtype=np.uint64)
    for column in words.T:
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return 2 * (mixed % np.uint64(3)).astype(np.int64) + parity
