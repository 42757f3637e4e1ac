"""The question of a plane: its exact regions within a window, as arrays to draw."""

from typing import Any

import numpy as np

from reluscope.budget import Budget
from reluscope.explorer.answers import Answer, finding
from reluscope.explorer.asked import Asked
from reluscope.explorer.drawn import drawn_arrays
from reluscope.explorer.listening import Listener, ListeningBudget
from reluscope.explorer.planes import Frame, View, frame_of, read_window
from reluscope.explorer.session import Session
from reluscope.explorer.training import network_of_epoch
from reluscope.networks.network import Network
from reluscope.partitions.dispatch import partition
from reluscope.partitions.table import Partition

MOST_ASKED_REGIONS, MOST_ASKED_SECONDS = 2_000_000, 600.0
# Where the home window holds too much for its time: how often a smaller one is tried, and of what share of the area
# that was done in time.
MOST_TRIES, CAUTION = 3, 0.5


def answer_partition(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Partition the window that is asked for, and return it as arrays relative to its centre."""
    epoch = asked.whole("epoch", 0, 10**9) if asked.has("epoch") else None
    certify = asked.truth("certify", False)
    budget = _budget(session, asked)
    anchors = asked.given("anchors")
    fits = asked.truth("fit", not asked.has("window"))
    asked.has("window")
    asked.end()
    network = session.network if epoch is None else network_of_epoch(session, epoch)
    frame = frame_of(session, anchors)
    center, reach = read_window(asked, frame)
    plane_id = session.plane_ids.setdefault((frame.key, epoch), len(session.plane_ids) + 1)
    key = (plane_id, *center.tolist(), *reach.tolist(), certify, budget.regions, budget.seconds)
    view = next((one for one in session.views.values() if one.key == key and not one.part.num_open), None)
    note = ""
    if view is None:
        part = _partition(network, frame, center, reach, budget, certify, listener)
        if fits and part.num_open:
            part, reach, note = _fitting(network, frame, center, reach, part, budget, listener)
        view = View(0, plane_id, network, frame, center, reach, part, key)
    view = view.renewed(next(session.versions))
    header, arrays = drawn_arrays(session, view)
    session.remember(view)
    return Answer({**_header(session, view, note), **header}, arrays)


def _budget(session: Session, asked: Asked) -> Budget:
    if not asked.has("budget"):
        return session.budget
    fields = asked.inner("budget")
    regions = fields.whole("regions", 1, MOST_ASKED_REGIONS) if fields.has("regions") else session.budget.regions
    seconds = fields.number("seconds", 0.0, MOST_ASKED_SECONDS) if fields.has("seconds") else session.budget.seconds
    fields.end()
    return Budget(regions=regions, seconds=seconds)


def _partition(
    network: Network,
    frame: Frame,
    center: np.ndarray,
    reach: np.ndarray,
    budget: Budget,
    certify: bool,
    listener: Listener,
) -> Partition:
    limit = ListeningBudget(regions=budget.regions, seconds=budget.seconds, listener=listener)
    return partition(network, frame.window(center, reach), budget=limit, certify=certify, progress=listener.share)


def _fitting(
    network: Network,
    frame: Frame,
    center: np.ndarray,
    reach: np.ndarray,
    part: Partition,
    budget: Budget,
    listener: Listener,
) -> tuple[Partition, np.ndarray, str]:
    """Return a smaller window about the same centre that was finished in time, if there is one, and words about it."""
    first = part, reach
    for _ in range(MOST_TRIES):
        if listener.cancelled():
            break
        reach = reach * np.sqrt(CAUTION * max(listener.share_done, 1e-4))
        part = _partition(network, frame, center, reach, budget, False, listener)
        if not part.num_open:
            return part, reach, f"the whole window took too long ({first[0].note}): this is the part around its centre"
    return *first, ""


def _header(session: Session, view: View, note: str) -> dict[str, Any]:
    part, frame = view.part, view.frame
    return {
        "version": view.version,
        "plane_id": view.plane_id,
        "num_regions": finding(part.finding()),
        "num_open": part.num_open,
        "num_undecided": part.num_undecided,
        "certified": part.certified,
        "note": note or part.note,
        "seconds": part.work.get("seconds"),
        "window": {"center": view.center.tolist(), "reach": view.reach.tolist()},
        "home": {"center": frame.center.tolist(), "reach": frame.reach.tolist()},
        "anchors_at": None if frame.places is None else frame.places.tolist(),
        "anchors_said": [anchor.said for anchor in frame.anchors],
        "axes": ["input 0", "input 1"] if session.is_plane else ["from A towards B", "towards C"],
    }
