"""A lower bound on the number of activation regions that is right with a stated confidence, from a few codes.

A parity constraint asks that the sum of a random set of the binaries that make up a code be even, or odd, as a fair
coin says. Whatever the set, each code fulfils it with probability 1/2, so s independent ones leave some of N codes with
probability at most ``N / 2^s``. In m of t independent trials some code is left. Let p be the largest probability for
which m or more of t successes have probability at most 1 - c (Clopper and Pearson's lower limit): if N were below ``2^s
p``, what was seen would have had a probability of at most 1 - c, so ``N >= 2^s p`` has confidence c. If all trials
succeed, ``p = (1 - c)^(1/t)``: that is MBound, which Serra and Ramalingam (``serra2020``) run on the mixed-integer
program.

How many constraints to take is found in trials of their own, which the bound does not use. The set is random with a
random right side: with a fixed one, the code of ones survives every odd set.
"""

import time
from collections.abc import Callable
from math import ceil

import numpy as np
from scipy.special import betaincinv

from reluscope import Budget, Finding, Network, counting
from reluscope.arguments import Count, Natural, Seed, Share, read_arguments
from reluscope.errors import InputError
from reluscope.extending.bounds import CodeSearch, Counted, Domain, Effort, RegionBudget, Step, walk

# Trials that find how many constraints to take.
NUM_PILOTS = 3


@read_arguments
def count_lower_by_parity(
    network: Network,
    domain: Domain,
    *,
    num_parities: Natural | None = None,
    num_trials: Count = 16,
    confidence: Share = 0.99,
    budget: RegionBudget | None = None,
    seed: Seed = 0,
) -> Counted:
    """Return a lower bound on the number of activation regions on a bounded domain, right with a given confidence.

    Parameters
    ----------
    network : Network
        Any gates.
    domain : Box, bounded Polyhedron, or Slice
    num_parities : int, optional
        Parity constraints in every trial; without it about one less than leave a code at all, found in three trials
        beforehand.
    num_trials : int
        Independent trials.
    confidence : float
        Probability, over the random constraints, with which the bound is at least to be right; between 0 and 1.
    budget : Budget, optional
        Seconds, and regions: different codes seen. Trials that were not made count as those without a code.
    seed : int
        Of the random constraints.

    Returns
    -------
    finding : Finding
        The larger of two bounds. The number of different codes seen, each of which has a point in rational arithmetic,
        is certain: LOWER. The bound that trials give holds with the confidence, so that it is an ESTIMATE, with an
        interval from it on; `method` states the confidence, the constraints and the trials.
    stop : Stop, optional
        The budget that ended the work, or Ctrl-C.

    Raises
    ------
    InputError
        If the domain is not bounded, or a number is out of range.
    ShapeError, DegenerateGeometryError
        As `count_by_mip`.

    Notes
    -----
    One program per trial, and in the trials beforehand about one for two constraints, whatever the number of regions.
    A trial counts as without a code if the solver finds none: its errors can only lower the bound. With 16 trials the
    bound is typically a quarter of the count.

    References
    ----------
    Key ``serra2020``.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(4), np.full(4, -0.5)), (np.ones((1, 4)), np.zeros(1))])  # 16 regions
    >>> found = count_lower_by_parity(net, rs.Box(0, 1, 4), seed=1).finding
    >>> 4 <= int(found) <= 16
    True
    """
    began = time.time()
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1, got {confidence}: give 0.99, for instance")
    budget = budget or Budget()
    search = CodeSearch(network, domain)
    trials = _Trials(search, num_parities, num_trials, lambda: began + budget.seconds_allowed - time.time(), seed)
    stopped = walk([trials], _Trials.step, effort=Effort(budget, began=began)).stop
    level, successes, bound, seen = trials.level, trials.num_successes, 0, search.num_certain
    if level is not None:
        bound = min(_least_count(level, successes, num_trials, confidence), 2 ** len(search.model.binaries))
    fields = {
        "name": "regions",
        "definition": counting.DEFINITIONS["activation"].regions,
        "domain": domain.describe(),
        "source": "serra2020",
        "work": {**search.model.program.work, "seconds": time.time() - began},
    }
    if bound <= seen:
        method = "different codes of mixed-integer programs"
        return Counted(Finding.of(seen, upper=float("inf"), method=method, **fields), stopped)
    method = (
        f"random parity constraints, {level} in each of {num_trials} trials, of which {successes} left a code: "
        f"confidence {confidence:g}"
    )
    return Counted(Finding.estimate(bound, (bound, float("inf")), method=method, **fields), stopped)


