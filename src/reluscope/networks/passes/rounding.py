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

from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Affine, Pointwise
from reluscope.tolerance import EPSILON

# The unit of sums of up to 2^16 terms in whatever order: n eps of the sum of their magnitudes.
ANY_ORDER = EPSILON * 2**16
# Candidates of a maximum that are nearer to it, relative to it, may be ties: some thousand eps.
TIE = 2.0**-40


def affine_error(
    node: Affine, sizes: Sequence[Tensor], errors: Sequence[Tensor], unit: float, *, has_constant: bool = True
) -> Tensor:
    """Return bounds on the errors of an affine node's values.

    ``sizes`` are absolute values of each value that the node reads, ``errors`` bounds on their errors. Derivatives have
    no constant.
    """
    if not node.rounds:
        return node.magnitudes.linear(*errors)
    error = node.magnitudes.linear(*(torch.add(e, size, alpha=unit) for size, e in zip(sizes, errors, strict=True)))
    constant = node.magnitudes.constant
    return error if constant is None or not has_constant else error + unit * constant


def piece_error(slope: Tensor, intercept: Tensor | None, size: Tensor, error: Tensor, unit: float) -> Tensor:
    """Return bounds on the errors of units held to affine pieces, or of derivatives without an intercept.

    ``size`` are absolute values of the pre-activations, ``error`` bounds on their errors.
    """
    slope = slope.abs()
    own = slope * size if intercept is None else slope * size + intercept.abs()
    is_exact = (slope == 0) | (slope == 1) if intercept is None else ((slope == 0) | (slope == 1)) & (intercept == 0)
    return slope * error + torch.where(is_exact, 0.0, unit * own)


def gate_error(gate: Pointwise | Max, pre: Tensor, error: Tensor, unit: float) -> Tensor:
    """Return bounds ``(s, u)`` on the errors of a gate's output, whatever pieces its units are on."""
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
    """Return by how much a gate may jump between pre-activations ``(s, u)`` and their exact values."""
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
    """Return pre-activations in which max candidates that rounding alone may tell apart are equal.

    They stay in doubt (`in_doubt`), but are read as the ties that they nearly always are, such as sums of equal patches
    of an image. Without doubts nothing is changed.
    """
    if not isinstance(gate, Max):
        return pre
    largest = pre.amax(-1, keepdim=True)
    # Bounds that are proved say nothing of late gates.
    near = rivals(pre, error) & (pre >= largest - TIE * largest.abs())
    return torch.where(near, largest, pre) if bool(near.any()) else pre


def in_doubt(gate: Pointwise | Max, pre: Tensor, error: Tensor) -> Tensor:
    """Return for every point ``(s,)`` whether some unit could be on another piece.

    Exact ties in float64 are no doubts: the tie rule decides them. At jumps they are, unless there is no rounding at
    all.
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
