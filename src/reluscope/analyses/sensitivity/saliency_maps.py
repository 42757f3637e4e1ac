"""Contributions of the inputs to an output, by the exact local map ``f(x) = w . x + b``.

The gradient w says how the output answers to small changes within the region; the products ``w_i x_i`` add up, with the
constant b, to the output itself. The constant belongs to no input.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.classification.class_predictions import classes_of_outputs
from reluscope.arguments import read_arguments, read_position
from reluscope.errors import ShapeError
from reluscope.findings import Finding
from reluscope.networks.evaluation.choices import read_outputs
from reluscope.networks.evaluation.linearize import linearize
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.point_evaluation import BUDGET
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False, repr=False)
class Saliency(Shown):
    """Gradient, contributions of the inputs and constant of one output at every sample.

    Parameters
    ----------
    outputs : (s,) int64
        Index of the output for each sample.
    gradients : (s, n) float64
        Derivative of the output by each input.
    contributions : (s, n) float64
        Gradient times input.
    constants : (s,) float64
        The output minus all contributions.
    gradient_errors : (s,) float64
        Bounds on the sum of the rounding errors of all entries of the gradient.
    constant_errors : (s,) float64
        Bounds on the rounding of the constants.
    scale : (s,) float64
        Largest absolute entry of each sample, the weight of gradient errors in sums.
    """

    outputs: Int[np.ndarray, " s"]
    gradients: Float[np.ndarray, "s n"]
    contributions: Float[np.ndarray, "s n"]
    constants: Float[np.ndarray, " s"]
    gradient_errors: Float[np.ndarray, " s"]
    constant_errors: Float[np.ndarray, " s"]
    scale: Float[np.ndarray, " s"]

    def __len__(self) -> int:
        return len(self.outputs)

    @property
    def values(self) -> Float[np.ndarray, " s"]:
        """The output: contributions and constant added up."""
        return self.contributions.sum(axis=1) + self.constants

    @read_arguments
    def constant_share(self, row: int) -> Finding:
        """Return which share of all that is added up to a sample's output is the constant.

        Returns
        -------
        Finding
            EXACT where rounding leaves nine digits; from 0 to 1 where everything is as small as rounding.
        """
        row = read_position(row, "row", len(self), "samples")
        constant = abs(float(self.constants[row]))
        total = constant + float(np.abs(self.contributions[row]).sum())
        error = float(self.gradient_errors[row] * self.scale[row] + self.constant_errors[row]) + 16 * EPSILON * total
        known = total > 2 * error
        value = constant / total if known else 0.0
        apart = 2 * error / (total - error) if known else 1.0
        return Finding.of(
            value,
            max(0.0, value - apart),
            min(1.0, value + apart),
            name=f"share of the constant, output {self.outputs[row]}",
            definition="|b| / (|b| + sum of |w_i x_i|) for the map w . x + b of the sample's float64 code",
            domain="one sample",
            method="the map of the sample's code, float64",
            is_share=True,
        )


@read_arguments
def saliency(
    network: Network, x: Points, *, outputs: Sequence[int] | None = None, tolerance: Tolerance | None = None
) -> Saliency:
    """Return the gradient of an output and the contribution of each input, at samples.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        At a tie, the affine map is that of the sample's code.
    outputs : sequence of int, optional
        One for each sample; by default the output of its class, the largest one.
    tolerance : Tolerance, optional
        Its safety factor for rounding.

    Returns
    -------
    Saliency

    Raises
    ------
    ShapeError
        If there is not one output for each sample.
    InputError
        If an output does not exist.

    Notes
    -----
    One `Network.linearize` of all samples for every output that occurs, and five forward passes. Contributions
    depend on the choice of zero in input space: a shift of the data changes them, but not the gradients.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.array([0.0, -1.0])), (np.array([[2.0, 3.0]]), np.array([0.5]))])
    >>> found = rs.sensitivity.saliency(net, [[1.0, 2.0]])  # 2 x_0 + 3 (x_1 - 1) + 0.5
    >>> found.gradients, found.contributions, found.constants, found.values
    (array([[2., 3.]]), array([[2., 6.]]), array([-2.5]), array([5.5]))
    """
    points = network.points(x)
    flat = points.reshape(len(points), -1).cpu().numpy()
    chosen = chosen_outputs(network, points, outputs)
    gradients, constants = np.empty_like(flat), np.empty(len(flat))
    at = network.at(points, tolerance=tolerance)
    pieces = at.pieces
    for output in np.unique(chosen):
        rows = np.flatnonzero(chosen == output)
        maps = linearize(network, points[rows], [int(output)], BUDGET, [table[rows] for table in pieces])
        gradients[rows], constants[rows] = maps.weight[:, 0].cpu().numpy(), maps.bias[:, 0].cpu().numpy()
    rows = np.arange(len(flat))
    errors = at.map_errors[rows, chosen], at.constant_errors[rows, chosen]
    return Saliency(chosen, gradients, gradients * flat, constants, *errors, np.abs(flat).max(axis=1))


def chosen_outputs(network: Network, points: Points, outputs: Sequence[int] | None) -> Int[np.ndarray, " s"]:
    """Return one output for each sample, by default that of its class."""
    if outputs is None:
        values = network.scores(points)
        values = values.reshape(len(values), -1).cpu().numpy()
        return classes_of_outputs(values) if values.shape[1] > 1 else np.zeros(len(values), dtype=np.int64)
    chosen = read_outputs(outputs, network.num_outputs)
    if len(chosen) != len(points):
        raise ShapeError(f"expected one output for each of {len(points)} samples, got {len(chosen)}")
    return np.array(chosen, dtype=np.int64)
