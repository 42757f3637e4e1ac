"""How large facets are: the (d - 1)-dimensional volumes of polytopes in the hyperplanes of a partition.

A facet is the hull of the region's corners on its hyperplane. How far its own sides may be moved within the hyperplane
follows from the errors of the rows that meet in them, and from the angles between these: where two hyperplanes are
nearly parallel, their crossing may be anywhere, and corners of both cannot be told apart. There fractions decide,
where they are cheap.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.errors import DegenerateGeometryError
from reluscope.findings.claims import PRECISION
from reluscope.geometry.numbers.resolutions import CORNERS, HULLS
from reluscope.geometry.polyhedra.corners import hull_volume
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.partitions.corner_errors import corner_errors, side_errors, volume_errors
from reluscope.partitions.exact.exact_rows import ExactRows
from reluscope.partitions.rows_of_facets import FacetRows, pieces_and_sources, rows_of_facets
from reluscope.partitions.table.boundedness import decide
from reluscope.tolerance import EPSILON

if TYPE_CHECKING:
    from reluscope.partitions.facets import Facets
    from reluscope.partitions.partition_in_memory import Partition

# Relative to the volume: errors from which fractions are asked, a tenth of what EXACT allows.
DOUBTFUL = PRECISION / 10
# How many times the usual work is spent on regions without corners: floats take as long for each facet.
WITHOUT_CORNERS = 10
# Relative to the volume: the rounding of a root of a fraction.
ROOTS = 4 * EPSILON


class FacetVolumes(NamedTuple):
    """Volumes of facets between their ends; 0 and infinity where nothing is known."""

    value: Float[np.ndarray, " f"]
    lower: Float[np.ndarray, " f"]
    upper: Float[np.ndarray, " f"]


def facet_volumes(facets: "Facets") -> FacetVolumes:
    """Return the volumes of all facets, infinite where they are unbounded."""
    part, number = facets.partition, len(facets)
    if part.dim == 1:
        return FacetVolumes(*np.ones((3, number)))
    if part.has_facet_vertices:
        return _lengths(facets)
    found = FacetVolumes(np.zeros(number), np.zeros(number), np.full(number, np.inf))
    if part.has_vertices:
        _from_corners(facets, found)
    else:
        found.value[:] = np.nan
    _in_fractions(facets, np.flatnonzero(~_are_sure(found)), found)
    _by_half_spaces(facets, np.flatnonzero(np.isnan(found.value)), found)
    return found


def _are_sure(found: FacetVolumes) -> Bool[np.ndarray, " f"]:
    """Return which volumes are known well enough to be EXACT, infinite ones included."""
    is_finite = np.isfinite(found.upper)
    width = np.where(is_finite, found.upper, 0.0) - np.where(is_finite, found.lower, 0.0)
    return np.where(is_finite, width <= DOUBTFUL * found.value, found.lower == np.inf)


def _lengths(facets: "Facets") -> FacetVolumes:
    """Return the lengths of facets in the plane, between the errors of their ends."""
    part = facets.partition
    ends = part.vertices[facets.vertices]
    value = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    errors = corner_errors(part)[facets.vertices].sum(axis=1) + ROOTS * value
    return FacetVolumes(value, np.maximum(0.0, value - errors), value + errors)


def _from_corners(facets: "Facets", found: FacetVolumes) -> None:
    """Fill in the volumes of hulls of corners."""
    part = facets.partition
    offsets, ids = part.region_vertices
    is_bounded = part.is_bounded()
    sides = side_errors(part) if part.window.is_bounded() else None
    for rows in rows_of_facets(facets, np.arange(len(facets))):
        own = ids[offsets[rows.region] : offsets[rows.region + 1]]
        corners = part.vertices[own]
        # On unbounded domains corners far away must not blur those of other regions.
        moved = _of_far_corners(part, corners) if sides is None else float(sides[rows.region])
        is_whole = np.abs(corners - part.witnesses[rows.region]).sum(axis=1).max(initial=0.0) < rows.clear
        heights = _Heights.of(rows, corners, moved, part.witnesses[rows.region])
        for facet, column in zip(rows.facets.tolist(), rows.columns.tolist(), strict=True):
            ends = (0.0, 0.0, np.inf)
            if column >= 0:
                flipping = _are_flipping(facets, facet, rows)
                may_be_endless = not is_bounded[facets.left[facet]] and not is_bounded[facets.right[facet]]
                endless = _is_endless(rows, column, flipping) if may_be_endless else False
                if endless is None:
                    ends = (np.inf, 0.0, np.inf)
                else:
                    ends = (np.inf,) * 3 if endless else _hull(heights, rows, column, flipping)
                    ends = ends if is_whole else (ends[0], 0.0, np.inf)
            found.value[facet], found.lower[facet], found.upper[facet] = ends


def _of_far_corners(part: "Partition", corners: np.ndarray) -> float:
    return (CORNERS + part.tolerance.resolution) * float(np.abs(corners).max(initial=0.0))


class _Heights(NamedTuple):
    """Which corners of a region are on its rows, and how far from the true rows they may be."""

    corners: Float[np.ndarray, "v d"]
    errors: Float[np.ndarray, "v h"]
    are_on: Bool[np.ndarray, "v h"]

    @classmethod
    def of(cls, rows: FacetRows, corners: np.ndarray, moved: float, witness: np.ndarray) -> "_Heights":
        away = np.abs(corners - witness).sum(axis=1)
        errors = moved + rows.errors + rows.entry_errors * away[:, None]
        heights = rows.ends - corners @ rows.normals.T
        return cls(corners, errors, (np.abs(heights) <= errors) & rows.normals.any(axis=1))


def _are_flipping(facets: "Facets", facet: int, rows: FacetRows) -> Bool[np.ndarray, " h"]:
    """Return which rows are of units that change their piece across a facet: they share its hyperplane."""
    flips = facets.flips_at(facet)
    return (rows.sources[:, None, :2] == flips).all(axis=2).any(axis=1)


def _across(normal: Float[np.ndarray, " d"]) -> Float[np.ndarray, "d1 d"]:
    """Return an orthonormal basis of what is perpendicular to a unit vector: a reflection's other rows."""
    axis = int(np.abs(normal).argmax())
    mirror = normal.copy()
    mirror[axis] += np.sign(normal[axis])
    reflection = np.eye(len(normal)) - 2 * np.outer(mirror, mirror) / (mirror @ mirror)
    return np.delete(reflection, axis, axis=0)


