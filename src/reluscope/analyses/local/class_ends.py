"""Where the class of a point ends on the way to a target: points whose regions are studied.

A class is where its output is largest, the lowest one at a tie. Along a segment every difference of two outputs is
affine between two kinks, so the way of a class ends where a straight line crosses zero: after the exact partition of
the segment that is a division, with no steps and no bisection. Zhang and Wu take the largest alpha for which
``(1 - alpha) x + alpha target`` has the class of x (`LastOfClass.last`); the class may have been left before and come
back, and where it is left first is `LastOfClass.first`. The *manifold region* is that of x itself; the *decision
region* that of the point found towards the mean of another class, or a point of one; the *adversarial region* that of
the point found towards an adversary.

References: Zhang and Wu, "Empirical studies on the properties of linear regions in deep neural networks", 2020,
section 3.2; Madry et al., "Towards deep learning models resistant to adversarial attacks", 2018.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from reluscope.analyses.classification.class_predictions import classes_of_outputs
from reluscope.analyses.local.along import PiecesAlong, pieces_along, points_along
from reluscope.arguments import read_arguments
from reluscope.errors import ShapeError
from reluscope.networks.evaluation.rounded_forward import forward_with_errors
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.network import Network
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance

BUDGET = 64 * 2**20
SEGMENTS = 256


@dataclass(frozen=True, repr=False)
class ClassEnds(Shown):
    """The end of a class along each segment.

    Parameters
    ----------
    alphas : (k,) float64
        Position on the segment; the class holds just before. 0 if it holds at the start alone, 1 if up to the
        target.
    errors : (k,) float64
        Error of ``alphas`` from the rounding of the outputs, to first order; 0 where the end is that of a piece.
    points : (k, n) float64
        ``(1 - alpha) start + alpha target``.
    within : (k, n) float64
        A point of the same linear region, in the middle of its part of the segment. It lies off all kinks, so
        `reluscope.regions` needs no linear program for it.
    after : (k,) int64
        The class just after; -1 where the segment ends first.
    """

    alphas: Float[np.ndarray, " k"]
    errors: Float[np.ndarray, " k"]
    points: Float[np.ndarray, "k n"]
    within: Float[np.ndarray, "k n"]
    after: Int[np.ndarray, " k"]

    @property
    def is_boundary(self) -> Bool[np.ndarray, " k"]:
        """Whether the class ends before the target, on a decision boundary."""
        return self.after >= 0


@dataclass(frozen=True, repr=False)
class LastOfClass(Shown):
    """Points where segments leave the class of their start.

    Parameters
    ----------
    classes : (k,) int64
        The class of the start.
    first : ClassEnds
        The largest alpha up to which the class holds without a break: the segment first leaves it there.
    last : ClassEnds
        The largest alpha in [0, 1] with the class of the start, which may return after a break: Zhang and Wu's
        point.
    num_regions : (k,) int64
        Linear regions on the segment; 0 for a segment without length.
    is_exact : (k,) bool
        Whether every region of the segment was found, at the resolution of the tolerance.
    """

    classes: Int[np.ndarray, " k"]
    first: ClassEnds
    last: ClassEnds
    num_regions: Int[np.ndarray, " k"]
    is_exact: Bool[np.ndarray, " k"]

    def __len__(self) -> int:
        return len(self.classes)


@read_arguments
def last_of_class(
    network: Network, starts: Points, targets: Points, *, tolerance: Tolerance | None = None
) -> LastOfClass:
    """Return where segments to targets leave the class of their start for the first and the last time.

    Parameters
    ----------
    network : Network
        A classifier: by the largest output, the lowest index at a tie; a single output is class 1 above 0, else
        class 0.
    starts, targets : (k, *input_shape) or (k, n)
    tolerance : Tolerance, optional
        Resolution of the partition, and the safety factor for rounding.

    Returns
    -------
    LastOfClass
        Exact up to the rounding of outputs at the knots. The alphas are suprema: at the point itself two outputs
        tie, and the tie rule gives its class. Outputs that rounding cannot separate tie. If rounding cannot
        separate the loss of a class at a single point from a near miss, the class counts as kept there.

    Raises
    ------
    ShapeError
        If there is not one target per start.
    IncompletePartitionError
        If Ctrl-C stopped the computation.

    Notes
    -----
    About two forward passes over the crossing points: the exact partition of all segments, and error bounds at its
    knots. A target equal to its start gives alpha 1.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[0, 0], [1.0, 1.0]]), np.array([1.0, 0]))])
    >>> found = rs.local.last_of_class(net, [[0.0]], [[4.0]])  # class 1 where |x| > 1
    >>> found.first.alphas, found.classes, found.first.after
    (array([0.25]), array([0]), array([1]))
    >>> back = rs.local.last_of_class(net, [[-2.0]], [[2.0]])  # class 1, then class 0, then class 1 again
    >>> back.first.alphas, back.last.alphas, back.last.after
    (array([0.25]), array([1.]), array([-1]))
    """
    network = network.scores
    begin, end = (network.points(x).reshape(-1, network.num_inputs).cpu().numpy() for x in (starts, targets))
    if begin.shape != end.shape:
        raise ShapeError(f"expected one target per start, got {len(begin)} starts and {len(end)} targets")
    blocks = [slice(row, row + SEGMENTS) for row in range(0, len(begin), SEGMENTS)]
    found = [_last_of_class(network, begin[rows], end[rows], tolerance) for rows in blocks]
    return LastOfClass(
        np.concatenate([one.classes for one in found]),
        _joined([one.first for one in found]),
        _joined([one.last for one in found]),
        np.concatenate([one.num_regions for one in found]),
        np.concatenate([one.is_exact for one in found]),
    )


def _last_of_class(network: Network, starts: np.ndarray, ends: np.ndarray, tolerance: Tolerance | None) -> LastOfClass:
    moving = np.flatnonzero((starts != ends).any(axis=1))
    pieces = pieces_along(network, starts[moving], ends[moving], tolerance=tolerance)
    outputs, errors = _at_knots(network, pieces, starts[moving], ends[moving], tolerance)
    own = _Shares.of(pieces, outputs, errors)
    number = len(starts)
    classes = classes_of_outputs(network(torch.as_tensor(starts)).reshape(number, -1).cpu().numpy())
    classes[moving] = own.classes
    counts, exact = np.zeros(number, dtype=np.int64), np.ones(number, dtype=bool)
    counts[moving], exact[moving] = np.diff(pieces.offsets), pieces.is_exact
    first, last = (_ends(pieces, outputs, errors, own, starts, ends, moving, last=one) for one in (False, True))
    return LastOfClass(classes, first, last, counts, exact)


def _at_knots(
    network: Network, pieces: PiecesAlong, starts: np.ndarray, ends: np.ndarray, tolerance: Tolerance | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return outputs and their error bounds at all knots: those of segment i begin at ``offsets[i] + i``."""
    outputs, errors = [np.zeros((0, network.num_outputs))], [np.zeros((0, network.num_outputs))]
    for segment, (start, end) in enumerate(zip(starts, ends, strict=True)):
        shares = np.append(pieces.starts[pieces.offsets[segment] : pieces.offsets[segment + 1]], 1.0)
        for rows in chunks(len(shares), 8 * network.num_inputs, BUDGET):
            begin, stop = (np.broadcast_to(point, (rows.stop - rows.start, len(point))) for point in (start, end))
            points = points_along(begin, stop, shares[rows])
            values, bounds = forward_with_errors(network, points, tolerance=tolerance)
            outputs.append(values)
            errors.append(bounds)
    values, bounds = np.concatenate(outputs), np.concatenate(errors)
    if values.shape[1] == 1:
        # Class 0 is f <= 0: the output 0 that comes first wins a tie.
        values, bounds = (np.concatenate([np.zeros_like(table), table], axis=1) for table in (values, bounds))
    return values, bounds


