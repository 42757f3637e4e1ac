"""The nearest change of class in a convex set of steps u away from a point, on which the outputs are affine.

The outputs on that set decide which classes may win there; with a single output f the classes 0 and 1 have the outputs
0 and f.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Integer

from reluscope.analyses.classification.classes import classes_of_outputs
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.geometry.bounding_box import bounding_box
from reluscope.geometry.checked_bounds import upper_bound
from reluscope.geometry.domains import Box, Domain, Slice, Space
from reluscope.geometry.half_spaces import HalfSpaces
from reluscope.geometry.linear_program import LinearProgram, Status
from reluscope.geometry.nearest_point import NearestPoint, nearest_point
from reluscope.geometry.norms import Norm, dual, size
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.geometry.row_scales import unit_rows
from reluscope.networks.carriers.forms import Forms
from reluscope.networks.choices import read_domain
from reluscope.networks.maps_of_codes import pieces_of
from reluscope.networks.network import Network
from reluscope.networks.pieces_across import pieces_across
from reluscope.regions.region_of_code import region_of_code
from reluscope.tolerance import Tolerance

Pieces = tuple[np.ndarray, ...]

# Lengths below this, relative to the point and its distances, count as zero: thinner regions are not entered.
RESOLUTION = 1e-9
# Steps into a half-space are no longer than this, in units of the distance that is sought there.
MAX_LENGTH = 1e5
# Polyhedra of no more dimensions than these have the box around them as bounds: finding it takes fractions.
MAX_BOUNDED = 3


@dataclass(frozen=True, eq=False)
class SearchDomain:
    """A domain as half-spaces.

    Parameters
    ----------
    half_spaces : HalfSpaces
        Rows of length 1, and bounds of a box around them if there are any.
    inner : (n,) array, optional
        A point inside, None for the whole space.
    text : str
        The domain in words.
    """

    half_spaces: HalfSpaces
    inner: Float[np.ndarray, " n"] | None
    text: str

    def contains(self, x: Float[np.ndarray, " n"]) -> bool:
        """Return whether a point lies in the domain, up to rounding."""
        slack = 1e-12 * max(float(np.abs(x).max()), self.half_spaces.width)
        return bool(self.half_spaces.contains(x, slack))


def open_domain(network: Network, domain: Domain | None) -> tuple[Network, SearchDomain]:
    """Return the network as a function of the domain's coordinates, and the domain.

    Raises
    ------
    ShapeError
        If the domain has another dimension than the inputs.
    DegenerateGeometryError
        If it has no interior.
    InputError
        If it has equations.
    """
    text = "input space" if domain is None else domain.describe()
    if domain is not None:
        domain = read_domain(domain, network.num_inputs)
    if isinstance(domain, Slice):
        network, domain = network.restrict(domain), domain.window
    dim = network.num_inputs
    endless, no_rows = np.full(dim, np.inf), (np.zeros((0, dim)), np.zeros(0))
    if domain is None or isinstance(domain, Space):
        return network, SearchDomain(HalfSpaces(*no_rows, -endless, endless), None, text)
    if isinstance(domain, Box):
        inner = domain.lo + np.random.default_rng(1).uniform(0.25, 0.75, dim) * (domain.hi - domain.lo)
        return network, SearchDomain(HalfSpaces(*no_rows, domain.lo, domain.hi), inner, text)
    if len(domain.C):
        raise InputError("a domain with equations has no interior: give its solutions as a Slice")
    inner = _inner_point(domain)
    around = bounding_box(domain) if dim <= MAX_BOUNDED else None
    return network, SearchDomain(
        HalfSpaces(*unit_rows(domain.A, domain.b)[:2], *(around or (-endless, endless))), inner, text
    )


def _inner_point(domain: Polyhedron) -> np.ndarray:
    ball = domain.insphere()
    if not ball.radius > 0:
        raise DegenerateGeometryError(f"expected a domain with an interior, got a flat or empty {domain.describe()}")
    step = np.random.default_rng(1).normal(size=domain.dim)
    return ball.center + 0.5 * min(ball.radius, 1.0) * step / np.linalg.norm(step)


@dataclass(frozen=True, eq=False)
class Viewpoint:
    """A point from which regions are seen, and what is the same for all of them.

    Parameters
    ----------
    network : Network
    domain : SearchDomain
    x : (n,) array
    norm : "l1", "l2" or "linf"
    label : int
        The class of the point.
    tolerance : Tolerance
    """

    network: Network
    domain: SearchDomain
    x: Float[np.ndarray, " n"]
    norm: Norm
    label: int
    tolerance: Tolerance

    @cached_property
    def lower(self) -> Float[np.ndarray, " n"]:
        """Lower bounds of steps; a point that rounding put outside may stay where it is."""
        return np.minimum(self.domain.half_spaces.lower - self.x, 0.0)

    @cached_property
    def upper(self) -> Float[np.ndarray, " n"]:
        """Upper bounds of steps."""
        return np.maximum(self.domain.half_spaces.upper - self.x, 0.0)

    @cached_property
    def scale(self) -> float:
        """What lengths are compared with: the size of the point and of the domain, else its hyperplanes' distances."""
        size = max(float(np.abs(self.x).max()), self.domain.half_spaces.width)
        if size == 0 and self.network.gates:
            own = tuple(piece[0] for piece in pieces_of(self.network.codes(self.x)))
            region = region_of_code(self.network, self.x, own, tolerance=self.tolerance)
            size = float(np.abs(region.slack).max(initial=0.0))
        return size or 1.0

    @property
    def rounding(self) -> float:
        """Relative rounding of a sum."""
        return self.tolerance.rounding * np.finfo(float).eps

    def first_pieces(self) -> Pieces:
        """Return the code of a region with an interior that touches the point; its own, off kinks."""
        own = tuple(piece[0] for piece in pieces_of(self.network.codes(self.x)))
        region = region_of_code(self.network, self.x, own, tolerance=self.tolerance)
        touching = np.abs(region.slack) <= region.noise
        if not touching.any() and not len(region.still):
            return own
        # Off the kinks in a direction that points into the domain and along none of them.
        way = (
            np.random.default_rng(0).normal(size=len(self.x))
            if self.domain.inner is None
            else self.domain.inner - self.x
        )
        loose = np.concatenate([region.sources[touching], region.still])
        found = pieces_across(self.network, own, [loose], way[None] / np.linalg.norm(way), rounding=self.rounding)
        return tuple(piece[0] for piece in found)

    def cell(self, pieces: Sequence[Integer[np.ndarray, " _"]]) -> "StepRegion":
        """Return the region of a code."""
        region = region_of_code(self.network, self.x, pieces, tolerance=self.tolerance)
        outputs = Forms(region.outputs, region.weight, np.zeros((len(region.outputs), 0)), region.errors)
        return StepRegion(self, region.rows, region.slack, region.noise, outputs)


