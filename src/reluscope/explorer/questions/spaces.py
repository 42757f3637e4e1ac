"""The question of space: the exact regions of a box of three dimensions, or a surface in it, as polygons to draw.

Of a network of three inputs it is part of the input space, of others a slice through four points, a solid.

Places are relative to the middle of the box, in units of half its longest side. Outputs are affine along a polygon, so
that those at its corners tell the class at each of its points.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from reluscope.analyses.classification.class_predictions import predicted_classes
from reluscope.budget import Budget
from reluscope.codes.activation_rate import activation_rate
from reluscope.codes.random_kinds import random_kinds
from reluscope.errors import InputError
from reluscope.explorer.exchange.answers import Answer, finding
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener, ListeningBudget
from reluscope.explorer.scene.looked_training import network_of_epoch
from reluscope.explorer.scene.rooms import DIMENSION, Room, has_space, home_room
from reluscope.explorer.scene.session import Session
from reluscope.explorer.scene.solid_slices import read_solid
from reluscope.networks.evaluation.held_maps import logits
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.decisions.decision_boundary import decision_boundary
from reluscope.partitions.levels.decision_surfaces import DecisionSurface
from reluscope.partitions.levels.level_polygons import sums
from reluscope.partitions.levels.level_sets import LevelSet
from reluscope.partitions.levels.level_walk import level_set
from reluscope.partitions.partition_in_memory import Partition

if TYPE_CHECKING:
    from reluscope.plots.space.facet_polygons import PolygonsAroundRegions

MOST_PLACE = 1e9
KINDS = ("regions", "decision", "level")
# Of the regions of a box each costs some kilobytes; surfaces have fewer sides.
MOST_REGIONS, MOST_ASKED_REGIONS, MOST_ASKED_SECONDS = 20_000, 200_000, 600.0
# Planes wait while a box is cut; a surface in it takes less, and is worth more.
MOST_SECONDS = 2.0
# More classes than that are told apart by region, and not within regions.
MOST_SCORES = 16
# Where a box holds too much: how often a smaller one is tried, and of what share of the volume that was done.
MOST_TRIES, CAUTION, LEAST_SHARE = 3, 0.5, 1e-3

_Arrays = dict[str, np.ndarray]


def answer_space(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Return the regions of the box of the samples, or a surface in it, as polygons."""
    solid = read_solid(session, asked)
    if solid is None and not has_space(session):
        raise InputError(
            f"a network of three inputs can be seen in space, and this one has {session.network.num_inputs}: ask for a "
            "plane, or from four inputs on for a solid through four points"
        )
    kind = asked.choice("of", KINDS)
    epoch = asked.whole("epoch", 0, 10**9) if asked.has("epoch") else None
    output = asked.whole("output", 0, session.network.num_outputs - 1, 0)
    level = asked.number("level", -1e12, 1e12, 0.0)
    about = np.array(asked.numbers("about", DIMENSION, MOST_PLACE)) if asked.has("about") else None
    budget = _budget(session, asked, kind)
    asked.end()
    network = session.network if epoch is None else network_of_epoch(session, epoch)
    if kind == "decision" and not (session.is_classifier and session.num_classes > 1):
        raise InputError("a decision boundary needs a classifier: ask for the level of an output")
    find: dict[str, Callable[[Room], Partition | LevelSet | DecisionSurface]] = {
        "regions": lambda room: partition(network, room.domain, budget=budget(listener), progress=listener.share),
        "decision": lambda room: decision_boundary(
            network, room.domain, budget=budget(listener), progress=listener.share),
        "level": lambda room: level_set(
            network, room.domain, level=level, output=output, budget=budget(listener), progress=listener.share),
    }  # fmt: skip
    home = room = home_room(session, solid)
    note, found = "", find[kind](room)
    for _ in range(MOST_TRIES):
        if not found.num_open or listener.cancelled():
            break
        note = f"the whole box takes longer ({found.note}): this is the part around its middle"
        if about is not None:
            note = f"the whole box takes longer ({found.note}): this is the part around the plane's middle"
        room = home.part(room.reach * np.cbrt(CAUTION * max(listener.share_done, LEAST_SHARE)), about)
        found = find[kind](room)
    arrays = _regions(session, network, room, found) if isinstance(found, Partition) else _surface(found, room)
    header = {
        "of": kind,
        "output": output if kind == "level" else None,
        "level": level if kind == "level" else None,
        "epoch": epoch,
        "room": room.header,
        "home": home.header,
        "scale": room.scale,
        "corners": None if solid is None else room.relative(solid.places).tolist(),
        "corners_said": None if solid is None else [anchor.said for anchor in solid.anchors],
        "found": finding(found.finding()),
        "num_open": found.num_open,
        "note": note or found.note,
    }
    return Answer(header, arrays)


