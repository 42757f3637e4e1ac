"""The plane of a report as a snapshot of the explorer: to point at, to colour and to zoom into within the page."""

from dataclasses import replace

import numpy as np

from reluscope.errors import InputError
from reluscope.explorer.scene.session import Session
from reluscope.explorer.serving.desk import Desk
from reluscope.explorer.serving.snapshot import kept_answers, still_text
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.partitions.partition_in_memory import Partition
from reluscope.report.parts.content import Snapshot
from reluscope.report.parts.subject import Subject

# Of the snapshot in a page, in characters, and of a plane that is cut once more for it: regions, seconds of passes.
MOST_TEXT, MOST_REGIONS, MOST_SECONDS = 1_500_000, 25_000, 5.0


def snapshot(subject: Subject, part: Partition, plane: Slice, rows: tuple[int, int, int]) -> Snapshot | None:
    """Return a plane as a snapshot; None where it is too large for a page, or was not finished.

    ``part`` is of the plane; ``rows`` are the samples that it goes through.
    """
    if part.num_open or len(part) > MOST_REGIONS or len(part) * subject.seconds_per_sample > MOST_SECONDS:
        return None
    session = Session.of(
        subject.network,
        subject.data,
        name=subject.model,
        seed=subject.settings.seed,
        budget=replace(subject.settings.budget(1.0), regions=4 * MOST_REGIONS),
    )
    if session.is_classifier != subject.is_classifier:
        return None  # it was said to be what its labels do not show
    assert isinstance(plane.window, Box)
    low, high = plane.window.lo, plane.window.hi
    if session.is_plane:
        corners = plane.lift(np.array([[low[0], low[1]], [low[0], high[1]], [high[0], low[1]], [high[0], high[1]]]))
        low, high = corners.min(axis=0), corners.max(axis=0)
    anchors = None if session.is_plane else [{"kind": "sample", "row": int(row)} for row in rows]
    window = {"center": ((low + high) / 2).tolist(), "reach": ((high - low) / 2).tolist()}
    try:
        text = still_text(kept_answers(Desk(session), {"anchors": anchors, "window": window}, space=False))
    except InputError:
        return None  # so narrow a window, for instance, is no picture
    return Snapshot(text, CAPTION) if len(text) <= MOST_TEXT else None


CAPTION = (
    "The same plane to look at: point at a region to learn what it is, turn the wheel to zoom in, choose what colours "
    "mean, and fold it layer by layer. reluscope explore goes on from here, to any depth and to other planes."
)
