"""Networks as functions to be fitted: how far outputs are from the values that they should have."""

import time

import numpy as np
from jaxtyping import Float

from reluscope.arguments import read_arguments
from reluscope.errors import ShapeError
from reluscope.findings import Column, Findings, declare
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.file_outputs import num_file_outputs
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network

__all__ = ["fits"]

# Relative to a mean or a share: rounding of the sums over samples.
EPSILON = 1e-14
METHOD = "float64 forward pass with a running error bound"
RMSE = declare(
    "root_mean_squared_error", "root of the mean over samples of the squared error of the output", unit="output"
)
MEAN_ERROR = declare("mean_absolute_error", "mean over samples of the absolute error of the output", unit="output")
DETERMINATION = declare(
    "coefficient_of_determination",
    "1 - mean squared error / variance of the targets of the output",
    least=-np.inf,
    most=1.0,
)


def check_number_of_targets(targets: Float[np.ndarray, "s t"], num_outputs: int) -> None:
    """Raise ShapeError unless there is one target for each of so many outputs."""
    if targets.shape[1] != num_outputs:
        raise ShapeError(
            f"labels must be class numbers from 0 up, or one real number per output ({num_outputs}), got "
            f"{targets.shape[1]} real or negative numbers per sample: give either"
        )


@read_arguments
def fits(network: Network, x: Points, targets: Float[np.ndarray, "s t"]) -> Findings:
    """Return the fit of outputs f to targets y: sqrt(mean (f - y)^2), mean |f - y|, 1 - SS_res / SS_tot.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    targets : (s, m) float64
        Required outputs of the model; for a model that ends with a sigmoid, between 0 and 1.

    Returns
    -------
    Findings
        For every output ``root_mean_squared_error``, ``mean_absolute_error`` and ``coefficient_of_determination``,
        with intervals for the rounding of the forward pass. The coefficient is undefined if all targets of an
        output are equal.

    Raises
    ------
    ShapeError
        If there is not one target per point and output.

    Notes
    -----
    About three forward passes: one for the outputs, two for their rounding bounds. If |e| <= d pointwise, the means
    change by at most the mean and the root mean square of d.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(1), np.zeros(1)), (np.eye(1), np.zeros(1))])
    >>> print(rs.regression.fits(net, [[1.0], [2.0]], np.array([[1.0], [3.0]])).finding("mean_absolute_error"))
    0.5 (EXACT)
    """
    began = time.perf_counter()
    check_number_of_targets(targets, num_file_outputs(network))
    forward = rounded_forward(network, x)
    outputs, rounding = forward.outputs, forward.errors
    if len(outputs) != len(targets):
        raise ShapeError(f"expected one target per point, got {len(targets):,} for {len(outputs):,} points")
    if network.left_off is not None:
        outputs, rounding = network.left_off.values(outputs, rounding)
    errors = outputs - targets
    doubt = rounding + np.finfo(float).eps * (np.abs(outputs) + np.abs(targets))
    squared, slack = (errors**2).mean(axis=0), np.sqrt((doubt**2).mean(axis=0))
    # Of differences, so that targets which hardly differ keep the digits of their variance.
    root, spread = np.sqrt(squared), (targets - targets[:1]).var(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(spread > 0, 1 - squared / spread, np.nan)
        moved = (2 * root * slack + slack**2) / spread
    absolute = np.abs(errors).mean(axis=0)
    columns = [
        Column.of(quantity, value, np.maximum(value - error, quantity.least), value + error, method=METHOD)
        for quantity, value, error in (
            (RMSE, root, slack + EPSILON * root),
            (MEAN_ERROR, absolute, doubt.mean(axis=0) + EPSILON * absolute),
        )
    ]
    moved += EPSILON * np.abs(share)
    columns.append(Column.of(DETERMINATION, share, share - moved, np.minimum(share + moved, 1.0), method=METHOD))
    return Findings.of(
        *columns,
        keys={"output": np.arange(targets.shape[1])},
        domain=f"{len(targets):,} samples",
        num_samples=len(targets),
        seconds=time.perf_counter() - began,
    )
