"""Regions of a plane, filled by any quantity."""

import numpy as np
from jaxtyping import Shaped
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from reluscope.errors import InputError, ShapeError
from reluscope.partitions.table import Partition
from reluscope.plots.shapes import fill, frame, plane_size, say_empty, scale_beside, stroke
from reluscope.plots.style import DARK, RASTER_ABOVE, canvas, category, figure_of, legend, tint

LEVELS = 32


def partition(
    part: Partition,
    *,
    color: Shaped[np.ndarray, " r"] | None = None,
    label: str = "",
    lines: bool = True,
    axes: Axes | None = None,
) -> Figure:
    """Draw the regions of a plane.

    Parameters
    ----------
    part : Partition
        Of two dimensions; may be empty.
    color : (r,) array, optional
        One entry per region: whole numbers are categories, other numbers a scale. By default neighbours are told
        apart by six tints, without meaning.
    label : str
        What the colours mean.
    lines : bool
        Draw the boundaries between regions.
    axes : matplotlib axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        If the partition is not of a plane.
    ShapeError
        If there is not one colour per region.

    Notes
    -----
    100,000 regions take about a second; above 20,000 they are put into vector files as pixels.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> part = rs.partition(net, rs.Box(-1, 1, 2))
    >>> partition(part, color=part.volumes(), label="area").axes[0].get_xlabel()
    'input 0'
    """
    check_plane(part)
    meaningless = color is None
    values = np.arange(len(part)) * 5 % 6 if color is None else np.asarray(color)
    if values.shape != (len(part),):
        raise ShapeError(f"expected one colour per region, ({len(part)},), got shape {values.shape}")
    axes = canvas(axes, plane_size(part.domain, 0.0 if meaningless or values.dtype.kind in "biu" else 0.8))
    frame(axes, part.domain)
    raster = len(part) > RASTER_ABOVE
    offsets, ids = part.region_vertices
    corners = part.vertices[ids]
    if not len(part):
        say_empty(axes)
    elif values.dtype.kind in "biu":
        kinds, counts = np.unique(values, return_counts=True)
        kinds = kinds[np.argsort(-counts, kind="stable")]
        for index, kind in enumerate(kinds):
            fill(axes, offsets, corners, np.flatnonzero(values == kind), tint(category(index), 0.6), raster=raster)
        if not meaningless:
            handles = [
                Patch(color=tint(category(i), 0.6), label=f"{label} {kind}") for i, kind in enumerate(kinds[:12])
            ]
            legend(axes, handles, ncols=4)
    else:
        _fill_scale(axes, values.astype(float), label, offsets, corners, raster)
    if lines and len(part):
        stroke(axes, part.vertices[part.facets.vertices], DARK, _line_width(len(part)), raster=raster, alpha=0.55)
    return figure_of(axes)


def check_plane(part: Partition) -> None:
    """Raise InputError unless a partition is of a plane."""
    if part.dim != 2:
        raise InputError(f"a picture of regions needs the partition of a plane, got one of {part.domain.describe()}")


def _fill_scale(
    axes: Axes, values: np.ndarray, label: str, offsets: np.ndarray, corners: np.ndarray, raster: bool
) -> None:
    norm = Normalize(float(values.min()), float(values.max()) if np.ptp(values) > 0 else float(values.min()) + 1.0)
    colors = colormaps["cividis"]
    level = np.minimum((LEVELS * np.asarray(norm(values))).astype(int), LEVELS - 1)
    if raster:  # pixels on the border of two shades show this middle one, not the page
        middle = to_hex(colors((np.median(level) + 0.5) / LEVELS))
        fill(axes, offsets, corners, np.arange(len(values)), middle, raster=raster)
    for one in np.unique(level):
        shade = to_hex(colors((one + 0.5) / LEVELS))
        fill(axes, offsets, corners, np.flatnonzero(level == one), shade, raster=raster)
    scale_beside(axes, norm, colors, label)


def _line_width(num_regions: int) -> float:
    """Thin enough that lines leave most of the picture to the regions."""
    return float(np.clip(18.0 / np.sqrt(num_regions + 1), 0.08, 0.8))