@dataclass(frozen=True)
class _Shares:
    """The class of each segment's start, and on each piece the interval of shares on which it holds.

    Where ``left >= right`` it holds nowhere; ``unsure`` is the rounding of ``right``, in shares of the piece.
    """

    classes: np.ndarray
    left: np.ndarray
    right: np.ndarray
    unsure: np.ndarray

    @classmethod
    def of(cls, pieces: PiecesAlong, outputs: np.ndarray, errors: np.ndarray) -> "_Shares":
        segments = pieces.segments
        knot = np.arange(len(pieces)) + segments
        first = pieces.offsets[:-1] + np.arange(len(pieces.is_exact))
        classes = _lowest(outputs[first], errors[first])
        own = classes[segments]
        before, after = (_leads(outputs[at], errors[at], own) for at in (knot, knot + 1))
        lower = np.arange(outputs.shape[1]) < own[:, None]
        fall = (before.lead > 0) & (after.lead < 0)
        rise = (before.lead < 0) & (after.lead > 0)
        gap = np.abs(before.lead) + np.abs(after.lead)
        safe = np.where(gap > 0, gap, 1.0)
        cross, unsure = np.abs(before.lead) / safe, np.maximum(before.error, after.error) / safe
        tied = (before.lead == 0) & (after.lead == 0)
        never = (tied & lower) | (~tied & (before.lead <= 0) & (after.lead <= 0))
        right = np.where(fall, cross, 1.0)
        left = np.where(rise, cross, 0.0)
        row, ends, begins = np.arange(len(right)), right.argmin(axis=1), left.argmax(axis=1)
        right, left = right[row, ends], left[row, begins]
        blur = np.where(fall, unsure, 0.0)[row, ends]
        # Where lines of three classes meet, rounding may leave a sliver.
        empty = never.any(axis=1) | (right - left <= blur + np.where(rise, unsure, 0.0)[row, begins])
        left, right = np.where(empty, 1.0, left), np.where(empty, 0.0, right)
        return cls(classes, left, right, blur)


