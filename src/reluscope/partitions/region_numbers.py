"""The numbers that regions of every partition have: size, corners, neighbours, boundedness, code and map."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from reluscope.codes.activation_rate import activation_rate, active_units
from reluscope.findings import Kind, declare
from reluscope.geometry.numbers.resolutions import HULLS
from reluscope.networks.evaluation.held_maps import held_maps
from reluscope.partitions.corner_errors import side_errors, volume_errors
from reluscope.partitions.partition_findings import IS_BOUNDED
from reluscope.partitions.region_quantities import declare_region_quantity
from reluscope.partitions.table.largest_discs import largest_discs

if TYPE_CHECKING:
    from reluscope.partitions.partition_in_memory import Partition

VOLUME = declare("volume", "length, area or volume of the region, in coordinates of the domain")
NUM_CORNERS = declare("num_corners", "corners of the region", kind=Kind.COUNT)
NUM_NEIGHBORS = declare("num_neighbors", "regions that share a facet with the region", kind=Kind.COUNT)
RATE = declare("activation_rate", "share of the units of two pieces that use their upper one", kind=Kind.SHARE)
NUM_ACTIVE = declare("num_active", "units of two pieces that use their upper one in the region", kind=Kind.COUNT)
MAP_NORM = declare("map_norm", "spectral norm of the affine map on the region, along the domain")
INRADIUS = declare("inradius", "radius of a largest ball in the linear region", unit="input")
ASPECT = declare("aspect", "diameter over minimal width of the region", least=1.0)

# Radii of discs, relative to themselves.
DISCS = 1e-9
# Seconds for a region.
PLANE, HULL, PASS, DISC = 1e-7, 1e-4, 2e-6, 2e-5


def _as_listed(part: "Partition", rows: slice, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of numbers that are exact."""
    del part, rows
    return values, values


def volume_ends(part: "Partition", rows: slice, volumes: Float[np.ndarray, " k"]) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of volumes: errors of hulls, and the surface times how far sides may be moved.

    Regions thinner than the resolution may be parts of others, so that slivers have fewer digits.
    """
    error = HULLS * np.where(np.isfinite(volumes), volumes, 0.0)
    offsets, ids = part.region_vertices
    if len(ids) and np.diff(offsets).all():
        corners = part.vertices[ids]
        ends = np.stack([reduce.reduceat(corners, offsets[:-1]) for reduce in (np.minimum, np.maximum)], axis=1)
        error = error + volume_errors(moved_sides(part), ends)[rows]
    return np.maximum(0.0, volumes - error), volumes + error


def moved_sides(part: "Partition") -> Float[np.ndarray, " r"]:
    """Return how far the sides of each region may be from the true ones, or from those of a region it is a part of."""
    width = float(np.linalg.norm(np.ptp(part.vertices, axis=0)))
    return side_errors(part) + part.tolerance.resolution * width


@declare_region_quantity(
    VOLUME,
    ends=volume_ends,
    needs=("corners",),
    seconds=lambda part: (PLANE if part.dim <= 2 else HULL) * len(part),
    logarithmic=True,
)
def volumes(part: "Partition", rows: slice) -> Float[np.ndarray, " k"]:
    """Return the volumes of some regions."""
    return part.volumes()[rows]


@declare_region_quantity(NUM_CORNERS, ends=_as_listed, needs=("corners",), seconds=lambda part: PLANE * len(part))
def num_corners(part: "Partition", rows: slice) -> Int[np.ndarray, " k"]:
    """Return the numbers of corners of some regions."""
    return np.diff(part.region_vertices[0])[rows]


def _neighbor_ends(part: "Partition", rows: slice, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of numbers of neighbours: others may lie beyond facets that were not matched or reached."""
    del rows
    is_all = not part.num_open and not part.facet_columns.num_unmatched
    return values, values if is_all else np.full(len(values), np.inf)


@declare_region_quantity(
    NUM_NEIGHBORS, ends=_neighbor_ends, needs=("facets",), seconds=lambda part: PASS * len(part), listed=False
)
def num_neighbors(part: "Partition", rows: slice) -> Int[np.ndarray, " k"]:
    """Return the numbers of regions that share a facet with some regions."""
    return np.diff(part.adjacency().indptr)[rows]


