"""The model of rounding: bounds on the errors of float64 in values that pass affine nodes and gates.

A value h that is known up to e is known up to ``|W| (e + unit |h|) + unit |b|`` after an affine node ``W h + b``: what
the node rounds itself, and what it carries on. Errors carried on add up in full, because units may be copies of each
other and then round alike. A unit with slope s and intercept t adds ``unit (|s h| + |t|)`` to ``|s| e``.

``unit`` is the rounding of one sum relative to the sum of its absolute terms, in practice a few eps: sums are computed
pairwise or in blocks. Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 3.3: running error
analysis.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from reluscope.networks.graph.nodes import Affine, Max, Pointwise, TopK

# The unit of sums of up to 2^16 terms in whatever order: n eps of the sum of their magnitudes.
ANY_ORDER = 2.0**-52 * 2**16
# Candidates of a maximum that are nearer to it, relative to it, may be ties: some thousand eps.
TIE = 2.0**-40


def affine_error(
    node: Affine, sizes: Sequence[Tensor], errors: Sequence[Tensor], unit: float, *, has_constant: bool = True
) -> Tensor:
    """Return bounds on the errors of an affine node's values.

    Parameters
    ----------
    node : Affine
    sizes, errors : sequences of tensors
        Of each value that the node reads: absolute values, and bounds on their errors.
    unit : float
        Rounding of one sum, relative to the sum of its absolute terms.
    has_constant : bool
        Whether the node's constant is added: not to derivatives.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[3.0, -4.0]]), np.array([2.0]))])
    >>> sizes, errors = torch.tensor([[5.0, 1.0]]).double(), torch.tensor([[0.5, 0.25]]).double()
    >>> affine_error(net.nodes[1], [sizes], [errors], 0.125).item() == 3 * 0.5 + 4 * 0.25 + 0.125 * (3 * 5 + 4 * 1 + 2)
    True
    """
    if not node.rounds:
        return node.magnitudes.linear(*errors)
    error = node.magnitudes.linear(*(torch.add(e, size, alpha=unit) for size, e in zip(sizes, errors, strict=True)))
    constant = node.magnitudes.constant
    return error if constant is None or not has_constant else error + unit * constant


def piece_error(slope: Tensor, intercept: Tensor | None, size: Tensor, error: Tensor, unit: float) -> Tensor:
    """Return bounds on the errors of units held to affine pieces, or of derivatives where there is no intercept.

    Parameters
    ----------
    slope, intercept : tensors
        Of the pieces.
    size, error : tensors
        Absolute values of what the units see, and bounds on their errors.
    unit : float

    Examples
    --------
    >>> one = torch.ones(1).double()
    >>> piece_error(one, 0 * one, 4 * one, 0.5 * one, 0.125).item()  # the value itself comes without rounding
    0.5
    >>> piece_error(-3 * one, one, 4 * one, 0.5 * one, 0.125).item() == 3 * 0.5 + 0.125 * (3 * 4 + 1)
    True
    """
    slope = slope.abs()
    own = slope * size if intercept is None else slope * size + intercept.abs()
    is_exact = (slope == 0) | (slope == 1) if intercept is None else ((slope == 0) | (slope == 1)) & (intercept == 0)
    return slope * error + torch.where(is_exact, 0.0, unit * own)


def gate_error(gate: Pointwise | Max, pre: Tensor, error: Tensor, unit: float) -> Tensor:
    """Return bounds ``(s, u)`` on the errors of a gate's output, on whichever pieces its units may be.

    Parameters
    ----------
    gate : Pointwise or Max
    pre, error : (s, u) or (s, u, k) tensors
        Pre-activations, and bounds on their errors.
    unit : float
    """
    if isinstance(gate, Max):
        return torch.where(may_be_largest(pre, error), error, 0.0).amax(-1)
    pieces = gate.pieces(pre)
    slope = gate.slope(pieces)
    passed = piece_error(slope, gate.intercept(pieces), pre.abs(), error, unit)
    steepest = gate.slopes.abs().amax(0)
    # Another piece may be the true one: the function then changes by its steepest slope at most, and jumps.
    passed = passed + torch.where(reaches_breakpoint(gate, pre, error), (steepest - slope.abs()) * error, 0.0)
    return passed if gate.is_continuous else passed + jumps_within(gate, pre, error)


def jumps_within(gate: Pointwise, pre: Tensor, error: Tensor) -> Tensor:
    """Return by how much a gate may jump between pre-activations ``(s, u)`` and what they are without their errors.

    Examples
    --------
    >>> from reluscope.networks.building.builder import GraphBuilder
    >>> gate = GraphBuilder()
    >>> step = gate.build(gate.pointwise(gate.input((1,)), "step", [1.0], [0.0, 0.0], [0.0, 5.0], may_jump=True))
    >>> pre = torch.tensor([[0.5], [0.75], [1.0], [1.5]]).double()
    >>> jumps_within(step.stages[0].gate, pre, torch.tensor([[0.25]]).double()).flatten().tolist()
    [0.0, 5.0, 5.0, 0.0]
    """
    found = torch.zeros_like(pre)
    if isinstance(gate, TopK):
        value = (gate.slopes[1] * pre + gate.intercepts[1]).abs() + gate.slopes[1].abs() * error
        return torch.where(gate.may_change(pre, error, ties=False), value, 0.0)
    for threshold, jump in zip(gate.breakpoints, gate.jumps.abs(), strict=True):
        found += torch.where(((pre - threshold).abs() <= error) & (error > 0), jump, 0.0)
    return found


def any_piece_error(gate: Pointwise, size: Tensor, error: Tensor, unit: float) -> Tensor:
    """Return bounds on the errors of a pointwise gate's output for values of up to some sizes, on any piece."""
    pieces = zip(gate.slopes, gate.intercepts, strict=True)
    exact = torch.zeros_like(error)
    own = torch.stack([piece_error(slope, start, size, exact, unit) for slope, start in pieces]).amax(0)
    return gate.slopes.abs().amax(0) * error + own


