"""Coordinates in which a tree of linear programs searches a domain: homogeneous, and narrow where the network is.

A point x of the domain is ``y = (x, 1)``, for domains without a bounding box any positive multiple of it; an affine
function of x is a linear form of y. If all later gates see the input through fewer than n values of the first stage,
forms are those of ``z = G y``: these values, the domain's rows, and the constant.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.geometry.cutting.framed_cells import CellFrame, FramedCell, LinearForms
from reluscope.geometry.cutting.generation import Scratch
from reluscope.geometry.numbers.row_scales import scaled_rows
from reluscope.geometry.numbers.scales import exponents, lengths, times_power
from reluscope.geometry.polyhedra.domains import Box, Domain, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.evaluation.affine_values import AffineValue, AffineValues, advance_affinely, affine_input
from reluscope.networks.evaluation.unit_half_spaces import TOGETHER
from reluscope.networks.fractions.rational_maps import AffineFunction
from reluscope.networks.graph.points import steps
from reluscope.networks.network import Network
from reluscope.partitions.tree.exact_forms import ExactForms
from reluscope.tolerance import Tolerance

EPSILON = float(np.finfo(np.float64).eps)
# Fractions beyond are left in doubt: as floats they would lose digits, or be none.
MIN_MAGNITUDE, MAX_MAGNITUDE = Fraction(1, 10**290), Fraction(10**290)

# Some forms as functions of the input; None where that is not known.
Exactly = Callable[[np.ndarray], Sequence[AffineFunction | None]]


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates z that cells live in, and how large rounding errors are there.

    Errors of z at y are at most ``blur @ |y|`` in cones; ``blur`` is all zero if z is y.
    """

    network: Network
    frame: CellFrame
    first: FramedCell  # the domain
    doubt: Float[np.ndarray, " k"]  # bounds on the errors of z
    blur: Float[np.ndarray, "k n"]  # bounds on the errors of z in cones
    is_narrow: bool  # whether z starts with the values of the first stage
    scale: float  # inputs are multiples of this
    tolerance: Tolerance

    @classmethod
    def of(cls, network: Network, domain: Domain, tolerance: Tolerance) -> "Coordinates":
        """Choose coordinates for a network on a domain.

        Raises ShapeError if the domain's dimension is not the network's number of inputs, and DegenerateGeometryError
        if the domain has no interior.
        """
        if not isinstance(domain, Box | Space | Polyhedron):
            raise InputError(f"expected a Space, Box or Polyhedron, got {type(domain).__name__}: give one of these")
        if domain.dim != network.num_inputs:
            raise ShapeError(
                f"the domain has {domain.dim} dimensions, but the network has {network.num_inputs} inputs: build it "
                "in the network's input space"
            )
        lower, upper, walls, center, scale, is_cone = _shape_of(domain, network)
        largest = np.maximum(np.abs(lower), np.abs(upper))
        gamma = tolerance.rounding * EPSILON
        size = len(lower)
        narrow = _narrow_values(network, gamma, scale, size - len(walls) - 1)
        if narrow is None:
            generators, blur, rows = np.zeros((0, size)), np.zeros((size, size)), walls
        else:
            values, errors = narrow
            constant = np.eye(1, size, size - 1)
            generators = np.concatenate([values, walls, constant])
            blur = np.concatenate([errors, np.zeros((len(walls) + 1, size))])
            rows = np.eye(len(generators))[len(values) : -1]
        # A proof on a cone hides no more than twice its share.
        frame = CellFrame(np.ascontiguousarray(generators), lower, upper, is_cone, tolerance.resolution / 2)
        first = FramedCell(np.ascontiguousarray(rows), np.zeros(len(rows)), np.zeros((len(rows), 0)), center)
        coordinates = cls(network, frame, first, blur @ largest, blur, len(generators) > 0, scale, tolerance)
        noise, slack = (bound(rows, np.zeros_like(rows)) for bound in (coordinates.noise, coordinates.slack))
        image = rows @ (generators @ center if len(generators) else center)
        if not (image > 2 * noise).all():
            raise DegenerateGeometryError(
                f"the domain must have an interior, but {domain.describe()} is empty or too flat: give another"
            )
        return replace(coordinates, first=first._replace(noise=noise, slack=slack))

    @property
    def gamma(self) -> float:
        """Relative rounding of a sum."""
        return self.tolerance.rounding * EPSILON

    @cached_property
    def largest(self) -> Float[np.ndarray, " k"]:
        """Bound on the magnitudes that sum up to each z over the box."""
        reach = np.maximum(np.abs(self.frame.lower), np.abs(self.frame.upper))
        return np.abs(self.frame.generators) @ reach if self.is_narrow else reach

    @cached_property
    def _gram(self) -> np.ndarray:
        """Inner products of the gradients of all z with respect to x, where x is not z itself."""
        columns = len(self.frame.lower) - 1
        generators = self.frame.generators
        return generators[:, :columns] @ generators[:, :columns].T

    def _squared_slopes(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the squared lengths of forms' gradients with respect to x."""
        if not self.is_narrow:
            return by_rows(lambda some: (some[:, :-1] ** 2).sum(axis=1), coefficients)
        return ((coefficients @ self._gram) * coefficients).sum(axis=1)

    @property
    def scratch(self) -> Scratch:
        """Room that all searches of one thread share."""
        if not hasattr(self._rooms, "scratch"):
            self._rooms.scratch = Scratch(self.frame)
        return self._rooms.scratch

    @cached_property
    def exact(self) -> ExactForms:
        """What gates see, in rational arithmetic."""
        return ExactForms(self.network)

    @cached_property
    def _rooms(self) -> threading.local:
        return threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def noise(self, coefficients: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """Return bounds on the errors of values of forms (p, k) anywhere in the box."""
        once, twice = self.largest + self.doubt, self.doubt + self.gamma * self.largest
        return by_rows(lambda slopes, off: off @ once + np.abs(slopes) @ twice, coefficients, errors)

    def slack(self, coefficients: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """Return bounds (p, n) on the errors of forms (p, k) of a cone: of their values at y, per coordinate of |y|."""
        if not self.frame.is_cone:
            return np.zeros((len(coefficients), 0))
        doubt = errors + self.gamma * np.abs(coefficients)
        if not self.is_narrow:
            return doubt
        return doubt @ (np.abs(self.frame.generators) + self.blur) + np.abs(coefficients) @ self.blur

    def forms(
        self, coefficients: Float[np.ndarray, "p k"], errors: Float[np.ndarray, "p k"], exactly: Exactly
    ) -> LinearForms:
        """Return forms with what counts as zero, each times a power of two that makes its values about one.

        ``exactly`` returns some of the forms as functions of the input, in fractions; it is asked where rounding hides
        whether a form is constant.
        """
        found = self._rounded_forms(coefficients, errors)
        if not found.is_doubtful.any():
            return found
        coefficients, errors = coefficients.copy(), errors.copy()
        doubtful = np.flatnonzero(found.is_doubtful)
        for index, function in zip(doubtful.tolist(), exactly(doubtful), strict=True):
            entries = None if function is None else self.entries(function)
            if entries is not None:
                coefficients[index] = entries
                errors[index] = EPSILON * np.abs(entries)
        return self._rounded_forms(coefficients, errors)

    def entries(self, function: AffineFunction) -> np.ndarray | None:
        """Return a function of the input as a form, rounded once; None if it is none of z, or too large or small."""
        if self.is_narrow:
            if any(function[:-1]):
                return None
            function = (Fraction(0),) * (len(self.frame.generators) - 1) + function[-1:]
        else:
            function = (*(entry * Fraction(self.scale) for entry in function[:-1]), function[-1])
        if any(entry and not MIN_MAGNITUDE < abs(entry) < MAX_MAGNITUDE for entry in function):
            return None
        return np.array([float(entry) for entry in function])

    def _rounded_forms(self, coefficients: np.ndarray, errors: np.ndarray) -> LinearForms:
        # Rows are compared with one another by their values; a unit's own scale says nothing.
        largest = by_rows(lambda some: exponents(np.abs(some) * self.largest, 1), coefficients)
        powers = -largest[:, None]
        coefficients, errors = (by_rows(times_power, table, powers) for table in (coefficients, errors))
        noise, slack = self.noise(coefficients, errors), self.slack(coefficients, errors)
        if self.frame.is_cone:
            generators = self.frame.generators
            slopes = np.abs(coefficients @ generators if self.is_narrow else coefficients)[:, :-1]
            is_constant = np.asarray((slopes <= slack[:, :-1]).all(axis=1))
            # Far away the smallest slope is more than any constant.
            could_be_zero = (slack[:, -1] > 0) & (np.abs(coefficients[:, -1]) <= slack[:, -1])
            is_doubtful = is_constant & (slack[:, :-1].any(axis=1) | could_be_zero)
            return LinearForms(
                np.ascontiguousarray(coefficients), noise, slack, np.zeros(len(noise)), is_constant, is_doubtful
            )
        variation = by_rows(lambda some: np.abs(some[:, :-1]) @ self.largest[:-1], coefficients)
        slope = np.sqrt(np.maximum(0.0, self._squared_slopes(coefficients)))
        diameter = float(np.linalg.norm(self.frame.upper - self.frame.lower))
        is_constant = variation <= noise
        is_doubtful = is_constant & (noise > 0) & (np.abs(coefficients[:, -1]) <= variation + noise)
        return LinearForms(
            np.ascontiguousarray(coefficients),
            noise,
            slack,
            self.tolerance.resolution * diameter * slope,
            is_constant,
            is_doubtful,
        )

    def start(self) -> AffineValues:
        """Return what the first stage starts from; if z is narrow, what its gate sees."""
        if not self.is_narrow:
            values = affine_input(self.network, 1)[0]
            coefficients = values.coefficients.clone()
            coefficients[:, :-1] *= self.scale
            return {0: AffineValue(coefficients, values.errors)}
        stage = self.network.stages[0]
        shape = self.network.nodes[stage.leg.target].shape
        width, size = len(self.frame.generators), int(np.prod(shape))
        coefficients = torch.eye(width, size, dtype=torch.float64, device=self.network.device)
        coefficients = coefficients.reshape(1, width, *shape)
        return {stage.position: AffineValue(coefficients, torch.zeros_like(coefficients))}

    def advance(self, stage: int, values: AffineValues) -> tuple[np.ndarray, np.ndarray, AffineValues]:
        """Run to a gate: maps and errors (c, u, k) of what it sees, and the values that are live there."""
        if stage == 0 and self.is_narrow:
            value = values[self.network.stages[0].position]
            maps, errors = (
                part.flatten(2).mT.cpu().numpy() if part.ndim > 2 else part[:, None].cpu().numpy()
                for part in (value.coefficients, value.errors)
            )
            return maps, errors, values
        return advance_affinely(self.network.stages[stage], values, self.gamma)

    def points(self, y: Float[np.ndarray, "r n1"]) -> Float[np.ndarray, "r n"]:
        """Return points of the domain from their homogeneous coordinates."""
        return self.scale * y[:, :-1] / y[:, -1:]

    def homogeneous(self, points: Float[np.ndarray, "r n"]) -> Float[np.ndarray, "r n1"]:
        """Return homogeneous coordinates of points of the domain."""
        y = np.column_stack([points / self.scale, np.ones(len(points))])
        return y * (0.5 / np.abs(y).max(axis=1, keepdims=True)) if self.frame.is_cone else y


def _narrow_values(network: Network, gamma: float, scale: float, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the values of the first stage as affine functions.

    None unless they are fewer than some, and later stages see the input through them alone.
    """
    stages = network.stages
    if not stages or stages[0].keeps or network.nodes[stages[0].leg.target].size >= most:
        return None
    maps, errors, _ = advance_affinely(network.stages[0], affine_input(network, 1), gamma)
    units = np.append(np.full(network.num_inputs, scale), 1.0)
    return _times(maps[0], units), _times(errors[0], units)


def _times(table: Float[np.ndarray, "u n1"], units: Float[np.ndarray, " n1"]) -> Float[np.ndarray, "u n1"]:
    """Return a table, of which there may be a gigabyte column after column, times units, row after row."""
    found = np.empty(table.shape)
    for rows in steps(len(table), found[:1].nbytes, TOGETHER):
        np.multiply(table[rows], units, out=found[rows])
    return found


def taken(table: Float[np.ndarray, "u k"], rows: Int[np.ndarray, " p"]) -> Float[np.ndarray, "p k"]:
    """Return a copy of some rows of a table, of which there may be a gigabyte column after column."""
    found = np.empty((len(rows), table.shape[1]))
    for some in steps(len(rows), found[:1].nbytes, TOGETHER):
        found[some] = table[rows[some]]
    return found


def by_rows(function: Callable[..., np.ndarray], *tables: np.ndarray) -> np.ndarray:
    """Return what a function makes of the rows of tables, some together: there may be gigabytes."""
    size = max(1, tables[0][:1].nbytes)
    if len(tables[0]) * size <= TOGETHER:
        return function(*tables)
    found = []
    for rows in steps(len(tables[0]), size, TOGETHER):
        found.append(function(*(table[rows] for table in tables)))
    return np.concatenate(found)


def _typical_distance(network: Network) -> float:
    """Return a power of two near the distance at which the first stage's values vanish; 1 if they do at the origin."""
    if not network.stages:
        return 1.0
    maps = advance_affinely(network.stages[0], affine_input(network, 1), EPSILON)[0][0]
    slope, constant = lengths(maps[:, :-1]), np.abs(maps[:, -1])
    used = (slope > 0) & (constant > 0)
    return float(2.0 ** np.round(np.log2(np.median(constant[used] / slope[used])))) if used.any() else 1.0


class _Shape(NamedTuple):
    """Bounds of y, the rows that are no bounds, an interior point, the unit of x, and whether y is a direction."""

    lower: np.ndarray
    upper: np.ndarray
    walls: np.ndarray
    center: np.ndarray
    scale: float
    is_cone: bool


def _shape_of(domain: Box | Space | Polyhedron, network: Network) -> _Shape:
    if isinstance(domain, Box):
        return _boxed(domain.lo, domain.hi, np.zeros((0, domain.dim + 1)), domain.center)
    if isinstance(domain, Space):
        return _conical(np.zeros((0, domain.dim + 1)), np.zeros(domain.dim), _typical_distance(network))
    if len(domain.C):
        raise DegenerateGeometryError(
            f"the domain must be full-dimensional, got {domain.describe()}: give a Slice of the input space"
        )
    ball = domain.insphere()
    if not ball.radius > 0:
        raise DegenerateGeometryError(
            f"the domain must have an interior, but {domain.describe()} is empty or flat: give another"
        )
    used = domain.A.any(axis=1)
    normals, offsets = scaled_rows(domain.A[used], domain.b[used])
    rows = np.column_stack([-normals, offsets])
    if domain.is_bounded():
        lower, upper, is_side = _enclosing_box(domain, rows)
        return _boxed(lower, upper, rows[~is_side], ball.center)
    size = float(np.abs(ball.center).max(initial=0.0)) + (ball.radius if np.isfinite(ball.radius) else 0.0)
    return _conical(rows, ball.center, 2.0 ** np.ceil(np.log2(size)) if size else 1.0)


def _enclosing_box(domain: Polyhedron, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a box around a bounded polyhedron, and which rows (a, c) of ``a x + c >= 0`` are nothing but its sides."""
    lower, upper = np.full(domain.dim, -np.inf), np.full(domain.dim, np.inf)
    is_side = (rows[:, :-1] != 0).sum(axis=1) == 1
    for index in np.flatnonzero(is_side):
        axis = int(np.flatnonzero(rows[index, :-1])[0])
        slope, constant = (float(entry) for entry in rows[index, [axis, -1]])
        bound = -constant / slope
        # A side that is no float stays a row, and the box reaches beyond it.
        is_side[index] = Fraction(bound) * Fraction(slope) == -Fraction(constant)
        if slope > 0:
            lower[axis] = max(lower[axis], bound if is_side[index] else np.nextafter(bound, -np.inf))
        else:
            upper[axis] = min(upper[axis], bound if is_side[index] else np.nextafter(bound, np.inf))
    for axis, unit in enumerate(np.eye(domain.dim)):
        # What programs say of the others is not exact: the box is made a tenth larger, and rows end the cell.
        if np.isinf(lower[axis]) or np.isinf(upper[axis]):
            low, high = -domain.maximize(-unit).value, domain.maximize(unit).value
            margin = 0.1 * (high - low)
            lower[axis], upper[axis] = max(lower[axis], low - margin), min(upper[axis], high + margin)
    return lower, upper, is_side


def _boxed(lower: np.ndarray, upper: np.ndarray, walls: np.ndarray, center: np.ndarray) -> _Shape:
    one = np.ones(1)
    # In units of the box: pivots and noise are compared across columns, of which the last is the constant.
    scale = float(np.ldexp(1.0, int(max(exponents(lower), exponents(upper))) - 1))
    low, high, middle = (np.concatenate([part / scale, one]) for part in (lower, upper, center))
    return _Shape(low, high, walls * np.append(np.full(len(center), scale), 1.0), middle, scale, False)


def _conical(walls: np.ndarray, center: np.ndarray, scale: float) -> _Shape:
    dim = len(center)
    walls = walls * np.append(np.full(dim, scale), 1.0)
    y = np.append(center / scale, 1.0)
    return _Shape(np.append(-np.ones(dim), 0.0), np.ones(dim + 1), walls, y * (0.5 / np.abs(y).max()), scale, True)
