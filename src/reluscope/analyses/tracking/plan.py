"""What every record of a run measures at: samples, segments, Jacobians and a plane, chosen at the beginning."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from reluscope.analyses.classification.class_predictions import read_classes
from reluscope.analyses.samples.choosing import choose_pairs
from reluscope.arguments import read_array
from reluscope.budget import Budget
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.polyhedra.domain_arrays import domain_arrays
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.geometry.polyhedra.slices import Plane
from reluscope.networks.graph.points import Points, as_points
from reluscope.networks.network import Network

# Segments are so long that about as many units are met on the way in a large network as in one of this size.
UNITS_OF_WHOLE_SEGMENTS = 128


@dataclass(frozen=True, eq=False)
class Plan:
    """Where every record measures.

    ``settings`` has all of this in plain types, and the gates: two runs of equal settings can be compared record by
    record.
    """

    points: Float[np.ndarray, "s n"]  # the samples, as flat rows
    labels: Int[np.ndarray, " s"] | None  # their classes
    rows: Int[np.ndarray, " s"]  # where the samples are in the data
    starts: Float[np.ndarray, "k n"]  # starts of the segments
    ends: Float[np.ndarray, "k n"]  # ends of the segments
    jacobians: Int[np.ndarray, " j"]  # samples at which the Jacobian is looked at
    plane: Slice | Box | None  # a domain of two dimensions
    budget: Budget  # of the plane's partition
    complexity_radius: float | None  # around the samples of the Jacobians
    settings: dict[str, Any]


def draw_rows(data: Points, input_shape: tuple[int, ...], number: int, seed: int) -> Int[np.ndarray, " s"]:
    """Draw rows of the data at random, ascending; all if there are no more than asked for."""
    size = len(_batch(data, input_shape))
    return np.sort(np.random.default_rng(seed).permutation(size)[:number]).astype(np.int64)


def first_rows(data: Points, number: int) -> Points:
    """Return a few points in the form that they came in; a flat array is one point.

    InputError if there are none.
    """
    batch = data if isinstance(data, Tensor) else read_array(data, "data")
    if not batch.shape or not batch.shape[0]:
        raise InputError("tracking needs at least one sample, got none: give the points that records are to look at")
    return batch if batch.ndim == 1 else batch[:number]


def make_plan(
    network: Network,
    data: Points,
    rows: Int[np.ndarray, " s"],
    *,
    labels: Any,
    segments: int,
    segment_share: float | None,
    jacobians: int,
    plane: Slice | Box | Sequence[int] | None,
    budget: Budget,
    complexity_radius: float | None,
    seed: int,
) -> Plan:
    """Fix what the records of a run look at.

    Segments join pairs of one class and, with several, as many of different classes; each goes ``segment_share`` of the
    way, by default all, or 128 over the number of units. ``labels`` are one per point of the data.
    """
    shape = network.input_shape
    share = min(1.0, UNITS_OF_WHOLE_SEGMENTS / max(1, network.num_units)) if segment_share is None else segment_share
    if not 0 < share <= 1:
        raise InputError(f"expected segment_share in (0, 1], got {share}: 1 goes the whole way between two samples")
    # Float32 and float64 of the same images are the same points; what the network sees is float64.
    points = as_points(_rows(data, rows, shape), shape).reshape(len(rows), -1).cpu().numpy()
    known = _labels(network, labels, rows, len(_batch(data, shape)))
    pairs = choose_pairs(points, np.zeros(len(rows), dtype=np.int64) if known is None else known, segments, seed=seed)
    starts = points[pairs.first]
    ends = starts + share * (points[pairs.second] - starts)
    chosen = np.sort(np.random.default_rng(seed + 1).permutation(len(rows))[:jacobians]).astype(np.int64)
    domain = _plane(network, data, plane)
    gates = [[gate.name, gate.kind, gate.num_units, gate.num_pieces] for gate in network.gates]
    settings = {
        "gates": gates,
        "input_shape": list(shape),
        "num_outputs": network.num_outputs,
        "samples": rows.tolist(),
        "samples_digest": _digest(points),
        "labels_digest": None if known is None else _digest(known),
        "segments": np.stack([pairs.first, pairs.second], axis=1).tolist(),
        "segment_share": share,
        "jacobians": chosen.tolist(),
        "plane": None if domain is None else domain.describe(),
        "plane_digest": None if domain is None else _digest(*domain_arrays(domain).values()),
        "budget": None if domain is None else [budget.regions, budget.seconds],
    }
    if complexity_radius is not None:  # files without it are as they were before it could be asked for
        settings["complexity_radius"] = float(complexity_radius)
    return Plan(points, known, rows, starts, ends, chosen, domain, budget, complexity_radius, settings)


# How a reader calls what settings hold, in the order in which differences are told.
NAMES = {
    "gates": "gates",
    "input_shape": "input shape",
    "num_outputs": "number of outputs",
    "samples": "choice of samples",
    "samples_digest": "data",
    "labels_digest": "labels",
    "segments": "segments",
    "segment_share": "segment_share",
    "jacobians": "choice of samples for Jacobians",
    "plane": "plane",
    "plane_digest": "plane",
    "budget": "budget of the plane",
    "complexity_radius": "complexity_radius",
}


def _batch(data: Points, input_shape: tuple[int, ...]) -> Tensor | np.ndarray:
    """Return the data with an axis of samples, also where they are one point."""
    batch = data if isinstance(data, Tensor) else np.asarray(data)
    is_one = tuple(batch.shape) in {input_shape, (int(np.prod(input_shape)),)}
    return batch.reshape(1, -1) if is_one else batch


def _rows(data: Points, rows: np.ndarray, input_shape: tuple[int, ...]) -> Points:
    """Return some of the points; the others are not converted, nor looked at."""
    batch = _batch(data, input_shape)
    return batch[torch.as_tensor(rows, device=batch.device)] if isinstance(batch, Tensor) else batch[rows]


def _labels(network: Network, labels: Any, rows: np.ndarray, number: int) -> np.ndarray | None:
    if labels is None:
        return None
    return read_classes(network, labels, number)[rows]


def _plane(network: Network, data: Points, plane: Any) -> Slice | Box | None:
    if plane is None or isinstance(plane, Slice | Box):
        domain = plane
    else:
        rows = np.asarray(plane)
        size = len(_batch(data, network.input_shape))
        if rows.shape != (3,) or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= size:
            raise InputError(
                f"expected plane as a Plane or three rows of the data, each from 0 to {size - 1:,}, got {plane!r}"
            )
        corners = as_points(_rows(data, rows, network.input_shape), network.input_shape)
        domain = Plane(*corners.reshape(3, -1).cpu().numpy(), margin=0.25)
    if domain is not None and domain.dim != 2:
        raise InputError(f"expected a plane of two dimensions, got {domain.describe()}: give a Plane")
    if domain is not None and domain.ambient_dim != network.num_inputs:
        raise ShapeError(
            f"expected a plane in the network's {network.num_inputs} inputs, got one in {domain.ambient_dim}"
        )
    return domain


def _digest(*arrays: np.ndarray) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
