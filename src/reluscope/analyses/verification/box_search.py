"""Boxes of inputs that may violate a property, halved again and again, those with the worst bounds first."""

import numpy as np

from reluscope.analyses.boxes.box_bounds import BoundedBoxes, BoxBounds
from reluscope.analyses.boxes.halved_boxes import HalvedBoxes, Part
from reluscope.analyses.boxes.output_boxes import OutputBox
from reluscope.analyses.verification.exact_leaves import MAX_CODES, ExactLeaves, Reached, UnitRanges
from reluscope.analyses.verification.exact_proofs import ExactProofs
from reluscope.analyses.verification.on_scores import property_on_scores
from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.ruling_out import Reach, reach
from reluscope.analyses.verification.verdict import Counterexample, Replays
from reluscope.checking.proofs import Proof, ProofBox
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.evaluation.underflow import underflow
from reluscope.networks.network import Network

# Rows of unsafe outputs that are carried back to every box, at most.
MAX_ROWS = 64
# What is to be proved in other arithmetic is missed by this share of all terms, and by what a sum loses there: 2^-128
# for each of up to 2^20 terms.
MARGIN, CHECKED = 1e-9, 2.0**-108
# Multiplications of fractions in leaves, at first and for each box: about what a box takes.
FIRST_LEAVES, FOR_LEAVES = 30_000, 30
# The same where leaves are proved: these boxes, and proofs of their regions, take longer.
FIRST_PROOFS, FOR_PROOFS = 100_000, 300


