"""All outputs along a segment of a picture, exactly: they bend at its breakpoints and are straight between."""

import numpy as np
from jaxtyping import Float

from reluscope.analyses.planes.class_intervals import class_intervals
from reluscope.errors import InputError
from reluscope.explorer.exchange.answers import Answer, finding
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener, ListeningBudget
from reluscope.explorer.scene.asked_view import read_places, view_of
from reluscope.explorer.scene.planes import AnsweredView
from reluscope.explorer.scene.session import Session
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.partition_in_memory import Partition

# Relative to the extent of the view: shorter segments are points.
SHORTEST = 1e-9
MOST_OUTPUTS = 10


def answer_segment(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Return outputs and classes along a segment between two points of a picture."""
    view = view_of(session, asked)
    ends = read_places(asked, view, "ends", 2, 2)
    asked.end()
    domain = segment_in(view, ends)
    budget = session.budget
    limit = ListeningBudget(regions=budget.regions, seconds=budget.seconds, listener=listener)
    part = partition(view.network, domain, budget=limit, progress=listener.share)
    length = float(np.linalg.norm(ends[1] - ends[0]))
    sides = part.vertices[part.region_vertices[1].reshape(-1, 2), 0] if len(part) else np.zeros((0, 2))
    order = np.argsort(sides[:, 0], kind="stable")
    ids = part.region_vertices[1].reshape(-1, 2)[order]
    corners = np.concatenate([ids[:, 0], ids[-1:, 1]])
    outputs = part.outputs[corners]
    shown = _shown(session, outputs)
    arrays = {
        "breakpoints": _share(part.vertices[corners, 0], length),
        "outputs": outputs[:, shown].astype(np.float32),
        "rows": _rows_beside(view, part, order, ends),
        "gates": _gates(part, order),
    }
    if session.is_classifier:
        pieces = class_intervals(part)
        along = np.argsort(pieces.ends[:, 0], kind="stable")
        arrays |= {
            "class_ends": _share(pieces.ends[along], length),
            "classes": pieces.classes[along].astype(np.int32),
        }
    names = [session.output_name(one) for one in shown]
    header = {
        "version": view.version,
        "num_regions": finding(part.finding()),
        "num_open": part.num_open,
        "note": part.note,
        "length": length,
        "ends": (ends / view.scale).tolist(),
        "outputs": [{"index": one, "name": name} for one, name in zip(shown, names, strict=True)],
    }
    return Answer(header, arrays)


def segment_in(view: AnsweredView, ends: Float[np.ndarray, "2 2"]) -> Slice:
    """Return the segment between two points of a window, about its own middle.

    InputError if the two are one point.
    """
    middle, step = ends.mean(axis=0), ends[1] - ends[0]
    length = float(np.linalg.norm(step))
    if not length > SHORTEST * view.scale:
        raise InputError("a segment needs two different points: drag from one to the other")
    origin = view.domain.lift(middle)
    return Slice(origin, (step / length)[None] @ view.domain.basis, Box([-length / 2], [length / 2]))


def _share(places: np.ndarray, length: float) -> np.ndarray:
    """Return coordinates about the middle as shares of the way, from 0 to 1."""
    return np.clip(places / length + 0.5, 0.0, 1.0)


def _shown(session: Session, outputs: np.ndarray) -> list[int]:
    """Return which outputs are shown: those that are the largest somewhere on the way, or come nearest to it."""
    if not len(outputs):
        return list(range(min(MOST_OUTPUTS, outputs.shape[1])))
    behind = (outputs.max(axis=1, keepdims=True) - outputs).min(axis=0)
    number = MOST_OUTPUTS if session.is_classifier else outputs.shape[1]
    return sorted(np.argsort(behind, kind="stable")[: min(number, MOST_OUTPUTS)].tolist())


def _rows_beside(view: AnsweredView, part: Partition, order: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the region of the picture in which every piece of the segment lies, -1 where it leaves the window."""
    middles = part.witnesses[order][:, 0] if len(part) else np.zeros(0)
    step = ends[1] - ends[0]
    places = ends.mean(axis=0) + middles[:, None] * step / np.linalg.norm(step)
    return view.part.locate(places).astype(np.int32) if len(places) else np.zeros(0, dtype=np.int32)


def _gates(part: Partition, order: np.ndarray) -> np.ndarray:
    """Return the gate that bends at every breakpoint between two pieces, -1 where they do not touch."""
    place = np.empty(len(part), dtype=np.int64)
    place[order] = np.arange(len(part))
    gates = np.full(max(0, len(part) - 1), -1, dtype=np.int16)
    first = np.minimum(place[part.facets.left], place[part.facets.right])
    gates[first] = part.facets.gates
    return gates