@dataclass(frozen=True)
class _Leads:
    lead: np.ndarray
    error: np.ndarray


def _leads(outputs: np.ndarray, errors: np.ndarray, own: np.ndarray) -> _Leads:
    """Return how far the own class is ahead of each, 0 where rounding cannot tell; of itself, far ahead."""
    row = np.arange(len(own))
    lead = outputs[row, own][:, None] - outputs
    error = errors[row, own][:, None] + errors
    lead = np.where(np.abs(lead) <= error, 0.0, lead)
    lead[row, own] = 1.0
    error[row, own] = 0.0
    return _Leads(lead, error)


def _lowest(outputs: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return the lowest of the outputs that may be largest."""
    best = outputs.argmax(axis=1)
    row = np.arange(len(best))
    return (outputs + errors >= (outputs[row, best] - errors[row, best])[:, None]).argmax(axis=1)


def _ends(
    pieces: PiecesAlong,
    outputs: np.ndarray,
    errors: np.ndarray,
    own: _Shares,
    starts: np.ndarray,
    ends: np.ndarray,
    moving: np.ndarray,
    *,
    last: bool,
) -> ClassEnds:
    """Return where the class ends for the last time, or for the first."""
    number = len(starts)
    alphas, blur = np.ones(number), np.zeros(number)
    middle, after = np.ones(number), np.full(number, -1, dtype=np.int64)
    for segment, place in enumerate(moving.tolist()):
        low, high = int(pieces.offsets[segment]), int(pieces.offsets[segment + 1])
        left, right = own.left[low:high], own.right[low:high]
        holds = left < right
        if last:
            there = np.flatnonzero(holds)
            row = int(there[-1]) if len(there) else -1
        else:
            # Up to the piece after which the class does not hold on at once.
            breaks = np.flatnonzero(~(holds & (left == 0)))
            row = int(breaks[0]) - 1 if len(breaks) else len(holds) - 1
            partial = np.flatnonzero(holds[: row + 1] & (right[: row + 1] < 1))
            row = int(partial[0]) if len(partial) else row
        share = right[row] if row >= 0 else 0.0
        piece = low + max(row, 0)
        span = pieces.stops[piece] - pieces.starts[piece]
        inner = 0 < share < 1
        alphas[place] = pieces.starts[piece] + share * span if inner else (pieces.stops[piece] if row >= 0 else 0.0)
        blur[place] = own.unsure[piece] * span if inner else 0.0
        middle[place] = (pieces.starts[piece] + pieces.stops[piece]) / 2
        if alphas[place] < 1:
            # At the end of a piece, what comes after is on the next one.
            position, share = (piece + 1, 0.0) if row >= 0 and not inner else (piece, share)
            after[place] = _just_after(outputs, errors, position + segment, share, int(own.classes[segment]))
    return ClassEnds(alphas, blur, points_along(starts, ends, alphas), points_along(starts, ends, middle), after)


def _just_after(outputs: np.ndarray, errors: np.ndarray, knot: int, share: float, own: int) -> int:
    """Return the class right after a share of the piece between two knots: of those that tie there, the steepest."""
    here = (1 - share) * outputs[knot] + share * outputs[knot + 1]
    error = np.maximum(errors[knot], errors[knot + 1])
    best = int(here.argmax())
    tied = here + error >= here[best] - error[best]
    # Among lines that start as one, the order at the end of the piece is that everywhere.
    end = np.where(tied, outputs[knot + 1], -np.inf)
    best = int(end.argmax())
    highest = end + error >= end[best] - error[best]
    return int(highest.argmax())


def _joined(parts: list[ClassEnds]) -> ClassEnds:
    names = ("alphas", "errors", "points", "within", "after")
    return ClassEnds(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
