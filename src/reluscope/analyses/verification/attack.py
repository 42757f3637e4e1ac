"""Points that may violate a property, found quickly: random ones, and from the best of them along gradients."""

import numpy as np
from jaxtyping import Float

from reluscope.analyses.verification.property import Case
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.networks.network import Network

NUM_RANDOM, NUM_STARTS, NUM_STEPS = 1_000, 20, 30
# Steps begin with this share of the box, and shrink by this factor.
FIRST, SHRINK = 0.5, 0.85


def candidates(network: Network, case: Case, unsafe: Polyhedron, rng: np.random.Generator) -> Float[np.ndarray, "k n"]:
    """Return points of a case's box, of which those that come nearest to a polyhedron of outputs are last.

    Notes
    -----
    A thousand forward passes, and thirty linearisations of twenty points.
    """
    A, b = np.concatenate([unsafe.A, unsafe.C, -unsafe.C]), np.concatenate([unsafe.b, unsafe.d, -unsafe.d])
    points = np.clip(rng.uniform(case.lower, case.upper, (NUM_RANDOM, len(case.lower))), case.lower, case.upper)
    excess = (outputs_at(network, points) @ A.T - b).max(axis=1, initial=-np.inf)
    points = points[np.argsort(excess, kind="stable")[:NUM_STARTS]]
    reached = [points]
    if not len(A) or not (case.lower < case.upper).any():
        return points
    step = FIRST * (case.upper - case.lower)
    for _ in range(NUM_STEPS):
        maps = network.linearize(points)
        outputs = outputs_at(network, points)
        worst = (outputs @ A.T - b).argmax(axis=1)
        ways = np.einsum("sm,smn->sn", A[worst], maps.weight.cpu().numpy())
        points = np.clip(points - step * np.sign(ways), case.lower, case.upper)
        step = SHRINK * step
        reached.append(points)
    return np.concatenate(reached)


def outputs_at(network: Network, points: Float[np.ndarray, "k n"]) -> Float[np.ndarray, "k m"]:
    """Return the outputs at points."""
    return network(points).reshape(len(points), -1).cpu().numpy()
