"""The preimage of a polyhedron of outputs between an inner and an outer approximation, where a partition is too much.

Boxes of inputs are halved: on some all outputs lie in the target, on others none, and the rest stays open. The inner
approximation are boxes of the first kind and pieces within the regions of points found; the outer one leaves out boxes
of the second kind, and cuts open boxes by bounds of the outputs.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from jaxtyping import Bool, Float

from reluscope.analyses.boxes.output_boxes import OutputBox, halved, output_box
from reluscope.analyses.boxes.pullback import within_region
from reluscope.analyses.boxes.rounded_ends import finding_within
from reluscope.analyses.boxes.stored_boxes import form_arrays, read_forms
from reluscope.analyses.preimages.rows_of_inputs import RowsOfInputs
from reluscope.arguments import read_arguments, read_position
from reluscope.effort import Effort
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.files import stored
from reluscope.files.named_arrays import prefixed, without_prefix
from reluscope.findings import Claim, Finding
from reluscope.geometry.numbers.resolutions import HULLS, SUMS
from reluscope.geometry.polyhedra.domain_arrays import domain_arrays, polyhedra_arrays, read_polyhedra
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.programs.checked_bounds import upper_bound
from reluscope.geometry.programs.linear_program import LinearProgram
from reluscope.geometry.unions.union_of_polyhedra import UnionOfPolyhedra
from reluscope.networks.file_outputs import Rounding, on_scores
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.partitions.corner_errors import volume_errors
from reluscope.partitions.driver.best_first import BestFirst, Branch
from reluscope.progress import share_done
from reluscope.regions.region import Region
from reluscope.regions.regions import region
from reluscope.tolerance import EPSILON

NUM_BOXES, NUM_PIECES, NUM_SAMPLES = 1_000, 32, 512
# How far points are moved towards the centre of a piece until their outputs lie in the target beyond doubt.
INWARDS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-3, 1.0)
# Relative to the size of what is compared.
RELATIVE = 1e-9
# Rounding of sums and of corners, relative to their terms, and how near a corner is to the rows that bound it.
ROUNDING, CLEAR = 64 * EPSILON, 1e-6
# Volumes of pieces are found in up to so many dimensions.
MAX_DIMENSIONS = 5


@dataclass(frozen=True, eq=False)
class Approximation(UnionOfPolyhedra):
    """An inner and an outer approximation of a preimage.

    Parameters
    ----------
    features : Network, optional
        Network that computes the outputs. An approximation from a file has none: there boxes alone prove maxima.
    box : Box
        The inputs considered.
    target : Polyhedron
        In the space of outputs.
    inside : (k, 2, n) float64
        Ends of boxes on which all outputs lie in the target.
    cells : tuple of OutputBox
        Undecided boxes; these and ``inside`` contain the preimage.
    pieces : tuple of Polyhedron
        Parts of the preimage, each within one linear region and the box.
    volumes : (p,) float64
        Lower bounds on the volumes of the pieces; 0 in many dimensions.
    work : dict

    Notes
    -----
    The union is the inner approximation: the boxes of ``inside``, then the pieces. ``maximum`` is LOWER, with an
    interval. Its value is that of a point whose outputs lie in the target in spite of rounding; -inf if none is known.
    The interval ends at -inf if the preimage is proved empty. For a target with equations no such points exist: there
    the value is an ESTIMATE, from points that satisfy the equations up to rounding. Each piece and each undecided box
    costs a linear program. Columns of the table: ``is_box``, ``num_half_spaces``, and ``volume``, a lower bound.
    """

    features: Network | None
    box: Box
    target: Polyhedron
    inside: Float[np.ndarray, "k 2 n"]
    cells: tuple[OutputBox, ...]
    pieces: tuple[Polyhedron, ...]
    volumes: Float[np.ndarray, " p"]
    work: dict[str, float]

    kind: ClassVar[str] = "approximation"

    def __len__(self) -> int:
        return len(self.inside) + len(self.pieces)

    @read_arguments
    def __getitem__(self, index: int) -> Polyhedron:
        place = read_position(index, "index", len(self), self.parts) - len(self.inside)
        return self.pieces[place] if place >= 0 else Box(*self.inside[place]).polyhedron

    def __repr__(self) -> str:
        return f"Approximation({self._number()}, {len(self.cells):,} open boxes, volume {self.volume()})"

    @property
    def dim(self) -> int:
        """Number of inputs."""
        return self.box.dim

    @property
    def claim(self) -> Claim:
        """LOWER where boxes are open; else what the volume claims."""
        return Claim.LOWER if self.cells else self.volume().claim

    def _boxes(self, reach: float) -> Float[np.ndarray, "p 2 n"]:
        every = super()._boxes(reach)[len(self.inside) :]
        return np.concatenate([self.inside + np.array([[-reach], [reach]]), every])

    def _holds(self, index: int, points: Float[np.ndarray, "s n"], reach: float) -> Bool[np.ndarray, " s"]:
        place = index - len(self.inside)
        return self.pieces[place].contains(points, reach) if place >= 0 else np.ones(len(points), dtype=bool)

    def volume(self) -> Finding:
        """Return the volume of the preimage: LOWER, with an interval up to the volume of what may be in it.

        Notes
        -----
        From below the larger of the boxes' volume and, in up to 5 dimensions, that of the pieces.
        """
        sure = float(np.prod(self.inside[:, 1] - self.inside[:, 0], axis=1).sum())
        upper = sure + sum(cell.volume for cell in self.cells)
        lower = min(upper, max(sure, float(self.volumes.sum())))
        return self._finding(lower, lower, upper, "volume of the preimage", self.box.volume())

    def _maximum(self, weights: Float[np.ndarray, " n"]) -> Finding:
        tops = self.inside.mean(axis=1) @ weights + np.abs(weights) @ (np.diff(self.inside, axis=1)[:, 0].T / 2)
        rounding = 4 * len(weights) * EPSILON * (np.abs(self.inside).max(axis=1) @ np.abs(weights))
        lower = float((tops - rounding).max(initial=-np.inf))
        best = [piece.maximize(weights).point for piece in self.pieces]
        sure = [self._value_inside(piece, point, weights) for piece, point in zip(self.pieces, best, strict=True)]
        lower = max([lower, *sure])
        upper = max(
            [lower, float((tops + rounding).max(initial=-np.inf)), *(self._top(cell, weights) for cell in self.cells)]
        )
        found = max([lower, *(float(point @ weights) for point in best if np.isfinite(point).all())])
        name = "largest value of a linear function on the preimage"
        # Points that fulfil equations up to rounding are no proof.
        best_known = min(found, upper) if len(self.target.C) and found > lower else lower
        scale = float(np.abs(weights) @ np.maximum(np.abs(self.box.lo), np.abs(self.box.hi)))
        return self._finding(best_known, lower, upper, name, scale)

    def _value_inside(self, piece: Polyhedron, point: np.ndarray, way: np.ndarray) -> float:
        """Return the value at a point of a piece, moved inwards until it is in the preimage beyond doubt; else -inf."""
        if self.features is None or len(self.target.C) or not np.isfinite(point).all():
            return -np.inf
        center = piece.insphere().center
        for share in INWARDS:
            moved = np.clip(point + share * (center - point), self.box.lo, self.box.hi)
            most = output_box(self.features, moved, moved).range(self.target.A)[1]
            if (most <= self.target.b).all():
                terms = way * moved
                return float(terms.sum() - len(way) * 2 * EPSILON * np.abs(terms).sum())
        return -np.inf

    def _top(self, cell: OutputBox, way: np.ndarray) -> float:
        """Return a bound on what is largest on an open box where bounds of the outputs let points be in the preimage.

        It is what multipliers prove, and -inf where they prove that there is no such point.
        """
        tables = []
        for normals, offsets, is_equation in (
            (self.target.A, self.target.b, False),
            (self.target.C, self.target.d, True),
        ):
            slopes, middle, rest = cell.rows(normals)
            room = offsets - middle
            tables.append((slopes, room - rest if is_equation else np.full(len(room), -np.inf), room + rest))
        rows, low, high = (np.concatenate(parts) for parts in zip(*tables, strict=True))
        if _proved_upper(np.append(0 * way, -1.0), *_relaxed(rows, low, high, cell.half)) < 0:
            return -np.inf
        center = way @ cell.center
        rounding = 4 * len(way) * np.finfo(float).eps * (np.abs(way) @ np.abs(cell.center))
        return float(center + _proved_upper(way, rows, low, high, -cell.half, cell.half) + rounding)

    def _columns(self) -> dict[str, Any]:
        sizes = np.prod(self.inside[:, 1] - self.inside[:, 0], axis=1)
        rows = [len(piece.A) for piece in self.pieces]
        return {
            "is_box": np.arange(len(self)) < len(self.inside),
            "num_half_spaces": np.array([2 * self.dim] * len(self.inside) + rows, dtype=np.int64),
            "volume": np.concatenate([sizes, self.volumes]),
        }

    def stored_parts(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return what `save` writes, as named arrays and plain types."""
        cells = np.array([(cell.lower, cell.upper) for cell in self.cells]).reshape(-1, 2, self.dim)
        target = polyhedra_arrays([self.target], self.target.dim)
        arrays = {"inside": self.inside, "cells": cells, "volumes": self.volumes, **domain_arrays(self.box)}
        arrays |= prefixed("target.", target)
        arrays |= form_arrays("cells", self.cells, self.target.dim, self.dim)
        arrays |= polyhedra_arrays(self.pieces, self.dim)
        return arrays, {"kind": self.kind, "work": self.work}

    @classmethod
    def _read(cls, arrays: dict[str, np.ndarray], described: dict[str, Any]) -> Self:
        volumes = stored.array(arrays, "volumes", np.float64, (None,), least=0)
        low = stored.array(arrays, "domain.lo", np.float64, (None,))
        box = Box(low, stored.array(arrays, "domain.hi", np.float64, low.shape))
        inside, cells = (stored.array(arrays, name, np.float64, (None, 2, box.dim)) for name in ("inside", "cells"))
        (target,) = read_polyhedra(without_prefix("target.", arrays), 1)
        return cls(
            None,
            box,
            target,
            inside,
            read_forms("cells", arrays, cells, target.dim),
            tuple(read_polyhedra(arrays, len(volumes), box.dim)),
            volumes,
            stored.numbers(described, "work"),
        )

    def _finding(self, value: float, lower: float, upper: float, name: str, scale: float) -> Finding:
        found = finding_within(
            value,
            lower,
            upper,
            rounding=RELATIVE * scale if np.isfinite(lower) else 0.0,
            scale=scale,
            name=name,
            definition=f"points of the domain with outputs in a {self.target.describe()}",
            domain=self.box.describe(),
            method="halved boxes with affine bounds, and pieces within regions",
            work=self.work,
        )
        # Values of any sign have an interval also where nothing is known from below.
        return found if found.claim is Claim.EXACT else replace(found, interval=(lower, upper))


