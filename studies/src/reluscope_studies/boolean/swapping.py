"""The swaps value of a Boolean function: how often it must change along a direction of the cube, at the least.

Definition (Sattelberg, equation 3.10): the smallest number of sign changes of f along x . w over all w at which inputs
with equal x . w have equal values. A direction without ties suffices, since a small perturbation splits ties within one
class only; so the minimum is over the chambers of `orderings` and the symmetries of the cube. The recursion printed in
the dissertation compares w_i with too few sums and misses chambers from n = 4 on (6 of 14 are found).
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Integer

from reluscope import Budget, Finding
from reluscope.arguments import read_arguments
from reluscope.extending.analyses import BestFirst, Branch, Shown, TimeBudget
from reluscope_studies.boolean.directions import lattice_lower, num_changes, search_direction
from reluscope_studies.boolean.function import BooleanFunction, all_inputs
from reluscope_studies.boolean.orderings import orderings_above, strict_orderings
from reluscope_studies.boolean.symmetries import cube_symmetries, input_orders, pack

MAX_EXACT_INPUTS = 6
_AT_ONCE = 5
_SOURCE = "sattelberg2026"
_DEFINITION = "fewest changes of the value along a direction w, inputs with equal x . w having equal values"


@dataclass(frozen=True, repr=False)
class Swaps(Shown):
    """The swaps value and the direction that shows it.

    Parameters
    ----------
    value : Finding
        EXACT, or UPPER with an interval.
    direction : (n,) array
        Whole numbers w without ties, along which the function changes ``value`` times.
    """

    value: Finding
    direction: Integer[np.ndarray, " n"]

    def __int__(self) -> int:
        return int(self.value)


@read_arguments
def swaps(function: BooleanFunction, *, budget: TimeBudget | None = None) -> Swaps:
    """Return the swaps value of a function, with an optimal direction.

    Parameters
    ----------
    function : BooleanFunction
    budget : Budget, optional
        Seconds after which work stops with what is known, for n = 6, as Ctrl-C stops it; functions of fewer inputs take
        milliseconds.

    Returns
    -------
    Swaps
        EXACT up to n = 6 unless time ran out. Otherwise UPPER, shown by the direction, with an interval whose lower end
        is proved; EXACT where both ends meet.

    Raises
    ------
    InputError
        If there are more than 16 inputs: `BooleanFunction` keeps no more.

    Notes
    -----
    With C(n) chambers up to symmetry (1, 1, 2, 14, 516, 124187), one function costs C(n) 2^(n - 1) n! evaluations in
    place of the (2^n n!)^2 of the dissertation's search, each a row of one matrix product: how often a truth table
    changes over the pairs of inputs that are neighbours in some ordering. For n = 6 most of them are never made: along
    the first n - 1 weights both halves of the function change at most as often as the whole, and these C(n - 1) 2^(n -
    1) n! numbers are lower bounds for all chambers above them, which are visited by ascending bound until the best
    known value is met. The number of chambers grows like 2^(n^2) up to constants, so no enumeration reaches far beyond.

    References
    ----------
    Sattelberg, "Local linearity of ReLU neural networks", 2026, Section 3.3.1 (open question 1).

    Examples
    --------
    >>> found = swaps(BooleanFunction.of_formula("x1 ^ x2 & x3"))
    >>> print(found.value, found.direction)
    2 (EXACT) [4 1 2]
    """
    began = time.perf_counter()
    n = function.num_inputs
    if n <= _AT_ONCE:
        direction, low, method = _best_at_once(function), None, "all strict orderings of subset sums and all symmetries"
    elif n == MAX_EXACT_INPUTS:
        direction, low = _best_by_bounds(function, budget or Budget())
        method = "strict orderings of subset sums, by ascending bound from the first five weights"
    else:
        low = max(lattice_lower(function), _parts_lower(function))
        # Sorting 2^n places at a time, so fewer rounds for more inputs.
        direction = search_direction(function, rounds=max(4, 250_000 >> n), enough=low)
        method = "local search from above; chains of inputs and functions of five inputs from below"
    value = num_changes(function, direction)
    assert value is not None
    low = value if low is None else min(low, value)
    finding = Finding.of(
        value,
        lower=low,
        name="swaps value",
        definition=_DEFINITION,
        domain=f"the cube of {n} inputs",
        method=method,
        source=_SOURCE,
        work={"seconds": time.perf_counter() - began},
    )
    direction.flags.writeable = False
    return Swaps(finding, direction)


def num_optimal(function: BooleanFunction) -> tuple[int, int, int]:
    """Return the swaps value of up to 5 inputs, how many orderings attain it, and of how many.

    Orderings are counted up to symmetries of the function and its negation.
    """
    tables, _ = _distinct_tables(function)
    features = _all_features(function.num_inputs)
    changes = features.changes(tables)
    low = changes.min()
    return int(low), int((changes == low).sum()), changes.size


@dataclass(frozen=True)
class OrderingFeatures:
    """Pairs of inputs that are neighbours in some ordering, and which orderings have which."""

    pairs: Integer[np.ndarray, "p 2"]
    contained: Float[np.ndarray, "p k"]

    def changes(self, tables: Integer[np.ndarray, "t size"]) -> Float[np.ndarray, "t k"]:
        """Return how often each truth table changes along each ordering; sums of zeros and ones, exact in float32."""
        differs = tables[:, self.pairs[:, 0]] != tables[:, self.pairs[:, 1]]
        return differs.astype(np.float32) @ self.contained


def ordering_features(inputs: Integer[np.ndarray, "k size"]) -> OrderingFeatures:
    """Return the pairs of neighbours of orderings, given the inputs from the lowest to the highest."""
    inputs = inputs.astype(np.int64)
    size = inputs.shape[1]
    low, high = np.minimum(inputs[:, 1:], inputs[:, :-1]), np.maximum(inputs[:, 1:], inputs[:, :-1])
    pairs, places = np.unique(low * size + high, return_inverse=True)
    contained = np.zeros((len(pairs), len(inputs)), dtype=np.float32)
    contained[places.reshape(low.shape), np.arange(len(inputs))[:, None]] = 1.0
    return OrderingFeatures(np.column_stack([pairs // size, pairs % size]), contained)


@lru_cache(maxsize=8)
def _all_features(num_inputs: int) -> OrderingFeatures:
    return ordering_features(strict_orderings(num_inputs).inputs)


@lru_cache(maxsize=1024)
def _features_above(num_inputs: int, parent: int) -> OrderingFeatures:
    return ordering_features(orderings_above(num_inputs, parent).inputs)


def _best_at_once(function: BooleanFunction) -> Integer[np.ndarray, " n"]:
    tables, symmetries = _distinct_tables(function)
    changes = _all_features(function.num_inputs).changes(tables)
    table, ordering = np.unravel_index(int(changes.argmin()), changes.shape)
    weights = strict_orderings(function.num_inputs).weights[ordering]
    return _moved(weights, int(symmetries[table]))


class _Chambers(BestFirst):
    """The chambers of six weights above those of the first five, by ascending lower bounds."""

    def __init__(self, function: BooleanFunction, low: int, direction: Integer[np.ndarray, " n"], best: int) -> None:
        super().__init__()
        self.direction, self.best = direction, best
        self._low, self._num_inputs = low, function.num_inputs
        self._tables, self._symmetries = _distinct_tables(function)
        self._bounds: Integer[np.ndarray, "t k"] | None = None

    def is_settled(self, key: float) -> bool:
        """Whether no chamber above can be better, or none at all."""
        return key >= self.best or self.best <= self._low

    def start(self) -> None:
        """Bound all chambers by those of the first weights."""
        # The last input is the one of the largest weight: without it two functions of the other inputs are left.
        smaller = _all_features(self._num_inputs - 1)
        halves = smaller.changes(self._tables[:, 0::2]), smaller.changes(self._tables[:, 1::2])
        self._bounds = np.maximum(*halves).astype(np.int16)
        for level in range(int(self._bounds.min()), self.best):
            for parent in np.flatnonzero((self._bounds == level).any(axis=0)).tolist():
                self.push(level, parent)

    def split(self, branch: Branch) -> None:
        """Look through the chambers above one for all symmetries that have its bound."""
        assert self._bounds is not None
        self.num_branches += 1
        parent: int = branch.what
        rows = np.flatnonzero(self._bounds[:, parent] == branch.key)
        changes = _features_above(self._num_inputs, parent).changes(self._tables[rows])
        row, ordering = np.unravel_index(int(changes.argmin()), changes.shape)
        if changes[row, ordering] < self.best:
            self.best = int(changes[row, ordering])
            weights = orderings_above(self._num_inputs, parent).weights[ordering]
            self.direction = _moved(weights, int(self._symmetries[rows[row]]))


def _best_by_bounds(function: BooleanFunction, budget: Budget) -> tuple[Integer[np.ndarray, " n"], int | None]:
    """Return the best direction, and a lower bound unless that direction is proved to be optimal."""
    low = lattice_lower(function)
    direction = search_direction(function, rounds=40, enough=low)
    best = num_changes(function, direction)
    assert best is not None
    if low >= best:
        return direction, None
    search = _Chambers(function, low, direction, best)
    if not search.run(budget):
        return search.direction, None
    proved = search.frontier if search.is_broken or not search.queue else search.queue[0].key
    return search.direction, max(low, min(int(proved), search.best))


def _distinct_tables(function: BooleanFunction) -> tuple[Integer[np.ndarray, "t size"], Integer[np.ndarray, " t"]]:
    """Return the truth tables of a function under all symmetries, each once, and a symmetry that gives it.

    Negating all inputs turns every ordering round and negating the output changes nothing, so that one of each pair is
    enough.
    """
    n = function.num_inputs
    symmetries = np.arange(len(cube_symmetries(n)))
    symmetries = symmetries[(symmetries >> max(0, n - 1)) % 2 == 0] if n else symmetries
    tables = function.values[cube_symmetries(n)[symmetries]]
    tables ^= tables[:, :1]
    _, first = np.unique(pack(tables), return_index=True)
    return tables[first], symmetries[first]


def _moved(weights: Integer[np.ndarray, " n"], symmetry: int) -> Integer[np.ndarray, " n"]:
    """Return the direction along which the function is what its moved truth table is along the weights."""
    n = len(weights)
    direction = np.zeros(n, dtype=np.int64)
    if n:
        direction[input_orders(n)[symmetry >> n]] = weights * (1 - 2 * all_inputs(n)[symmetry % (1 << n)])
    return direction


def _parts_lower(function: BooleanFunction) -> int:
    """Return the largest swaps value of some functions of five inputs that fixing the others leaves."""
    n = function.num_inputs
    return max(int(swaps(one)) for one in _restrictions(function, n - _AT_ONCE))


def _restrictions(function: BooleanFunction, number: int, most: int = 64) -> Iterator[BooleanFunction]:
    generator = np.random.default_rng(0)
    cube = function.values.reshape((2,) * function.num_inputs)
    for _ in range(most):
        fixed = generator.permutation(function.num_inputs)[:number]
        place: list[int | slice] = [slice(None)] * function.num_inputs
        for axis in fixed:
            place[axis] = int(generator.integers(2))
        yield BooleanFunction.of_values(cube[tuple(place)].reshape(-1))
