"""Whether a code occurs: a point of the domain that has it, in rational arithmetic.

A code with an interior is shown by a point as far as possible from all its half-spaces. A thinner one lies where some
of its weak inequalities are equations: a point near it is moved onto the ones that are tight there, exactly.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from reluscope.geometry.numbers.rational_equations import moved_onto
from reluscope.geometry.numbers.resolutions import CONSTANT_ROWS
from reluscope.geometry.numbers.row_scales import scaled_rows
from reluscope.geometry.numbers.scales import lengths
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.networks.evaluation.linearize import gate_values_in_turn
from reluscope.networks.evaluation.unit_half_spaces import gate_rows
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.fractions.rational_maps import AffineFunction, RationalMaps, rational_maps
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.network import Network
from reluscope.networks.passes.numbers import HeldNumbers

# Distances below this, relative to the domain, count as none when equations are sought.
TIGHT = 1e-8


class _UnitRows(NamedTuple):
    """Half-spaces ``normals y <= offsets`` of a code, rows of length 1; on strict ones equality is another code."""

    normals: Float[np.ndarray, "h n"]
    offsets: Float[np.ndarray, " h"]
    sources: Int[np.ndarray, "h 3"]
    is_strict: Bool[np.ndarray, " h"]


class CodePoints:
    """Looks for points with given codes.

    The domain is bounded, with ``lower`` and ``upper`` a box around it. One or two linear programs and rational
    evaluations per code; n + 1 evaluations more for codes without an interior.
    """

    def __init__(
        self,
        network: Network,
        domain: Box | Polyhedron,
        lower: Float[np.ndarray, " n"],
        upper: Float[np.ndarray, " n"],
    ) -> None:
        self.network = network
        self.domain = domain
        self._exact = RationalNetwork(network)
        self._center, self._half = (lower + upper) / 2, (upper - lower) / 2
        self._ends = [(Fraction(low), Fraction(high)) for low, high in zip(lower.tolist(), upper.tolist(), strict=True)]

    def point(self, pieces: Sequence[np.ndarray]) -> list[Fraction] | None:
        """Return a point of the domain that has a code, or None if none was found."""
        code = [part.tolist() for part in pieces]
        rows = self._rows(pieces)
        for has_interior in (True, False):
            near = self._near(rows, is_inside=np.ones(len(rows.offsets), bool) if has_interior else rows.is_strict)
            if near is None:
                return None
            point = [Fraction(entry) for entry in (self._center + self._half * near).tolist()]
            if not has_interior:
                point = self._moved(point, near, rows, code)
            point = [min(max(entry, low), high) for entry, (low, high) in zip(point, self._ends, strict=True)]
            if self._is_in_domain(point) and self._exact.pieces(point) == code:
                return point
        return None

    def _near(self, rows: _UnitRows, is_inside: np.ndarray) -> np.ndarray | None:
        """Return a point as far as possible inside some rows, in coordinates of the domain's box."""
        size = self.network.num_inputs
        program = LinearProgram(size + 1)
        for column in range(size):
            program.set_bounds(column, -1.0, 1.0)
        program.set_bounds(size, -TIGHT, 1.0)
        program.add_rows(np.column_stack([rows.normals, is_inside.astype(float)]), rows.offsets)
        solution = program.maximize(np.append(np.zeros(size), 1.0))
        return solution.point[:size] if solution.status is ProgramStatus.OPTIMAL else None

    def _rows(self, pieces: Sequence[np.ndarray]) -> _UnitRows:
        """Return the half-spaces of a code and of the domain, in coordinates in which its box is [-1, 1]^n."""
        tables = self._rows_of_gates(pieces)
        if isinstance(self.domain, Polyhedron):
            sides, ends = scaled_rows(self.domain.A, self.domain.b)
            normals, offsets = sides * self._half, ends - sides @ self._center
            sources = np.stack([np.full(len(offsets), -1), np.arange(len(offsets)), np.zeros(len(offsets))], axis=1)
            tables.append(_UnitRows(normals, offsets, sources.astype(int), np.zeros(len(offsets), dtype=bool)))
        empty = np.zeros((0, self.network.num_inputs))
        tables.append(_UnitRows(empty, np.zeros(0), np.zeros((0, 3), dtype=int), np.zeros(0, dtype=bool)))
        normals, offsets, sources, is_strict = (np.concatenate(parts) for parts in zip(*tables, strict=True))
        sizes = lengths(normals)
        # Constant rows are left to the exact check: their length is what rounding leaves of zero.
        kept = sizes > CONSTANT_ROWS * np.maximum(1.0, np.abs(offsets))
        sizes = sizes[kept]
        return _UnitRows(normals[kept] / sizes[:, None], offsets[kept] / sizes, sources[kept], is_strict[kept])

    @torch.no_grad()
    def _rows_of_gates(self, pieces: Sequence[np.ndarray]) -> list[_UnitRows]:
        network, size = self.network, self.network.num_inputs
        points = np.concatenate([self._center[None], self._center + np.diag(self._half)])
        held = HeldNumbers([torch.as_tensor(part, device=network.device).expand(size + 1, -1) for part in pieces])
        walk = gate_values_in_turn(network, held, network.points(points))
        tables = []
        for (stage, pre), part in zip(walk, pieces, strict=True):
            seen = torch.where(pre == -torch.inf, 0.0, pre).cpu().numpy()
            maps = np.moveaxis(seen[1:] - seen[0], 0, -1)[None], seen[:1]
            nothing = np.zeros_like(seen[:1])
            rows = gate_rows(
                stage.gate, stage.index, pieces=part[None], pre=seen[:1], maps=maps, noise=nothing, map_noise=nothing
            )
            exists, sources = rows.exists[0], rows.sources[0][rows.exists[0]]
            is_strict = sources[:, 2] < part[sources[:, 1]]  # on a tie the code has the lower piece
            tables.append(_UnitRows(rows.normals[0][exists], rows.offsets[0][exists], sources, is_strict))
        return tables

    def _moved(self, point: list[Fraction], near: np.ndarray, rows: _UnitRows, code: list[list[int]]) -> list[Fraction]:
        """Move a point onto everything that is tight there."""
        maps = rational_maps(self._exact, code)
        slack = rows.offsets - rows.normals @ near
        tight = np.flatnonzero(~rows.is_strict & (slack < TIGHT))
        equations = [self._equation(maps, code, *rows.sources[row].tolist()) for row in tight]
        at_ends = {axis: low for axis, (low, _) in enumerate(self._ends) if near[axis] < TIGHT - 1}
        at_ends |= {axis: high for axis, (_, high) in enumerate(self._ends) if near[axis] > 1 - TIGHT}
        start = [at_ends.get(axis, entry) for axis, entry in enumerate(point)]
        return moved_onto(equations, start, [axis for axis in range(len(point)) if axis not in at_ends])

    def _equation(self, maps: RationalMaps, code: list[list[int]], stage: int, unit: int, other: int) -> AffineFunction:
        """Return what vanishes where a weak inequality is tight."""
        if stage < 0:
            assert isinstance(self.domain, Polyhedron)
            offset = -Fraction(float(self.domain.b[unit]))
            return (*(Fraction(entry) for entry in self.domain.A[unit].tolist()), offset)
        gate, piece = self.network.stages[stage].gate, code[stage][unit]
        if isinstance(gate, Max):
            chosen, rival = (maps.entry(stage, int(gate.index[unit, place])) for place in (piece, other))
            return tuple(a - b for a, b in zip(rival, chosen, strict=True))
        levels = gate.breakpoints.expand(-1, gate.num_units)
        *slope, constant = maps.entry(stage, unit)
        return (*slope, constant - Fraction(float(levels[piece, unit])))

    def _is_in_domain(self, point: list[Fraction]) -> bool:
        if isinstance(self.domain, Box):  # the point was clipped
            return True
        rows = zip(self.domain.A.tolist(), self.domain.b.tolist(), strict=True)
        return all(
            sum(Fraction(weight) * entry for weight, entry in zip(row, point, strict=True)) <= Fraction(offset)
            for row, offset in rows
        )
