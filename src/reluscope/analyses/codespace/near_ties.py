"""Which codes rounding could change: pre-activations nearer to a breakpoint than their rounding bound.

The bound of a unit is ``rounding * eps * (|W| |h| + |b|)``, from the largest entry of h, as the partition has it: the
rounding of the unit's own sum, with room for what earlier ones pass on.
"""

import numpy as np
import torch
from jaxtyping import Bool

from reluscope.networks.graph import Pointwise
from reluscope.networks.network import BUDGET, Network
from reluscope.networks.points import Points, chunks
from reluscope.networks.stages import Stage
from reluscope.tolerance import Tolerance


@torch.no_grad()
def near_ties(network: Network, x: Points, *, tolerance: Tolerance | None = None) -> Bool[np.ndarray, "s gates"]:
    """Return for every point and gate whether some unit's piece could change by rounding.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    tolerance : Tolerance, optional
        Its safety factor for rounding.

    Returns
    -------
    (s, gates) bool
        False where every pre-activation is farther from its breakpoints than the bound, or exactly on one. An exact
        tie is no doubt: a dead unit is 0 in any arithmetic, and the tie rule decides.

    Notes
    -----
    One forward pass, and one with absolute weights.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0, -1.0]]), np.array([0.0])), (np.eye(1), np.zeros(1))])
    >>> near_ties(net, [[1.0, 1.0], [1.0, 0.0], [1.0, 1.0 + 2**-52]]).ravel()
    array([False, False,  True])
    """
    tolerance = Tolerance() if tolerance is None else tolerance
    points = network.points(x)
    found = np.zeros((len(points), len(network.gates)), dtype=bool)
    for rows in chunks(len(points), network.bytes_per_point, BUDGET):
        values = network.start(points[rows])
        for stage in network.stages:
            level = torch.stack([values[source].abs().flatten(1).amax(1) for source in stage.reads]).amax(0)
            pre, live = stage.advance(values)
            found[rows, stage.index] = _in_doubt(stage, pre, level, tolerance.rounding).cpu().numpy()
            values = stage.close(live, pre)
    return found


def _in_doubt(stage: Stage, pre: torch.Tensor, level: torch.Tensor, rounding: float) -> torch.Tensor:
    if stage.gate.num_units == 0:
        return torch.zeros(len(pre), dtype=torch.bool, device=pre.device)
    gain, offset = (torch.as_tensor(np.array(bound), device=pre.device) for bound in (stage.gain, stage.offset))
    scale = rounding * torch.finfo(torch.float64).eps
    if isinstance(stage.gate, Pointwise):
        bound = scale * (level[:, None] * gain + offset)
        breakpoints = stage.gate.breakpoints
        near = torch.zeros_like(pre, dtype=torch.bool)
        for breakpoint_row in breakpoints:
            gap = (pre - breakpoint_row).abs()
            near |= (gap > 0) & (gap <= bound)
        return near.any(1)
    if pre.shape[-1] < 2:
        return torch.zeros(len(pre), dtype=torch.bool, device=pre.device)
    two = pre.topk(2, dim=-1).values
    gap = two[..., 0] - two[..., 1]
    bound = scale * (level[:, None] * gain.amax(-1) + offset.amax(-1))
    return ((gap > 0) & (gap <= 2 * bound)).any(1)
