"""Directions of the cube for functions of any number of inputs: changes along one, a search for few, a lower bound."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Integer, Num

from reluscope.arguments import Count, Natural, read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope_studies.boolean.function import BooleanFunction, all_inputs

Direction = Sequence[int] | Num[np.ndarray, " n"]

_MAX_LATTICE = 11
_MAX_SMALL = 6


@read_arguments
def num_changes(function: BooleanFunction, direction: Direction) -> int | None:
    """Return how often a function changes along a direction of whole numbers.

    Parameters
    ----------
    function : BooleanFunction
    direction : (n,) array of whole numbers

    Returns
    -------
    int or None
        None if two inputs with the same ``x . direction`` have different values.

    Examples
    --------
    >>> parity = BooleanFunction.of_formula("x1 ^ x2 ^ x3")
    >>> num_changes(parity, [1, 1, 1]), num_changes(parity, [1, 2, 4]), num_changes(parity, [1, 1, 2])
    (3, 5, None)
    """
    runs = levels(function, direction)
    return None if runs is None else int((runs[1][1:] != runs[1][:-1]).sum())


def levels(
    function: BooleanFunction, direction: Direction
) -> tuple[Integer[np.ndarray, " k"], Integer[np.ndarray, " k"]] | None:
    """Return the distinct values of ``x . direction``, ascending, and the function's value at each.

    None if two inputs with the same ``x . direction`` have different values.
    """
    weights = np.asarray(direction)
    if weights.shape != (function.num_inputs,):
        raise ShapeError(f"expected a direction of {function.num_inputs} entries, got shape {weights.shape}")
    if weights.size and weights.dtype.kind not in "iu":
        raise InputError("expected a direction of whole numbers, got floating-point ones: scale and round it")
    places = all_inputs(function.num_inputs) @ weights.astype(np.int64)
    distinct, which = np.unique(places, return_inverse=True)
    ones = np.bincount(which, weights=function.values, minlength=len(distinct))
    if ((ones > 0) & (ones < np.bincount(which))).any():
        return None
    return distinct, (ones > 0).astype(np.int64)


def search_direction(
    function: BooleanFunction, *, rounds: int, enough: int = 0, seed: int = 0
) -> Integer[np.ndarray, " n"]:
    """Return a direction without ties along which a function changes seldom, by local search.

    Each round tries some 40 directions near the best one, or anywhere; ``enough`` changes, such as a lower bound, end
    the search.
    """
    n = function.num_inputs
    generator = np.random.default_rng(seed)
    # Up to 16 inputs, subset sums of numbers of this size seldom tie, and ties are detected.
    scale, tries = 1 << 30, 40
    values, inputs = function.values.astype(np.int8), all_inputs(n)
    signs = generator.choice([-1, 1], size=(tries, n))
    near_equal = signs * (scale + generator.integers(1, 1 << 12, size=(tries, n)))
    starts = np.concatenate([near_equal, generator.integers(-scale, scale, size=(tries, n))])
    if n:
        starts[0] = scale + generator.integers(1, 1 << 12, size=n)
    best, fewest = starts[0], 1 << n
    for step in range(rounds + 1):
        if fewest <= enough:
            break
        if step:
            kind = generator.integers(4)
            starts = np.tile(best, (tries, 1))
            if kind == 0:
                starts = generator.integers(-scale, scale, size=(tries, n))
            elif kind == 1:
                starts += (generator.normal(size=(tries, n)) * scale * 0.1).astype(np.int64)
            else:
                # One weight anew, most often as a signed sum of the others: near the walls between chambers.
                which = generator.integers(n, size=tries)
                sums = (starts * generator.integers(-1, 2, size=(tries, n))).sum(axis=1)
                sums += generator.integers(-(1 << 10), 1 << 10, size=tries)
                anew = generator.integers(-2 * scale, 2 * scale, size=tries)
                starts[np.arange(tries), which] = np.where(generator.random(tries) < 0.7, sums, anew)
        places = starts @ inputs.T
        order = np.argsort(places, axis=1, kind="stable")
        has_ties = (np.diff(np.take_along_axis(places, order, axis=1), axis=1) == 0).any(axis=1)
        along = values[order]
        changes = (along[:, 1:] != along[:, :-1]).sum(axis=1) + has_ties * (2 << n)
        found = int(changes.argmin())
        if changes[found] <= fewest:
            best, fewest = starts[found].copy(), int(changes[found])
    return best


def lattice_lower(function: BooleanFunction) -> int:
    """Return a lower bound on the swaps value from alternating chains of inputs.

    Over all signs of w, the longest alternating chain in the lattice of subsets, with negative inputs turned round. n
    4^n steps; beyond 11 inputs the result is 0 or 1.
    """
    n = function.num_inputs
    trivial = int(not function.is_constant)
    if not 0 < n <= _MAX_LATTICE:
        return trivial
    # Turning all inputs round turns all chains round.
    masks = np.arange(1 << (n - 1))
    tables = function.values[masks[:, None] ^ np.arange(1 << n)]
    longest = np.zeros(tables.shape, dtype=np.int8)
    for one in range(1, 1 << n):
        below = [one ^ (1 << bit) for bit in range(n) if one >> bit & 1]
        longest[:, one] = (longest[:, below] + (tables[:, below] != tables[:, [one]])).max(axis=1)
    return max(trivial, int(longest[:, -1].min()))


@read_arguments
def small_direction(
    function: BooleanFunction, changes: Natural, *, largest: Count = 3
) -> Integer[np.ndarray, " n"] | None:
    """Return a direction of small whole numbers, ties allowed, along which a function changes so often at most.

    Parameters
    ----------
    function : BooleanFunction
        Of up to 6 inputs.
    changes : int
        For instance the swaps value.
    largest : int
        Largest absolute value of an entry.

    Returns
    -------
    (n,) array or None
        That of the smallest sum of absolute values, inputs at the same place having the same value; None if there is
        none.

    Notes
    -----
    (2 largest + 1)^n directions, half of them up to sign, in order of size: 8,400 for n = 5 and entries up to 3.

    Examples
    --------
    >>> small_direction(BooleanFunction.of_formula("x1 ^ x2 ^ ~x3"), 3).tolist()
    [1, 1, 1]
    """
    n = function.num_inputs
    if n == 0 or n > _MAX_SMALL:
        return None
    entries = np.arange(-largest, largest + 1)
    directions = np.stack(np.meshgrid(*[entries] * n, indexing="ij"), axis=-1).reshape(-1, n)
    first = directions[np.arange(len(directions)), (directions != 0).argmax(axis=1)]
    directions = directions[first >= 0]
    directions = directions[np.lexsort([(directions < 0).sum(axis=1), np.abs(directions).sum(axis=1)])]
    inputs, values = all_inputs(n), function.values.astype(np.int64)
    for start in range(0, len(directions), 512):
        some = directions[start : start + 512]
        # The value breaks ties; a place where it changes is one that two values share.
        keys = np.sort(2 * (some @ inputs.T) + values, axis=1)
        differs = keys[:, 1:] % 2 != keys[:, :-1] % 2
        is_shared = (differs & (keys[:, 1:] // 2 == keys[:, :-1] // 2)).any(axis=1)
        fits = np.flatnonzero(~is_shared & (differs.sum(axis=1) <= changes))
        if len(fits):
            return some[fits[0]]
    return None
