"""The closed region of a code within a domain, seen from a point: its facets and class changes nearest to the point.

Everything is in steps u away from the point. Which classes rival the point's own is decided with the affine map of the
region; with a single output f the classes 0 and 1 have the outputs 0 and f.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int, Integer

from reluscope.analyses.classification import classes_of_outputs
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.geometry.domains import Box, Domain, Slice, Space
from reluscope.geometry.interior import unit_rows
from reluscope.geometry.linear_program import LinearProgram
from reluscope.geometry.nearest_point import NearestPoint, nearest_point
from reluscope.geometry.norms import Norm, dual, size
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.networks.beyond import pieces_beyond
from reluscope.networks.held import pieces_of
from reluscope.networks.network import Network
from reluscope.regions.held import HeldRegion, held_region
from reluscope.tolerance import Tolerance

Pieces = tuple[np.ndarray, ...]

# Lengths below this, relative to the point and its distances, are not told from zero: thinner regions are not entered.
RESOLUTION = 1e-9


@dataclass(frozen=True, eq=False)
class Window:
    """A domain in the form that nearest points want: bounds of coordinates, and rows of length 1."""

    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]
    rows: Float[np.ndarray, "h n"]
    offsets: Float[np.ndarray, " h"]
    inner: Float[np.ndarray, " n"] | None
    text: str

    def contains(self, x: Float[np.ndarray, " n"]) -> bool:
        """Whether a point lies in the domain, up to rounding."""
        slack = 1e-12 * max(1.0, float(np.abs(x).max()))
        inside = (x >= self.lower - slack) & (x <= self.upper + slack)
        return bool(inside.all() and (self.rows @ x <= self.offsets + slack).all())


def open_domain(network: Network, domain: Domain | None) -> tuple[Network, Window]:
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
    if isinstance(domain, Slice):
        network, domain = network.restrict(domain), domain.window
    dim = network.num_inputs
    if domain is not None and domain.dim != dim:
        raise ShapeError(f"expected a domain in {dim} dimensions, as many as inputs, got {domain.describe()}")
    endless = np.full(dim, np.inf)
    if domain is None or isinstance(domain, Space):
        return network, Window(-endless, endless, np.zeros((0, dim)), np.zeros(0), None, text)
    if isinstance(domain, Box):
        inner = domain.lo + np.random.default_rng(1).uniform(0.25, 0.75, dim) * (domain.hi - domain.lo)
        return network, Window(domain.lo, domain.hi, np.zeros((0, dim)), np.zeros(0), inner, text)
    if len(domain.C):
        raise InputError("a domain with equations has no interior: give its solutions as a Slice")
    return network, Window(-endless, endless, *unit_rows(domain.A, domain.b)[:2], _inner_point(domain), text)


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
    window : Window
    x : (n,) array
    norm : "l1", "l2" or "linf"
    label : int
        The class of the point.
    tolerance : Tolerance
    """

    network: Network
    window: Window
    x: Float[np.ndarray, " n"]
    norm: Norm
    label: int
    tolerance: Tolerance

    @cached_property
    def scale(self) -> float:
        """What lengths are compared with."""
        return max(1.0, float(np.abs(self.x).max()))

    @property
    def rounding(self) -> float:
        """Relative rounding of a sum."""
        return self.tolerance.rounding * np.finfo(float).eps

    def first_pieces(self) -> Pieces:
        """Return the code of a region with an interior that touches the point; its own, off kinks."""
        own = tuple(piece[0] for piece in pieces_of(self.network.codes(self.x)))
        held = held_region(self.network, self.x, own, tolerance=self.tolerance)
        touching = np.abs(held.slack) <= held.noise
        if not touching.any() and not len(held.still):
            return own
        # Off the kinks in a direction that points into the domain and along none of them.
        way = (
            np.random.default_rng(0).normal(size=len(self.x))
            if self.window.inner is None
            else self.window.inner - self.x
        )
        loose = np.concatenate([held.sources[touching], held.still])
        found = pieces_beyond(self.network, own, [loose], way[None] / np.linalg.norm(way), rounding=self.rounding)
        return tuple(piece[0] for piece in found)

    def cell(self, pieces: Sequence[Integer[np.ndarray, " _"]]) -> "Cell":
        """Return the region of a code."""
        return Cell(self, held_region(self.network, self.x, pieces, tolerance=self.tolerance))


