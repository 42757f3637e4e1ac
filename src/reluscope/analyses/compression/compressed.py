"""Outputs of a network that is left a few affine functions per output, and the four rules that choose one at a point.

``own_map`` is the rule of Sattelberg 2026, section 7.2: the centre nearest to the sample's *own* row. It takes the true
Jacobian of the network at every sample, so that it measures how redundant the maps are, and is no smaller classifier.
The other rules read the input alone, and are classifiers of their own once the clusters are there.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np
import scipy.sparse
from jaxtyping import Bool, Float, Int

from reluscope.analyses.coefficients.matrices import CoefficientMatrices
from reluscope.analyses.compression.map_clusters import MapClusters, squared_distances
from reluscope.analyses.compression.rounded_sums import gamma
from reluscope.arguments import read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.networks.evaluation.rounded_forward import RoundedForward, coded_forward

Rule = Literal["own_map", "mean_input", "nearest_sample", "logistic"]

RULES: tuple[Rule, ...] = get_args(Rule)
# Rows, inputs and means are taken as known up to this share of their size.
RELATIVE_ERROR = 2.0**-40
NEIGHBORS = 4
SAMPLES_IN_BLOCK = 2_000


@read_arguments
def compressed_outputs(clusters: MapClusters, samples: CoefficientMatrices, rule: Rule = "own_map") -> RoundedForward:
    """Return outputs at samples: output j is ``g . x + c`` of the centre that the rule selects for it.

    Parameters
    ----------
    clusters : MapClusters
    samples : CoefficientMatrices
        Of the same outputs, at the samples to evaluate. Coefficients are computed for ``own_map`` only.
    rule : {"own_map", "mean_input", "nearest_sample", "logistic"}
        Selection of the centre. ``own_map``: the centre closest to the coefficients of the sample (requires its
        Jacobian). ``mean_input``: the centre whose training inputs have the closest mean. ``nearest_sample``: the
        centre of the closest training input; all training inputs are kept. ``logistic``: the centre predicted by
        logistic regression on standardised inputs.

    Returns
    -------
    RoundedForward
        Outputs with bounds on their errors. They include rounding and undecided choices between centres. Choices of
        logistic regression count as certain.

    Raises
    ------
    ShapeError
        If the samples have other inputs or outputs than the clusters.
    InputError
        If the rule is unknown.

    Notes
    -----
    ``own_map`` costs one pass over the coefficients, ``nearest_sample`` all distances to the training inputs.

    References
    ----------
    .. [sattelberg2026] Section 7.2.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 2.0]]), np.zeros(1))])
    >>> clusters = rs.compression.cluster_maps(rs.coefficients.matrix(net, [[-1.0], [-2.0], [3.0]]), 2)
    >>> asked = rs.coefficients.matrix(net, [[-5.0], [7.0]])
    >>> rs.compression.compressed_outputs(clusters, asked, "nearest_sample").outputs
    array([[10.],
           [ 7.]])
    """
    return compressed_outputs_by_number([clusters], samples, rule)[0]


def compressed_outputs_by_number(
    found: Sequence[MapClusters], samples: CoefficientMatrices, rule: Rule
) -> list[RoundedForward]:
    """Return the outputs for several numbers of clusters of the same training samples, in one pass."""
    if rule not in RULES:
        raise InputError(f"expected one of the rules {', '.join(RULES)}, got {rule!r}")
    for clusters in found:
        if samples.num_outputs != len(clusters.centers) or samples.num_inputs != clusters.inputs.shape[1]:
            raise ShapeError(
                f"expected samples of {clusters.inputs.shape[1]} inputs and {len(clusters.centers)} outputs as the "
                f"clusters have, got {samples!r}"
            )
    outputs = np.zeros((len(found), len(samples), samples.num_outputs))
    errors = np.zeros_like(outputs)
    for rows, inputs, choices in _choices(found, samples, rule):
        for which, clusters in enumerate(found):
            for j, (centers, choice) in enumerate(zip(clusters.centers, choices[which], strict=True)):
                outputs[which, rows, j], errors[which, rows, j] = _values(inputs, centers, *choice)
    doubtful = np.zeros((len(samples), 0), dtype=bool)
    return [RoundedForward(*values, doubtful) for values in zip(outputs, errors, strict=True)]


def _values(
    inputs: np.ndarray, centers: np.ndarray, best: np.ndarray, possible: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what the chosen centres give, and how far that may be off."""
    values = inputs @ centers[:, :-1].T + centers[:, -1]
    rounding = np.abs(inputs) @ np.abs(centers[:, :-1]).T + np.abs(centers[:, -1])
    chosen = values[np.arange(len(best)), best]
    spread = np.where(possible, np.abs(values - chosen[:, None]), 0.0).max(axis=1)
    return chosen, spread + gamma(inputs.shape[1] + 1) * np.where(possible, rounding, 0.0).max(axis=1)


