"""Networks as functions to be fitted: how far outputs are from the values that they should have."""

import time
from dataclasses import dataclass
from math import sqrt

import numpy as np
from jaxtyping import Float

from reluscope.arguments import read_arguments
from reluscope.errors import ShapeError
from reluscope.findings import Claim, Finding
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.networks.rounded_forward import rounded_forward

__all__ = ["Fit", "fits"]


@dataclass(frozen=True)
class Fit:
    """How well one output fits.

    Parameters
    ----------
    rmse : Finding
        Root of the mean squared error, in units of the output.
    mean_error : Finding
        Mean absolute error.
    determination : Finding or None
        1 - squared error / squared deviation from the mean; None where all targets are equal.
    """

    rmse: Finding
    mean_error: Finding
    determination: Finding | None


def check_targets(network: Network, targets: Float[np.ndarray, "s t"]) -> None:
    """Raise ShapeError unless there is one target for every output."""
    if targets.shape[1] != network.num_outputs:
        raise ShapeError(
            f"labels must be class numbers from 0 up, or one real number per output ({network.num_outputs}), got "
            f"{targets.shape[1]} real or negative numbers per sample: give either"
        )


@read_arguments
def fits(network: Network, x: Points, targets: Float[np.ndarray, "s t"]) -> tuple[Fit, ...]:
    """Return how well every output fits its targets y: sqrt(mean (f - y)^2), mean |f - y| and 1 - SS_res / SS_tot.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    targets : (s, m) float64

    Returns
    -------
    tuple of Fit
        One per output; EXACT within the rounding of the forward pass, stated as tolerance.

    Raises
    ------
    ShapeError
        If there is not one target per point and output.

    Notes
    -----
    About three forward passes: one for the outputs, two for the bounds on their rounding. With |e| <= d pointwise, the
    means move by at most the mean and the root mean square of d.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(1), np.zeros(1)), (np.eye(1), np.zeros(1))])
    >>> fit, = fits(net, [[1.0], [2.0]], np.array([[1.0], [1.0]]))
    >>> print(fit.mean_error, fit.determination)
    0.5 (EXACT) None
    """
    began = time.perf_counter()
    check_targets(network, targets)
    forward = rounded_forward(network, x)
    if len(forward.outputs) != len(targets):
        raise ShapeError(f"expected one target per point, got {len(targets):,} for {len(forward.outputs):,} points")
    errors = forward.outputs - targets
    doubt = forward.errors + np.finfo(float).eps * (np.abs(forward.outputs) + np.abs(targets))
    seconds = time.perf_counter() - began

    def finding(name: str, value: float, definition: str, tolerance: float) -> Finding:
        return Finding(
            value,
            Claim.EXACT,
            name=name,
            definition=definition,
            domain=f"{len(targets):,} samples",
            method="float64 forward pass with a running error bound",
            tolerance=tolerance + 1e-14 * abs(value),
            work={"seconds": seconds},
        )

    found = []
    for output in range(targets.shape[1]):
        error, slack = errors[:, output], doubt[:, output]
        which = "" if targets.shape[1] == 1 else f" of output {output}"
        squared, most = float((error**2).mean()), sqrt(float((slack**2).mean()))
        spread = float(targets[:, output].var())
        rmse = finding(f"root mean squared error{which}", sqrt(squared), "root of the mean squared error", most)
        mean = finding(
            f"mean absolute error{which}", float(np.abs(error).mean()), "mean absolute error", float(slack.mean())
        )
        share = None
        if spread > 0:
            moved = (2 * sqrt(squared) * most + most**2) / spread
            share = finding(
                f"coefficient of determination{which}",
                1 - squared / spread,
                "1 - mean squared error / variance of the targets",
                moved,
            )
        found.append(Fit(rmse, mean, share))
    return tuple(found)
