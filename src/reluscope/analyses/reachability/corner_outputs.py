"""Outputs at the corners of regions, and how far the outputs around each may be from them.

A corner is known up to an error, and regions thinner than the resolution are not listed. Where the regions that are
listed explain how outputs vary around a corner, their steepest slope counts. Elsewhere a kink may be hidden: what the
outputs can be in a box around the corner counts, whatever the regions are.
"""

import numpy as np
import torch
from jaxtyping import Float

from reluscope.analyses.boxes.box_bounds import BoxBounds
from reluscope.geometry.numbers.resolutions import CORNERS
from reluscope.interruption import step_point
from reluscope.networks.evaluation.maps_of_codes import maps_of_codes
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.evaluation.wide_forward import wide_outputs
from reluscope.networks.graph.points import steps
from reluscope.networks.network import Network
from reluscope.networks.passes.boxes import FiniteEnds, Intervals
from reluscope.networks.passes.carry import carry_to_output
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.partitions.corner_errors import corner_errors
from reluscope.partitions.partition_in_memory import Partition

# What is thinner counts as flat, relative to the size of the outputs.
RESOLUTION = 1e-9
# How often the steepest slope that is listed: steeper ones around a corner are those of regions that are not.
STEEPER = 16
# Resolutions within which the engine leaves regions out.
THINNER = 32
# Boxes that are bounded together, and bytes of networks evaluated together.
NUM_TOGETHER, MEMORY = 256, 128 * 2**20


def thickness(points: Float[np.ndarray, "v k"]) -> float:
    """Return how thin polytopes with these corners may be before they count as flat."""
    return RESOLUTION * max(float(np.abs(points).max(initial=0.0)), np.finfo(float).tiny / RESOLUTION)


def outputs_at_corners(part: Partition, outputs: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return outputs at corners and bounds on their errors, (v, k) each, by wide numbers where float64 loses much."""
    chosen = list(outputs)
    if not len(part.vertices):
        return np.zeros((0, len(chosen))), np.zeros((0, len(chosen)))
    network = part.network_on_domain
    forward = rounded_forward(network, part.vertices, tolerance=part.tolerance)
    values, errors = forward.outputs[:, chosen], forward.errors[:, chosen]
    if errors.max(initial=0.0) > 0.1 * thickness(values):
        values, errors = (table[:, chosen] for table in wide_outputs(network, part.vertices))
    steepest = _steepest(part, chosen)
    # Around a corner that is moved a region's map, and those of its neighbours, count twice.
    errors = 2 * (errors + steepest * corner_errors(part)[:, None])
    if not part.jumps:
        _widen(errors, part, values, errors + STEEPER * _reach(part) * steepest, chosen)
    return values, errors


def _steepest(part: Partition, outputs: list[int]) -> Float[np.ndarray, "v k"]:
    """Return the steepest slope of each output in the regions around each vertex, or in all where each has its own."""
    maps, off = maps_of_codes(part.network_on_domain, part.codes)
    slopes = np.linalg.norm(maps.weight[:, outputs].cpu().numpy(), axis=2) + np.sqrt(part.dim) * off[:, outputs]
    if not part.has_facet_vertices:
        return np.broadcast_to(slopes.max(axis=0), (len(part.vertices), len(outputs)))
    offsets, ids = part.region_vertices
    found = np.zeros((len(part.vertices), len(outputs)))
    np.maximum.at(found, ids, np.repeat(slopes, np.diff(offsets), axis=0))
    return found


def _reach(part: Partition) -> float:
    """Return how far from a corner that is listed those of a region may be that is too thin to be listed."""
    width = float(np.linalg.norm(np.ptp(part.vertices, axis=0)))
    return THINNER * part.tolerance.resolution * width + CORNERS * float(np.abs(part.vertices).max())


def _widen(
    errors: Float[np.ndarray, "v k"],
    part: Partition,
    values: Float[np.ndarray, "v k"],
    explained: Float[np.ndarray, "v k"],
    outputs: list[int],
) -> None:
    """Set the errors of corners around which outputs may vary by more than what the listed regions explain.

    Intervals are cheap and hold at most corners; affine functions of the inputs are asked about the others.
    """
    reach, network = _reach(part), part.network_on_domain
    rows = np.flatnonzero((_by_intervals(network, part.vertices, reach, values, outputs) > explained).any(axis=1))
    if not len(rows):
        return
    bounds = BoxBounds(network, part.vertices.min(axis=0) - reach, part.vertices.max(axis=0) + reach, onwards=True)
    for start in range(0, len(rows), NUM_TOGETHER):
        step_point()
        some = rows[start : start + NUM_TOGETHER]
        boxes = bounds.on(part.vertices[some] - reach, part.vertices[some] + reach)
        varies = np.einsum("kmn,kn->km", np.abs(boxes.weights), boxes.half) + np.abs(boxes.noise).sum(axis=2)
        varies, rounded = varies[:, outputs], boxes.errors[:, outputs]
        away = varies + rounded + np.abs(boxes.center[:, outputs] - values[some])
        errors[some] = np.where(varies > explained[some], away, errors[some])


@torch.no_grad()
def _by_intervals(
    network: Network,
    points: Float[np.ndarray, "v n"],
    reach: float,
    values: Float[np.ndarray, "v k"],
    outputs: list[int],
) -> Float[np.ndarray, "v k"]:
    """Return how far outputs in a box around each point may be from those at the point, at most."""
    found = np.zeros(values.shape)
    for rows in steps(len(points), 4 * network.bytes_per_point, MEMORY):
        low, high = (network.points(points[rows] + sign * reach) for sign in (-1, 1))
        ends = carry_to_output(network, Intervals(ANY_ORDER), FiniteEnds(low, high))
        least, most = (end.reshape(len(end), -1).cpu().numpy()[:, outputs] for end in ends)
        found[rows] = np.maximum(values[rows] - least, most - values[rows])
    return found
