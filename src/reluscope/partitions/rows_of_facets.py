"""The hyperplanes of facets: of all half-spaces of the region on the left the one of the unit that bends there."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.codes.packing import unpack_pieces
from reluscope.geometry.numbers.row_scales import unit_rows
from reluscope.interruption import safe_point
from reluscope.networks.evaluation.unit_half_spaces import Rows
from reluscope.partitions.corner_errors import MEMORY
from reluscope.partitions.exact.exact_rows import ExactRows
from reluscope.tolerance import EPSILON

# Relative to coordinates: rounding of the rows and slacks that are divided by their lengths.
ROUNDING = 8 * EPSILON

if TYPE_CHECKING:
    from reluscope.partitions.facets import Facets
    from reluscope.partitions.partition_in_memory import Partition


class FacetRows(NamedTuple):
    """The half-spaces ``normals x <= ends`` of the region on the left of some facets, sides of the domain included.

    Normals have length 1; where rounding leaves no direction they are 0. At a point x of the domain the slack of a row
    is known up to ``errors + entry_errors * |x - witness|_1``. Rows without direction cut nothing off at an l1 distance
    below ``clear`` from the witness.
    """

    region: int
    facets: Int[np.ndarray, " f"]
    columns: Int[np.ndarray, " f"]  # the row that each facet lies on, -1 if the witness is not in the region in floats
    normals: Float[np.ndarray, "h d"]
    ends: Float[np.ndarray, " h"]
    errors: Float[np.ndarray, " h"]
    entry_errors: Float[np.ndarray, " h"]
    sources: Int[np.ndarray, "h 3"]  # gate, unit, piece beyond; gate -1 for sides of the domain
    clear: float


def rows_of_facets(facets: "Facets", chosen: Int[np.ndarray, " k"]) -> Iterator[FacetRows]:
    """Yield the rows of each region that is on the left of some chosen facets."""
    part = facets.partition
    order = chosen[np.argsort(facets.left[chosen], kind="stable")]
    regions, starts = np.unique(facets.left[order], return_index=True)
    groups = np.split(order, starts[1:])
    step = max(1, MEMORY // (32 * part.dim * max(1, part.network_on_domain.num_units)))
    for start in range(0, len(regions), step):
        safe_point()
        some = regions[start : start + step]
        at = part.network_on_domain.at(part.witnesses[some], tolerance=part.tolerance)
        is_its_own = (at.codes.words == part.codes.words[some]).all(axis=1)
        normals, ends, *others = _unit_tables(part, part.witnesses[some], at.half_spaces)
        clear = np.min([_clear(gate, part.dim) for gate in at.half_spaces], axis=0)
        for row, (region, group) in enumerate(zip(some.tolist(), groups[start : start + step], strict=True)):
            own = FacetRows(
                region,
                group,
                np.full(len(group), -1),
                normals[row],
                ends[row],
                *(table[row] for table in others),
                clear=float(clear[row]),
            )
            if is_its_own[row]:
                own.columns[:] = _columns(facets, own)
            yield own


def facet_hyperplanes(facets: "Facets") -> tuple[Float[np.ndarray, "f d"], Float[np.ndarray, " f"]]:
    """Return unit normals from left to right and offsets of all facets.

    In fractions where the region on the left is thinner than floats can name a point of; NaN where that costs too much.
    """
    part = facets.partition
    normals, offsets = np.full((len(facets), part.dim), np.nan), np.full(len(facets), np.nan)
    for rows in rows_of_facets(facets, np.arange(len(facets))):
        known = rows.columns >= 0
        normals[rows.facets[known]] = rows.normals[rows.columns[known]]
        offsets[rows.facets[known]] = rows.ends[rows.columns[known]]
    if (unknown := np.flatnonzero(np.isnan(offsets))).size:
        exact = ExactRows(part.network_on_domain, part.window)
        for facet, pieces, sources in pieces_and_sources(facets, unknown):
            (row,) = exact.rows(pieces, sources)
            if row is not None:
                (normals[facet],), (offsets[facet],), _ = unit_rows(
                    np.array([[-float(entry) for entry in row[:-1]]]), np.array([float(row[-1])])
                )
    return normals + 0.0, offsets + 0.0  # without negative zeros


def pieces_and_sources(
    facets: "Facets", chosen: Int[np.ndarray, " k"]
) -> Iterator[tuple[int, list[np.ndarray], Int[np.ndarray, "1 3"]]]:
    """Yield the code of the left region gate by gate, and gate, unit and piece beyond, of some facets."""
    part = facets.partition
    layout = part.codes.layout
    for facet in chosen.tolist():
        sides = np.array([facets.left[facet], facets.right[facet]])
        own, beyond = unpack_pieces(part.codes.words[sides], layout)
        gate, unit = int(facets.gates[facet]), int(facets.units[facet])
        pieces = [own[layout.units(index)] for index in range(len(layout))]
        yield facet, pieces, np.array([[gate, unit, beyond[layout.units(gate)][unit]]], dtype=np.int64)


def _unit_tables(part: "Partition", witnesses: Float[np.ndarray, "k d"], gates: Sequence[Rows]) -> list[np.ndarray]:
    """Return unit normals, ends, errors and sources of the rows of the domain and all gates, region by region."""
    number = len(witnesses)
    walls, ends, _ = unit_rows(*part.window.polyhedron.inequalities())
    places, outside = np.arange(len(walls)), np.full(len(walls), -1)
    constant = (walls, ends, ROUNDING * np.abs(ends), np.full(len(walls), ROUNDING))
    constant = (*constant, np.stack([outside, places, outside], axis=1))
    parts = [tuple(np.broadcast_to(table, (number, *table.shape)) for table in constant)]
    for gate in gates:
        lengths = np.linalg.norm(gate.normals, axis=2)
        has_direction = gate.exists & _have_direction(gate, lengths)
        lengths = np.where(has_direction, lengths, 1.0)
        normals = np.where(has_direction[..., None], gate.normals / lengths[..., None], 0.0)
        # From the slack at the witness, which is known better than the offset.
        beside, slack = np.einsum("rhd,rd->rh", normals, witnesses), gate.slack / lengths
        errors = gate.noise / lengths + ROUNDING * (np.abs(slack) + np.abs(witnesses).sum(axis=1, keepdims=True))
        parts.append((normals, beside + slack, errors, gate.constant_below / lengths + ROUNDING, gate.sources))
    return [np.concatenate(tables, axis=1) for tables in zip(*parts, strict=True)]


def _have_direction(gate: Rows, lengths: Float[np.ndarray, "k h"]) -> Bool[np.ndarray, "k h"]:
    return lengths > 2 * gate.normals.shape[2] * gate.constant_below


def _clear(gate: Rows, dim: int) -> Float[np.ndarray, " k"]:
    """Return how far from the witnesses rows that rounding leaves without direction cannot vanish, in the l1 norm."""
    lengths = np.linalg.norm(gate.normals, axis=2)
    steepest = lengths + dim * gate.constant_below
    hidden = gate.exists & ~_have_direction(gate, lengths) & (steepest > 0)
    away = np.full(hidden.shape, np.inf)
    np.divide(np.maximum(gate.slack - gate.noise, 0.0), steepest, out=away, where=hidden)
    return away.min(axis=1, initial=np.inf)


def _columns(facets: "Facets", rows: FacetRows) -> Int[np.ndarray, " f"]:
    """Return the row that each facet of a region lies on: the one beyond which its first unit has the right's piece."""
    layout = facets.partition.codes.layout
    beyond = unpack_pieces(facets.partition.codes.words[facets.right[rows.facets]], layout)
    has_direction = rows.normals.any(axis=1)
    found = np.full(len(rows.facets), -1)
    for place, facet in enumerate(rows.facets.tolist()):
        gate, unit = int(facets.gates[facet]), int(facets.units[facet])
        piece = int(beyond[place, layout.units(gate)][unit])
        columns = np.flatnonzero(has_direction & (rows.sources[:, 0] == gate) & (rows.sources[:, 1] == unit))
        if len(columns):
            found[place] = columns[np.abs(rows.sources[columns, 2] - piece).argmin()]
    return found