def candidate_bounds(gate: Pointwise | Max, bounds: Tensor) -> Tensor:
    """Return the bounds ``(s, u)`` or ``(s, u, k)`` of what a gate sees, by those of its input; 0 for padding."""
    found = gate.candidates(bounds)
    return found.clamp_min(0.0) if isinstance(gate, Max) else found


def reaches_breakpoint(gate: Pointwise, pre: Tensor, error: Tensor) -> Tensor:
    """Return whether pre-activations ``(s, u)`` may be on another side of a breakpoint, or are on it."""
    if isinstance(gate, TopK):
        return gate.may_change(pre, error, ties=True)
    reached = torch.zeros_like(pre, dtype=torch.bool)
    for threshold in gate.breakpoints:
        reached |= (pre - threshold).abs_() <= error
    return reached


def may_be_largest(pre: Tensor, error: Tensor) -> Tensor:
    """Return which candidates ``(s, u, k)`` of max units may be the largest."""
    return pre + error >= (pre - error).amax(-1, keepdim=True)


def rivals(pre: Tensor, error: Tensor) -> Tensor:
    """Return which candidates ``(s, u, k)`` of max units are not the largest, but may be so without rounding."""
    largest = pre.amax(-1, keepdim=True)
    # No candidate can reach the largest from further below than twice the largest bound of its unit.
    near = (pre >= largest - 2 * error.amax(-1, keepdim=True)) & (pre < largest)
    return may_be_largest(pre, error) & near if bool(near.any()) else near


def with_ties(gate: Pointwise | Max, pre: Tensor, error: Tensor) -> Tensor:
    """Return pre-activations in which candidates of a maximum that rounding alone may tell apart are equal.

    Sums of equal patches of an image differ in their last bits where a matrix product ends with other instructions
    than it began with. They stay in doubt (`in_doubt`), but are read as the ties that they nearly always are. Where
    nothing is in doubt nothing is changed.
    """
    if not isinstance(gate, Max):
        return pre
    largest = pre.amax(-1, keepdim=True)
    # Bounds that are proved say nothing of late gates.
    near = rivals(pre, error) & (pre >= largest - TIE * largest.abs())
    return torch.where(near, largest, pre) if bool(near.any()) else pre


def in_doubt(gate: Pointwise | Max, pre: Tensor, error: Tensor) -> Tensor:
    """Return for every point ``(s,)`` whether some unit could be on another piece.

    A pre-activation that is exactly on a breakpoint in float64, and candidates that are exactly equal, are read as the
    ties that they nearly always are (dead units, equal patches of an image): the tie rule decides them. Not where a
    gate jumps, unless there is no rounding at all: the value there is another one on the other side.
    """
    doubt = torch.zeros(len(pre), dtype=torch.bool, device=pre.device)
    if isinstance(gate, Max):
        return rivals(pre, error).flatten(1).any(1)
    if isinstance(gate, TopK):
        return gate.may_change(pre, error, ties=False).any(1)
    for threshold in gate.breakpoints:
        gap = pre.abs() if float(threshold.abs().max()) == 0 else (pre - threshold).abs_()
        reached = gap <= error
        if bool(reached.any()):  # hardly ever, and the exact ties among them are no doubt
            doubt |= (reached & ((gap > 0) if gate.is_continuous else (gap > 0) | (error > 0))).any(1)
    return doubt
