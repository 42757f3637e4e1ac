"""Whether a property holds: an attack, then branch and bound over boxes of inputs, or over sets of regions.

On each box every output is an affine function of the input up to a bounded rest, rounding included. Where that lets no
input reach unsafe outputs, the box is done; elsewhere it is halved. The least affine bound is taken at a corner, which
is tried as a counterexample: so boxes lead to inputs that violate the property, and end where it holds. With many
inputs there would be too many boxes: units are held to their pieces instead (`set_search`). Between, both take turns.

References: Wang et al., "Formal security analysis of neural networks using symbolic intervals" (USENIX Security 2018)
split boxes of inputs; Singh et al., "Fast and effective robustness certification" (NeurIPS 2018) for the bounds.
"""

import time
from dataclasses import replace
from typing import Literal

import numpy as np

from reluscope.analyses.verification.checkable_bounds import check_number_of_duals
from reluscope.analyses.verification.in_turns import Search, search_kind
from reluscope.analyses.verification.on_scores import property_on_scores
from reluscope.analyses.verification.program_search import ProgramSearch
from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.verdict import Counterexample, Replays, Verdict, Verified, asked_network
from reluscope.analyses.verification.violation_attack import candidates
from reluscope.arguments import Seed, holds_across_jumps, read_arguments
from reluscope.budget import Budget, Interrupted, RegionBudget
from reluscope.checking.proofs import Proof
from reluscope.checking.property_proofs import check_proof
from reluscope.errors import BudgetExceededError, CertificateError, InputError
from reluscope.findings import Finding
from reluscope.interruption import deferred
from reluscope.networks.bounds.backward_bounds import has_small_matrices
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.network import Network
from reluscope.partitions.driver.best_first import BestFirst, Branch
from reluscope.progress import Progress, share_done
from reluscope.stopping import Stop, StopReason
from reluscope.time_limits import if_in_time

NUM_BOXES = 100_000
# Attacks on networks that jump.
NUM_ATTACKS = 100
NO_PROOF = "bounds end at gates that jump, and attacks found no counterexample"


@read_arguments
@holds_across_jumps
def verify(
    network: Network,
    safe: Property,
    *,
    split: Literal["auto", "inputs", "units"] = "auto",
    budget: RegionBudget | None = None,
    progress: Progress = False,
    seed: Seed = 0,
    certify: bool = False,
) -> Verified:
    """Prove that a property holds, or find an input that violates it.

    Networks with gates that jump are searched for a counterexample alone: they are VIOLATED or OPEN.

    Parameters
    ----------
    network : Network
        The weights are exact numbers in real arithmetic: HOLDS refers to them, not to float32 evaluation.
    safe : Property
        From a file by `read_property`, or made of cases. It refers to the outputs of the model. If the model ends
        with a sigmoid, softmax or similar function, which the network omits, bounds of one output and orders of two
        are transformed to its input, rounded to the safe side.
    split : {"auto", "inputs", "units"}
        Object to split where bounds do not suffice: boxes of inputs, or sets of regions, unit by unit. By default
        boxes for up to two inputs that vary, and for networks with max gates; both in turns for up to ten inputs, if
        few units may change their pieces; else sets.
    budget : Budget, optional
        Number of boxes or sets to examine (``regions``), 100,000 by default, or time. Networks that jump are attacked
        up to a hundred times.
    progress : bool or callable
        Show the finished share of the search, or of its budget; a callable receives it, from 0 to 1.
    seed : int
        Of the random points of the attack.
    certify : bool
        Keep a proof of HOLDS, and check it in integer arithmetic by `rs.testing.check_proof`; if the check fails,
        the verdict is OPEN. The budget's time covers both. Boxes of inputs then use propagated bounds only, and
        sets of regions use ranges of the whole box: there may be more of them than without a proof.

    Returns
    -------
    Verified
        HOLDS is proved with all rounding; the counterexample of VIOLATED violates the property in spite of
        rounding; OPEN, on Ctrl-C and at the end of the budget, comes with an upper bound on the share of inputs
        left. Unsafe outputs that are attained with equality only violate the property; if no float64 input attains
        them, the counterexample is ``exact`` in fractions.

    Raises
    ------
    ShapeError
        If the property has other numbers of inputs or outputs than the network.
    InputError
        If a condition cannot be transformed through the omitted function. If units are to be split in a network
        with max gates or with discontinuous gates. If a proof is requested for gates that are not
        pointwise and continuous, or for a split of units that are too many for the proof to be stored.

    Notes
    -----
    Some thousand forward passes, then an enclosure for each box. For each set of regions a few linear programs where up
    to some hundred units are open on the property's box, else some dozen products with every matrix of the network.
    Halving of boxes ends quickly for up to about five inputs; the number of sets depends on how many units may change
    their piece on the box. Boxes and sets of few regions that rounding leaves undecided are decided in rational
    arithmetic, region by region, if the network is small enough: some thousandths of a second each, and in total no
    longer than the search itself.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # |x|
    >>> def at_least(level):
    ...     return rs.verification.Property([rs.verification.Case([-1.0], [1.0], [rs.Polyhedron([[-1.0]], [-level])])])
    >>> print(rs.verify(net, at_least(1.01)), rs.verify(net, at_least(0.9)))
    HOLDS VIOLATED
    """
    asked = asked_network(network, safe)
    kind = search_kind(asked, safe, split)
    if certify:
        _refuse_proofs(asked, by_units=kind is ProgramSearch)
    limit = Budget(regions=NUM_BOXES) if budget is None else budget
    with share_done("verify", progress) as tell, deferred():  # one work: Ctrl-C during the attack ends the search
        until = time.perf_counter() + limit.seconds_allowed
        try:
            found = if_in_time(lambda: _attacked(asked, safe, np.random.default_rng(seed), until), None)
        except KeyboardInterrupt:
            found, limit = None, Interrupted()
        search = _AttackSearch(asked, safe, found, seed) if asked.jumps else kind(asked, safe, found, certify=certify)
        left = max(0.0, until - time.perf_counter())
        stopped = search.run(limit if limit.seconds is None else replace(limit, seconds=left), tell)
        stopped = stopped and stopped.of_seconds(limit.seconds)
    proof, is_proved = search.proof, search.is_proved
    if proof is not None:
        try:
            left = None if limit.seconds is None else Budget(seconds=max(0.0, until - time.perf_counter()))
            check_proof(proof, network, safe, budget=left)
        except (BudgetExceededError, CertificateError) as error:
            proof, is_proved, stopped = None, False, Stop(StopReason.UNPROVED, details=str(error))
    return _verified(search, proof, stopped, is_proved=is_proved)


