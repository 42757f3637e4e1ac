"""Two searches for one property in turns: boxes of inputs and, where few units are open, sets of regions.

Of small networks with some inputs nobody knows before which of the two ends. Both do as much work, counted in what they
bound, so that together they take about twice the work of the better one.
"""

from typing import Literal

import numpy as np

from reluscope.analyses.verification.box_search import BoxSearch
from reluscope.analyses.verification.program_search import ProgramSearch
from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.verdict import Counterexample
from reluscope.checking.proofs import Proof
from reluscope.errors import InputError
from reluscope.networks.bounds.backward_bounds import BackwardBounds, has_small_matrices, is_suited
from reluscope.networks.bounds.set_programs import is_small
from reluscope.networks.network import Network
from reluscope.partitions.driver.stepped_search import SteppedSearch
from reluscope.partitions.driver.walk import Step

# With more inputs that vary units are split, with no more than so few boxes are halved, else both in turns.
MAX_HALVED, FEW_HALVED = 10, 2
# Boxes before the first set, and boxes that are as much work as a set.
FIRST_BOXES, BOXES_A_SET = 4096, 32
# Units of networks whose sets are tried, and those that may be open: with more a set is as much work as more boxes.
MAX_UNITS, MAX_OPEN = 1024, 96


class InTurns(SteppedSearch):
    """Searches boxes and, if programs of the network are small, sets of regions for one property.

    A counterexample given at the start leaves nothing to do.
    """

    method = f"{BoxSearch.method}, and {ProgramSearch.method} in turns"

    def __init__(
        self, network: Network, safe: Property, counterexample: Counterexample | None, *, certify: bool = False
    ) -> None:
        super().__init__()
        self._network, self._safe, self._certify = network, safe, certify
        self.counterexample = counterexample
        self._boxes = BoxSearch(network, safe, counterexample, certify=certify)
        self._sets: ProgramSearch | None = None
        self._may_have_sets = network.num_units <= MAX_UNITS and is_suited(network) and has_small_matrices(network)
        self._over: list[BoxSearch | ProgramSearch] = []

    @property
    def searches(self) -> list[BoxSearch | ProgramSearch]:
        """All that were begun."""
        return [self._boxes] if self._sets is None else [self._boxes, self._sets]

    @property
    def work(self) -> dict[str, int]:
        """How much was bounded, by its kind."""
        return {kind: number for one in self.searches for kind, number in one.work.items()}

    @property
    def is_proved(self) -> bool:
        """Whether one search is over, and nothing unsafe is reached."""
        return any(one.is_proved for one in self.searches)

    @property
    def proof(self) -> Proof | None:
        """Why the property holds, where that was asked for."""
        return next((one.proof for one in self.searches if one.is_proved), None)

    @property
    def undecided(self) -> float:
        """Share of the inputs that is not decided."""
        return min(one.undecided for one in self.searches)

    @property
    def has_passed(self) -> bool:
        """Whether all left something undecided that cannot be split."""
        return all(one.has_passed for one in self.searches)

    @property
    def least_key(self) -> float:
        """By how much unsafe outputs are missed at least where the search is not over; -inf where nobody knows."""
        return max(-np.inf if one.has_passed else one.least_key for one in self.searches)

    @property
    def share_left(self) -> float:
        """Share of the inputs on which the search is not over."""
        return min(one.share_left for one in self.searches)

    def step(self) -> Step:
        """Let the search take a step whose turn it is."""
        search = self._next()
        made = search.step()
        self.num_branches += made.num_found
        self.counterexample = search.counterexample
        if not made.cells and search not in self._over:
            self._over.append(search)
        is_decided = self.counterexample is not None or self.is_proved
        is_over = is_decided or (len(self._over) == len(self.searches) and not self._may_have_sets)
        return made._replace(cells=[] if is_over else [self])

    def _next(self) -> BoxSearch | ProgramSearch:
        number = self._boxes.num_branches - FIRST_BOXES
        spent = 0 if self._sets is None else BOXES_A_SET * self._sets.num_branches
        if number < spent and self._boxes not in self._over:
            return self._boxes
        if self._may_have_sets:
            self._may_have_sets = False
            case = self._safe.cases[0]
            if is_small(BackwardBounds(self._network, case.lower, case.upper, steps=0), MAX_OPEN):
                self._sets = ProgramSearch(self._network, self._safe, None, certify=self._certify)
        return self._boxes if self._sets is None or self._sets in self._over else self._sets


Search = BoxSearch | ProgramSearch | InTurns


def search_kind(network: Network, safe: Property, split: Literal["auto", "inputs", "units"]) -> type[Search]:
    """Return how to search for what a property forbids; units only split if gates are pointwise without jumps."""
    if split == "units" and not is_suited(network):
        raise InputError(
            'expected a network of pointwise gates without jumps for split="units", got another: take split="inputs"'
        )
    if split != "auto":
        return ProgramSearch if split == "units" else BoxSearch
    free = int(np.any([case.lower < case.upper for case in safe.cases], axis=0).sum())
    if free > MAX_HALVED:
        return ProgramSearch if is_suited(network) else BoxSearch
    return InTurns if free > FEW_HALVED else BoxSearch
