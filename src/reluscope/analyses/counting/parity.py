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
from math import ceil

import numpy as np
from scipy.special import betaincinv

from reluscope.analyses.counting.code_search import CodeSearch
from reluscope.analyses.counting.counted import Counted
from reluscope.analyses.counting.definitions import DEFINITIONS
from reluscope.arguments import Count, Natural, Seed, Share, read_arguments
from reluscope.budget import ENDS, Budget, RegionBudget, why_ended
from reluscope.errors import BudgetExceededError, InputError
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Domain
from reluscope.networks.network import Network

PILOTS = 3


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
        LOWER; `method` states the confidence, the constraints and the trials. Never below the number of different codes
        seen, each of which has a point in rational arithmetic: that part is certain.
    stopped : str
        The budget that ended the work, or "interrupted".

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
    >>> str(found.claim), 4 <= int(found) <= 16
    ('LOWER', True)
    """
    began = time.perf_counter()
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1, got {confidence}: give 0.99, for instance")
    trials = _Trials(budget or Budget(), seed)
    level, successes = num_parities, 0
    try:
        trials.search = CodeSearch(network, domain)
        if level is None:
            level = max(0, int(np.median([trials.most_parities() for _ in range(PILOTS)])) - 1)
        for _ in range(num_trials):
            successes += trials.has_code(level)
    except BudgetExceededError as reason:
        trials.stopped = str(reason)
    except ENDS as end:
        trials.stopped = why_ended(end)
    bound, seen, work = 0, 0, {}
    if trials.search is not None and level is not None:
        bound = min(_least_count(level, successes, num_trials, confidence), 2 ** len(trials.search.model.binaries))
    if trials.search is not None:
        seen, work = trials.search.num_certain, dict(trials.search.model.program.work)
    lower = max(seen, bound)
    finding = Finding(
        lower,
        Claim.LOWER,
        name="regions",
        interval=(lower, float("inf")),
        definition=DEFINITIONS["activation"].regions,
        domain=domain.describe(),
        method=f"random parity constraints, {level} in each of {num_trials} trials, of which {successes} left a code: "
        f"confidence {confidence:g}"
        if bound > seen
        else "different codes of mixed-integer programs",
        source="serra2020",
        work={**work, "seconds": time.perf_counter() - began},
    )
    return Counted(finding, trials.stopped)


def _least_count(level: int, successes: int, num_trials: int, confidence: float) -> int:
    """Return the least N that m successes of t do not exclude."""
    if not successes:
        return 0
    share = float(betaincinv(successes, num_trials - successes + 1, 1 - confidence))
    return ceil(2.0**level * share * (1 - 1e-9))


class _Trials:
    """Random constraints on a program of codes, taken back after each trial."""

    def __init__(self, budget: Budget, seed: int) -> None:
        self.search: CodeSearch | None = None
        self.stopped = ""
        self._budget = budget
        self._until = np.inf if budget.seconds is None else time.perf_counter() + budget.seconds
        self._random = np.random.default_rng(seed)

    def has_code(self, num_parities: int) -> bool:
        """Tell whether some code fulfils that many new constraints."""
        search = self._check()
        program = search.model.program
        rows, columns = program.num_rows, program.num_columns
        try:
            for _ in range(num_parities):
                self._constrain(search)
            return search.any_code(self._until - time.perf_counter()) is not None
        finally:
            program.keep_first(num_rows=rows, num_columns=columns)

    def most_parities(self) -> int:
        """Return how many constraints, one after another, leave a code; -1 if there is none to begin with."""
        search = self._check()
        program = search.model.program
        rows, columns = program.num_rows, program.num_columns
        try:
            solution, number = search.any_code(self._until - time.perf_counter()), -1
            while solution is not None and number < len(search.model.binaries):
                number += 1
                if not self._constrain(search, solution):
                    self._check()
                    solution = search.any_code(self._until - time.perf_counter())
            return number
        finally:
            program.keep_first(num_rows=rows, num_columns=columns)

    def _constrain(self, search: CodeSearch, solution: np.ndarray | None = None) -> bool:
        """Add a constraint, ``sum z = 2 t + b`` over a random set; tell whether a solution fulfils it."""
        binaries = search.model.binaries
        chosen = binaries[self._random.random(len(binaries)) < 0.5]
        odd = int(self._random.integers(2))
        half = search.model.program.add_columns(np.zeros(1), np.array([len(chosen) // 2], dtype=float), is_integer=True)
        search.model.program.add_row([*chosen, half], [*np.ones(len(chosen)), -2.0], lower=odd, upper=odd)
        return solution is not None and int((solution[chosen] > 0.5).sum()) % 2 == odd

    def _check(self) -> CodeSearch:
        assert self.search is not None
        if self._budget.regions is not None and self.search.num_certain >= self._budget.regions:
            raise BudgetExceededError(f"budget of {self._budget.regions:,} regions")
        if time.perf_counter() >= self._until:
            raise BudgetExceededError(f"budget of {self._budget.seconds:g} s")
        return self.search