def viewpoint(
    network: Network, window: Window, x: Float[np.ndarray, " n"], norm: Norm, tolerance: Tolerance
) -> Viewpoint:
    """Return a point as a viewpoint.

    Raises
    ------
    InputError
        If it lies outside the domain.
    """
    if not window.contains(x):
        raise InputError(
            f"expected points in the domain ({window.text}), got one outside: move it, or enlarge the domain"
        )
    outputs = network(x).reshape(1, -1).cpu().numpy()
    return Viewpoint(network, window, x, norm, int(classes_of_outputs(outputs)[0]), tolerance)


@dataclass(frozen=True)
class Rival:
    """Another class j as a half-space: j is not below the point's class where ``row u <= slack``.

    On a region where j is nowhere below, the row is zero; ``length`` is the row's dual norm.
    """

    label: int
    row: Float[np.ndarray, " n"]
    slack: float
    error: float
    length: float

    @property
    def distance(self) -> float:
        """Distance to the half-space alone."""
        return max(0.0, -self.slack / self.length) if self.length > 0 else 0.0


class Cell:
    """A closed region within the domain, seen from a point."""

    def __init__(self, view: Viewpoint, held: HeldRegion) -> None:
        self.view, self.held = view, held
        window = view.window
        self.rows = np.concatenate([held.rows, window.rows])
        self.slack = np.concatenate([held.slack, window.offsets - window.rows @ view.x])
        self.lower, self.upper = window.lower - view.x, window.upper - view.x
        self.origin = np.zeros(len(view.x))

    def in_domain(self, steps: Float[np.ndarray, "s n"]) -> Bool[np.ndarray, " s"]:
        """Tell which steps stay in the domain."""
        window = self.view.window
        slack = window.offsets - window.rows @ self.view.x
        inside = ((steps >= self.lower) & (steps <= self.upper)).all(axis=1)
        return np.asarray(inside & (steps @ window.rows.T <= slack).all(axis=1))

    @property
    def num_bytes(self) -> int:
        """Memory of the tables."""
        return 2 * self.rows.nbytes + self.held.weight.nbytes

    @cached_property
    def distances(self) -> Float[np.ndarray, " h"]:
        """Distances of the point to the hyperplanes of the network's rows."""
        return np.abs(self.held.slack) / size(self.held.rows, dual(self.view.norm))

    @cached_property
    def rivals(self) -> list[Rival]:
        """The classes that may win somewhere by the map of this region."""
        weight, outputs, errors, label = self.held.weight, self.held.outputs, self.held.errors, self.view.label
        if len(outputs) == 1:
            weight, outputs = np.concatenate([0 * weight, weight]), np.append(0.0, outputs)
            errors = np.append(0.0, errors)
        found = []
        entries = float(np.abs(weight).max(initial=0.0))
        for other in range(len(outputs)):
            if other == label:
                continue
            row, slack = weight[label] - weight[other], float(outputs[other] - outputs[label])
            error = float(errors[label] + errors[other])
            if np.abs(row).max(initial=0.0) <= self.view.rounding * entries * len(outputs):
                # Outputs that differ by a constant; of equal ones the lower wins.
                if slack > error or (slack >= -error and other < label):
                    found.append(Rival(other, 0 * row, 0.0, error, 0.0))
                continue
            found.append(Rival(other, row, slack, error, float(size(row, dual(self.view.norm)))))
        return found

    def nearest_facet(self, row: int, norm: Norm, bound: float) -> NearestPoint:
        """Return the step to the nearest point of the region on one of its hyperplanes."""
        own = slice(row, row + 1)
        return nearest_point(
            self.rows,
            self.slack,
            self.origin,
            self.rows[own],
            self.slack[own],
            norm=norm,
            lower=self.lower,
            upper=self.upper,
            bound=bound,
        )

    def nearest_change(self, rival: Rival, norm: Norm, bound: float) -> NearestPoint:
        """Return the step to the nearest point of the region where another class is not below the point's own."""
        rows = np.concatenate([self.rows, rival.row[None]])
        slack = np.append(self.slack, rival.slack)
        return nearest_point(rows, slack, self.origin, norm=norm, lower=self.lower, upper=self.upper, bound=bound)

    def coincident(self, row: int) -> Int[np.ndarray, " c"]:
        """Return the network's rows that lie on the same hyperplane, this one included."""
        near = np.abs(self.held.slack - self.held.slack[row]) <= RESOLUTION * self._size(row)
        candidates = np.flatnonzero(near)
        same = (np.abs(self.held.rows[candidates] - self.held.rows[row]) <= RESOLUTION).all(axis=1)
        return candidates[same]

    def _size(self, row: int) -> float:
        return max(self.view.scale, abs(float(self.held.slack[row])))

    def is_facet(self, row: int, step: Float[np.ndarray, " n"]) -> bool:
        """Tell whether the region has a facet on a hyperplane, as seen near one of its points there.

        Independent rows that are tight at a point are facets all of them. Else a linear program asks whether the cone
        of the tight rows has a point on this hyperplane that is inside all others.
        """
        reach = RESOLUTION * max(self._size(row), float(np.abs(step).max()))
        apart = np.ones(len(self.rows), dtype=bool)
        apart[self.coincident(row)] = False
        tight = np.flatnonzero(apart & (self.slack - self.rows @ step <= reach))
        above, below = self.upper - step <= reach, step - self.lower <= reach
        if not len(tight) and not above.any() and not below.any():
            return True
        normals = np.concatenate([self.rows[row][None], self.rows[tight]])
        free = normals[:, ~(above | below)]
        if len(free) <= free.shape[1] and np.linalg.svd(free, compute_uv=False)[-1] > 1e-6:
            return True
        return self._has_inner_point(normals, above, below)

    def _has_inner_point(self, normals: np.ndarray, above: np.ndarray, below: np.ndarray) -> bool:
        dim = normals.shape[1]
        program = LinearProgram(dim + 1)
        for k in range(dim):
            program.set_bounds(k, -1.0, 1.0)
        own, others = normals[0], normals[1:]
        lengths = np.linalg.norm(others - np.outer(others @ own, own), axis=1)
        program.add_rows(np.append(own, 0.0)[None], np.zeros(1), np.zeros(1))
        program.add_rows(np.column_stack([others, lengths]), np.zeros(len(others)))
        for sign, which in ((1.0, above), (-1.0, below)):
            rows = sign * np.eye(dim)[which]
            program.add_rows(np.column_stack([rows, np.ones(len(rows))]), np.zeros(len(rows)))
        return program.maximize(np.append(np.zeros(dim), 1.0)).value > 1e-6

    def pieces_across(self, rows: Sequence[int]) -> list[Pieces]:
        """Return the codes of the regions on the other sides of facets: all units that flip there, flipped."""
        loose = [np.concatenate([self.held.sources[self.coincident(row)], self.held.still]) for row in rows]
        found = pieces_beyond(
            self.view.network, self.held.pieces, loose, self.held.rows[list(rows)], rounding=self.view.rounding
        )
        return [tuple(piece[face] for piece in found) for face in range(len(rows))]

    def deepest(self, rival: Rival) -> tuple[Float[np.ndarray, " n"], float] | None:
        """Return a step far inside the half-space of a rival, and how deep it is there, in the point's scale.

        Where the rival's row is zero, the step leads to an inner point of the region. None if the region only touches
        the half-space.
        """
        dim = len(self.origin)
        program = LinearProgram(dim + 1)
        for k in range(dim):
            program.set_bounds(k, self.lower[k], self.upper[k])
        cap = 10.0 * max(self.view.scale, rival.distance)
        program.set_bounds(dim, 0.0, cap)
        rows, slack = self.rows, self.slack
        length = np.linalg.norm(rival.row)
        ones = np.ones(len(rows)) if length == 0 else np.zeros(len(rows))
        program.add_rows(np.column_stack([rows, ones]), slack)
        if length > 0:
            program.add_rows(np.append(rival.row / length, 1.0)[None], np.array([rival.slack / length]))
        found = program.maximize(np.append(np.zeros(dim), 1.0))
        if not found.value > 10 * RESOLUTION * self.view.scale:
            return None
        return found.point[:dim], found.value
