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
    """Return numbers of float32 in a case's box: a point, and ever longer steps from it into a polyhedron of outputs.

    Points that float32 cannot hold within the box are left out.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(1), np.zeros(1)), (np.eye(1), np.zeros(1))])  # relu(x)
    >>> unsafe = rs.Polyhedron([[-1.0]], [-0.3])
    >>> found = deeper(net, Case([0.0], [1.0], [unsafe]), unsafe, np.array([0.3]))
    >>> bool((found[:, 0] == found[:, 0].astype(np.float32)).all()), bool(found[-1] > 0.4)
    (True, True)
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
