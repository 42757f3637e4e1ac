"""Functions of large swaps value, by local search over truth tables (Sattelberg's open question 2)."""

import time
from dataclasses import dataclass

import numpy as np

from reluscope.analyses.boolean.function import BooleanFunction, check_num_inputs
from reluscope.analyses.boolean.swapping import num_optimal
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding

_MOST_INPUTS = 5


@dataclass(frozen=True)
class HardFunction:
    """A function of large swaps value: the largest value is at least this one."""

    function: BooleanFunction
    value: Finding


def search_hardest(
    num_inputs: int, *, steps: int = 1000, seed: int = 0, start: BooleanFunction | None = None
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
    check_num_inputs(num_inputs, _MOST_INPUTS, "functions of large swaps value are searched")
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
    value = Finding(
        num_optimal(found)[0],
        Claim.LOWER,
        name=f"largest swaps value of {num_inputs} inputs",
        definition="largest over all functions of the fewest changes along a direction",
        method=f"local search over truth tables, {steps:,} steps, seed {seed}",
        source="sattelberg2026",
        work={"seconds": time.perf_counter() - began},
    )
    return HardFunction(found, value)


def _height(table: np.ndarray) -> float:
    """Return the swaps value, plus almost 1 if few orderings attain it."""
    value, optimal, total = num_optimal(BooleanFunction.of_values(table))
    return value + np.log(total / optimal) / (1 + np.log(total))