def _boundedness_ends(part: "Partition", rows: slice, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of boundedness: 0 and 1 where it is not proved."""
    del values
    column = part.boundedness()[IS_BOUNDED]
    return column.lower[rows], column.upper[rows]


@declare_region_quantity(
    IS_BOUNDED, ends=_boundedness_ends, needs=("corners",), seconds=lambda part: PASS * len(part), listed=False
)
def is_bounded(part: "Partition", rows: slice) -> Bool[np.ndarray, " k"]:
    """Return whether some regions are bounded."""
    return part.is_bounded()[rows]


@declare_region_quantity(
    RATE, ends=_as_listed, needs=("two pieces",), seconds=lambda part: PLANE * len(part), listed=False
)
def activation_rates(part: "Partition", rows: slice) -> Float[np.ndarray, " k"]:
    """Return the shares of active units of some regions."""
    rates = activation_rate(part.codes[rows])
    assert rates is not None
    return rates


@declare_region_quantity(
    NUM_ACTIVE, ends=_as_listed, needs=("two pieces",), seconds=lambda part: PLANE * len(part), listed=False
)
def num_active(part: "Partition", rows: slice) -> Int[np.ndarray, " k"]:
    """Return the numbers of active units of some regions."""
    return active_units(part.codes[rows])[0]


@declare_region_quantity(
    MAP_NORM,
    needs=("network",),
    seconds=lambda part: PASS * len(part) * part.dim * max(1, len(part.codes.layout)),
    listed=False,
    logarithmic=True,
)
def map_norms(part: "Partition", rows: slice) -> Float[np.ndarray, " k"]:
    """Return the spectral norms of the maps of some regions, from their codes: regions may be thinner than floats."""
    if not len(part.codes[rows]):
        return np.zeros(0)
    weight, _ = held_maps(part.network_on_domain, part.codes[rows])
    return torch.linalg.svdvals(torch.as_tensor(weight))[:, 0].numpy()


def _radius_ends(part: "Partition", rows: slice, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of radii: a ball grows at most by how far the sides around it are moved."""
    error = DISCS * values + moved_sides(part)[rows]
    return np.maximum(0.0, values - error), values + error


@declare_region_quantity(
    INRADIUS,
    ends=_radius_ends,
    needs=("polygons",),
    seconds=lambda part: DISC * len(part),
    listed=False,
    logarithmic=True,
)
def inradii(part: "Partition", rows: slice) -> Float[np.ndarray, " k"]:
    """Return the radii of largest discs in some regions."""
    offsets, ids = part.region_vertices
    stop = min(rows.stop, len(part))
    return largest_discs(part.vertices, offsets[rows.start : stop + 1], ids)


def _aspect_ends(part: "Partition", rows: slice, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of aspects: both extents change at most by twice how far sides are moved."""
    diameters, widths = _extents(part, rows)
    error = 2 * moved_sides(part)[rows] + DISCS * diameters
    low = np.maximum(1.0, (diameters - error) / (widths + error))
    thinnest = widths - error
    high = np.full(len(values), np.inf)
    np.divide(diameters + error, thinnest, out=high, where=thinnest > 0)
    return np.minimum(low, values), np.maximum(high, values)


@declare_region_quantity(
    ASPECT,
    ends=_aspect_ends,
    needs=("polygons",),
    seconds=lambda part: DISC * len(part),
    listed=False,
    logarithmic=True,
)
def aspects(part: "Partition", rows: slice) -> Float[np.ndarray, " k"]:
    """Return diameters over minimal widths of some regions, infinite for flat ones."""
    diameters, widths = _extents(part, rows)
    found = np.full(len(widths), np.inf)
    np.divide(diameters, widths, out=found, where=widths > 0)
    return np.maximum(found, 1.0)


def _extents(part: "Partition", rows: slice) -> tuple[np.ndarray, np.ndarray]:
    """Return diameters and minimal widths of polygons: the width is that across one of the sides."""
    offsets, ids = part.region_vertices
    first, sizes = offsets[:-1][rows], np.diff(offsets)[rows]
    diameters, widths = np.zeros(len(sizes)), np.zeros(len(sizes))
    for size in np.unique(sizes).tolist():
        chosen = np.flatnonzero(sizes == size)
        corners = part.vertices[ids[first[chosen][:, None] + np.arange(size)]]
        apart = corners[:, None, :, :] - corners[:, :, None, :]
        diameters[chosen] = np.linalg.norm(apart, axis=3).max(axis=(1, 2))
        sides = np.roll(corners, -1, axis=1) - corners
        lengths = np.linalg.norm(sides, axis=2)
        normals = np.stack([-sides[..., 1], sides[..., 0]], axis=2) / np.where(lengths > 0, lengths, 1.0)[..., None]
        across = np.einsum("rkjd,rkd->rkj", apart, normals).max(axis=2)
        widths[chosen] = np.where(lengths > 0, across, np.inf).min(axis=1)
    return diameters, widths
