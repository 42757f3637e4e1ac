"""Many polygons or line pieces as a few compound paths: what makes 10^5 regions draw in a moment.

Polygons of one colour share a path, so that no hairlines of the background show between them; paths are cut after some
thousand pieces, because the renderer's memory for one path is limited.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.path import Path
from matplotlib.typing import ColorType

from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.style import RASTER_ABOVE, say

# Where the corners of each polygon begin, and the corners.
Polygons = tuple[Int[np.ndarray, " p1"], Float[np.ndarray, "c 2"]]

PIECES = 2_000
MAX_LONG = 8.0


def polygon_paths(
    offsets: Int[np.ndarray, " p1"], corners: Float[np.ndarray, "c 2"], chosen: Int[np.ndarray, " k"]
) -> Iterator[Path]:
    """Yield compound paths of the chosen polygons, whose corners lie between their offsets."""
    for start in range(0, len(chosen), PIECES):
        rows = chosen[start : start + PIECES]
        lengths = offsets[rows + 1] - offsets[rows]
        # Every polygon is followed by one more point that closes it.
        ends = np.cumsum(lengths + 1)
        begins = ends - lengths - 1
        inside = np.arange(ends[-1]) - np.repeat(begins, lengths + 1)
        closing = inside == np.repeat(lengths, lengths + 1)
        places = np.repeat(offsets[rows], lengths + 1) + np.where(closing, 0, inside)
        codes = np.full(ends[-1], Path.LINETO, dtype=Path.code_type)
        codes[begins] = Path.MOVETO
        codes[closing] = Path.CLOSEPOLY
        yield Path(corners[places], codes)


def segment_paths(ends: Float[np.ndarray, "k 2 2"]) -> Iterator[Path]:
    """Yield compound paths of straight pieces."""
    for start in range(0, len(ends), PIECES):
        piece = ends[start : start + PIECES]
        codes = np.tile(np.array([Path.MOVETO, Path.LINETO], dtype=Path.code_type), len(piece))
        yield Path(piece.reshape(-1, 2), codes)


@dataclass(frozen=True)
class Pen:
    """Axes to draw polygons and lines in: as pixels where there are many, also in files of vectors."""

    axes: Axes
    number: int  # of regions in the picture

    @property
    def is_raster(self) -> bool:
        """Whether files of vectors have what is drawn as pixels."""
        return self.number > RASTER_ABOVE

    def fill(self, polygons: Polygons, chosen: Int[np.ndarray, " k"] | Bool[np.ndarray, " p"], color: str) -> None:
        """Fill the chosen polygons with one colour."""
        rows = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        paths = list(polygon_paths(*polygons, rows))
        if paths:
            # Between smoothed polygons the background would show. A hairline of the same colour covers these seams;
            # pixels need none if each belongs to one polygon, which is also faster.
            smooth = {"linewidths": 0.3, "edgecolors": color}
            seams = {"linewidths": 0.0, "antialiaseds": False} if self.is_raster else smooth
            collection = PathCollection(paths, facecolors=color, rasterized=self.is_raster, **seams)
            self.axes.add_collection(collection, autolim=False)

    def fill_each(self, polygons: Polygons, group: Int[np.ndarray, " p"], colors: Sequence[ColorType]) -> None:
        """Fill all polygons, each with the colour of its group."""
        for one in np.unique(group):
            self.fill(polygons, group == one, to_hex(colors[one]))

    def stroke(self, ends: Float[np.ndarray, "k 2 2"], color: str, width: float, **more) -> None:
        """Draw straight pieces in one colour."""
        paths = list(segment_paths(ends))
        if paths:
            raster = {"rasterized": self.is_raster, "capstyle": "butt" if self.is_raster else "round"}
            settings = {"facecolors": "none", "edgecolors": color, "linewidths": width, **raster, **more}
            self.axes.add_collection(PathCollection(paths, **settings), autolim=False)


def region_polygons(part: Partition) -> Polygons:
    """Return the polygons of all regions of a plane."""
    offsets, ids = part.region_vertices
    return offsets, part.vertices[ids]


def frame(axes: Axes, domain: Slice | Box) -> None:
    """Set limits, equal aspect and labels for a plane; a very long window is stretched, and says so."""
    low, high = limits(domain)
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    width, height = high - low
    is_stretched = max(width, height) > MAX_LONG * min(width, height)
    axes.set_aspect("auto" if is_stretched else "equal")
    names = ("input 0", "input 1")
    if isinstance(domain, Slice):
        names = ("distance from the first point towards the second", "distance towards the third")
    note = " (axes at different scales)" if is_stretched else ""
    # Where ticks need an offset it is written at the right end of the axis.
    far = np.abs([low[0], high[0]]).max()
    place = "left" if width < 1e-3 * far or far >= 1e5 or far < 1e-4 else "center"
    axes.set_xlabel(names[0] + note, loc=place)
    axes.set_ylabel(names[1])


def plane_size(domain: Slice | Box, beside: float = 0.0) -> tuple[float, float]:
    """Return the size in inches of a picture of a plane with a legend below and room for a scale beside it."""
    low, high = limits(domain)
    width, height = high - low
    is_stretched = max(width, height) > MAX_LONG * min(width, height)
    drawn = 3.0 if is_stretched else 4.7 * float(np.clip(height / width, 0.2, 1.6))
    return 5.4 + beside, drawn + 1.15


def say_empty(axes: Axes, num_open: int) -> None:
    """Say in the middle of the axes why there is nothing to see; cells may have been left open."""
    say(axes, why_empty(0, num_open))


def why_empty(num_regions: int, num_open: int) -> str:
    """Return why there is nothing to see, or no text if there are regions; cells may have been left open."""
    if num_regions:
        return ""
    return "no regions were finished before work stopped" if num_open else "no regions were found"


def limits(domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest coordinates of a bounded domain."""
    window = domain.window if isinstance(domain, Slice) else domain
    assert not isinstance(window, Space)
    corners = window.corners() if isinstance(window, Box) else window.vertices()
    return corners.min(axis=0), corners.max(axis=0)