class BoxSearch(HalvedBoxes):
    """Searches the boxes of one property by halving them.

    A part is asked about its case and the unsafe outputs not ruled out on it, by number. A counterexample given at the
    start leaves nothing to do. `certify` keeps what rules outputs out, of forms carried on alone.
    """

    kind, method = "boxes", "halved boxes with affine bounds"

    def __init__(
        self, network: Network, safe: Property, counterexample: Counterexample | None, *, certify: bool = False
    ) -> None:
        super().__init__(network)
        # The boxes of each case by their paths, while a proof is made.
        self._trees: list[dict[str, ProofBox]] | None = [{} for _ in safe.cases] if certify else None
        self._replays, self.counterexample = Replays(network, safe), counterexample
        self.safe = property_on_scores(network, safe).possible
        self._leaves, self._proofs = ExactLeaves(network), ExactProofs(network)
        self._leaves.allowed, self._proofs.allowed = FIRST_LEAVES, FIRST_PROOFS
        # Shares of boxes that are too small to be halved.
        self._passed: list[float] = []
        self._unsafe: list[Polyhedron] = [one for case in self.safe.cases for one in case.unsafe]
        self._tables = [one.inequalities() for one in self._unsafe]
        # The case of each of them, and its number there.
        self._places = [(index, place) for index, case in enumerate(safe.cases) for place in range(len(case.unsafe))]

    @property
    def is_proved(self) -> bool:
        """Whether all boxes were bounded, and nothing unsafe is reached from any."""
        return self.is_begun and not (self.is_broken or self.queue or self._passed or self.counterexample)

    @property
    def has_passed(self) -> bool:
        """Whether something was left undecided that cannot be split."""
        return bool(self._passed)

    @property
    def proof(self) -> Proof | None:
        """Why the property holds, where that was asked for."""
        if self._trees is None or not self.is_proved:
            return None
        return Proof(self.network.fingerprint, tuple(self._trees))

    @property
    def undecided(self) -> float:
        """Share of the inputs that is not decided."""
        if not self.is_begun or self.is_broken:
            return 1.0
        return min(1.0, sum(self._passed) + sum(branch.what.share for branch in self.queue))

    @property
    def share_left(self) -> float:
        """Share of the inputs on which the search is not over."""
        return sum(branch.what.share for branch in self.queue)

    def is_settled(self, key: float) -> bool:
        """Whether there is nothing left to find."""
        return self.counterexample is not None

    def start(self) -> None:
        """Bound the boxes of all cases."""
        if self.counterexample is not None:
            return
        share, parts, start = 1.0 / len(self.safe.cases), [], 0
        for case in self.safe.cases:
            unsafe = tuple(range(start, start + len(case.unsafe)))
            parts.append(Part(case.lower, case.upper, -np.inf, share, unsafe))
            start += len(case.unsafe)
        lower, upper = (np.stack([getattr(case, name) for case in self.safe.cases]) for name in ("lower", "upper"))
        lower, upper = lower.min(axis=0), upper.max(axis=0)
        self._bounds = BoxBounds(self.network, lower, upper, onwards=self._trees is not None)
        # The checker's numbers of fixed point lose more than float64 where weights are small, or very large.
        self._lost = underflow(self.network, lower, upper, loss=CHECKED) if self._trees is not None else 0.0
        self._sides = upper - lower
        self.bound_all(parts)

    def bound(self, parts: list[Part]) -> None:
        """Put boxes into the queue from which something unsafe may be reached."""
        self.num_branches += len(parts)
        boxes = self._bounds.on(np.stack([part.lower for part in parts]), np.stack([part.upper for part in parts]))
        asked = sorted({number for part in parts for number in part.what})
        ends = dict(zip(asked, np.cumsum([len(self._tables[number][0]) for number in asked]).tolist(), strict=True))
        is_ruled_out = np.zeros((len(parts), len(self._unsafe)), dtype=bool)
        rows = np.concatenate([self._tables[number][0] for number in asked])
        if 0 < len(rows) <= MAX_ROWS and self._trees is None:
            least = boxes.below(rows).least(boxes.half) - np.concatenate([self._tables[one][1] for one in asked])
            for number in asked:
                own = slice(ends[number] - len(self._tables[number][0]), ends[number])
                is_ruled_out[:, number] = (least[:, own] > 0).any(axis=1)
        tried: list[np.ndarray] = []
        self._leaves.allowed += FOR_LEAVES * len(parts)
        self._proofs.allowed += FOR_PROOFS * len(parts)
        for place, part in enumerate(parts):
            box = boxes[place]
            reached = [(one, reach(box, self._unsafe[one])) for one in part.what if not is_ruled_out[place, one]]
            missed = [(one, way) for one, way in reached if way.excess > self._margin(box, one)]
            reached = [(one, way) for one, way in reached if not way.excess > self._margin(box, one)]
            ruled_out = {self._places[one][1]: tuple(way.multipliers.tolist()) for one, way in missed}
            self._keep(part, ProofBox(ruled_out))
            if reached and not self._is_leaf(part, boxes, place, reached):
                tried += [box.center, *(way.point for _, way in reached)]
                rows = np.concatenate([self._tables[one][0] for one, _ in reached])
                key = min(way.excess for _, way in reached)
                left = part._replace(what=tuple(one for one, _ in reached), axis=box.axis(rows, self._sides))
                if self.halve(left, key, left.axis):
                    self._keep(part, ProofBox(ruled_out, left.axis, left.middle))
                elif not self._is_leaf(part, boxes, place, reached, is_last=True):
                    self._passed.append(part.share)
        if tried:
            self.counterexample = self.counterexample or self._replays.likely(np.array(tried))

    def _is_leaf(
        self, part: Part, boxes: BoundedBoxes, place: int, reached: list[tuple[int, Reach]], *, is_last: bool = False
    ) -> bool:
        """Decide a box by its regions, if they are few; whether that was done."""
        if not boxes.num_codes[place] <= MAX_CODES or self.counterexample is not None:
            return False
        numbers = [number for number, _ in reached]
        unsafe = [self._unsafe[number] for number in numbers]
        if self._trees is None:
            low, high = (
                [getattr(one, name)[place].cpu().numpy() for one in boxes.ranges or ()] for name in ("low", "high")
            )
            found = self._leaves.decide(part.lower, part.upper, UnitRanges(low, high), unsafe, is_last=is_last)
        else:
            found = self._proofs.prove(part.lower, part.upper, unsafe, is_last=is_last)
        if isinstance(found, Reached):
            self.counterexample = self._replays.exactly(
                found.point, found.outputs, *self._places[numbers[found.number]]
            )
            return self.counterexample is not None
        if found and self._trees is not None:
            tree = self._trees[self._places[numbers[0]][0]]
            places = [self._places[number][1] for number in numbers]
            tree[part.path] = tree[part.path]._replace(by_sets=dict(zip(places, found, strict=True)))
        return found is not None

    def _margin(self, box: OutputBox, number: int) -> float:
        """Return by how much unsafe outputs are to be missed: more than arithmetic of another kind may lose."""
        if self._trees is None:
            return 0.0
        A, b = self._tables[number]
        sizes = np.abs(np.stack(box.range(np.eye(A.shape[1])))).max(axis=0)
        return float((MARGIN * (np.abs(A) @ sizes + np.abs(b)) + self._lost * np.abs(A).sum(axis=1)).max(initial=0.0))

    def _keep(self, part: Part, node: ProofBox) -> None:
        if self._trees is not None:
            self._trees[self._places[part.what[0]][0]][part.path] = node
