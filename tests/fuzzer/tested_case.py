"""A case prepared for checks: the network, the domain, the truth, and which regions resolution may hide."""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.random import Generator

from fuzzer import true_cones as cones
from fuzzer.cases import FuzzCase, SpaceDomain
from fuzzer.heights import distance_squared, largest_share_squared, smallest_height_squared
from fuzzer.true_layers import Dense, Form, TrueLargest, TruePointwise, TrueTop, difference
from fuzzer.truth import Cell, Code, TooLargeError, Truth

# Relative to the sums of the sizes of terms: what decides by less is within rounding.
WITHIN_ROUNDING = 1e-11
# How much thicker than the stated resolution, as a share of the diameter, a region is that nothing may hide.
SAFETY = 8
DEFAULT_RESOLUTION = 1e-12
# Shapes (volumes, neighbours, witnesses) are compared where nothing is thinner than this share of the diameter.
SHAPELY = 1e-8


@dataclass(frozen=True)
class Failure:
    """A failure: the check that found it, a description, and the call whose result is wrong."""

    check: str
    message: str
    call: str = ""

    @property
    def signature(self) -> str:
        """Return a key that failures of one cause share: the check, or the error and how its message begins."""
        kind, colon, rest = re.sub(r"\d+", "#", self.message).partition(": ")
        return f"{kind}: {rest[:40]}" if colon and self.check.endswith((f": {kind}", ": warning")) else self.check


