"""A bounded window of an unbounded domain that meets every face of its partition.

A face with a vertex is met around that vertex; a line without one separates two regions, and both have a point inside.
Pictures and counts of flat faces show or count in this window what is in the whole domain.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Int

from reluscope.codes.distinct import group_equal_rows
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.partition_in_memory import Partition

# Relative to the extent of vertices and witnesses, or where there is none to their coordinates: how much is around.
BORDER = 0.25


def enclosing_window(part: Partition) -> Domain:
    """Return a bounded part of a partition's domain that every face of the partition meets."""
    points = np.concatenate([part.vertices, part.witnesses])
    low, high = (end(points, axis=0) for end in (np.min, np.max)) if len(points) else np.zeros((2, part.dim))
    border = BORDER * (float((high - low).max()) or float(np.abs(points).max(initial=0.0))) or 1.0
    box, window = Box(low - border, high + border), part.window
    inner = window.intersect(box.polyhedron) if isinstance(window, Polyhedron) else box
    if isinstance(inner, Polyhedron) and part.dim == 1:
        ends = inner.vertices()
        inner = Box(ends.min(axis=0), ends.max(axis=0))
    return replace(part.domain, window=inner) if isinstance(part.domain, Slice) else inner


def in_enclosing_window(part: Partition) -> tuple[Partition, Int[np.ndarray, " r"]]:
    """Return a partition of an unbounded domain in its enclosing window, and the row of each region there.

    InputError if the partition has no network, or rounding decides which regions there are.
    """
    if part.network is None:
        raise InputError(
            "unbounded domains are shown with the network, and the partition was loaded without one: "
            "Partition.load(path, network=net)"
        )
    shown = partition(part.network, enclosing_window(part), tolerance=part.tolerance)
    first, group, _ = group_equal_rows(np.ascontiguousarray(np.concatenate([part.codes.words, shown.codes.words])))
    rows = first[group[len(part) :]]
    if len(shown) != len(part) or not (np.sort(rows) == np.arange(len(part))).all():
        raise InputError(
            f"rounding hides regions of {part.domain.describe()} in a window around all of them: partition a bounded "
            "Segment, Plane or Box"
        )
    return shown, rows
