"""How far a point is from a change of class, as the affine map of its region has it.

With ``f(z) = W z + b`` on the region and i the class of the point, class j catches up on a hyperplane at the distance
``(f_i - f_j) / |w_i - w_j|``. If the least of these distances is not above that to the region's boundary, it is the
distance to the decision boundary; else the region is too small to tell, and its own size is a lower bound.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int

from reluscope.analyses.classification.classes import classes_of_outputs
from reluscope.arguments import read_arguments
from reluscope.networks.network import Network
from reluscope.networks.points import Points


@dataclass(frozen=True)
class LinearMargins:
    """Margins of points within their regions' maps.

    Parameters
    ----------
    classes : (s,) int64
        What the network says.
    rivals : (s,) int64
        The class that is nearest by the local map.
    margins : (s,) float64
        ``f_i - f_j`` for the class i and its rival j; of a single output its absolute value.
    slopes : (s,) float64
        Length of the margin's gradient.
    distances : (s,) float64
        Margin by slope: distance to the rival's hyperplane; infinite where the map cannot change its class. Outputs
        that are equal on the whole region are no rivals: the lowest one wins on all of it.
    """

    classes: Int[np.ndarray, " s"]
    rivals: Int[np.ndarray, " s"]
    margins: Float[np.ndarray, " s"]
    slopes: Float[np.ndarray, " s"]
    distances: Float[np.ndarray, " s"]


@read_arguments
def linear_margins(network: Network, x: Points) -> LinearMargins:
    """Return the margin, its gradient and the distance to the nearest rival, by the local map of every point.

    Parameters
    ----------
    network : Network
        A classifier: the largest output wins, or a single output is above 0.
    x : (s, *input_shape) or (s, n)

    Returns
    -------
    LinearMargins

    Notes
    -----
    Outputs from the forward pass and one `Network.linearize`; the maps of all points are alive at once.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> linear_margins(net, [[3.0, 1.0]]).distances  # the diagonal is this far from (3, 1)
    array([1.41421356])
    """
    points = network.points(x)
    outputs = network(points).reshape(len(points), -1)
    return margins_of_maps(outputs, network.linearize(points).weight)


def margins_of_maps(outputs: Float[torch.Tensor, "s m"], weight: Float[torch.Tensor, "s m n"]) -> LinearMargins:
    """Return margins from outputs and the weights of the local maps; see `linear_margins`."""
    values = outputs.cpu().numpy()
    classes = classes_of_outputs(values)
    rows = np.arange(len(values))
    if values.shape[1] == 1:
        margins, slopes = np.abs(values), torch.linalg.vector_norm(weight, dim=-1).cpu().numpy()
        rivals = np.zeros(len(values), dtype=np.int64)
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = np.where(slopes > 0, margins / slopes, np.inf)
        return LinearMargins(classes, 1 - classes, margins[:, 0], slopes[:, 0], distances[rows, rivals])
    chosen = torch.as_tensor(classes, device=weight.device)
    own = weight[torch.arange(len(weight), device=weight.device), chosen]
    slopes = torch.stack(
        [torch.linalg.vector_norm(own - weight[:, other], dim=-1) for other in range(weight.shape[1])], dim=1
    )
    slopes = slopes.cpu().numpy()
    margins = values[rows, classes][:, None] - values
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = np.where(slopes > 0, margins / slopes, np.inf)
    distances[rows, classes] = np.inf
    masked = np.where(np.arange(values.shape[1]) == classes[:, None], np.inf, margins)
    rivals = np.where(np.isfinite(distances).any(axis=1), distances.argmin(axis=1), masked.argmin(axis=1))
    return LinearMargins(classes, rivals, margins[rows, rivals], slopes[rows, rivals], distances[rows, rivals])
