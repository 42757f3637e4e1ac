"""Points that may violate a property, found quickly: random ones, and from the best of them along gradients."""

import numpy as np
from jaxtyping import Float

from reluscope.analyses.verification.property import Case
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.interruption import step_point
from reluscope.networks.network import Network
from reluscope.networks.ramps import with_ramps

NUM_RANDOM, NUM_STARTS, NUM_STEPS = 1_000, 20, 30
# Random points are drawn so many entries at a time.
MAX_ENTRIES = 2**21
# Points that tell how wide ramps are in the place of jumps.
NUM_SEEN = 64
# Steps begin with this share of the box, and shrink by this factor.
FIRST, SHRINK = 0.5, 0.85
# Of points found by bounds so many go so many steps.
NUM_DESCENDED, NUM_FEW = 6, 12


def candidates(network: Network, case: Case, unsafe: Polyhedron, rng: np.random.Generator) -> Float[np.ndarray, "k n"]:
    """Return points of a case's box, those that come nearest to a polyhedron of outputs last.

    A thousand forward passes, and thirty passes forward and backward of twenty points. Where the network jumps the way
    is that of ramps.
    """
    A, b = unsafe.inequalities()
    points, seen = _random_starts(network, case, (A, b), rng)
    slopes = with_ramps(network, seen) if network.jumps else network
    reached = [points]
    if not len(A) or not (case.lower < case.upper).any():
        return points
    step = FIRST * (case.upper - case.lower)
    for _ in range(NUM_STEPS):
        worst = (outputs_at(network, points) @ A.T - b).argmax(axis=1)
        ways = slopes.vjp(points, A[worst]).cpu().numpy()
        points = np.clip(points - step * np.sign(ways), case.lower, case.upper)
        step = SHRINK * step
        reached.append(points)
    return np.concatenate(reached)


def _random_starts(
    network: Network, case: Case, rows: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> tuple[Float[np.ndarray, "k n"], Float[np.ndarray, "s n"]]:
    """Return those of a thousand random points whose outputs are nearest to unsafe ones, and the first of all."""
    A, b = rows
    size = len(case.lower)
    block = min(NUM_RANDOM, max(NUM_SEEN, MAX_ENTRIES // max(1, size)))
    best, least, seen = np.zeros((0, size)), np.zeros(0), np.zeros((0, size))
    for start in range(0, NUM_RANDOM, block):
        step_point()
        number = min(block, NUM_RANDOM - start)
        points = np.clip(rng.uniform(case.lower, case.upper, (number, size)), case.lower, case.upper)
        seen = points[:NUM_SEEN] if start == 0 else seen
        excess = (outputs_at(network, points) @ A.T - b).max(axis=1, initial=-np.inf)
        best, least = np.concatenate([best, points]), np.concatenate([least, excess])
        chosen = np.argsort(least, kind="stable")[:NUM_STARTS]
        best, least = best[chosen], least[chosen]
    return best, seen


def descended(network: Network, case: Case, points: Float[np.ndarray, "k n"]) -> Float[np.ndarray, "j n"]:
    """Return what a few steps make of the points nearest to unsafe outputs, each towards its nearest.

    A dozen passes forward and backward of six points.
    """
    tables = [one.inequalities() for one in case.unsafe]
    tables = [one for one in tables if len(one[0])]
    if not tables:
        return points[:0]
    outputs = outputs_at(network, points)
    excess = np.stack([(outputs @ A.T - b).max(axis=1) for A, b in tables], axis=1)
    chosen = np.argsort(excess.min(axis=1), kind="stable")[:NUM_DESCENDED]
    points, goals, reached = points[chosen], excess[chosen].argmin(axis=1), []
    step = FIRST / 2 * (case.upper - case.lower)
    for _ in range(NUM_FEW):
        worst = [
            tables[goal][0][(tables[goal][0] @ y - tables[goal][1]).argmax()]
            for goal, y in zip(goals, outputs_at(network, points), strict=True)
        ]
        ways = network.vjp(points, np.array(worst)).cpu().numpy()
        points = np.clip(points - step * np.sign(ways), case.lower, case.upper)
        step = SHRINK * step
        reached.append(points)
    return np.concatenate(reached)


def outputs_at(network: Network, points: Float[np.ndarray, "k n"]) -> Float[np.ndarray, "k m"]:
    """Return the outputs at points."""
    return network(points).reshape(len(points), -1).cpu().numpy()
