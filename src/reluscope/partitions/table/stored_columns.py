"""The columns of regions in a file, checked when they are read: rows point at what is there."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from reluscope.files import stored
from reluscope.partitions.table.corner_columns import CellCorners, SharedCorners
from reluscope.partitions.table.facet_columns import FacetColumns
from reluscope.partitions.table.region_columns import RegionColumns

# Files name one of four sets of columns: "mosaic" with shared corners and facets' ends, "solid" with the vertices of
# cells, "bare" with facets alone, "listed" without these. Early files have no blur, ``is_proved`` or ``side_errors``.
KINDS = ("mosaic", "solid", "bare", "listed")


def column_arrays(regions: RegionColumns) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the columns of regions as named arrays, and what must be known beside them."""
    arrays, facets, corners = {"words": regions.words}, regions.facets, regions.corners
    if facets is None:
        return {**arrays, "witnesses": regions.witnesses}, {"geometry": "listed"}
    arrays |= {"left": facets.left, "right": facets.right}
    if isinstance(corners, SharedCorners):
        assert facets.ends is not None
        kind, blur = "mosaic", corners.blur
        arrays |= {name: getattr(corners, name) for name in ("vertices", "offsets", "ids")}
        arrays |= {"ends": facets.ends, "roots": np.zeros(len(regions.words), dtype=np.int64)}
    else:
        assert regions.is_bounded is not None
        kind, blur = "bare", None
        arrays |= {"witnesses": regions.witnesses, "is_bounded": regions.is_bounded}
    if isinstance(corners, CellCorners):  # without names of vertices
        kind, blur = "solid", None if corners.blur is None else corners.blur[corners.ids]
        cells = {"cell_offsets": corners.offsets, "cell_vertices": corners.cell_vertices}
        arrays |= {"regions": corners.regions, **cells}
    if blur is not None:
        arrays["blur"] = blur
    return arrays, {"geometry": kind, "num_unmatched": facets.num_unmatched}


def read_columns(arrays: Mapping[str, np.ndarray], described: Mapping[str, Any], dim: int) -> RegionColumns:
    """Return the regions that `column_arrays` took apart, but for their codes not checked yet.

    Raises ValueError, or another of `stored.MALFORMED`, if the columns do not fit each other.
    """
    kind, number = stored.text(described, "geometry"), len(arrays["words"])
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is no geometry")
    if kind == "mosaic":
        return _read_flat(arrays, stored.whole(described, "num_unmatched"), number, dim)
    witnesses = stored.array(arrays, "witnesses", np.float64, (number, dim))
    if kind == "listed":
        return RegionColumns(words=arrays["words"], witnesses=witnesses)
    known = {name: stored.array(arrays, name, np.bool_, (number,)) for name in _boundedness(arrays)}
    left = stored.array(arrays, "left", np.int64, (None,), least=0, below=number)
    right = stored.array(arrays, "right", np.int64, (len(left),), least=0, below=number)
    return RegionColumns(
        words=arrays["words"],
        witnesses=witnesses,
        facets=FacetColumns(left, right, stored.whole(described, "num_unmatched")),
        corners=_read_cells(arrays, number, dim) if kind == "solid" else None,
        side_errors=_read_sizes(arrays, "side_errors", number),
        **known,
    )


def _boundedness(arrays: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    return ("is_bounded", "is_proved") if "is_proved" in arrays else ("is_bounded",)


def _read_flat(arrays: Mapping[str, np.ndarray], num_unmatched: int, number: int, dim: int) -> RegionColumns:
    if dim > 2:
        raise ValueError(f"a mosaic has one or two dimensions, and not {dim}")
    vertices = stored.array(arrays, "vertices", np.float64, (None, dim))
    ids = stored.array(arrays, "ids", np.int64, (None,), least=0, below=len(vertices))
    ends = stored.array(arrays, "ends", np.int64, (None, dim), least=0, below=len(vertices))
    left = stored.array(arrays, "left", np.int64, (len(ends),), least=0, below=number)
    right = stored.array(arrays, "right", np.int64, (len(ends),), least=-1, below=number)
    stored.array(arrays, "roots", np.int64, (number,), least=0, below=1)
    offsets = stored.offsets(arrays, "offsets", number, len(ids))
    corners = SharedCorners(vertices, offsets, ids, _read_sizes(arrays, "blur", len(vertices)))
    return RegionColumns.flat(arrays["words"], corners, FacetColumns(left, right, num_unmatched, ends))


def _read_cells(arrays: Mapping[str, np.ndarray], number: int, dim: int) -> CellCorners:
    regions = stored.array(arrays, "regions", np.int64, (None,), least=0, below=number)
    points = stored.array(arrays, "cell_vertices", np.float64, (None, dim + 1))
    offsets = stored.offsets(arrays, "cell_offsets", len(regions), len(points))
    if len(np.unique(regions)) != number or (points[:, dim] < 0).any():
        raise ValueError("regions without cells, or vertices behind infinity")
    ids, blur = np.arange(len(points)), _read_sizes(arrays, "blur", len(points))
    return CellCorners(regions=regions, offsets=offsets, ids=ids, points=points, blur=blur)


def _read_sizes(arrays: Mapping[str, np.ndarray], name: str, number: int) -> np.ndarray | None:
    return stored.array(arrays, name, np.float64, (number,), least=0) if name in arrays else None
