"""What rounding could change: a running error bound beside the forward pass.

With e the bound on the error of a value h, an affine node ``W h + b`` has the bound
``|W| (e + gamma |h|) + gamma |b|``, where ``gamma = rounding * eps``. A unit passes on the error times the slope it
uses; where the bound reaches a breakpoint, its piece is in doubt and the steepest slope counts.

A pre-activation that is exactly on a breakpoint in float64, and candidates that are exactly equal, are read as the ties
that they nearly always are (dead units, equal patches of an image); the tie rule decides them and nothing is in doubt.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from reluscope.codes.packed import Codes
from reluscope.networks.graph import Affine, Max, Node, Pointwise
from reluscope.networks.network import BUDGET, Network
from reluscope.networks.points import Points, chunks
from reluscope.networks.stages import WITHOUT_ROUNDING, Stage
from reluscope.tolerance import Tolerance

# Values are looked at several times: smaller chunks stay closer to the processor, which is twice as fast.
CLOSE_BUDGET = 32 * 2**20
# Values, their bounds, and what both pass through on the way.
COPIES = 12


@dataclass(frozen=True)
class RoundedForward:
    """A forward pass with what rounding could change.

    Parameters
    ----------
    outputs : (s, m) float64
    errors : (s, m) float64
        Bounds on the errors of the outputs.
    doubtful : (s, gates) bool
        Whether some unit of the gate could be on another piece.
    """

    outputs: Float[np.ndarray, "s m"]
    errors: Float[np.ndarray, "s m"]
    doubtful: Bool[np.ndarray, "s gates"]


@torch.no_grad()
def rounded_forward(network: Network, x: Points, *, tolerance: Tolerance | None = None) -> RoundedForward:
    """Evaluate a network with a bound on the rounding of every value.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        Taken as exact.
    tolerance : Tolerance, optional
        Its safety factor for rounding.

    Returns
    -------
    RoundedForward

    Notes
    -----
    About three forward passes. The factor 16 of the default tolerance covers sums as they are computed in practice,
    pairwise or in blocks; the worst order of a sum of n terms would need n.

    References
    ----------
    Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 3.3: running error analysis.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0, -1.0]]), np.array([0.0])), (np.eye(1), np.zeros(1))])
    >>> rounded_forward(net, [[1.0, 1.0 + 2**-52], [0.0, 0.0], [2.0, 1.0]]).doubtful.ravel()
    array([ True, False, False])
    """
    gamma = (Tolerance() if tolerance is None else tolerance).rounding * torch.finfo(torch.float64).eps
    points = network.points(x)
    last_use = {source: position for position, node in enumerate(network.nodes) for source in node.inputs}
    last_use[network.output] = len(network.nodes)
    # Into place at once: small results between large temporaries would keep their memory from being used again.
    outputs, errors = (np.empty((len(points), network.num_outputs)) for _ in range(2))
    doubtful = np.empty((len(points), len(network.gates)), dtype=bool)
    for rows in chunks(len(points), COPIES * network.bytes_per_point, BUDGET // 4):
        found = _forward(network, points[rows], gamma, last_use)
        for whole, part in zip((outputs, errors, doubtful), found, strict=True):
            whole[rows] = part.cpu().numpy()
    return RoundedForward(outputs, errors, doubtful)


@torch.no_grad()
def forward_with_errors(
    network: Network, x: Points, *, tolerance: Tolerance | None = None
) -> tuple[Float[np.ndarray, "s m"], Float[np.ndarray, "s m"]]:
    """Evaluate a network at points that are alike, with bounds on rounding that many of them share.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        Taken as exact, of one scale: the largest values decide for all.
    tolerance : Tolerance, optional
        Its safety factor for rounding.

    Returns
    -------
    outputs, errors : (s, m) float64

    Notes
    -----
    One forward pass, and two more of a single point: the error analysis of `networks.stages`, which adds up errors of
    different roundings as independent ones. `rounded_forward` is tighter, for three passes.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0, -1.0]]), np.array([0.0])), (np.eye(1), np.zeros(1))])
    >>> outputs, errors = forward_with_errors(net, [[3.0, 1.0], [0.5, 1.0]])
    >>> outputs.ravel(), bool((errors > 0).all() and (errors < 1e-13).all())
    (array([2., 0.]), True)
    """
    gamma = (Tolerance() if tolerance is None else tolerance).rounding * torch.finfo(torch.float64).eps
    points = network.points(x)
    found = [
        _with_errors(network, points[rows], gamma) for rows in chunks(len(points), network.bytes_per_point, BUDGET)
    ]
    outputs, errors = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return outputs, errors


@torch.no_grad()
def coded_forward(network: Network, x: Points, *, tolerance: Tolerance | None = None) -> tuple[RoundedForward, Codes]:
    """Evaluate a network once, for codes and outputs, with bounds on rounding that many points share.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        Taken as exact, of one scale: the largest values decide for all.
    tolerance : Tolerance, optional
        Its safety factor for rounding.

    Returns
    -------
    RoundedForward, Codes

    Notes
    -----
    One forward pass, where `rounded_forward` and the codes take four; the bounds are those of `forward_with_errors`,
    looser, so that a few more points can be in doubt.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0, -1.0]]), np.array([0.0])), (np.eye(1), np.zeros(1))])
    >>> forward, codes = coded_forward(net, [[1.0, 1.0 + 2**-52], [0.0, 0.0], [2.0, 1.0]])
    >>> forward.doubtful.ravel(), codes.to_array().ravel()
    (array([ True, False, False]), array([0, 0, 1], dtype=uint8))
    """
    gamma = (Tolerance() if tolerance is None else tolerance).rounding * torch.finfo(torch.float64).eps
    points, layout = network.points(x), network.layout
    found = []
    for rows in chunks(len(points), network.bytes_per_point, CLOSE_BUDGET):
        pieces: list[np.ndarray] = []
        doubts = [np.zeros((rows.stop - rows.start, 0), dtype=bool)]

        def look(stage: Stage, pre: Tensor, error: np.ndarray, pieces=pieces, doubts=doubts) -> None:
            pieces.append(stage.gate.pieces(pre).cpu().numpy())
            bound = torch.tensor(error, device=pre.device)  # a copy, because the bound cannot be written to
            doubts.append(_in_doubt(stage.gate, pre, bound).cpu().numpy()[:, None])

        outputs, errors = _with_errors(network, points[rows], gamma, look)
        words = Codes.from_pieces(pieces, layout, num_codes=len(outputs)).words
        found.append((outputs, errors, np.concatenate(doubts, axis=1), words))
    outputs, errors, doubtful, words = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return RoundedForward(outputs, errors, doubtful), Codes(words, layout)


def _with_errors(
    network: Network,
    x: Tensor,
    gamma: float,
    look: Callable[[Stage, Tensor, np.ndarray], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    values = network.start(x)
    errors = {position: torch.zeros_like(value[:1]) for position, value in values.items()}
    for stage in network.stages:
        size, error, errors = stage.advance_errors(_sizes(values, stage.reads), errors, gamma)
        pre, live = stage.advance(values)
        if look is not None:
            look(stage, pre, error)
        values = stage.close(live, pre)
        # Any piece may be the one that is used: a unit near its kink passes on errors that it seems to cut off.
        pieces = np.broadcast_to(np.arange(stage.gate.num_pieces)[:, None], (stage.gate.num_pieces, len(size)))
        errors = {**errors, stage.position: stage.pass_errors(size, error, pieces, gamma)}
    outputs = network.finish(values).reshape(len(x), -1).cpu().numpy()
    bounds = network.finish.errors(_sizes(values, network.finish.reads), errors, gamma)
    return outputs, np.broadcast_to(bounds, outputs.shape)


def _in_doubt(gate: Pointwise | Max, pre: Tensor, bound: Tensor) -> Tensor:
    """Whether some unit could be on another piece, for every point; exact ties are read as ties."""
    if isinstance(gate, Max):
        largest = pre.amax(-1, keepdim=True)
        # No candidate can reach the largest from further below than twice the largest bound of its unit.
        near = (pre >= largest - 2 * bound.amax(-1, keepdim=True)) & (pre < largest)
        if not bool(near.any()):
            return torch.zeros(len(pre), dtype=torch.bool, device=pre.device)
        close = pre + bound >= (pre - bound).amax(-1, keepdim=True)
        return (close & near).flatten(1).any(1)
    doubt = torch.zeros(len(pre), dtype=torch.bool, device=pre.device)
    for threshold in gate.breakpoints:
        gap = pre.abs() if float(threshold.abs().max()) == 0 else (pre - threshold).abs_()
        reached = gap <= bound
        if bool(reached.any()):  # hardly ever, and the exact ties among them are no doubt
            doubt |= (reached & (gap > 0)).any(1)
    return doubt


def _sizes(values: dict[int, Tensor], reads: tuple[int, ...]) -> dict[int, Tensor]:
    return {position: values[position].abs().amax(0, keepdim=True) for position in reads}


def _forward(network: Network, x: Tensor, gamma: float, last_use: dict[int, int]) -> tuple[Tensor, Tensor, Tensor]:
    values, errors = {0: x}, {0: torch.zeros_like(x)}
    doubts = []
    for position, node in enumerate(network.nodes):
        if isinstance(node, Affine):
            inner = [values[source] for source in node.inputs]
            own = 0.0 if isinstance(node, WITHOUT_ROUNDING) else gamma
            moved = [errors[source] + own * values[source].abs() for source in node.inputs]
            values[position] = node.apply(*inner)
            # Sizes of weights are made anew for each chunk: to keep them would double the network.
            error = node.absolute().linear(*moved)
            errors[position] = error if node.constant is None else error + own * node.constant.abs()
        elif position:
            values[position], errors[position], doubt = _gate(
                node, values[node.inputs[0]], errors[node.inputs[0]], gamma
            )
            doubts.append(doubt)
        for source in node.inputs:
            if last_use[source] == position:
                values.pop(source, None)
                errors.pop(source, None)
    size = len(x)
    doubtful = torch.stack(doubts, dim=1) if doubts else torch.zeros(size, 0, dtype=torch.bool, device=x.device)
    return values[network.output].reshape(size, -1), errors[network.output].reshape(size, -1), doubtful


def _gate(node: Node, value: Tensor, error: Tensor, gamma: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return a gate's value, its error bound, and for which points a unit is in doubt."""
    assert isinstance(node, Pointwise | Max)
    pre = node.candidates(value)
    bound = node.candidates(error).clamp_min(0.0)  # padding, minus infinity, has no error
    if isinstance(node, Pointwise):
        doubt, reached = (torch.zeros_like(pre, dtype=torch.bool) for _ in range(2))
        for threshold in node.breakpoints:
            gap = (pre - threshold).abs()
            reached |= gap <= bound
            doubt |= (gap > 0) & (gap <= bound)
        pieces = node.pieces(pre)
        used = node.slope(pieces).abs()
        passed = torch.where(reached, node.slopes.abs().amax(0), used) * bound
        # Zero and the value itself come without rounding.
        plain = ((used == 0) | (used == 1)) & (node.intercept(pieces) == 0)
        passed = passed + gamma * torch.where(plain, 0.0, node.apply(pre).reshape(pre.shape).abs())
    else:
        # Every candidate that could be the largest.
        close = pre + bound >= (pre - bound).amax(-1, keepdim=True)
        doubt = (close & (pre < pre.amax(-1, keepdim=True))).any(-1)
        passed = torch.where(close, bound, 0.0).amax(-1)
    result = node.apply(pre)
    return result, passed.reshape(result.shape), doubt.any(1)
