"""Linear regions of points as bodies, as many at once as memory allows, to ask convex questions about."""

import warnings
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch

from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.geometry.programs.half_spaces import HalfSpaces
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.regions.region import Region
from reluscope.regions.regions import find_regions
from reluscope.tolerance import Tolerance

T = TypeVar("T")
R = TypeVar("R")
# Memory for the half-spaces of regions that are asked about together, in bytes.
ROWS_BYTES = 2**30


def bodies_at_once(network: Network, questions: int = 0) -> int:
    """Return how many regions of a network fit into memory together, each with some questions that share its rows."""
    rows = sum(gate.num_units * max(1, gate.num_pieces - 1) for gate in network.gates)
    height = max(1, rows) + questions * network.num_inputs
    return int(np.clip(ROWS_BYTES // (3 * 8 * height * network.num_inputs), 1, 64))


def regions_inside(network: Network, points: Points, tolerance: Tolerance | None) -> dict[int, Region]:
    """Return the regions of points by their rows; points on kinks whose code has no interior are left out."""
    found = find_regions(network.at(points, tolerance=tolerance))
    return {row: region for row, region in enumerate(found) if isinstance(region, Region)}


def whole_regions_inside(
    network: Network, points: Points, tolerance: Tolerance | None, domain: Box
) -> dict[int, Region]:
    """Return the regions of points without those that rounding hides rows of in a domain."""
    found = regions_inside(network, points, tolerance)
    return {row: region for row, region in found.items() if region.is_whole_within(domain.lo, domain.hi)}


def ask_within_memory(ask: Callable[[list[T], torch.device], R], items: list[T], device: torch.device) -> list[R]:
    """Ask about items together, or in smaller parts where the device lacks the memory.

    Where memory does not suffice, items are halved, and at last asked about on the CPU. One answer for each part that
    was asked about, in order.
    """
    try:
        return [ask(items, device)]
    except torch.OutOfMemoryError:
        if len(items) == 1 and device.type == "cpu":
            raise
    # Outside of the handler: the exception holds on to what did not fit.
    if len(items) > 1:
        half = len(items) // 2
        return [*ask_within_memory(ask, items[:half], device), *ask_within_memory(ask, items[half:], device)]
    warnings.warn(f"the memory of {device} does not hold one region: this one is worked on by the CPU", stacklevel=2)
    return [ask(items, torch.device("cpu"))]


def as_bodies(regions: list[Region], domain: Box | None, device: torch.device) -> HalfSpaceStack:
    """Return regions cut down to a domain, on a device.

    They are cut down here, because points on the domain's boundary are no less inside their regions.
    """
    dim = regions[0].polyhedron.dim
    lower, upper = (np.full(dim, -np.inf), np.full(dim, np.inf)) if domain is None else (domain.lo, domain.hi)
    bodies = [HalfSpaces(one.polyhedron.A, one.polyhedron.b, lower, upper) for one in regions]
    return HalfSpaceStack.of(bodies, device=device)
