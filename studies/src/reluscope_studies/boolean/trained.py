"""Which steady state of XOR on a line a trained network has reached, within a tolerance.

Gradient descent with a finite step ends near a steady state, not on it, and may end on either side of a sign case's
border: outputs are compared within the tolerance, and signs of numbers smaller than it are left open.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Bool, Float, Integer
from torch import nn

from reluscope.arguments import NonNegative, read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.extending.analyses import Shown
from reluscope_studies.boolean.local_optima import INPUTS, TARGETS, WEIGHTS, Pattern, SteadyState, steady_states


@dataclass(frozen=True, repr=False)
class ReachedStates(Shown):
    """Where trained networks ended.

    Parameters
    ----------
    states : (s,) array
        Position in `steady_states`; -1 where none is within the tolerance.
    losses, gradient_norms : (s,) arrays
        Sum of squared errors, and Euclidean norm of its gradient.
    is_near_border : (s,) array
        Whether a unit's pre-activation at an input is within the tolerance of zero, so that several cases are near.
    tolerance : float
    """

    states: Integer[np.ndarray, " s"]
    losses: Float[np.ndarray, " s"]
    gradient_norms: Float[np.ndarray, " s"]
    is_near_border: Bool[np.ndarray, " s"]
    tolerance: float


@read_arguments
def reached_states(parameters: Float[np.ndarray, "s k"], *, tolerance: NonNegative = 0.02) -> ReachedStates:
    """Classify trained networks of two ReLUs into the steady states of XOR on a line.

    Parameters
    ----------
    parameters : (s, 7) array
        w1, b1, o1, w2, b2, o2, c of every network; `parameters_of` reads them off a module.
    tolerance : float
        Largest difference of an output from that of the state, of an output weight from 0 where the state has 0, and of
        a pre-activation from 0 for its sign to be open.

    Returns
    -------
    ReachedStates
        If several states fit, the one whose outputs are nearest, and among those one in the network's own sign case.

    Raises
    ------
    ShapeError, InputError
        If the parameters are not seven numbers per network, or the tolerance is not positive.

    Examples
    --------
    >>> found = reached_states(np.array([[0.0, -1.0, 0.5, 1.0, -1.0, 0.3, 0.001]]))
    >>> steady_states()[found.states[0]].loss, found.losses.round(2).tolist()
    (4, [4.0])
    """
    if not len(parameters):
        raise InputError("expected the parameters of at least one network, got none")
    table = np.asarray(parameters, dtype=float)
    if table.ndim != 2 or table.shape[1] != 7:
        raise ShapeError(f"expected seven parameters w1, b1, o1, w2, b2, o2, c per network, got shape {table.shape}")
    if not np.isfinite(table).all() or not tolerance > 0:
        raise InputError("expected finite parameters and a positive tolerance, got others")
    x, targets, weights = (np.array(one, dtype=float) for one in (INPUTS, TARGETS, WEIGHTS))
    inner, outer = table[:, :6].reshape(-1, 2, 3), table[:, 6]
    seen = inner[:, :, :1] * x + inner[:, :, 1:2]
    values = np.maximum(seen, 0.0)
    outputs = (inner[:, :, 2:] * values).sum(axis=1) + outer[:, None]
    pulls = 2.0 * weights * (outputs - targets)
    flow = pulls[:, None] * (seen > 0) * inner[:, :, 2:]
    gradient = np.concatenate(
        [(flow * x).sum(2), flow.sum(2), (pulls[:, None] * values).sum(2), pulls.sum(1, keepdims=True)], axis=1
    )
    states = np.array(
        [_nearest(*row, tolerance) for row in zip(seen, inner[:, :, 2], outputs, strict=True)], dtype=np.int64
    )
    return ReachedStates(
        states,
        (weights * (outputs - targets) ** 2).sum(axis=1),
        np.linalg.norm(gradient, axis=1),
        (np.abs(seen).min(axis=(1, 2)) <= tolerance),
        tolerance,
    )


@read_arguments
def parameters_of(module: nn.Module) -> Float[np.ndarray, " 7"]:
    """Return w1, b1, o1, w2, b2, o2, c of a module with one input, two ReLUs and one output."""
    found = [tensor.detach().double().cpu().numpy() for tensor in module.parameters()]
    if [tensor.shape for tensor in found] != [(2, 1), (2,), (1, 2), (1,)]:
        raise ShapeError(
            "expected a module of two linear layers with biases, one input, two units and one output, got parameters "
            f"of shapes {[tensor.shape for tensor in found]}"
        )
    w, b, o, c = found
    return np.concatenate([np.stack([w[:, 0], b, o[0]], axis=1).reshape(-1), c])


def _nearest(
    seen: Float[np.ndarray, "2 3"], outer: Float[np.ndarray, " 2"], outputs: Float[np.ndarray, " 3"], tolerance: float
) -> int:
    own = tuple(tuple(bool(value > 0) for value in row) for row in seen)
    best, found = (np.inf, True), -1
    for index, state in enumerate(steady_states()):
        if not _signs_fit(state.active, seen, tolerance) or not _silence_fits(state, outer, tolerance):
            continue
        distance = max(abs(float(one) - two) for one, two in zip(state.outputs, outputs, strict=True))
        rank = (round(distance, 9), state.active != own)
        if distance <= tolerance and rank < best:
            best, found = rank, index
    return found


def _signs_fit(active: tuple[Pattern, Pattern], seen: Float[np.ndarray, "2 3"], tolerance: float) -> bool:
    return all(
        (value > 0) == active[i][k] or abs(value) <= tolerance
        for (i, k), value in zip(product(range(2), range(3)), seen.ravel().tolist(), strict=True)
    )


def _silence_fits(state: SteadyState, outer: Float[np.ndarray, " 2"], tolerance: float) -> bool:
    return all(not silent or abs(weight) <= tolerance for silent, weight in zip(state.is_silent, outer, strict=True))
