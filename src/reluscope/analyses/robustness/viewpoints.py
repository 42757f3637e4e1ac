"""Points whose class is asked for, within a domain, and the class that they have."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from jaxtyping import Float

from reluscope.analyses.classification.class_predictions import classes_of_outputs
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.geometry.numbers.norms import Norm
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.geometry.numbers.row_scales import unit_rows
from reluscope.geometry.polyhedra.bounding_box import bounding_box
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.programs.half_spaces import HalfSpaces
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.evaluation.pieces_across import pieces_across
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.fractions.rational import RationalNetwork, multiplications
from reluscope.networks.graph.points import Points
from reluscope.networks.input_units import InputUnits
from reluscope.networks.network import Network
from reluscope.networks.number_range import check_constants
from reluscope.regions.region_of_code import region_of_code
from reluscope.tolerance import Tolerance

Pieces = tuple[np.ndarray, ...]


# Of points below this size it is asked how far units are from changing their sign; programs in float64 have room for
# lengths of so large a ratio.
SMALL, LEAST_OF_SLACK = 1e-9, 1e-12


# Multiplications in fractions that may decide the class of a point, or its code.
MAX_MULTIPLICATIONS = 2_000_000


# Polyhedra of no more dimensions than these have the box around them as bounds: finding it takes fractions.
MAX_BOUNDED = 3


@dataclass(frozen=True, eq=False)
class SearchDomain:
    """A domain as half-spaces."""

    half_spaces: HalfSpaces  # rows of length 1, with any box around them
    inner: Float[np.ndarray, " n"] | None  # a point inside, None for the whole space
    text: str  # the domain in words

    def contains(self, x: Float[np.ndarray, " n"]) -> bool:
        """Return whether a point lies in the domain, up to rounding."""
        return bool(self.half_spaces.contains(x, SUMS * float(np.abs(x).max())))

    def inside(self, x: Float[np.ndarray, "s n"]) -> Float[np.ndarray, "k n"]:
        """Return points clipped to the bounds, those that all rows hold for certain."""
        limits = self.half_spaces
        x = np.clip(x, limits.lower, limits.upper)
        rounding = 2 * (x.shape[1] + 8) * np.finfo(float).eps
        sizes = np.abs(x) @ np.abs(limits.rows).T + np.abs(limits.offsets)
        return x[(x @ limits.rows.T <= limits.offsets - rounding * sizes).all(axis=1)]

    def within(self, units: InputUnits) -> "SearchDomain":
        """Return the domain in units of inputs."""
        if units.norm.weights is None:
            return self
        inner = None if self.inner is None else units.enter(self.inner)
        return replace(self, half_spaces=units.half_spaces(self.half_spaces), inner=inner)


def open_domain(network: Network, domain: Domain | None) -> tuple[Network, SearchDomain]:
    """Return the network as a function of the domain's coordinates, and the domain.

    DegenerateGeometryError if the domain has no interior; InputError if it has equations, or the network constants near
    or below the smallest number of float64.
    """
    check_constants(network)
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
    """A point from which regions are seen, in units in which norms have no weights, and what is the same for all."""

    network: Network
    domain: SearchDomain
    x: Float[np.ndarray, " n"]
    norm: Norm  # without weights
    label: int  # the class of the point
    tolerance: Tolerance
    units: InputUnits
    given: "Viewpoint | None" = None  # the point as it was given, where units are not those of inputs

    @cached_property
    def lower(self) -> Float[np.ndarray, " n"]:
        """Lower bounds of steps; a point that rounding put outside may stay where it is."""
        return np.minimum(self.domain.half_spaces.lower - self.x, 0.0)

    @cached_property
    def upper(self) -> Float[np.ndarray, " n"]:
        """Upper bounds of steps."""
        return np.maximum(self.domain.half_spaces.upper - self.x, 0.0)

    @cached_property
    def sure_bounds(self) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """Bounds of steps that lead into the domain, whatever rounding made of differences."""
        low, high = (np.where(np.isfinite(ends), np.nextafter(ends, 0.0), ends) for ends in (self.lower, self.upper))
        return low, high

    @cached_property
    def scale(self) -> float:
        """What lengths are compared with: the size of the point, or, where that is next to none, a sign's slack."""
        if self.given is not None:
            return self.given.scale / float(self.units.sides.max())
        size = float(np.abs(self.x).max())
        if size < SMALL and self.network.gates:
            own = tuple(piece[0] for piece in pieces_of(self.network.codes(self.x)))
            region = region_of_code(self.network, self.x, own, tolerance=self.tolerance)
            slack = float(np.abs(region.slack).max(initial=0.0))
            size = max(size, LEAST_OF_SLACK * slack) if size else slack
        return size or 1.0

    @property
    def rounding(self) -> float:
        """Relative rounding of a sum."""
        return self.tolerance.rounding * np.finfo(float).eps

    def first_pieces(self) -> Pieces:
        """Return the code of a region with an interior that touches the point; its own, off kinks."""
        if self.given is not None:  # rounding of the units may have moved the point to another region
            return self.given.first_pieces()
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
        if multiplications(self.network) <= MAX_MULTIPLICATIONS:
            start, step = ([Fraction(entry) for entry in part.tolist()] for part in (self.x, way))
            exact = RationalNetwork(self.network).pieces_beside(start, step)
            return tuple(np.array(piece, dtype=np.int64) for piece in exact)
        loose = np.concatenate([region.sources[touching], region.still])
        found = pieces_across(self.network, own, [loose], way[None] / np.linalg.norm(way), rounding=self.rounding)
        return tuple(piece[0] for piece in found)


