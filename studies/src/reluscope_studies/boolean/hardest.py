"""Functions of large swaps value: by local search over truth tables, and the largest of all (Sattelberg's question 2).

Up to symmetries of the first n - 1 inputs and negation of the output, the half of a function at xn = 0 is one of few:
so 222 x 65,536 functions of five inputs stand for all 2^32. Nearly all of them change seldom along some of a few
hundred orderings, which settles them.
"""

import time
from dataclasses import dataclass
from math import inf

import numpy as np
from jaxtyping import Integer

from reluscope import Finding
from reluscope.arguments import Count, Natural, Seed, read_arguments
from reluscope.errors import InputError
from reluscope.extending.analyses import Shown
from reluscope_studies.boolean.function import BooleanFunction, check_num_inputs
from reluscope_studies.boolean.npn import npn_classes
from reluscope_studies.boolean.orderings import strict_orderings
from reluscope_studies.boolean.swapping import num_optimal, ordering_features
from reluscope_studies.boolean.symmetries import cube_symmetries

_MAX_INPUTS = 5
# A function of five inputs of swaps value 9, found by search: class 857 of four inputs, exclusive or x5.
_HARD = {5: 1431987862}
_STAGES = (96, 512, 4096)
_AT_ONCE = 8_000_000


@dataclass(frozen=True, repr=False)
class HardFunction(Shown):
    """A function of large swaps value, and what that says of the largest value of all functions."""

    function: BooleanFunction
    value: Finding


@read_arguments
def search_hardest(
    num_inputs: Natural, *, steps: Count = 1000, seed: Seed = 0, start: BooleanFunction | None = None
) -> HardFunction:
    """Look for a function with a large swaps value.

    Parameters
    ----------
    num_inputs : int
        From 1 to 5.
    steps : int
        Truth tables tried, some 8 ms each for n = 5.
    seed : int
    start : BooleanFunction, optional
        By default a random one.

    Returns
    -------
    HardFunction
        Its value is a LOWER bound on the largest swaps value of all functions of n inputs: that of the function, exact.

    Notes
    -----
    One or two values change at a time. A table is better if its swaps value is larger or, at the same value, if fewer
    orderings attain it; tables that are a little worse are taken now and then.

    Examples
    --------
    >>> print(search_hardest(3, steps=60).value)
    3 (LOWER)
    """
    check_num_inputs(num_inputs, _MAX_INPUTS, "functions of large swaps value are searched")
    if num_inputs < 1 or steps < 1:
        raise InputError(f"expected at least one input and one step, got {num_inputs} and {steps}")
    began = time.perf_counter()
    generator = np.random.default_rng(seed)
    size = 1 << num_inputs
    table = generator.integers(2, size=size) if start is None else start.values.astype(np.int64)
    height = best_height = _height(table)
    best = table
    for step in range(steps):
        changed = generator.choice(size, size=min(size, 1 + int(generator.integers(2))), replace=False)
        other = table.copy()
        other[changed] ^= 1
        reached = _height(other)
        warmth = 0.05 * (1 - step / steps)
        if reached >= height or generator.random() < np.exp((reached - height) / max(warmth, 1e-9)):
            table, height = other, reached
        if height > best_height:
            best, best_height = table, height
    found = BooleanFunction.of_values(best)
    value = Finding.of(
        num_optimal(found)[0],
        upper=inf,
        name=f"largest swaps value of {num_inputs} inputs",
        definition="largest over all functions of the fewest changes along a direction",
        method=f"local search over truth tables, {steps:,} steps, seed {seed}",
        source="sattelberg2026",
        work={"seconds": time.perf_counter() - began},
    )
    return HardFunction(found, value)


@read_arguments
def largest_swaps(num_inputs: Natural) -> HardFunction:
    """Return the largest swaps value of all functions, and a function that has it.

    Parameters
    ----------
    num_inputs : int
        From 1 to 5.

    Returns
    -------
    HardFunction
        EXACT: 1, 2, 3, 5 and 9.

    Notes
    -----
    At once up to four inputs, one to three minutes for five: 14.5 million functions along 96 orderings, those that
    change more often than the best known one along 512 more, and so on; what is left gets its exact value.

    Examples
    --------
    >>> print(largest_swaps(4).value)
    5 (EXACT)
    """
    check_num_inputs(num_inputs, _MAX_INPUTS, "the largest swaps value is computed")
    if num_inputs < 1:
        raise InputError(f"expected at least one input, got {num_inputs}")
    began = time.perf_counter()
    best = BooleanFunction(num_inputs, _HARD.get(num_inputs, 0))
    most = num_optimal(best)[0]
    half = 1 << (num_inputs - 1)
    second = (np.arange(1 << half)[:, None] >> np.arange(half)[::-1] & 1).astype(np.uint8)
    stages = [ordering_features(_some_orderings(num_inputs, number, seed)) for seed, number in enumerate(_STAGES)]
    for function, _ in npn_classes(num_inputs - 1):
        tables = np.concatenate([np.tile(function.values, (len(second), 1)), second], axis=1)
        for features in stages:
            step = max(1, _AT_ONCE // max(features.contained.shape))
            parts = [tables[start : start + step] for start in range(0, len(tables), step)]
            tables = np.concatenate([part[features.changes(part).min(axis=1) > most] for part in parts] or [tables])
        for table in tables:
            other = BooleanFunction.of_values(table)
            value = num_optimal(other)[0]
            if value > most:
                best, most = other, value
    value = Finding.of(
        most,
        name=f"largest swaps value of {num_inputs} inputs",
        definition="largest over all functions of the fewest changes along a direction",
        method="all functions up to symmetries of the first inputs",
        source="sattelberg2026",
        work={"seconds": time.perf_counter() - began},
    )
    return HardFunction(best, value)


def _some_orderings(num_inputs: int, number: int, seed: int) -> Integer[np.ndarray, "number size"]:
    """Return inputs from the lowest to the highest along random chambers of random symmetries."""
    generator = np.random.default_rng(seed)
    symmetries, chambers = cube_symmetries(num_inputs), strict_orderings(num_inputs).inputs
    moved = symmetries[generator.integers(len(symmetries), size=number)].astype(np.int64)
    return np.take_along_axis(moved, chambers[generator.integers(len(chambers), size=number)].astype(np.int64), axis=1)


def _height(table: np.ndarray) -> float:
    """Return the swaps value, plus almost 1 if few orderings attain it."""
    value, optimal, total = num_optimal(BooleanFunction.of_values(table))
    return value + np.log(total / optimal) / (1 + np.log(total))