def _hull(
    heights: _Heights, rows: FacetRows, column: int, flipping: Bool[np.ndarray, " h"]
) -> tuple[float, float, float]:
    """Return the volume of the hull of the corners on a row, with ends.

    All corners of the facet are among them. Another row that meets them at a small angle may cut the hull anywhere
    between where rounding may have moved both.
    """
    on = heights.are_on[:, column]
    normal = rows.normals[column]
    flat = heights.corners[on] @ _across(normal).T
    if len(flat) < len(normal):
        return 0.0, 0.0, np.inf
    volume = float(np.ptp(flat)) if flat.shape[1] == 1 else hull_volume(flat)
    touching = heights.are_on[on].any(axis=0) & ~flipping
    touching[column] = False
    cosines = rows.normals[touching] @ normal
    sines = np.linalg.norm(rows.normals[touching] - cosines[:, None] * normal, axis=1)
    moved = heights.errors[on]
    both = moved[:, touching].max(axis=0, initial=0.0) + moved[:, column].max()
    with np.errstate(divide="ignore", invalid="ignore"):
        away = float((both / sines).max(initial=moved[:, column].max()))
        box = np.stack([flat.min(axis=0), flat.max(axis=0)])
        error = float(volume_errors(np.array([away]), box[None])[0]) + HULLS * volume
    return (volume, max(0.0, volume - error), volume + error) if np.isfinite(error) else (volume, 0.0, np.inf)


def _is_endless(rows: FacetRows, column: int, flipping: Bool[np.ndarray, " h"]) -> bool | None:
    """Return whether a facet is unbounded, None where rounding leaves that open: by the directions that stay in it."""
    across = _across(rows.normals[column])
    others = ~flipping & rows.normals.any(axis=1)
    others[column] = False
    directions = -rows.normals[others] @ across.T
    tilt = np.sqrt(len(across) + 1) * rows.entry_errors
    errors = np.broadcast_to((tilt[others] + tilt[column])[:, None], directions.shape)
    (is_bounded,), (is_proved,) = decide(directions[None], errors[None])
    return not is_bounded if is_proved else None


def _in_fractions(facets: "Facets", chosen: Int[np.ndarray, " k"], found: FacetVolumes) -> None:
    """Fill in the volumes of some facets from their regions in rational arithmetic, as long as that is cheap."""
    part = facets.partition
    if not len(chosen) or part.network is None:
        return
    exact = ExactRows(part.network_on_domain, part.window, times=1 if part.has_vertices else WITHOUT_CORNERS)
    order = chosen[np.argsort(facets.left[chosen], kind="stable")]
    _, starts = np.unique(facets.left[order], return_index=True)
    for group in np.split(order, starts[1:]):
        rows = list(pieces_and_sources(facets, group))
        sizes = exact.facet_volumes(rows[0][1], np.concatenate([sources for _, _, sources in rows]))
        if sizes is None:
            return
        value = np.array(sizes)
        finite = np.where(np.isfinite(value), value, 0.0)
        found.value[group], found.lower[group] = value, np.where(np.isfinite(value), value - ROOTS * finite, np.inf)
        found.upper[group] = value + ROOTS * finite


def _by_half_spaces(facets: "Facets", chosen: Int[np.ndarray, " k"], found: FacetVolumes) -> None:
    """Fill in the volumes of some facets of regions without corners, from all half-spaces of these: estimates."""
    for rows in rows_of_facets(facets, chosen):
        for facet, column in zip(rows.facets.tolist(), rows.columns.tolist(), strict=True):
            found.value[facet] = 0.0
            if column < 0:
                continue
            others = ~_are_flipping(facets, facet, rows) & rows.normals.any(axis=1)
            others[column] = False
            own = rows.normals[[column]], rows.ends[[column]]
            try:
                found.value[facet] = Polyhedron(rows.normals[others], rows.ends[others], *own).volume()
            except DegenerateGeometryError:  # thinner than floats resolve
                continue
