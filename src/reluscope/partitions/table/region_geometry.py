"""What a partition holds of its regions beside their codes, whatever the engine, and how it goes into a file."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, get_index_dtype

from reluscope.files import stored
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.table.bare_regions import BareRegions
from reluscope.partitions.table.listed_regions import ListedRegions
from reluscope.partitions.table.mosaic import Mosaic
from reluscope.partitions.table.solid_regions import SolidRegions
from reluscope.tolerance import Tolerance

# All have `words` (r, w), `witnesses` (r, d), `is_bounded` (r,), `boundedness`, `sides`, `num_unmatched` and `recoded`.
# Those with `has_vertices` have `vertices`, `region_vertices` and `volumes`; in others these raise InputError; in lists
# the facets and boundedness are found when first asked for. `has_facet_vertices`: it is known where facets end.
RegionGeometry = Mosaic | SolidRegions | BareRegions | ListedRegions
# Arrays of a kind in files; a number of unmatched facets goes with all kinds but lists, and the blur of corners with
# those that have it. A partition adds which regions are proved to be bounded or not; early files do not say it.
_COLUMNS = {
    "mosaic": ("vertices", "offsets", "ids", "ends", "left", "right", "roots", "words"),
    "solid": ("words", "witnesses", "is_bounded", "left", "right", "regions", "cell_offsets", "cell_vertices"),
    "bare": ("words", "witnesses", "is_bounded", "left", "right"),
    "listed": ("words", "witnesses"),
}


def geometry_arrays(geometry: RegionGeometry) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return a geometry as named arrays, and what must be known beside them."""
    arrays = {name: getattr(geometry, name) for name in _COLUMNS[geometry.kind]}
    if isinstance(geometry, Mosaic | SolidRegions) and geometry.blur is not None:
        arrays["blur"] = geometry.blur if isinstance(geometry, Mosaic) else geometry.blur[geometry.corner_ids]
    facets = {} if isinstance(geometry, ListedRegions) else {"num_unmatched": geometry.num_unmatched}
    return arrays, {"geometry": geometry.kind, **facets}


def read_geometry(
    arrays: dict[str, np.ndarray],
    described: dict[str, Any],
    domain: Domain,
    tolerance: Tolerance,
    network: Network | None,
) -> RegionGeometry:
    """Return the geometry that `geometry_arrays` took apart."""
    kind = described["geometry"]
    columns = {name: arrays[name] for name in _COLUMNS[kind]}
    if kind == "listed":
        return ListedRegions(**columns, domain=domain, tolerance=tolerance, network=network)
    if kind != "mosaic":
        columns |= {name: arrays[name] for name in ("is_proved",) if name in arrays}
    if kind != "bare" and "blur" in arrays:
        number = len(columns["vertices"] if kind == "mosaic" else columns["cell_vertices"])
        columns["blur"] = stored.array(arrays, "blur", np.float64, (number,), least=0)
    if kind == "solid":  # files have the vertices of each cell, without names
        columns["corners"] = vertices = columns.pop("cell_vertices")
        columns["corner_ids"] = np.arange(len(vertices))
    found = {"mosaic": Mosaic, "solid": SolidRegions, "bare": BareRegions}[kind]
    return found(**columns, num_unmatched=described["num_unmatched"])


def adjacency_matrix(geometry: RegionGeometry) -> csr_array:
    """Return which regions share a facet, as a symmetric matrix (r, r) of bool."""
    number = len(geometry.words)
    # In the type that the matrix has for places: others would be copied.
    left, right = (side.astype(get_index_dtype(maxval=number)) for side in geometry.sides[:2])
    entries = np.ones(2 * len(left), dtype=bool)
    where = (np.concatenate([left, right]), np.concatenate([right, left]))
    matrix = csr_array((entries, where), shape=(number, number))
    matrix.sum_duplicates()
    return matrix