def viewpoint(
    network: Network, domain: SearchDomain, x: Float[np.ndarray, " n"], norm: Norm, tolerance: Tolerance
) -> Viewpoint:
    """Return a point as a viewpoint.

    Raises
    ------
    InputError
        If it lies outside the domain.
    """
    if not domain.contains(x):
        raise InputError(
            f"expected points in the domain ({domain.text}), got one outside: move it, or enlarge the domain"
        )
    outputs = network(x).reshape(1, -1).cpu().numpy()
    return Viewpoint(network, domain, x, norm, int(classes_of_outputs(outputs)[0]), tolerance)


@dataclass(frozen=True, eq=False)
class Rival:
    """Another class j as a half-space: j is not below the point's class where ``row u <= slack``.

    On a set where j is nowhere below, the row is zero; ``length`` is the row's dual norm. In the slack is what
    ``noise`` can make of it.
    """

    label: int
    row: Float[np.ndarray, " n"]
    slack: float
    noise: Float[np.ndarray, " e"]
    error: float
    length: float

    @property
    def distance(self) -> float:
        """Distance to the half-space alone."""
        return max(0.0, -self.slack / self.length) if self.length > 0 else 0.0


class StepRegion:
    """A convex set of steps from a point, with outputs as affine forms on it: a closed region, or an enclosure of some.

    Parameters
    ----------
    view : Viewpoint
    rows, slack : (h, n) and (h,) arrays
        ``rows u <= slack`` with rows of length 1; the domain's join them.
    errors : (h,) array
        Bounds on the rounding of the slack.
    outputs : Forms
        Of the network's outputs in steps u.
    radius : float
        How long steps may be for this to hold.
    """

    def __init__(
        self,
        view: Viewpoint,
        rows: Float[np.ndarray, "h n"],
        slack: Float[np.ndarray, " h"],
        errors: Float[np.ndarray, " h"],
        outputs: Forms,
        *,
        radius: float = np.inf,
    ) -> None:
        self.view, self.outputs, self.radius = view, outputs, radius
        limits = view.domain.half_spaces
        self.num_own = len(rows)
        own = HalfSpaces(rows, slack, view.lower, view.upper)
        self.half_spaces = own.cut(limits.rows, limits.offsets - limits.rows @ view.x)
        sizes = np.abs(limits.offsets) + np.abs(limits.rows) @ np.abs(view.x)
        self.errors = np.concatenate([errors, view.rounding * sizes])
        self.origin = np.zeros(len(view.x))

    @cached_property
    def rivals(self) -> list[Rival]:
        """The classes that may win somewhere by these outputs."""
        labels = range(max(2, len(self.outputs.centers)))
        found = [self.rival(label) for label in labels if label != self.view.label]
        return [rival for rival in found if rival is not None]

    def rival(self, label: int) -> Rival | None:
        """Return another class as a half-space, None if it wins nowhere by these outputs."""
        outputs, own = self.outputs, self.view.label
        entries = float(np.abs(outputs.weights).max(initial=0.0))
        if len(outputs.centers) == 1:  # the classes 0 and 1 have the outputs 0 and f
            lead = outputs if own == 1 else outputs.reflected(np.zeros(1))
        else:
            lead = outputs[np.array([own])] - outputs[np.array([label])]
        row, noise, error = lead.weights[0], lead.noise[0], float(lead.errors[0])
        slack = float(np.abs(noise).sum() - lead.centers[0])
        if np.abs(row).max(initial=0.0) > self.view.rounding * entries * max(2, len(outputs.centers)):
            return Rival(label, row, slack, noise, error, float(size(row, dual(self.view.norm))))
        # Outputs that differ by a constant; of equal ones the lower wins.
        if slack > error or (slack >= -error and label < own):
            return Rival(label, 0 * row, 0.0, noise, error, 0.0)
        return None

    def half_spaces_beyond(self, rival: Rival) -> HalfSpaces:
        """Return the part of the set where another class is not below the point's own."""
        return self.half_spaces.cut(rival.row[None], np.array([rival.slack]))

    def cut(self, rival: Rival, found: NearestPoint) -> tuple[Float[np.ndarray, " n"] | None, float]:
        """Return ``form u >= level`` of dual norm 1 that holds wherever a rival may win: what keeps it from being near.

        Any combination of rows says something of this kind; that of the nearest change has the largest level.
        """
        form = -(found.multipliers @ self.half_spaces_beyond(rival).rows)
        length = float(size(form, dual(self.view.norm)))
        if not length > 0:
            return None, 0.0
        level = -float(found.multipliers @ self.half_spaces_beyond(rival).offsets)
        return form / length, level / length

    def nearest_change(self, rival: Rival, bound: float) -> NearestPoint:
        """Return the step to the nearest point of the set where another class is not below the point's own."""
        return self._nearest(self.half_spaces_beyond(rival), self.view.norm, bound)

    def rounding(self, rival: Rival, found: NearestPoint) -> float:
        """Return what rounding makes of the distance of a nearest change, to first order.

        Its multipliers say how much it moves with the rows that hold it: a corner of two that are nearly parallel moves
        by far more than they do.
        """
        multipliers, rows = found.multipliers, self.half_spaces_beyond(rival).rows
        length = float(size(multipliers @ rows, dual(self.view.norm)))
        errors = np.append(self.errors, rival.error)
        if not length > 0:
            return rival.error / rival.length if rival.length > 0 else 0.0
        # The rows' entries are rounded, too.
        entries = self.view.rounding * float(multipliers @ size(rows, dual(self.view.norm))) * found.distance
        return (float(multipliers @ errors) + entries) / length

    def nearest(self, bound: float) -> NearestPoint:
        """Return the step to the nearest point of the set."""
        return self._nearest(self.half_spaces, self.view.norm, bound)

    def _nearest(self, half_spaces: HalfSpaces, norm: Norm, bound: float = np.inf) -> NearestPoint:
        return nearest_point(
            half_spaces.rows,
            half_spaces.offsets,
            self.origin,
            norm=norm,
            lower=half_spaces.lower,
            upper=half_spaces.upper,
            bound=bound,
            extent=self.view.scale,
        )

    def is_thin(self, step: Float[np.ndarray, " n"]) -> bool:
        """Return whether the set, seen from one of its points, is thinner than the resolution everywhere.

        Independent rows that are tight at a point leave room. Else the set is asked for a point that is inside all
        rows by the resolution: only a contradiction that is proved makes it thin.
        """
        reach, tight, free = self._at(step)
        if not tight[: self.num_own].any():
            return False
        inner = self.half_spaces.rows[np.ix_(tight, free)]
        if len(inner) <= inner.shape[1] and np.linalg.svd(inner, compute_uv=False)[-1] > 1e-6:
            return False
        slack = self.half_spaces.offsets.copy()
        slack[: self.num_own] -= reach
        return self._nearest(replace(self.half_spaces, offsets=slack), "l2").is_empty

    def inward(self, step: Float[np.ndarray, " n"], rival: Rival) -> Float[np.ndarray, " n"] | None:
        """Return a direction from a step into the set and a rival's half-space; None if rows do not show one at once.

        It leaves all rows that are tight at the step equally fast, along the bounds that are.
        """
        _, tight, free = self._at(step)
        rows = np.concatenate([self.half_spaces.rows[tight], rival.row[None] / np.linalg.norm(rival.row)])[:, free]
        way = np.zeros(len(step))
        way[free] = -np.linalg.lstsq(rows, np.ones(len(rows)), rcond=None)[0]
        length = float(size(way, self.view.norm))
        return way / length if (rows @ way[free] < -0.5).all() else None

    def contains(self, steps: Float[np.ndarray, "s n"]) -> Bool[np.ndarray, " s"]:
        """Return which steps are in the set, with a tenth of the resolution as tolerance."""
        own = self.half_spaces
        moved = replace(own, offsets=own.offsets + 0.1 * RESOLUTION * self.view.scale)
        return moved.contains(steps) & (size(steps, self.view.norm) <= self.radius)

    def deepest(self, rival: Rival) -> tuple[Float[np.ndarray, " n"], float] | None:
        """Return a step far inside the half-space of a rival, and how deep one can be there, in the point's scale.

        Where the rival's row is zero, the step leads to an inner point of the set. The depth is what multipliers prove
        that no step exceeds, among those that are at most a million times as long as the scale. None if that is
        nothing: the set only touches the half-space.
        """
        dim = len(self.origin)
        cap = 10.0 * max(self.view.scale, rival.distance)
        own = self.half_spaces
        low = np.append(np.maximum(own.lower, -MAX_LENGTH * cap), -cap)
        high = np.append(np.minimum(own.upper, MAX_LENGTH * cap), cap)
        length = np.linalg.norm(rival.row)
        table = np.column_stack([own.rows, np.full(len(own.rows), float(length == 0))])
        slack = own.offsets
        if length > 0:
            table = np.concatenate([table, np.append(rival.row / length, 1.0)[None]])
            slack = np.append(slack, rival.slack / length)
        program = LinearProgram(dim + 1)
        program.set_all_bounds(low, high)
        program.add_rows(table, slack)
        gain = np.append(np.zeros(dim), 1.0)
        found = program.maximize(gain)
        duals = found.duals if len(found.duals) else np.zeros(len(slack))
        depth = min(cap, upper_bound(gain, table, np.full(len(slack), -np.inf), slack, low, high, duals))
        if not depth > 10 * RESOLUTION * self.view.scale:
            return None
        return (found.point[:dim] if found.status is Status.OPTIMAL else self.origin), depth

    def _at(self, step: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the resolution at a step, the rows that are tight there, and the coordinates that no bound stops."""
        reach = RESOLUTION * max(self.view.scale, float(np.abs(step).max(initial=0.0)))
        own = self.half_spaces
        free = (step - own.lower > 10 * reach) & (own.upper - step > 10 * reach)
        return reach, own.offsets - own.rows @ step <= 10 * reach, free