def attempt(
    failures: list[Failure],
    check: str,
    call: Callable[[], Any],
    allowed: tuple[type[Exception], ...] = (),
    source: str = "",
) -> Any:
    """Return what a call returns, None after an exception; note it, and warnings, as failures unless it is allowed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except allowed:
            result = None
        except (TimeoutError, TooLargeError):
            raise
        except Exception as error:
            failures.append(Failure(f"{check}: {type(error).__name__}", f"{type(error).__name__}: {error}", source))
            result = None
    failures += [Failure(f"{check}: warning", f"{each.category.__name__}: {each.message}", source) for each in caught]
    return result


@dataclass
class TestedCase:
    """A case with its truth, and the failures found so far."""

    case: FuzzCase
    truth: Truth
    names: dict[str, Any]
    generator: Generator
    failures: list[Failure] = field(default_factory=list)

    @property
    def network(self) -> Any:
        """The network."""
        return self.names["net"]

    @property
    def domain(self) -> Any:
        """The domain."""
        return self.names["domain"]

    def fail(self, check: str, message: str, call: str = "") -> None:
        """Note a failure."""
        self.failures.append(Failure(check, message, call))

    def ask(self, check: str, call: str, allowed: tuple[type[Exception], ...] = ()) -> Any:
        """Return what source text of a call gives; an exception that is not allowed, and a warning, is a failure."""
        return attempt(self.failures, check, lambda: eval(call, dict(self.names)), allowed, call)

    def attempt(self, check: str, call: Callable[[], Any], allowed: tuple[type[Exception], ...] = ()) -> Any:
        """Return what a call returns; an exception that is not allowed, and a warning, is a failure."""
        return attempt(self.failures, check, call, allowed)

    @property
    def is_bounded(self) -> bool:
        """Whether the domain is."""
        return self.truth.domain.is_bounded

    @property
    def jumps(self) -> bool:
        """Whether the network does: neighbours, boundaries and other definitions are then refused."""
        return bool(self.network.jumps)

    @property
    def is_space(self) -> bool:
        """Whether the domain is everything."""
        return isinstance(self.case.domain, SpaceDomain)

    @property
    def dimension(self) -> int:
        """Dimension of the domain."""
        return self.case.domain.dimension

    @cached_property
    def diameter(self) -> float:
        """Diameter of a bounded domain."""
        square = self.truth.diameter_squared
        assert square is not None
        return root(square)

    @cached_property
    def codes(self) -> dict[Code, int]:
        """The rows of the truth by code."""
        return {cell.code: i for i, cell in enumerate(self.truth.regions)}

    def is_thick(self, row: int, share: float) -> bool:
        """Whether a region is thicker than a share of the diameter; on unbounded domains than that at its place."""
        return self._is_thick(self.truth.regions[row].cone, share)

    def _is_thick(self, cone: cones.RationalCone, share: float, normal: cones.Vector | None = None) -> bool:
        square = self.truth.diameter_squared
        if square is None:
            found = largest_share_squared(cone, normal)
            return found is None or found > Fraction(share) ** 2
        height = smallest_height_squared(cone, normal)
        return height is None or height > Fraction(share) ** 2 * square

    def has_thin_sides(self, row: int) -> bool:
        """Whether a facet of a region, one in the boundary of the domain too, is thin, or two vertices are close."""
        cone = self.truth.regions[row].cone
        sides = [(side[:-1], cones.face(cone, members)) for side, members in cones.facets(cone)]
        if not all(self._is_thick(side, SHAPELY, normal) for normal, side in sides):
            return True
        near = Fraction(SHAPELY) ** 2 * self.extent_squared(row)
        vertices = cone.vertices
        return any(distance_squared(a, b) <= near for i, a in enumerate(vertices) for b in vertices[:i])

    def extent_squared(self, row: int) -> Fraction:
        """Return the square of the diameter, or on unbounded domains that of the distance of a vertex from zero."""
        if self.truth.diameter_squared is not None:
            return self.truth.diameter_squared
        vertices = self.truth.regions[row].cone.vertices
        return max((Fraction(cones.dot(vertex, vertex)) for vertex in vertices), default=Fraction(1))

    def required(self, resolution: float) -> set[Code]:
        """Return the codes of regions that a partition of some resolution has to show."""
        return {code for code, row in self.codes.items() if self.is_thick(row, SAFETY * resolution)}

    @cached_property
    def is_shapely(self) -> bool:
        """Whether regions and facets are thick enough to compare shapes, and floats know where they are."""
        if not all(self.is_thick(row, SHAPELY) for row in range(len(self.truth.regions))):
            return False
        if not all(self._is_thick(shared, SHAPELY, row[:-1]) for row, shared in self.truth.adjacency.values()):
            return False
        return all(self._is_steady(row) for row in range(len(self.truth.regions)))

    def _is_steady(self, row: int) -> bool:
        """Whether rounding moves no unit's zeros by more than a share of the region's extent."""
        cell = self.truth.regions[row]
        extent = root(self.extent_squared(row)) or 1.0
        reach = max((abs(float(entry)) for vertex in cell.cone.vertices for entry in vertex), default=0.0)
        size = np.append(np.full(self.dimension, max(reach, extent)), 1.0)
        for unit, choices in enumerate(cell.decisions):
            forms = [form for form in choices if form is not None]
            if self._is_max[unit]:
                forms = [difference(a, b) for i, a in enumerate(forms) for b in forms[i + 1 :]]
            for form in forms:
                steepness = max(abs(float(entry)) for entry in form[:-1])
                if steepness and steepness * extent < 1e-6 * (size @ self._magnitudes[1][unit]):
                    return False
        return True

    @property
    def magnitudes(self) -> np.ndarray:
        """What the entries of maps are sums of, in absolute values: the yardstick of their rounding."""
        return self._magnitudes[0]

    @cached_property
    def _magnitudes(self) -> tuple[np.ndarray, np.ndarray]:
        """The same for the outputs, and for what units decide by."""
        decisions: list[np.ndarray] = []
        embedding = self.truth.setting.embedding
        n = self.dimension
        if embedding is None:
            values = np.hstack([np.eye(n), np.zeros((n, 1))])
        else:
            values = np.abs(np.array([[float(entry) for entry in form] for form in embedding]))
        for layer in self.truth.layers:
            if isinstance(layer, Dense):
                weight = np.abs(np.array([[float(entry) for entry in row] for row in layer.weight]))
                values = weight @ values
                values[:, -1] += np.abs(np.array([float(entry) for entry in layer.bias]))
            elif isinstance(layer, TruePointwise):
                steep = np.array([max(1.0, *(abs(float(slope)) for slope, _ in unit)) for unit in layer.pieces])
                decisions += list(values)
                shift = np.array([max(abs(float(intercept)) for _, intercept in unit) for unit in layer.pieces])
                values = values * steep[:, None]
                values[:, -1] += shift
            elif isinstance(layer, TrueTop):
                rows = values.reshape(layer.rows, -1, values.shape[1])
                decisions += list(2 * np.repeat(rows.max(1), rows.shape[1], axis=0))
            else:
                decisions += [values[[entry for entry in group if entry is not None]].max(0) for group in layer.groups]
                values = np.array(
                    [values[[entry for entry in group if entry is not None]].max(0) for group in layer.groups]
                )
        return values, np.array(decisions)

    @cached_property
    def _is_max(self) -> list[bool]:
        """Whether each unit takes the largest of candidates."""
        found: list[bool] = []
        for layer in self.truth.layers:
            if isinstance(layer, TruePointwise):
                found += [False] * len(layer.breakpoints)
            elif isinstance(layer, TrueLargest):
                found += [True] * len(layer.groups)
            elif isinstance(layer, TrueTop):
                found += [False] * len(self.truth.regions[0].decisions[len(found)]) * layer.rows
        return found

    @cached_property
    def _is_top(self) -> list[bool]:
        """Whether each unit is compared with others for the k largest."""
        found: list[bool] = []
        for layer in self.truth.layers:
            if isinstance(layer, TrueTop):
                found += [True] * len(self.truth.regions[0].decisions[len(found)]) * layer.rows
            elif not isinstance(layer, Dense):
                found += [False] * len(layer.breakpoints if isinstance(layer, TruePointwise) else layer.groups)
        return found

    def resembles(self, row: int, code: Code) -> bool:
        """Whether a region has a code but for units that decide by a difference within rounding."""
        cell = self.truth.regions[row]
        rays = np.array([[abs(float(entry)) for entry in cones.scaled(ray)] for ray in cell.cone.rays])
        if self.is_bounded:
            rays[:, :-1] += self.diameter
        for unit, (first, second) in enumerate(zip(cell.code, code, strict=True)):
            if first == second:
                continue
            choices = cell.decisions[unit]
            if self._is_top[unit]:
                if not any(
                    form is not None and any(form) and self._is_small(rays, cell, unit, form) for form in choices
                ):
                    return False
                continue
            if self._is_max[unit]:
                one, other = choices[first], choices[second]
                if one is None or other is None:
                    return False
                differences = [difference(one, other)]
            else:
                differences = [form for form in choices[min(first, second) : max(first, second)] if form is not None]
            if not all(self._is_small(rays, cell, unit, form) for form in differences):
                return False
        return True

    def _is_small(self, rays: np.ndarray, cell: Cell, unit: int, form: Form) -> bool:
        """Whether what a unit decides by is within rounding of zero all over a region."""
        allowed = WITHIN_ROUNDING * (rays @ self._magnitudes[1][unit])
        values = [abs(float(cones.dot(form, cones.scaled(ray)))) for ray in cell.cone.rays]
        return bool((np.array(values) <= allowed).all())

    def rows_of(self, codes: Any) -> list[Code]:
        """Return codes of the library as tuples."""
        return [tuple(int(piece) for piece in row) for row in np.asarray(codes.to_array())]


def root(square: Fraction) -> float:
    """Return the square root of a fraction whose value may be beyond floats when squared."""
    if not square:
        return 0.0
    shift = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return sqrt(square / Fraction(4) ** shift) * 2.0**shift
