"""Hyperplanes of the units of one hidden layer, the lines on which n - 1 of them meet, and f on these lines.

Signs of numbers that float64 cannot distinguish from zero are decided in fractions, up to a number of them; signs that
stay open are counted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from reluscope.errors import InputError
from reluscope_studies.annulus.rational_lines import RationalLines, rational_rank
from reluscope_studies.annulus.shallow import ShallowNetwork

MAX_LINES, MAX_CELLS = 50_000, 2**20
# Pre-activations to look at, and how many of them at once.
MAX_VALUES, BLOCK = 2**28, 2**21
# Values below this part of the size of their terms count as zero; fractions say whether they are.
RESOLUTION = 1e-9
# Values above this many units in the last place, times the condition of the line, have the sign that they show.
ROUNDING = 256 * np.finfo(float).eps
# Signs that fractions decide, of one region; others are undecided.
MAX_FRACTIONS = 5_000


@dataclass(frozen=True, eq=False)
class BoundaryPiece:
    """A piece of the boundary in one cell: its vertices, its half-space, and the sides of the units that it lies on."""

    vertices: np.ndarray
    normal: np.ndarray
    offset: float
    signs: np.ndarray
    is_high: np.ndarray


def rank_of(rows: np.ndarray) -> int:
    """Return the rank of a matrix, in fractions where float64 does not show that it is full."""
    if not len(rows):
        return 0
    singular = np.linalg.svd(rows / _lengths(rows)[:, None], compute_uv=False)
    is_clear = len(singular) == rows.shape[1] and singular[-1] > RESOLUTION * singular[0]
    return rows.shape[1] if is_clear else rational_rank(rows.tolist())


def _lengths(rows: np.ndarray) -> np.ndarray:
    """Return lengths of vectors that are not zero, also where squares are no floats."""
    largest = np.abs(rows).max(axis=1)
    return largest * np.linalg.norm(rows / largest[:, None], axis=1)


class UnitLines:
    """The hyperplanes of the units that bend, all lines on which n - 1 of them meet, and f on these lines."""

    def __init__(self, network: ShallowNetwork, bends: np.ndarray) -> None:
        self.network, self.bends = network, bends
        size = network.num_inputs
        lengths = np.ones(network.num_units)
        lengths[bends] = _lengths(network.weight[bends])
        self.weight, self.bias = network.weight / lengths[:, None], network.bias / lengths
        self.low, self.high = network.low * lengths, network.high * lengths
        units = np.flatnonzero(bends)
        if comb(len(units), size - 1) > MAX_LINES:
            raise InputError(
                f"expected at most {MAX_LINES:,} lines on which {size - 1} hyperplanes meet, and {len(units)} units "
                f"of {size} inputs have {comb(len(units), size - 1):,}: see reluscope.partition"
            )
        num_values = comb(len(units), size - 1) * network.num_units**2
        if num_values > MAX_VALUES:
            raise InputError(
                f"expected at most {MAX_VALUES:,} pre-activations in the bends of all lines, and {len(units)} units "
                f"of {size} inputs have {num_values:,}: see reluscope.partition"
            )
        chosen = list(combinations(units, size - 1))
        self.chosen = np.array(chosen, dtype=np.int64).reshape(len(chosen), size - 1)
        self.rational, self.num_fractions = RationalLines(network), 0
        self.num_undecided = 0
        self._lines()

    def vertices(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the signs of units at all vertices of {f = 0}, the vertices, and a bound on their rounding."""
        signs, points, errors = self.zeros()
        # A face of the arrangement on which f vanishes in a point alone has no other: signs tell vertices apart.
        _, first = np.unique(signs, axis=0, return_index=True)
        return signs[first], points[first], float(errors.max(initial=0.0))

    def zeros(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return all zeros of f on the lines that are vertices there: signs of units, points, bounds on rounding."""
        slopes = self._tail_slopes
        size = max(1, BLOCK // self.network.num_units**2)
        blocks = [
            self._zeros(np.arange(start, min(start + size, len(self.chosen))), slopes)
            for start in range(0, len(self.chosen), size)
        ]
        if not blocks:
            size = self.network.num_inputs
            return np.zeros((0, self.network.num_units), np.int8), np.zeros((0, size)), np.zeros(0)
        signs, points, errors = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return signs, points, errors

    def _zeros(
        self, lines: np.ndarray, slopes: tuple[np.ndarray, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        times, units = self._bending_times[lines], self._bending_units[lines]
        is_bend = np.isfinite(times)
        points = self._at(lines, np.where(is_bend, times, 0.0))
        values, scale = self.network(points), self._scale(points)
        blur = self._blur[lines]
        sign = self._signs(
            values,
            scale,
            blur * scale,
            is_bend,
            lambda row, column: self._value_at(int(lines[row]), int(units[row, column])),
        )
        rows, columns = np.nonzero((sign == 0) & is_bend)
        reach = np.linalg.norm(self.origins[lines], axis=1)
        place = times[rows, columns]
        found = [(rows, place, blur[rows, columns] * (reach[rows] + np.abs(place)), units[rows, columns])]
        # Between two bends f is affine.
        rows, columns = np.nonzero((sign[:, :-1] * sign[:, 1:] < 0) & is_bend[:, 1:])
        first, last = values[rows, columns], values[rows, columns + 1]
        share = first / (first - last)
        place = (1 - share) * times[rows, columns] + share * times[rows, columns + 1]
        steep = np.abs((last - first) / (times[rows, columns + 1] - times[rows, columns]))
        found.append((rows, place, ROUNDING * scale[rows, columns] / steep, np.full(len(rows), -1)))
        ends = (np.zeros(len(times), dtype=int), is_bend.sum(axis=1) - 1)
        for end, slope, direction in zip(ends, slopes, (-1.0, 1.0), strict=True):
            at, slope = (np.arange(len(times)), end), slope[lines]
            rows = np.flatnonzero(sign[at] * slope < 0)
            height = np.abs(values[at][rows]) / np.abs(slope[rows])
            place = times[at][rows] + direction * height
            found.append((rows, place, ROUNDING * scale[at][rows] / np.abs(slope[rows]), np.full(len(rows), -1)))
        rows, place, errors, units = (np.concatenate(parts) for parts in zip(*found, strict=True))
        rows = lines[rows]
        points = self.origins[rows] + place[:, None] * self.directions[rows]
        reach = np.linalg.norm(self.origins, axis=1)[rows] + np.abs(place)
        errors = errors + ROUNDING * self.condition[rows] * reach
        return self._unit_signs(rows, units, points, errors), points, errors

    def is_region_bounded(self) -> bool:
        """Return whether the region {f <= 0} is bounded."""
        before, after = self._tail_slopes
        if (before < 0).any() or (after < 0).any():
            return False
        ways = [(line, -1.0) for line in np.flatnonzero(before == 0).tolist()] + [
            (line, 1.0) for line in np.flatnonzero(after == 0).tolist()
        ]
        lines, columns = np.nonzero(np.isfinite(self._bending_times))
        num_values = len(ways) * len(lines) * self.network.num_units
        if num_values > MAX_VALUES:
            raise InputError(
                f"expected at most {MAX_VALUES:,} pre-activations where f stops growing, got {num_values:,}: see "
                "reluscope.partition"
            )
        # Along a direction in which f stops growing it ends at a value, which is lowest over some corner.
        size = max(1, BLOCK // self.network.num_units)
        for start in range(0, len(lines) if ways else 0, size):
            rows, units = (one[start : start + size] for one in (lines, self._bending_units[lines, columns]))
            at = columns[start : start + size]
            points = self.origins[rows] + self._bending_times[rows, at][:, None] * self.directions[rows]
            pre, scale, blur = points @ self.weight.T + self.bias, self._scale(points), self._blur[rows, at]
            for line, direction in ways:
                rate = direction * self.rates[line]
                slopes = np.where(
                    rate == 0, np.where(pre > 0, self.high, self.low), np.where(rate > 0, self.high, self.low)
                )
                values = self.network.constant + (slopes * pre).sum(axis=1)
                is_clear = np.abs(values) > np.maximum(RESOLUTION, blur + ROUNDING * self.condition[line]) * scale
                if (values[is_clear] <= 0).any():
                    return False
                for row in np.flatnonzero(~is_clear):
                    exact = self._end_value(line, direction, int(rows[row]), int(units[row]))
                    self.num_undecided += exact is None
                    if (values[row] if exact is None else exact) <= 0:
                        return False
        return True

    def facets(self, signs: np.ndarray, points: np.ndarray) -> list[BoundaryPiece]:
        """Return the boundary's pieces: the vertices in each closed cell, where they span a hyperplane."""
        dim = points.shape[1]
        units = np.flatnonzero(self.bends)
        num_open = (signs[:, units] == 0).sum(axis=1)
        if (2.0**num_open).sum() > MAX_CELLS or len(units) > 62:
            raise InputError(
                f"expected at most {MAX_CELLS:,} cells around vertices and 62 units, got {(2.0**num_open).sum():,.0f} "
                f"and {len(units)}: remove equal units"
            )
        cells: dict[int, list[int]] = {}
        for vertex, row in enumerate(signs[:, units]):
            codes = np.array([sum(1 << int(unit) for unit in np.flatnonzero(row > 0))], dtype=np.int64)
            for unit in np.flatnonzero(row == 0):
                codes = np.concatenate([codes, codes | (1 << int(unit))])
            for code in codes.tolist():
                cells.setdefault(code, []).append(vertex)
        # The same vertices in two cells: a piece that lies on a unit's hyperplane.
        groups = {tuple(members) for members in cells.values() if len(members) >= dim}
        found = (self._facet(np.array(members), signs, points) for members in sorted(groups))
        return [facet for facet in found if facet is not None]

    def _facet(self, members: np.ndarray, signs: np.ndarray, points: np.ndarray) -> BoundaryPiece | None:
        around = points[members] - points[members].mean(axis=0)
        _, singular, basis = np.linalg.svd(around, full_matrices=len(members) < points.shape[1])
        dim = points.shape[1]
        scale = RESOLUTION * (singular[0] + np.abs(points[members]).max())
        if singular[dim - 2] <= scale:
            # A face of the cell of fewer dimensions: on hyperplanes of two directions.
            shared = self.bends & (signs[members] == 0).all(axis=0)
            parallel = np.linalg.svd(self.weight[shared], compute_uv=False) if shared.sum() > 1 else np.zeros(2)
            self.num_undecided += bool(parallel[1] <= RESOLUTION * parallel[0])
            return None
        # All on one side of a unit, or on it.
        side = signs[members].sum(axis=0)
        side = np.sign(side).astype(np.int8)
        way = basis[-1]
        for normal in (way, -way):
            beyond, before = self._slope_at(side, normal), self._slope_at(side, -normal)
            if beyond > 0 and before <= 0:
                slopes = self._slopes(side, normal)
                gradient = slopes @ self.weight
                constant = self.network.constant + slopes @ self.bias
                length = float(np.linalg.norm(gradient))
                return BoundaryPiece(
                    members, gradient / length, -float(constant) / length, side, self._is_high(side, normal)
                )
        return None

    def _slope_at(self, side: np.ndarray, direction: np.ndarray) -> float:
        """Return the slope of f in a direction, at a place on given sides of the units."""
        terms = self._slopes(side, direction) * (self.weight @ direction)
        slope, size = float(terms.sum()), float(np.abs(terms).sum())
        if abs(slope) > RESOLUTION * size:
            return slope
        if size > 0 and not (self._may_ask() and not any(self.affine(self._is_high(side, direction))[:-1])):
            self.num_undecided += 1
        return 0.0

    def _is_high(self, side: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Return which units are active in a direction from a place on given sides of them."""
        return np.where(side, side, self.weight @ direction) > 0

    def _slopes(self, side: np.ndarray, direction: np.ndarray) -> np.ndarray:
        return np.where(self._is_high(side, direction), self.high, self.low)

    def affine(self, is_high: np.ndarray) -> list[Fraction]:
        """Return gradient and constant of f where some units are active."""
        return self.rational.affine(np.where(is_high, self.network.high, self.network.low))

    def is_same_hyperplane(self, one: BoundaryPiece, other: BoundaryPiece) -> bool:
        """Return whether two pieces are known to lie on one hyperplane."""
        return self._may_ask() and rational_rank([self.affine(one.is_high), self.affine(other.is_high)]) == 1

    def is_deficient(self, facets: list[BoundaryPiece]) -> bool:
        """Return whether the normals of some facets are known not to span the space."""
        size = self.network.num_inputs
        if len(facets) < size:
            return True
        return self._may_ask() and rational_rank([self.affine(one.is_high)[:-1] for one in facets]) < size

    def _may_ask(self) -> bool:
        self.num_fractions += 1
        return self.num_fractions <= MAX_FRACTIONS

    def _line(self, line: int) -> tuple[list[Fraction], list[Fraction]] | None:
        """Return direction and origin of a line in fractions, in the orientation of its float64 direction."""
        found = self.rational.line(tuple(self.chosen[line].tolist()))
        if found is None:
            return None
        way = sum((Fraction(a) * b for a, b in zip(self.directions[line].tolist(), found[0], strict=True)), Fraction(0))
        return (found[0] if way > 0 else [-entry for entry in found[0]]), found[1]

    def _value_at(self, line: int, unit: int) -> Fraction | None:
        """Return f at the point where a unit bends it on a line, or None if there is no such point."""
        point = self.rational.corner(tuple(self.chosen[line].tolist()), unit) if unit >= 0 else None
        return None if point is None else self.rational.value(point)

    def _end_value(self, way: int, direction: float, line: int, unit: int) -> Fraction | None:
        """Return the value at which f ends along a line's direction, from a corner on another."""
        if not self._may_ask() or unit < 0:
            return None
        found = self._line(way)
        point = self.rational.corner(tuple(self.chosen[line].tolist()), unit)
        if found is None or point is None:
            return None
        step = [int(direction) * entry for entry in found[0]]
        return None if self.rational.end_slope(step) else self.rational.end_value(step, point)

    def _lines(self) -> None:
        size = self.network.num_inputs
        rows, offsets = self.weight[self.chosen], self.bias[self.chosen]
        if size == 1:
            self.directions, self.origins, self.condition = np.ones((1, 1)), np.zeros((1, 1)), np.ones(1)
        else:
            left, singular, right = np.linalg.svd(rows)
            kept = singular[:, -1] > RESOLUTION * singular[:, 0]
            for row in np.flatnonzero(~kept):
                is_known = self._may_ask() and self.rational.line(tuple(self.chosen[row].tolist())) is None
                self.num_undecided += not is_known
            left, singular, right = left[kept], singular[kept], right[kept]
            self.chosen, offsets = self.chosen[kept], offsets[kept]
            self.directions = right[:, -1]
            parts = np.einsum("lji,lj->li", left, offsets) / singular
            self.origins = -np.einsum("li,lin->ln", parts, right[:, :-1])
            self.condition = singular[:, 0] / singular[:, -1]
        self.rates = self.directions @ self.weight.T
        self.starts = self.origins @ self.weight.T + self.bias
        # Units whose hyperplane holds the line, or is parallel to it, do not bend f there.
        self.rates[:, ~self.bends] = 0.0
        np.put_along_axis(self.rates, self.chosen, 0.0, axis=1)
        asked = np.broadcast_to(self.bends, self.rates.shape).copy()
        np.put_along_axis(asked, self.chosen, False, axis=1)
        sign = self._signs(self.rates, np.ones_like(self.rates), ROUNDING * self.condition[:, None], asked, self._rate)
        self.rates[sign == 0] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(self.rates != 0, -self.starts / self.rates, np.inf)
        order = np.argsort(times, axis=1)
        self._bending_times, self._bending_units = np.take_along_axis(times, order, axis=1), order
        # A bound on the rounding of the places, as a part of their distance.
        rates = np.abs(np.take_along_axis(self.rates, order, axis=1))
        self._blur = ROUNDING * self.condition[:, None] / np.where(rates > 0, rates, 1.0)
        # A line without bends: f is affine from any place.
        straight = ~np.isfinite(self._bending_times).any(axis=1)
        self._bending_times[straight, 0], self._bending_units[straight, 0] = 0.0, -1

    def _rate(self, line: int, unit: int) -> Fraction | None:
        found = self._line(line)
        return None if found is None else self.rational.rate(unit, found[0])

    def _at(self, lines: np.ndarray, times: np.ndarray) -> np.ndarray:
        return self.origins[lines, None] + times[..., None] * self.directions[lines, None]

    def _scale(self, points: np.ndarray) -> np.ndarray:
        """Return the sum of the absolute terms of f."""
        sizes = np.maximum(np.abs(self.low), np.abs(self.high))
        return abs(self.network.constant) + (np.abs(points) @ np.abs(self.weight).T + np.abs(self.bias)) @ sizes

    def _signs(
        self,
        values: np.ndarray,
        scale: np.ndarray,
        errors: np.ndarray,
        asked: np.ndarray,
        exact: Callable[[int, int], Fraction | None],
    ) -> np.ndarray:
        """Return signs, those within the resolution 0; count those that fractions do not confirm."""
        size = np.abs(values)
        signs = np.where(size <= RESOLUTION * scale, 0, np.sign(values)).astype(np.int8)
        is_open = asked & (size <= np.maximum(RESOLUTION * scale, errors))
        for row, column in np.argwhere(is_open).tolist():
            value = exact(row, column) if self._may_ask() else None
            self.num_undecided += value is None or (value > 0) - (value < 0) != int(signs[row, column])
        return signs

    def _unit_signs(self, rows: np.ndarray, units: np.ndarray, points: np.ndarray, errors: np.ndarray) -> np.ndarray:
        pre = points @ self.weight.T + self.bias
        scale = np.linalg.norm(points, axis=1)[:, None] + np.abs(self.bias)
        asked = np.broadcast_to(self.bends, pre.shape).copy()
        np.put_along_axis(asked, self.chosen[rows], False, axis=1)

        def exact(row: int, unit: int) -> Fraction | None:
            chosen = tuple(self.chosen[rows[row]].tolist())
            if units[row] >= 0:
                point = self.rational.corner(chosen, int(units[row]))
                return None if point is None else self.rational.pre(unit, point)
            # Between two bends: zero only if the unit's hyperplane holds the line.
            line = self.rational.line(chosen)
            is_parallel = line is not None and self.rational.rate(unit, line[0]) == 0
            return self.rational.pre(unit, line[1]) if line is not None and is_parallel else None

        signs = self._signs(pre, scale, errors[:, None] + ROUNDING * scale, asked, exact)
        np.put_along_axis(signs, self.chosen[rows], 0, axis=1)
        # Units that do not bend: of those without weights the bias decides for good.
        signs[:, ~self.bends] = np.where(self.weight[~self.bends].any(axis=1), 0, np.sign(self.bias[~self.bends]))
        return signs

    @cached_property
    def _tail_slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the slopes of f towards both ends of every line, away from the middle."""
        affine = ~self.bends
        straight = self.directions @ (self.low[affine] @ self.weight[affine])
        found = []
        for direction in (-1.0, 1.0):
            rates = direction * self.rates
            terms = np.where(rates > 0, self.high, self.low) * rates
            slope = direction * straight + terms.sum(axis=1)
            size = np.abs(straight) + np.abs(terms).sum(axis=1)

            def exact(line: int, _: int, direction: float = direction) -> Fraction | None:
                way = self._line(line)
                return None if way is None else self.rational.end_slope([int(direction) * entry for entry in way[0]])

            errors = ROUNDING * self.condition * size
            sign = self._signs(slope[:, None], size[:, None], errors[:, None], size[:, None] > 0, exact)[:, 0]
            found.append(np.where(sign == 0, 0.0, slope))
        return found[0], found[1]