def _least_count(level: int, successes: int, num_trials: int, confidence: float) -> int:
    """Return the least N that m successes of t do not exclude."""
    if not successes:
        return 0
    share = float(betaincinv(successes, num_trials - successes + 1, 1 - confidence))
    return ceil(2.0**level * share * (1 - 1e-9))


class _Trials:
    """Random constraints on a program of codes, taken back after each trial; a step of `walk` is one trial."""

    is_finished = False

    def __init__(
        self,
        search: CodeSearch,
        level: int | None = None,
        num_trials: int = 0,
        seconds_left: Callable[[], float] = lambda: np.inf,
        seed: int = 0,
    ) -> None:
        self.search, self.level, self.num_trials, self.num_successes = search, level, num_trials, 0
        self._pilots: list[int] = []
        self._seconds_left, self._random = seconds_left, np.random.default_rng(seed)

    def __len__(self) -> int:
        return 1

    def step(self, room: float) -> Step:
        """Make one trial: those that find the number of constraints first."""
        del room
        seen = self.search.num_certain
        if self._seconds_left() <= 0:  # asked for all the same, if no code was seen yet
            first = self.search.any_code()
            return Step([] if first is None else [self], self.search.num_certain - seen)
        if self.level is None:
            self._pilots.append(self.most_parities())
            if len(self._pilots) == NUM_PILOTS:
                self.level = max(0, int(np.median(self._pilots)) - 1)
        else:
            self.num_successes += self.has_code(self.level)
            self.num_trials -= 1
        is_over = self.level is not None and not self.num_trials
        return Step([] if is_over else [self], self.search.num_certain - seen)

    def has_code(self, num_parities: int) -> bool:
        """Return whether some code fulfils that many new constraints."""
        program = self.search.model.program
        rows, columns = program.num_rows, program.num_columns
        try:
            for _ in range(num_parities):
                self._constrain()
            return self._any_code() is not None
        finally:
            program.keep_first(num_rows=rows, num_columns=columns)

    def most_parities(self) -> int:
        """Return how many constraints, one after another, leave a code; -1 if there is none to begin with."""
        program = self.search.model.program
        rows, columns = program.num_rows, program.num_columns
        try:
            solution, number = self._any_code(), -1
            while solution is not None and number < len(self.search.model.binaries):
                number += 1
                if not self._constrain(solution):
                    solution = self._any_code()
            return number
        finally:
            program.keep_first(num_rows=rows, num_columns=columns)

    def _any_code(self) -> np.ndarray | None:
        return self.search.any_code(self._seconds_left())

    def _constrain(self, solution: np.ndarray | None = None) -> bool:
        """Add a constraint, ``sum z = 2 t + b`` over a random set; return whether a solution fulfils it."""
        binaries, program = self.search.model.binaries, self.search.model.program
        chosen = binaries[self._random.random(len(binaries)) < 0.5]
        odd = int(self._random.integers(2))
        half = program.add_columns(np.zeros(1), np.array([len(chosen) // 2], dtype=float), is_integer=True)
        program.add_row([*chosen, half], [*np.ones(len(chosen)), -2.0], lower=odd, upper=odd)
        return solution is not None and int((solution[chosen] > 0.5).sum()) % 2 == odd
