"""The half-spaces of a region in rational arithmetic: which of them lie in one hyperplane, and which bear a facet.

Two rows that floats cannot tell apart are those of one facet, at which several units change their pieces at once, or of
two facets a hair's breadth apart; and whether a row that touches a region bears a facet may be too close to call. On
the region of a code every unit is an affine function with rational coefficients, and two of these have one zero set,
with the same side, if one is a positive multiple of the other. All that as long as it is cheap.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np
from jaxtyping import Int

from reluscope.geometry.polyhedra.domains import Box, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.rational_cones import cone
from reluscope.geometry.polyhedra.rational_polytopes import (
    RationalPolytope,
    Row,
    between,
    determinant,
    half_spaces,
    integer_row,
)
from reluscope.geometry.programs.rational_recession import has_direction
from reluscope.networks.fractions.rational import RationalNetwork, RationalVector, multiplications
from reluscope.networks.fractions.rational_maps import AffineFunction, RationalMaps, rational_maps
from reluscope.networks.graph.piece_conditions import piece_condition
from reluscope.networks.network import Network
from reluscope.partitions.exact.exact_regions import code_rows

# Multiplications that may be spent on one set of regions, of some tenths of a microsecond each.
MULTIPLICATIONS = 20_000_000
# A simplex method takes about so many pivots per dimension, of a product for each number.
PIVOTS = 2
# About what the vertices of one region cost, and up to where they are few enough.
POLYTOPE, MAX_DIMENSIONS = 200_000, 5


class ExactRows:
    """The half-spaces of regions as rows of whole numbers.

    A region costs n + 1 rational evaluations of the network; rows of the first gate are those of all regions and cost
    that once. ``window`` is what regions are cut down to, ``times`` how many times the usual work may be spent.
    """

    def __init__(self, network: Network, window: Box | Polyhedron | Space, times: int = 1) -> None:
        self._sides = [integer_row(side) for side in half_spaces(window)]
        self._exact = RationalNetwork(network)
        self._cost = (network.num_inputs + 1) * multiplications(network)
        self._left = times * MULTIPLICATIONS

    def rows(self, pieces: Sequence[np.ndarray], sources: Int[np.ndarray, "k 3"]) -> list[Row | None]:
        """Return primitive rows of half-spaces of a code's region, None where they would cost too much.

        ``sources`` are gate, unit, and the unit's piece beyond the half-space.
        """
        maps = self._maps(pieces) if (sources[:, 0] > 0).any() else None
        return [self._row(maps, pieces, *source) for source in sources.tolist()]

    def is_bounded(self, pieces: Sequence[np.ndarray]) -> bool | None:
        """Return whether the region of a code is bounded, by its recession cone; None where that costs too much."""
        dim = self._exact.network.num_inputs
        num_rows = len(self._sides) + sum(map(len, pieces))
        cost = self._cost + PIVOTS * num_rows * dim * dim
        if cost > self._left:
            return None
        self._left -= cost
        imposed = code_rows(self._exact, tuple(tuple(piece.tolist()) for piece in pieces))
        return None if imposed is None else not has_direction((row[:-1] for row in [*self._sides, *imposed]), dim)

    def volume(self, pieces: Sequence[np.ndarray]) -> Fraction | None:
        """Return the volume of the bounded region of a code; None where that costs too much."""
        found = self._region(pieces)
        if found is None:
            return None
        _, region = found
        return Fraction(0) if region is None else region.volume()

    def facet_volumes(self, pieces: Sequence[np.ndarray], sources: Int[np.ndarray, "k 3"]) -> list[float] | None:
        """Return the volumes of a region's facets, infinite where unbounded, 0 where there is none.

        ``sources`` as for `rows`. None where that costs too much.
        """
        rows = self.rows(pieces, sources)
        found = None if None in rows else self._region(pieces)
        if found is None:
            return None
        lines, region = found
        if region is None:
            return [0.0] * len(rows)
        # Of a region with lines every facet has them.
        return [inf if lines else region.facet_volume(row) for row in rows if row is not None]

    def squared_factor(self, pieces: Sequence[np.ndarray]) -> Fraction | None:
        """Return det(A^T A) for the weight A of the network's map under a code; None where that costs too much."""
        dim = self._exact.network.num_inputs
        if dim**3 > self._left or (maps := self._maps(pieces)) is None:
            return None
        weight = [function[:-1] for function in maps.outputs]
        self._left -= dim**2 * (dim + len(weight))
        return determinant(
            [[sum((row[i] * row[j] for row in weight), Fraction(0)) for j in range(dim)] for i in range(dim)]
        )

    def _region(self, pieces: Sequence[np.ndarray]) -> tuple[int, RationalPolytope | None] | None:
        """Return the dimension of a region's lines and the region; None where that costs too much."""
        cost, dim = self._cost + POLYTOPE, self._exact.network.num_inputs
        if cost > self._left or dim > MAX_DIMENSIONS:
            return None
        self._left -= cost
        imposed = code_rows(self._exact, tuple(tuple(piece.tolist()) for piece in pieces))
        return (0, None) if imposed is None else between(dim, [*self._sides, *imposed])

    def bears_facet(self, pieces: Sequence[np.ndarray], source: Int[np.ndarray, " 3"]) -> bool | None:
        """Return whether the region of a code has a facet in a half-space's hyperplane; None where that costs too much.

        By the cone over the region, near the origin: its vertices are found exactly.
        """
        cost = self._cost + POLYTOPE
        if cost > self._left or self._exact.network.num_inputs > MAX_DIMENSIONS:
            return None
        self._left -= cost
        code = tuple(tuple(piece.tolist()) for piece in pieces)
        (row,), imposed = self.rows(pieces, source[None]), code_rows(self._exact, code)
        if row is None or imposed is None:
            return None
        dim = self._exact.network.num_inputs
        region = cone(dim + 1, [(*[0] * dim, 1), *self._sides, *imposed])
        return None if region is None else (*row, 0) in region.facets()

    def _maps(self, pieces: Sequence[np.ndarray]) -> RationalMaps | None:
        """Return what all gates see on the region of a code, if that can be afforded."""
        if self._cost > self._left:
            return None
        self._left -= self._cost
        return rational_maps(self._exact, [piece.tolist() for piece in pieces])

    @cached_property
    def _first(self) -> list[RationalVector] | None:
        """What the first gate sees at the origin and at the unit vectors, if that can be afforded."""
        if self._cost > self._left:
            return None
        self._left -= self._cost
        size = self._exact.network.num_inputs
        points = ([Fraction(int(axis == other)) for other in range(size)] for axis in range(-1, size))
        return [self._exact.preactivations(0, point) for point in points]

    def _entry(self, maps: RationalMaps | None, stage: int, index: int) -> AffineFunction | None:
        if maps is not None:
            return maps.entry(stage, index)
        if stage > 0 or self._first is None:
            return None
        constant, *others = (values[index] for values in self._first)
        return (*(other - constant for other in others), constant)

    def _row(
        self, maps: RationalMaps | None, pieces: Sequence[np.ndarray], stage: int, unit: int, beyond: int
    ) -> Row | None:
        gate = self._exact.network.stages[stage].gate
        first, second, side, level = piece_condition(gate, unit, int(pieces[stage][unit]), beyond)
        function = self._entry(maps, stage, first)
        other = function if second < 0 else self._entry(maps, stage, second)
        if function is None or other is None:
            return None
        if second >= 0:
            return integer_row([a - b for a, b in zip(function, other, strict=True)])
        *slopes, constant = function
        return integer_row([side * entry for entry in (*slopes, constant - Fraction(level))])
