"""How far a point is from a change of class, by the affine map of its linear region.

With ``f(z) = W z + b`` on the region and i the class of the point, class j catches up on a hyperplane at the distance
``(f_i - f_j) / |w_i - w_j|``. If the least of these distances is not above that to the region's boundary, it is the
distance to the decision boundary; else the hyperplane is outside of the region, and the distance to the region's
boundary is a lower bound.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from reluscope.analyses.classification.class_predictions import classes_of_outputs
from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.arguments import Count, read_arguments
from reluscope.budget import BlockBudget
from reluscope.effort import Effort
from reluscope.findings import Column, Findings, declare
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.point_evaluation import bytes_of_gates
from reluscope.progress import Progress, share_done
from reluscope.tolerance import Tolerance

# Relative to a quotient: its rounding, and that of its ends.
QUOTIENT = 2.0**-50
MEMORY = 64 * 2**20
MARGIN = declare(
    "margin",
    "f_i - f_j for the class i of the point and the rival j whose hyperplane is nearest; of a single output f, which "
    "is compared with 0, its absolute value",
    unit="output",
    least=-np.inf,
)
MARGIN_SLOPE = declare(
    "margin_slope",
    "length of w_i - w_j in the affine map on the linear region of the point, for its class i and the rival j whose "
    "hyperplane is nearest",
)
RIVAL_DISTANCE = declare(
    "rival_distance",
    "distance from the point to the hyperplane on which its class i and the rival j are equal, in the affine map on "
    "the linear region of the point; infinite where the map cannot change the class",
    unit="input",
)
METHOD = "float64 with bounds on rounding; class and rival as float64 has them"


class Margins(NamedTuple):
    """Classes of points, their nearest rivals by the local maps, and what lies between them, in float64.

    Outputs that are equal on the whole region are no rivals: the lowest one wins on all of it.
    """

    classes: Int[np.ndarray, " s"]
    rivals: Int[np.ndarray, " s"]
    values: Float[np.ndarray, " s"]  # ``f_i - f_j`` for the class i and its rival j
    slopes: Float[np.ndarray, " s"]  # length of the gradient of ``f_i - f_j``
    distances: Float[np.ndarray, " s"]  # value by slope


@read_arguments
def linear_margins(
    network: Network,
    x: Points,
    *,
    population: Count | None = None,
    budget: BlockBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return margin, margin slope and distance to the closest rival, by the local map of every point.

    Parameters
    ----------
    network : Network
        A classifier: by the largest output, or by the sign of a single output (above 0).
    x : (s, *input_shape) or (s, n)
        In random order if the time may not suffice for all.
    population : int, optional
        Population size if the samples are a random draw; by default the samples are all.
    budget : Budget, optional
        Seconds, and bytes for the maps of a block, by default 64 MB.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    tolerance : Tolerance, optional
        Its safety factor for rounding.

    Returns
    -------
    Findings
        ``margin``, ``margin_slope`` and ``rival_distance`` of every sample, as intervals that include rounding.
        Details: its ``class`` and the ``rival``.

    Notes
    -----
    One forward pass with bounds on rounding gives outputs, their errors and the pieces of all units. Maps follow as
    in `Network.linearize`; two more passes bound their rounding. Margins are known up to the errors of outputs,
    slopes up to the errors of maps, distances up to both. If rounding could change the code of a sample, and with
    it the map, nothing is known of its slope and distance.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> found = rs.coefficients.linear_margins(net, [[3.0, 1.0]])
    >>> print(found.finding("rival_distance"), found.details["rival"])  # the diagonal is this far from (3, 1)
    1.41421 (EXACT) [1]
    """
    network = network.scores
    points = network.points(x)

    def ask(block: slice) -> Measured:
        at = network.at(points[block], tolerance=tolerance).with_gates()
        found = margins_of_maps(at.outputs, at.maps.weight)
        rows = np.arange(len(at))
        of_outputs = at.errors[rows, found.classes % network.num_outputs] + (
            at.errors[rows, found.rivals] if network.num_outputs > 1 else 0.0
        )
        # Of another code than that in float64 nothing is known.
        of_maps = np.where(at.is_in_doubt[:, None], np.inf, at.map_errors)
        columns = _columns(found, of_outputs, slope_errors(found, of_maps))
        return Measured(columns, {"class": found.classes, "rival": found.rivals})

    with share_done("margins", progress) as report_progress:
        effort = Effort.of(budget, None, report_progress)
        per_sample = 8 * network.num_outputs * network.num_inputs + bytes_of_gates(network)
        return measure(len(points), ask, effort, population=population, bytes_per_sample=per_sample, memory=MEMORY)


def margins_of_maps(outputs: Float[np.ndarray, "s m"], weight: Float[torch.Tensor, "s m n"]) -> Margins:
    """Return margins from outputs and the weights of the local maps."""
    classes = classes_of_outputs(outputs)
    rows = np.arange(len(outputs))
    if outputs.shape[1] == 1:
        values, slopes = np.abs(outputs[:, 0]), torch.linalg.vector_norm(weight[:, 0], dim=-1).cpu().numpy()
        return Margins(classes, 1 - classes, values, slopes, _distances(values, slopes))
    chosen = torch.as_tensor(classes, device=weight.device)
    own = weight[torch.arange(len(weight), device=weight.device), chosen]
    slopes = torch.stack(
        [torch.linalg.vector_norm(own - weight[:, other], dim=-1) for other in range(weight.shape[1])], dim=1
    )
    slopes = slopes.cpu().numpy()
    values = outputs[rows, classes][:, None] - outputs
    distances = _distances(values, slopes)
    distances[rows, classes] = np.inf
    others = np.where(np.arange(outputs.shape[1]) == classes[:, None], np.inf, values)
    rivals = np.where(np.isfinite(distances).any(axis=1), distances.argmin(axis=1), others.argmin(axis=1))
    return Margins(classes, rivals, *(table[rows, rivals] for table in (values, slopes, distances)))


def slope_errors(found: Margins, of_maps: Float[np.ndarray, "s m"]) -> Float[np.ndarray, " s"]:
    """Return bounds on the rounding of margins' slopes from those of the maps' rows."""
    if of_maps.shape[1] == 1:
        return of_maps[:, 0]
    rows = np.arange(len(of_maps))
    return of_maps[rows, found.classes] + of_maps[rows, found.rivals]


def _distances(values: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(slopes > 0, values / slopes, np.inf)


def _columns(
    found: Margins, of_outputs: Float[np.ndarray, " s"], of_slopes: Float[np.ndarray, " s"]
) -> tuple[Column, ...]:
    """Return the columns of margins, of which values and slopes are known up to errors."""
    low, high = found.values - of_outputs, found.values + of_outputs
    flattest, steepest = np.maximum(found.slopes - of_slopes, 0.0), found.slopes + of_slopes
    # A quotient of two ends is rounded once more.
    with np.errstate(over="ignore"):
        nearest = np.maximum(low, 0.0) / np.maximum(steepest, np.finfo(float).tiny) * (1 - QUOTIENT)
    farthest = _distances(high, flattest) * (1 + QUOTIENT)
    return (
        Column.of(MARGIN, found.values, low, high, method=METHOD),
        Column.of(MARGIN_SLOPE, found.slopes, flattest, steepest, method=METHOD),
        Column.of(
            RIVAL_DISTANCE,
            found.distances,
            nearest,
            farthest,
            method=METHOD,
        ),
    )
