"""A partition as a notebook shows it."""

from typing import TYPE_CHECKING

import numpy as np

from reluscope import markup
from reluscope.geometry.polyhedra.domains import Box, Space

if TYPE_CHECKING:
    from reluscope.partitions.partition_in_memory import Partition

MAX_PICTURED = 1_000


def partition_page(part: "Partition") -> str:
    """Return the partition for a notebook: its number with the claim, sizes, and a small picture of a plane."""
    entries: list[tuple[str, object]] = []
    # What linear programs would have to find is not computed just to be shown.
    kept = part.has_vertices
    if kept and not part.jumps:
        entries.append(("pairs that share a facet", str(part.adjacency_finding())))
    if kept and part.dim <= 2:
        entries.append(("vertices", len(part.vertices)))
    if kept and not part.is_bounded().all():
        entries.append(("bounded regions", str(part.boundedness_finding())))
    elif kept and len(part) and part.dim <= 2:
        low, middle, high = (float(share) for share in np.quantile(part.volumes(), (0.0, 0.5, 1.0)))
        entries.append(("area" if part.dim == 2 else "length", f"{low:.3g} to {high:.3g}, median {middle:.3g}"))
    if part.stop:
        entries.append(("stopped early", part.note))
    entries.append(("network", part.fingerprint[:12] + (" (not loaded)" if part.network is None else "")))
    picture = ""
    if part.has_facet_vertices and part.dim == 2 and 0 < len(part) <= MAX_PICTURED:
        picture = _thumbnail(part)
    return markup.figure("Partition", part.finding()._repr_html_(), markup.terms(entries), picture)


def _thumbnail(part: "Partition") -> str:
    window = part.window
    assert not isinstance(window, Space)
    corners = window.corners() if isinstance(window, Box) else window.vertices()
    low, high = corners.min(axis=0), corners.max(axis=0)
    # Facets at the border of the window show the shape of one that is no rectangle.
    lines = (part.vertices[part.facets_with_ends.ends] - low).reshape(-1, 4)
    width, height = (high - low).tolist()
    return markup.thumbnail(lines.tolist(), width, height, f"boundaries of {len(part):,} regions")
