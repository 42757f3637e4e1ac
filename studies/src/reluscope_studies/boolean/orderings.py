"""Strict orderings of subset sums: chambers of the arrangement of all hyperplanes e . w = 0 for e in {-1, 0, 1}^n.

Within a chamber the sums of subsets of w_1, ..., w_n come in one order. Up to permutation and negation of inputs 0 <
w_1 < ... < w_n, which leaves 1, 1, 2, 14, 516, 124187 chambers for n = 1 to 6. They are found by adding one weight at a
time: above a chamber of n - 1 weights lies the cone w_n > w_(n-1), which is cut by every hyperplane w_n = sum_i e_i w_i
that passes through it. Cones are kept by their extreme rays, in whole numbers (double description), so nothing is
rounded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import gcd

import numpy as np
from jaxtyping import Integer

from reluscope.arguments import Natural, read_arguments
from reluscope.extending.analyses import Shown
from reluscope_studies.boolean.function import all_inputs, check_num_inputs

MAX_INPUTS = 6


@dataclass(frozen=True, repr=False)
class Orderings(Shown):
    """Some strict orderings of the subset sums of n ascending positive weights.

    Parameters
    ----------
    weights : (k, n) array
        Whole numbers within each chamber, ascending.
    inputs : (k, 2^n) array
        For each chamber all inputs, by their index, from the smallest sum to the largest.
    """

    weights: Integer[np.ndarray, "k n"]
    inputs: Integer[np.ndarray, "k size"]

    def __len__(self) -> int:
        return len(self.weights)


@dataclass(frozen=True)
class _Cone:
    """Extreme rays, and for each the inequalities that are equations there, as bits of an integer."""

    rays: tuple[tuple[int, ...], ...]
    tight: tuple[int, ...]
    num_inequalities: int


@read_arguments
def strict_orderings(num_inputs: Natural) -> Orderings:
    """Return all strict orderings of subset sums up to symmetry.

    Parameters
    ----------
    num_inputs : int
        Up to 6.

    Raises
    ------
    InputError
        If there are more than 6 inputs.

    Notes
    -----
    One cut per chamber, about 0.1 ms each: 0.1 s for n = 5, some 20 s for n = 6; kept for the process.

    Examples
    --------
    >>> [len(strict_orderings(n)) for n in (1, 2, 3, 4, 5)]
    [1, 1, 2, 14, 516]
    >>> strict_orderings(3).weights.tolist()
    [[1, 2, 4], [2, 3, 4]]
    """
    check_num_inputs(num_inputs, MAX_INPUTS, "strict orderings of subset sums are listed")
    if num_inputs <= 1:
        return _orderings(_chambers(num_inputs), num_inputs)
    parts = [orderings_above(num_inputs, parent) for parent in range(len(_parents(num_inputs)))]
    return Orderings(np.concatenate([one.weights for one in parts]), np.concatenate([one.inputs for one in parts]))


@lru_cache(maxsize=1024)
def orderings_above(num_inputs: int, parent: int) -> Orderings:
    """Return those orderings whose first n - 1 weights are in one chamber, by its row in `strict_orderings`."""
    return _orderings(tuple(_above(_parents(num_inputs)[parent])), num_inputs)


def _parents(num_inputs: int) -> tuple[_Cone, ...]:
    return _chambers(num_inputs - 1)


@lru_cache(maxsize=8)
def _chambers(num_inputs: int) -> tuple[_Cone, ...]:
    if num_inputs == 0:
        return (_Cone((), (), 0),)
    if num_inputs == 1:
        return (_Cone(((1,),), (0,), 1),)
    return tuple(cone for parent in _parents(num_inputs) for cone in _above(parent))


def _above(parent: _Cone) -> Iterator[_Cone]:
    """Yield the chambers of one weight more, above one chamber."""
    n, last = len(parent.rays[0]) + 1, 1 << parent.num_inequalities
    rays = [(*ray, ray[-1]) for ray in parent.rays]
    tight = [mask | last for mask in parent.tight]
    # Straight up: the old weights are 0, so all their inequalities are equations.
    rays.append((0,) * (n - 1) + (1,))
    tight.append(last - 1)
    signs = np.array(list(product((0, 1, -1), repeat=n - 1)), dtype=np.int64)
    signs = np.column_stack([signs, np.full(len(signs), -1)])
    waiting = [(_Cone(tuple(rays), tuple(tight), parent.num_inequalities + 1), signs)]
    while waiting:
        cone, cuts = waiting.pop()
        values = np.array(cone.rays, dtype=np.int64) @ cuts.T
        # What misses a cone misses all its parts.
        passing = np.flatnonzero((values.max(axis=0) > 0) & (values.min(axis=0) < 0))
        if not len(passing):
            yield cone
        else:
            others = cuts[passing[1:]]
            waiting += [(part, others) for part in _split(cone, values[:, passing[0]].tolist(), n)]


def _split(cone: _Cone, values: list[int], dimension: int) -> tuple[_Cone, _Cone]:
    """Cut a cone by a hyperplane, given the values of its linear form at the rays; new rays lie on two-faces."""
    new_bit, tight = 1 << cone.num_inequalities, cone.tight
    above = [index for index, value in enumerate(values) if value > 0]
    below = [index for index, value in enumerate(values) if value < 0]
    on = [index for index, value in enumerate(values) if value == 0]
    rays, masks = [cone.rays[index] for index in on], [tight[index] | new_bit for index in on]
    for one in above:
        for other in below:
            common = tight[one] & tight[other]
            if common.bit_count() < dimension - 2:
                continue
            if any(mask & common == common for index, mask in enumerate(tight) if index not in (one, other)):
                continue
            a, b = values[one], -values[other]
            ray = [b * p + a * q for p, q in zip(cone.rays[one], cone.rays[other], strict=True)]
            divisor = gcd(*ray)
            rays.append(tuple(entry // divisor for entry in ray))
            masks.append(common | new_bit)
    number = cone.num_inequalities + 1
    first, second = (
        _Cone((*(cone.rays[k] for k in side), *rays), (*(tight[k] for k in side), *masks), number)
        for side in (above, below)
    )
    return first, second


def _orderings(cones: tuple[_Cone, ...], num_inputs: int) -> Orderings:
    weights = np.array([[sum(column) for column in zip(*cone.rays, strict=True)] for cone in cones], dtype=np.int64)
    weights = weights.reshape(len(cones), num_inputs)
    weights //= np.gcd.reduce(weights, axis=1, keepdims=True) if num_inputs else 1
    inputs = np.argsort(weights @ all_inputs(num_inputs).T, axis=1, kind="stable").astype(np.uint8)
    weights.flags.writeable = inputs.flags.writeable = False
    return Orderings(weights, inputs)