def _refuse_proofs(network: Network, *, by_units: bool) -> None:
    """Refuse to prove what the checker does not know, or what would be too long."""
    gates = [stage.gate for stage in network.stages]
    if not all(isinstance(gate, Pointwise) and gate.is_continuous for gate in gates):
        raise InputError("expected pointwise gates without jumps for certify=True, got others: leave it out")
    if by_units:
        if not has_small_matrices(network):
            raise InputError(
                'expected matrices that can be held at once for certify=True and split="units", got larger ones: leave '
                "certify out"
            )
        check_number_of_duals(network)


def _attacked(network: Network, safe: Property, rng: np.random.Generator, until: float) -> Counterexample | None:
    replays = Replays(network, safe)
    for case in property_on_scores(network, safe).certain.cases:
        for unsafe in case.unsafe:
            if time.perf_counter() > until:
                return None
            found = replays.first(candidates(network, case, unsafe, rng))
            if found is not None:
                return found
    return None


class _AttackSearch(BestFirst):
    """Searches a network that jumps for a counterexample, by attacks from other points; nothing is proved."""

    kind, method = "attacks", "attacks along gradients of ramps in the place of jumps"
    proof, is_proved, undecided = None, False, 1.0

    def __init__(self, network: Network, safe: Property, counterexample: Counterexample | None, seed: int) -> None:
        super().__init__()
        self.counterexample = counterexample
        self._network, self._safe, self._seed = network, safe, seed

    @property
    def share_left(self) -> float:
        """Share of the attacks that is left."""
        return 1 - self.num_branches / NUM_ATTACKS

    def is_settled(self, key: float) -> bool:
        """Whether there is nothing left to find."""
        return self.counterexample is not None

    def start(self) -> None:
        """Put the first attack into the queue."""
        self.push(0.0, None)

    def split(self, branch: Branch) -> None:
        """Attack once more."""
        self.num_branches += 1
        rng = np.random.default_rng([self._seed, self.num_branches])
        self.counterexample = _attacked(self._network, self._safe, rng, np.inf)
        if self.num_branches < NUM_ATTACKS:
            self.push(0.0, None)


def _verified(
    search: Search | _AttackSearch,
    proof: Proof | None,
    stopped: Stop | None,
    *,
    is_proved: bool,
) -> Verified:
    verdict = Verdict.HOLDS if is_proved else Verdict.OPEN
    if search.counterexample is not None:
        verdict, stopped = Verdict.VIOLATED, None
    if verdict is Verdict.OPEN and not stopped:
        is_attacked = isinstance(search, _AttackSearch)
        stopped = Stop(StopReason.UNPROVED, details=NO_PROOF) if is_attacked else Stop(StopReason.UNDECIDED)
    share = 0.0
    if verdict is Verdict.OPEN:  # what the checker does not consent to is not proved anywhere
        share = 1.0 if search.is_proved else search.undecided
    undecided = Finding.of(
        share,
        0.0,
        share,
        name="undecided share",
        definition="share of the inputs, a mean over the cases, on which neither safety nor a violation is known",
        method=search.method,
        work=search.work,
        stop=stopped,
        is_share=True,
    )
    return Verified(verdict, search.counterexample, undecided, stopped, proof)
