"""Outputs enclosed from outside: boxes of inputs, and what outputs can be on each with all rounding.

On a box of inputs every output is an affine function of the input up to a bounded rest: the outputs are in a zonotope.
Of it the box around it is kept and the ends of its diagonals; maxima are those of the zonotope itself. Boxes on which
outputs range widest are halved.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from jaxtyping import Bool, Float

from reluscope.analyses.boxes.box_bounds import BoxBounds
from reluscope.analyses.boxes.output_boxes import OutputBox, halved
from reluscope.analyses.reachability.stored_sets import COVER, described_cover, read_cover
from reluscope.budget import Budget
from reluscope.findings import Claim, Finding
from reluscope.geometry.numbers.resolutions import OUTWARD, SUMS
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.unions.union_of_polyhedra import UnionOfPolyhedra, numbered_columns
from reluscope.networks.network import Network
from reluscope.partitions.driver.best_first import BestFirst, Branch
from reluscope.time_limits import if_in_time, is_overdue
from reluscope.tolerance import EPSILON

# Boxes that are bounded together.
NUM_TOGETHER = 16


@dataclass(frozen=True, eq=False)
class Cover(UnionOfPolyhedra):
    """Boxes that contain all outputs of a network on a domain, and possibly other points: UPPER.

    Parameters
    ----------
    inputs : (q, 2, n) float64
        Input boxes that cover the domain.
    ends : (2, k) float64
        Smallest box around all output boxes.
    boxes : (q, 2, k) float64
        Output box of each input box, rounding included.
    reached : (q, k) float64
        Outputs at the centres of the input boxes, for centres inside the domain; if there are none, outputs of one
        point inside.
    errors : (q, k) float64
        Bounds on the rounding of ``reached``.
    forms : tuple of OutputBox
        Outputs on each box, as affine functions up to a remainder.

    Notes
    -----
    A piece is an output box less its corners. Outputs outside of all pieces are not reached; outputs inside may be.
    ``maximum`` is UPPER, between the value attained at centres of boxes and the bound proved for all outputs. Columns
    of the table: ``input_lower_i``, ``input_upper_i``, ``lower_j`` and ``upper_j``, the ends of each box.
    """

    inputs: Float[np.ndarray, "q 2 n"]
    ends: Float[np.ndarray, "2 k"]
    boxes: Float[np.ndarray, "q 2 k"]
    reached: Float[np.ndarray, "s k"]
    errors: Float[np.ndarray, "s k"]
    forms: tuple[OutputBox, ...]

    kind: ClassVar[str] = COVER
    coordinates: ClassVar[str] = "outputs"
    parts: ClassVar[str] = "boxes"

    def __len__(self) -> int:
        return len(self.boxes)

    def __repr__(self) -> str:
        return f"Cover({self._number()} in {self.dim} outputs, {self.claim})"

    @cached_property
    def pieces(self) -> tuple[Polyhedron, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The boxes less their corners, as polyhedra."""
        rows = np.concatenate([np.eye(self.dim), self._diagonals])
        ends = np.concatenate([self.boxes, self._across], axis=2)
        return tuple(Polyhedron(np.concatenate([rows, -rows]), np.concatenate([high, -low])) for low, high in ends)

    @property
    def dim(self) -> int:
        """Number of outputs."""
        return self.boxes.shape[2]

    @property
    def claim(self) -> Claim:
        """UPPER: no output is outside."""
        return self._all.claim

    @cached_property
    def _diagonals(self) -> Float[np.ndarray, "t k"]:
        """Sums and differences of every two outputs, each over its range."""
        every = np.eye(self.boxes.shape[2]) / np.maximum(np.ptp(self.ends, axis=0), np.finfo(float).tiny)[:, None]
        pairs = combinations(every, 2)
        return np.array([one + sign * other for one, other in pairs for sign in (1.0, -1.0)]).reshape(-1, len(every))

    @cached_property
    def _across(self) -> Float[np.ndarray, "q 2 t"]:
        """Between which ends the diagonals are on each: of the affine functions, so that corners of boxes are cut off.

        With room for the rounding of whoever compares.
        """
        ends = np.array([form.range(self._diagonals) for form in self.forms]).reshape(len(self), 2, -1)
        room = SUMS * (np.abs(self.boxes).max(axis=1) @ np.abs(self._diagonals).T)
        return np.stack([ends[:, 0] - room, ends[:, 1] + room], axis=1)

    @cached_property
    def _all(self) -> Finding:
        """How much of the outputs is inside, of which nothing else is known than that it is not more."""
        return Finding.of(1.0, 0.0, 1.0, name="share of the cover that is reached")

    def volume(self) -> Finding:
        """Return the volume of the outputs, UPPER: at most that of all boxes, or of the box around them.

        Returns
        -------
        Finding
        """
        most = min(float(np.ptp(ends, axis=-2).prod(axis=-1).sum()) for ends in (self.boxes, self.ends))
        upper = float(np.nextafter(most * (1 + len(self) * self.dim * EPSILON), np.inf))
        return Finding.of(
            upper,
            0.0,
            upper,
            name="volume of the outputs",
            definition="outputs that the network has on the domain",
            method="affine bounds on boxes",
            work={"boxes": len(self)},
        )

    def _boxes(self, reach: float) -> Float[np.ndarray, "q 2 k"]:
        return self.boxes + np.array([[-reach], [reach]])

    def _holds(self, index: int, points: Float[np.ndarray, "s k"], reach: float) -> Bool[np.ndarray, " s"]:
        across, room = points @ self._diagonals.T, reach * np.linalg.norm(self._diagonals, axis=1)
        least, most = self._across[index]
        return ((across >= least - room) & (across <= most + room)).all(axis=1)

    def _maximum(self, weights: Float[np.ndarray, " k"]) -> Finding:
        upper = max(float(form.range(weights[None])[1][0]) for form in self.forms)
        upper = float(np.nextafter(upper, np.inf))
        # Of sums of as many terms as there are outputs, and of what is taken off them.
        errors = OUTWARD * self.errors + (self.dim + 1) * EPSILON * np.abs(self.reached)
        lower = self.reached @ weights - errors @ np.abs(weights)
        return Finding.of(
            upper,
            min(upper, float(lower.max(initial=-np.inf))),
            upper,
            name="maximum of outputs",
            definition="largest value of a linear function of the outputs on the domain",
            method="affine bounds on boxes",
            work={"boxes": len(self)},
        )

    def _columns(self) -> dict[str, Any]:
        inputs, outputs = self.inputs, self.boxes
        return {
            **numbered_columns({"input_lower": inputs[:, 0], "input_upper": inputs[:, 1]}),
            **numbered_columns({"lower": outputs[:, 0], "upper": outputs[:, 1]}),
        }

    def stored_parts(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return what `save` writes, as named arrays and plain types."""
        return described_cover(self)

    @classmethod
    def _read(cls, arrays: dict[str, np.ndarray], described: dict[str, Any]) -> Self:
        del described
        return cls(**read_cover(arrays))


class _Halving(BestFirst):
    """Boxes of which the one goes on whose outputs range widest, until there are so many."""

    def __init__(self, network: Network, boxes: Float[np.ndarray, "q 2 n"], number: int) -> None:
        super().__init__()
        bounds = partial(BoxBounds, network, boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0))
        # Out of time, bounds that are wider take a moment.
        found = None if is_overdue() else if_in_time(bounds, None)
        self._bounds = found or bounds(onwards=True)
        self._boxes, self._number, self._every = boxes, number, np.eye(network.num_outputs)

    def is_settled(self, key: float) -> bool:
        """Whether there are enough boxes."""
        del key
        return len(self.queue) >= self._number

    def start(self) -> None:
        """Bound the boxes that were given."""
        found = _bounded(self._bounds, self._boxes)
        scale = np.max([box.half @ np.abs(box.outputs.weights.T) + box.outputs.spread for box in found], axis=0)
        self._scale = np.where(
            scale > np.finfo(float).tiny, scale, np.inf
        )  # of a constant output rounding alone is wide
        self._put(found)

    def split(self, branch: Branch) -> None:
        """Halve the widest boxes, some together."""
        widest = self.with_next(branch, min(NUM_TOGETHER // 2, self._number - len(self.queue) - 1))
        halves = [np.stack(half) for box in widest for half in halved(box, self._every)]
        self._put(_bounded(self._bounds, np.array(halves)))

    def _put(self, boxes: list[OutputBox]) -> None:
        for box in boxes:
            self.push(-float(np.max(np.subtract(*box.range(self._every)[::-1]) / self._scale)), box)


def cover(
    network: Network, within: Box | Polyhedron, boxes: Float[np.ndarray, "q 2 n"], number: int, budget: Budget
) -> Cover:
    """Return a cover of a network's outputs, from boxes that are halved until there are ``number``.

    The given boxes have to cover the domain, and there are never fewer of them, but for one around all when time is
    over. No box is halved after the budget's seconds, or after Ctrl-C.
    """
    if is_overdue():
        boxes = np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])[None]
    search = _Halving(network, boxes, number)
    search.run_unbroken(budget)
    found, every = [branch.what for branch in sorted(search.queue)], np.eye(network.num_outputs)
    middles = np.array([box.center for box in found])
    is_inside = np.atleast_1d(within.contains(middles))
    if isinstance(within, Polyhedron) and not is_inside.any():
        middles, is_inside = within.insphere().center[None], np.ones(1, dtype=bool)
    at = network.at(middles[is_inside])
    ranges = np.array([box.range(every) for box in found])
    ranges = np.stack([np.nextafter(ranges[:, 0], -np.inf), np.nextafter(ranges[:, 1], np.inf)], axis=1)
    return Cover(
        np.array([(box.lower, box.upper) for box in found]),
        np.stack([ranges[:, 0].min(axis=0), ranges[:, 1].max(axis=0)]),
        ranges,
        np.asarray(at.outputs).reshape(-1, network.num_outputs),
        np.asarray(at.errors).reshape(-1, network.num_outputs),
        tuple(found),
    )


def _bounded(bounds: BoxBounds, boxes: np.ndarray) -> list[OutputBox]:
    """Return boxes with forms of the outputs, some at a time."""
    found: list[OutputBox] = []
    for start in range(0, len(boxes), NUM_TOGETHER):
        rows = boxes[start : start + NUM_TOGETHER]
        some = bounds.on(np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1]))
        found += [some[place] for place in range(len(some))]
    return found
