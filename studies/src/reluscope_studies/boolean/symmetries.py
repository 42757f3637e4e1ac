"""The symmetries of the cube {0, 1}^n: permutations and negations of inputs, 2^n n! of them, as tables of indices."""

from functools import lru_cache
from itertools import permutations
from math import factorial

import numpy as np
from jaxtyping import Integer

from reluscope_studies.boolean.function import all_inputs


@lru_cache(maxsize=8)
def cube_symmetries(num_inputs: int) -> Integer[np.ndarray, "count size"]:
    """Return where every symmetry takes every input.

    Row ``permutation * 2^n + mask``: x goes to y with ``y[order[i]] = x[i] ^ mask[i]``, where the order is the row of
    `input_orders` of that number and the mask is read like an input.
    """
    size = 1 << num_inputs
    moved = (1 << (num_inputs - 1 - input_orders(num_inputs))) @ all_inputs(num_inputs).T
    negated = np.arange(size)[:, None] ^ np.arange(size)
    table = moved.astype(np.uint8 if size <= 256 else np.uint16)[:, negated].reshape(-1, size)
    table.flags.writeable = False
    return table


def input_orders(num_inputs: int) -> Integer[np.ndarray, "count n"]:
    """Return all permutations of the inputs, in lexicographic order."""
    return np.array(list(permutations(range(num_inputs))), dtype=np.int64).reshape(factorial(num_inputs), num_inputs)


def pack(tables: Integer[np.ndarray, "k size"]) -> Integer[np.ndarray, " k"]:
    """Return truth tables of up to 64 values as the numbers that name them."""
    size = tables.shape[1]
    packed = np.packbits(tables.astype(np.uint8), axis=1)
    wide = np.zeros((len(tables), 8), dtype=np.uint8)
    wide[:, 8 - packed.shape[1] :] = packed
    return wide.view(">u8")[:, 0].astype(np.uint64) >> np.uint64(8 - size if size < 8 else 0)