def viewpoint(
    network: Network, domain: SearchDomain, x: Float[np.ndarray, " n"], norm: Norm, tolerance: Tolerance
) -> Viewpoint:
    """Return a point as a viewpoint.

    InputError if it lies outside the domain.
    """
    if not domain.contains(x):
        raise InputError(
            f"expected points in the domain ({domain.text}), got one outside: move it, or enlarge the domain"
        )
    units = InputUnits.of(norm, len(x))
    return Viewpoint(network, domain, x, norm, _class_at(network, x, tolerance), tolerance, units)


def viewpoints(network: Network, domain: SearchDomain, x: Points, norm: Norm, tolerance: Tolerance) -> list[Viewpoint]:
    """Return points as viewpoints, in the units in which a norm has no weights."""
    units = InputUnits.of(norm, network.num_inputs)
    given = [viewpoint(network, domain, point, norm.plain, tolerance) for point in flat_points(network, x)]
    if norm.weights is None:
        return given
    inner, limits = units.network(network), domain.within(units)
    return [
        replace(view, network=inner, domain=limits, x=units.enter(view.x), units=units, given=view) for view in given
    ]


def flat_points(network: Network, x: Points) -> Float[np.ndarray, "s n"]:
    """Return points as rows of numbers."""
    return network.points(x).reshape(-1, network.num_inputs).cpu().numpy()


def _class_at(network: Network, x: Float[np.ndarray, " n"], tolerance: Tolerance) -> int:
    """Return the class of a point; where rounding decides, in fractions if these take no more than a second."""
    forward = rounded_forward(network, x[None], tolerance=tolerance)
    label = int(classes_of_outputs(forward.outputs)[0])
    outputs, errors = forward.outputs[0], forward.errors[0]
    if len(outputs) == 1:
        outputs, errors = np.append(0.0, outputs), np.append(0.0, errors)
    is_sure = outputs[label] - outputs > errors[label] + errors
    is_sure[label] = True
    if is_sure.all() or multiplications(network) > MAX_MULTIPLICATIONS:
        return label
    exact = RationalNetwork(network).output([Fraction(entry) for entry in x.tolist()]).numerators
    return int(exact[0] > 0) if len(exact) == 1 else max(range(len(exact)), key=lambda one: (exact[one], -one))
