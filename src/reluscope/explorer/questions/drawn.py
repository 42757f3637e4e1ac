"""A partition of a window as arrays for drawing: polygons of classes, regions, edges, the decision boundary.

Coordinates are relative to the window's centre, in units of half its height, and so small numbers at any magnification.
"""

from typing import Any

import numpy as np

from reluscope.analyses.classification.class_predictions import classes_of_outputs
from reluscope.analyses.planes.class_areas import ClassAreas, class_areas
from reluscope.codes.activation_rate import activation_rate
from reluscope.codes.random_kinds import random_kinds
from reluscope.explorer.scene.planes import AnsweredView
from reluscope.explorer.scene.session import Session
from reluscope.partitions.decisions.decision_boundary import DecisionBoundary, decision_boundary
from reluscope.partitions.partition_in_memory import Partition

# Classes have to fit into int16.
MOST_CLASSES = 2**15 - 1
# Where an edge is looked at, from one end to the other.
SHARES = (0.02, 0.25, 0.5, 0.75, 0.98)


def drawn_arrays(session: Session, view: AnsweredView) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the part of an answer's header that is about what there is to draw, and the arrays."""
    part, scale = view.part, view.scale
    classes = session.is_classifier and session.num_classes <= MOST_CLASSES
    areas = class_areas(part) if classes else whole_regions(part)
    boundary = decision_boundary(part) if classes else no_boundary()
    facets = part.facets
    gates = first_flips(part)
    pairs = np.stack([facets.left, facets.right], axis=1)
    beyond, gates_beyond = lines_beyond(view)
    rate = activation_rate(part.codes)
    arrays = {
        "corners": (areas.corners / scale).astype(np.float32),
        "piece_offsets": areas.offsets.astype(np.int32),
        "piece_region": areas.regions.astype(np.int32),
        "piece_class": areas.classes.astype(np.int16),
        "region_area": part.volumes().astype(np.float32),
        "region_rate": (np.full(len(part), np.nan) if rate is None else rate).astype(np.float32),
        "region_depth": depths(part, gates[:, 0]).astype(np.int16),
        "region_random": random_kinds(part.codes).astype(np.uint8),
        "region_class": (classes_at_witnesses(part, areas) if classes else np.full(len(part), -1)).astype(np.int16),
        "edge_ends": (np.concatenate([part.vertices[facets.vertices], beyond]) / scale).astype(np.float32),
        "edge_regions": np.concatenate([pairs, np.full((len(beyond), 2), -1)]).astype(np.int32),
        "edge_gate": np.concatenate([gates[:, 0], gates_beyond[:, 0]]).astype(np.int16),
        "edge_unit": np.concatenate([gates[:, 1], gates_beyond[:, 1]]).astype(np.int32),
        "boundary_ends": (boundary.ends / scale).astype(np.float32),
        "boundary_classes": boundary.classes.astype(np.int16),
    }
    header = {"classes_present": np.unique(areas.classes).tolist() if classes else []}
    return header, arrays


def first_flips(part: Partition) -> np.ndarray:
    """Return gate and unit that change across every edge, the first of them."""
    facets = part.facets
    return facets.flips[facets.flip_offsets[:-1]] if len(facets) else np.zeros((0, 2), dtype=np.int64)


def lines_beyond(view: AnsweredView) -> tuple[np.ndarray, np.ndarray]:
    """Return edges by the first gates, and what changes across them, where the partition by all is not finished."""
    if view.coarse is None:
        return np.zeros((0, 2, 2)), np.zeros((0, 2), dtype=np.int64)
    ends = view.coarse.vertices[view.coarse.facets.vertices]
    is_beyond = np.zeros(len(ends), dtype=bool)
    for share in SHARES:
        is_beyond |= view.part.locate(share * ends[:, 0] + (1 - share) * ends[:, 1]) < 0 if len(ends) else is_beyond
    return ends[is_beyond], first_flips(view.coarse)[is_beyond]


def whole_regions(part: Partition) -> ClassAreas:
    """Return every region as one polygon of no class."""
    offsets, ids = part.region_vertices
    number = len(part)
    return ClassAreas(
        np.full(number, -1, dtype=np.int64), np.arange(number), np.asarray(offsets, dtype=np.int64), part.vertices[ids]
    )


def no_boundary() -> DecisionBoundary:
    """Return the decision boundary of what is no classifier."""
    return DecisionBoundary(np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros((0, 2, 2)))


def depths(part: Partition, gates: np.ndarray) -> np.ndarray:
    """Return for every region the last gate that bounds it within the window, -1 where none does."""
    found = np.full(len(part), -1, dtype=np.int64)
    np.maximum.at(found, part.facets.left, gates)
    np.maximum.at(found, part.facets.right, gates)
    return found


def classes_at_witnesses(part: Partition, areas: ClassAreas) -> np.ndarray:
    """Return the class at the witness of every region, the mean of its corners, where outputs have their mean too."""
    found = np.zeros(len(part), dtype=np.int64)
    found[areas.regions] = areas.classes
    mixed = np.flatnonzero(np.bincount(areas.regions, minlength=len(part)) != 1)
    if len(mixed):
        offsets, ids = part.region_vertices
        sizes = np.diff(offsets)[mixed]
        starts = np.cumsum(sizes) - sizes
        corners = np.arange(sizes.sum()) + np.repeat(offsets[mixed] - starts, sizes)
        means = np.add.reduceat(part.scores[ids[corners]], starts, axis=0) / sizes[:, None]
        found[mixed] = classes_of_outputs(means)
    return found
