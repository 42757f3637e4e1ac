"""Inputs near a counterexample that violate its property by more: what another arithmetic may need."""

import numpy as np
from jaxtyping import Float

from reluscope.analyses.verification.property import Case
from reluscope.analyses.verification.violation_attack import outputs_at
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.network import Network

# Lengths of steps, as shares of the box, each tried on from where the one before has led.
SHARES = 10.0 ** np.arange(-8, 0, 0.5)


def deeper(
    network: Network, case: Case, unsafe: Polyhedron, point: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "k n"]:
    """Return float32 points in a case's box: ever longer steps from a point into a polyhedron of outputs.

    The point itself, then the steps. Points that float32 cannot hold within the box are left out.
    """
    A, b = unsafe.inequalities()
    width, moved, tried = case.upper - case.lower, point, [point]
    for share in SHARES if len(A) else ():
        worst = int((A @ outputs_at(network, moved[None])[0] - b).argmax())
        way = A[worst] @ network.linearize(moved[None]).weight[0].cpu().numpy()
        moved = np.clip(moved - share * width * np.sign(way), case.lower, case.upper)
        tried.append(moved)
    points = np.array(tried)
    near = points.astype(np.float32)
    # To the next number inwards where rounding led out of the box.
    near = np.where(near < case.lower, np.nextafter(near, np.float32(np.inf)), near)
    near = np.where(near > case.upper, np.nextafter(near, np.float32(-np.inf)), near).astype(np.float64)
    return near[((near >= case.lower) & (near <= case.upper)).all(axis=1)]