def _relaxed(rows: np.ndarray, low: np.ndarray, high: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return rows with a variable t >= 0 more, by which each may be exceeded: t = 0 is allowed where all can hold."""
    ones = np.ones((len(rows), 1))
    both = np.concatenate([np.hstack([rows, -ones]), np.hstack([-rows, -ones])[np.isfinite(low)]])
    ends = np.concatenate([high, -low[np.isfinite(low)]])
    most = 1.0 + float((np.abs(both[:, :-1]) @ half + np.abs(ends)).max(initial=0.0))
    return both, np.full(len(ends), -np.inf), ends, np.append(-half, 0.0), np.append(half, most)


def _proved_upper(
    gain: np.ndarray, rows: np.ndarray, low: np.ndarray, high: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> float:
    """Return an upper bound on a linear function that multipliers prove."""
    program = LinearProgram(len(gain))
    program.set_all_bounds(lower, upper)
    program.add_rows(rows, high, low)
    return upper_bound(gain, rows, low, high, lower, upper, program.maximize(gain).duals)


def approximate(
    features: Network, target: Polyhedron, domain: Box, points: Points | None, effort: Effort, seed: int
) -> Approximation:
    """Return an inner and an outer approximation of the points of a box with outputs in a polyhedron."""
    if domain.dim != features.num_inputs:
        raise ShapeError(
            f"expected a domain in {features.num_inputs} dimensions, as many as inputs, got {domain.describe()}"
        )
    within = on_scores(features.left_off, target, Rounding.INWARDS)
    features, target = features.logits, on_scores(features.left_off, target, Rounding.OUTWARDS)
    search = _OpenBoxes(features, target, within, domain)
    with share_done("boxes", effort.progress) as tell:
        search.run_unbroken(effort.budget, tell)
    boxes = np.array(search.inside).reshape(-1, 2, domain.dim)
    pieces, volumes = _pieces(features, within, domain, points, seed)
    work: dict[str, float] = {"boxes": search.num_branches, "pieces": len(pieces)}
    left = tuple(branch.what for branch in search.queue)
    return Approximation(features, domain, target, boxes, left, pieces, np.array(volumes), work)


class _OpenBoxes(BestFirst):
    """Boxes whose outputs may be in the target or not, the largest first; all are examined.

    ``within`` is the target rounded inwards: the boxes ``inside`` have all outputs in it.
    """

    def __init__(self, features: Network, target: Polyhedron, within: Polyhedron, box: Box) -> None:
        super().__init__()
        self.inside: list[np.ndarray] = []
        self._features, self._within, self._box = features, within, box
        self._is_rounded = within is not target
        self._normals, self._values = np.concatenate([target.A, target.C]), np.concatenate([target.b, target.d])
        self._equal = np.arange(len(self._values)) >= len(target.b)

    def is_settled(self, key: float) -> bool:
        """Whether a box need not be halved: none is settled."""
        return False

    def start(self) -> None:
        """Bound the whole box."""
        self._bound(self._box.lo, self._box.hi)

    def split(self, branch: Branch) -> None:
        """Bound the halves of a box."""
        for ends in halved(branch.what, self._normals):
            self._bound(*ends)

    def _bound(self, lower: np.ndarray, upper: np.ndarray) -> None:
        """Put a box into the queue unless its outputs are all in the target, or none is."""
        self.num_branches += 1
        box = output_box(self._features, lower, upper)
        least, most = box.range(self._normals)
        if (least > self._values).any() or (self._equal & (most < self._values)).any():
            return
        surely = box.range(self._within.A)[1] if self._is_rounded else most
        if not len(self._within.C) and (surely <= self._within.b).all():
            self.inside.append(np.stack([lower, upper]))
        else:
            self.push(-float(np.log(upper - lower).sum()), box)


def _pieces(
    features: Network, target: Polyhedron, box: Box, points: Points | None, seed: int
) -> tuple[tuple[Polyhedron, ...], list[float]]:
    """Return the pieces within the regions of points whose outputs lie in the target, and their least volumes."""
    tried = np.random.default_rng(seed).uniform(box.lo, box.hi, (NUM_SAMPLES, box.dim))
    if points is not None:
        given = features.points(points).reshape(-1, box.dim).cpu().numpy()
        if not box.contains(given).all():
            raise InputError(f"expected points in the box, got some outside {box.describe()}")
        tried = np.concatenate([given, tried])
    outputs = features(tried).reshape(len(tried), -1).cpu().numpy()
    good = tried[target.contains(outputs, SUMS)]
    if not len(good):
        return (), []
    _, first = np.unique(features.codes(good).words, axis=0, return_index=True)
    pieces, volumes, seen = [], [], set()
    for row in np.sort(first)[:NUM_PIECES]:
        try:
            own, piece = region(features, good[row], domain=box), within_region(features, good[row], target, domain=box)
        except DegenerateGeometryError:  # a point on a kink whose code has no region
            continue
        if own.code in seen:  # fractions gave it the code of a point before
            continue
        seen.add(own.code)
        errors = _row_errors(features, good[row], target, box, own)
        if errors is not None:
            pieces.append(piece)
            volumes.append(_least_volume(piece, box, *errors) if own.is_whole_within(box.lo, box.hi) else 0.0)
    return tuple(pieces), volumes


def _row_errors(
    features: Network, point: np.ndarray, target: Polyhedron, box: Box, own: Region
) -> tuple[np.ndarray, float] | None:
    """Return errors of a region's rows, and of the target's on the region, None where these may hide that none is met.

    Conditions that vary by no more than rounding are no rows of a piece: all of it may be on their other side.
    """
    of_region = own.row_errors(box.lo, box.hi)
    of_outputs = RowsOfInputs(features, box.lo, box.hi).errors(features.at(point[None]))[0]
    weight, bias = (part[0].cpu().numpy() for part in (own.map.weight, own.map.bias))
    sizes = np.abs(weight) @ np.maximum(np.abs(box.lo), np.abs(box.hi)) + np.abs(bias)
    # Terms that cancel in a row leave their rounding.
    each = np.abs(target.A) @ (of_outputs + ROUNDING * sizes) + ROUNDING * np.abs(target.b)
    is_still = np.abs(target.A @ weight) @ (box.hi - box.lo) <= each
    if (target.A @ (weight @ point + bias) + each > target.b)[is_still].any():
        return None
    return of_region, float(each.max(initial=0.0))


def _least_volume(piece: Polyhedron, box: Box, of_region: np.ndarray, of_target: float) -> float:
    """Return what a piece holds at least, whatever rounding made of its rows and corners."""
    if box.dim > MAX_DIMENSIONS or len(piece.C) or not piece.insphere().radius > 0:
        return 0.0
    try:
        corners = piece.vertices()
    except DegenerateGeometryError:
        return 0.0
    ends = np.stack([corners.min(axis=0), corners.max(axis=0)])
    errors = np.full(len(piece.b), of_target)
    errors[: len(of_region)] = of_region
    errors += ROUNDING * (np.abs(piece.A) @ np.abs(ends).max(axis=0) + np.abs(piece.b))
    near = (piece.b - corners @ piece.A.T <= CLEAR * (np.abs(piece.A) @ (ends[1] - ends[0])) + errors).any(axis=0)
    moved = float((errors[near] / np.linalg.norm(piece.A[near], axis=1)).sum()) + ROUNDING * float(np.abs(ends).max())
    volume = piece.volume()
    return max(0.0, volume - HULLS * volume - float(volume_errors(np.array([moved]), ends[None])[0]))