# Nearest centre, and which others may be as near, of some samples.
_Choice = tuple[Int[np.ndarray, " s"], Bool[np.ndarray, "s k"]]


def _choices(
    found: Sequence[MapClusters], samples: CoefficientMatrices, rule: Rule
) -> Iterator[tuple[slice, np.ndarray, list[list[_Choice]]]]:
    """Yield rows, inputs, and for every number of clusters one choice per output."""
    points = samples.points
    if rule == "own_map":
        forward, _ = coded_forward(samples.network, samples.inputs)
        in_doubt = np.asarray(forward.doubtful.any(axis=1))  # of these samples the row itself is not known
        for rows, values in samples.blocks():
            block = values.cpu().numpy()
            yield (
                rows,
                points[rows].cpu().numpy(),
                [
                    [
                        _unless(in_doubt[rows], nearest_or_close(own, centers))
                        for own, centers in zip(block, clusters.centers, strict=True)
                    ]
                    for clusters in found
                ],
            )
        return
    choose = {"mean_input": _by_mean, "nearest_sample": _by_sample, "logistic": _by_logistic}[rule](found)
    for start in range(0, len(samples), SAMPLES_IN_BLOCK):
        rows = slice(start, min(start + SAMPLES_IN_BLOCK, len(samples)))
        inputs = points[rows].cpu().numpy()
        yield rows, inputs, choose(inputs)


def nearest_or_close(rows: Float[np.ndarray, "s c"], centers: Float[np.ndarray, "k c"]) -> _Choice:
    """Return the nearest centre of every row, and all that could be nearest within rounding."""
    squares = squared_distances(rows, centers)
    sizes = np.linalg.norm(rows, axis=1)[:, None] + np.linalg.norm(centers, axis=1)
    doubt = (gamma(rows.shape[1]) + RELATIVE_ERROR) * sizes**2
    return squares.argmin(axis=1), squares - doubt <= (squares + doubt).min(axis=1, keepdims=True)


def _unless(in_doubt: np.ndarray, choice: _Choice) -> _Choice:
    return choice[0], choice[1] | in_doubt[:, None]


_Chooser = Callable[[np.ndarray], list[list[_Choice]]]


def _by_mean(found: Sequence[MapClusters]) -> _Chooser:
    means = [
        [_means(clusters.inputs, labels, len(centers)) for centers, labels in _outputs(clusters)] for clusters in found
    ]
    return lambda inputs: [[nearest_or_close(inputs, table) for table in tables] for tables in means]


def _means(inputs: np.ndarray, labels: np.ndarray, number: int) -> np.ndarray:
    members = scipy.sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), (number, len(labels)))
    return members @ inputs / np.bincount(labels, minlength=number)[:, None]


def _by_sample(found: Sequence[MapClusters]) -> _Chooser:
    from sklearn.neighbors import NearestNeighbors

    kept = found[0].inputs
    number = min(NEIGHBORS, len(kept))
    search = NearestNeighbors(n_neighbors=number, algorithm="brute").fit(kept)
    largest = float(np.linalg.norm(kept, axis=1).max())

    def choose(inputs: np.ndarray) -> list[list[_Choice]]:
        distances, neighbors = search.kneighbors(inputs)
        doubt = (gamma(inputs.shape[1]) + RELATIVE_ERROR) * (np.linalg.norm(inputs, axis=1) + largest)[:, None] ** 2
        close = distances**2 - doubt <= distances[:, :1] ** 2 + doubt
        # Where the last of them is as near as the first, more may be that are not among them.
        cut_short = close[:, -1] & (number < len(kept))
        return [
            [_of_neighbors(labels[neighbors], close, cut_short, len(centers)) for centers, labels in _outputs(clusters)]
            for clusters in found
        ]

    return choose


def _of_neighbors(labels: np.ndarray, close: np.ndarray, cut_short: np.ndarray, number: int) -> _Choice:
    possible = np.repeat(cut_short[:, None], number, axis=1)
    for place in range(labels.shape[1]):
        possible[np.arange(len(labels)), labels[:, place]] |= close[:, place]
    return labels[:, 0], possible


def _by_logistic(found: Sequence[MapClusters]) -> _Chooser:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def fitted(inputs: np.ndarray, labels: np.ndarray):
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000, tol=1e-3))
        return model.fit(inputs, labels) if labels.any() else None

    models = [[fitted(clusters.inputs, labels) for labels in clusters.labels] for clusters in found]

    def choose(inputs: np.ndarray) -> list[list[_Choice]]:
        choices = []
        for clusters, own in zip(found, models, strict=True):
            best = [np.zeros(len(inputs), dtype=np.int64) if one is None else one.predict(inputs) for one in own]
            sizes = map(len, clusters.centers)
            choices.append([(which, which[:, None] == np.arange(k)) for which, k in zip(best, sizes, strict=True)])
        return choices

    return choose


def _outputs(clusters: MapClusters) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    yield from zip(clusters.centers, clusters.labels, strict=True)