def _budget(session: Session, asked: Asked, kind: str) -> Callable[[Listener], Budget]:
    """Return how much may be spent on a picture of space, heard by whoever listens."""
    regions, seconds = min(session.budget.regions or MOST_REGIONS, MOST_REGIONS), session.budget.seconds
    if kind == "regions":
        seconds = MOST_SECONDS if seconds is None else min(seconds, MOST_SECONDS)
    regions, seconds = asked.limits(regions, seconds, most_regions=MOST_ASKED_REGIONS, most_seconds=MOST_ASKED_SECONDS)
    return lambda listener: ListeningBudget(regions=regions, seconds=seconds, listener=listener)


def _regions(session: Session, network: Network, room: Room, part: Partition) -> _Arrays:
    """Return the regions of a box, each by its facets."""
    from reluscope.plots.space.facet_polygons import region_facets  # it brings Matplotlib, which planes do without

    facets = region_facets(part)
    rate = activation_rate(part.codes)
    arrays = {
        **_polygons(room, facets.points, facets.offsets, facets.ids, facets.normals),
        "piece_region": facets.regions.astype(np.int32),
        "region_middle": room.relative(part.witnesses),
        "region_volume": _volumes(facets, part.witnesses).astype(np.float32),
        "region_rate": (np.full(len(part), np.nan) if rate is None else rate).astype(np.float32),
        "region_random": random_kinds(part.codes).astype(np.uint8),
    }
    if session.is_classifier:
        arrays["region_class"] = predicted_classes(network, room.lift(part.witnesses)).astype(np.int16)
        if session.num_classes <= MOST_SCORES:
            scores = network.scores(room.lift(facets.points)).reshape(len(facets.points), -1).cpu().numpy()
            arrays["scores"] = logits(scores).astype(np.float32)
    return arrays


def _volumes(facets: "PolygonsAroundRegions", witnesses: np.ndarray) -> np.ndarray:
    """Return the volume of every region: of the pyramids from its witness to its facets."""
    points, starts = facets.points[facets.ids], facets.offsets[:-1]
    polygons = np.repeat(np.arange(len(starts)), np.diff(facets.offsets))
    first = points[starts][polygons]
    following = np.arange(1, len(points) + 1)
    following[facets.offsets[1:] - 1] = starts
    doubled = sums(np.cross(points - first, points[following] - first), facets.offsets)
    areas = np.abs((doubled * facets.normals).sum(axis=1)) / 2
    heights = ((points[starts] - witnesses[facets.regions]) * facets.normals).sum(axis=1)
    return np.bincount(facets.regions, areas * heights / 3, len(witnesses))


def _surface(found: LevelSet | DecisionSurface, room: Room) -> _Arrays:
    """Return a surface; one between classes says which of them each polygon parts."""
    arrays = _polygons(room, found.vertices, found.offsets, found.ids, found.normals)
    if isinstance(found, DecisionSurface):
        arrays["piece_classes"] = found.classes.astype(np.int16)
    return arrays


def _polygons(room: Room, points: np.ndarray, offsets: np.ndarray, ids: np.ndarray, normals: np.ndarray) -> _Arrays:
    return {
        "points": room.relative(points),
        "offsets": offsets.astype(np.int32),
        "polygons": ids.astype(np.int32),
        "normals": normals.astype(np.float32),
    }
