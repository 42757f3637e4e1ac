"""All metrics of all pairs of networks on shared samples.

Every network's Jacobians are computed once per pass and serve all pairs. Maps of coefficients are fitted on one set of
samples and judged on another, as in section 7.3 of [sattelberg2026]_; everything else is measured on the latter.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike

from reluscope.analyses.classification.class_predictions import (
    read_classes,
)
from reluscope.analyses.similarity.code_partitions import CodePartitions
from reluscope.analyses.similarity.compared_coefficients import _assembled, _Coefficients, _Measured
from reluscope.analyses.similarity.cross_entropies import OUTPUT_CROSS_ENTROPY
from reluscope.analyses.similarity.gate_features import features
from reluscope.analyses.similarity.mapping import (
    MAP_RESIDUAL,
)
from reluscope.analyses.similarity.metric import Metric, Source
from reluscope.analyses.similarity.moments import moments_of
from reluscope.analyses.similarity.registered import METRICS
from reluscope.analyses.similarity.shared_checks import check_networks, common_points
from reluscope.analyses.similarity.streamed_samples import (
    MEMORY,
)
from reluscope.analyses.similarity.tables import (
    DROP,
    FEATURES,
    MAPPED_ACCURACY,
    MAPPED_AGREEMENT,
)
from reluscope.arguments import NonNegative, read_arguments
from reluscope.budget import Budget, MemoryBudget
from reluscope.errors import InputError
from reluscope.findings import Findings
from reluscope.networks.evaluation.rounded_forward import RoundedForward, rounded_forward
from reluscope.networks.graph.left_off import LeftOff, refuse_left_off
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.progress import Progress


@read_arguments
def compare(
    networks: Mapping[str, Network] | Sequence[Network],
    x: Points,
    labels: ArrayLike | None = None,
    *,
    fit_on: Points | None = None,
    metrics: str | Sequence[str] | None = None,
    gates: Sequence[str | int | None] | None = None,
    ridge: NonNegative = 0.0,
    budget: MemoryBudget | None = None,
    progress: Progress = False,
) -> Findings:
    """Compare networks pair by pair on shared samples: coefficients, features, outputs and codes.

    Parameters
    ----------
    networks : mapping of str to Network, or sequence of Network
        Two or more with equal inputs and equal numbers of outputs, by name; those of a sequence are named by their
        positions, "0", "1", ...
    x : (s, *input_shape) or (s, n)
        Samples for the comparison.
    labels : (s,) array of int, optional
        Classes of the samples, for accuracies.
    fit_on : (t, *input_shape) or (t, n), optional
        Samples to which maps of coefficients are fitted; by default x, which makes mapped networks look better than
        they are.
    metrics : sequence of str, optional
        Names among `METRICS`; all by default.
    gates : sequence of str, int or None, optional
        For each network the gate, by name or position, whose outputs are its features; None, the default, for the
        network's outputs.
    ridge : float
        For the maps of coefficients; see `coefficient_maps`.
    budget : Budget, optional
        Memory for sums and blocks, 2 GB by default.
    progress : bool or callable
        Show the progress of passes over the coefficients.

    Returns
    -------
    Findings
        One row for each ordered pair of networks (keys ``first`` and ``second``), also of a network with itself.
        Columns: the metrics by name, those of features as ``features_cka`` and so on; for mapped networks
        ``mapped_agreement`` (with the target network), ``mapped_accuracy`` and ``drop``; for the first network
        ``accuracy``, if there are labels, and ``coefficient_condition_number``. `pair_matrix` returns one column as
        a matrix.

        Agreements are EXACT unless rounding could change a prediction or a code. Cross-entropies are EXACT within a
        tolerance. Values from coefficients are ESTIMATES in float64, exactly for these samples. Coefficients give
        one number per output; the result is the mean over the outputs where it is defined, and notes report any
        that are left out.

    Raises
    ------
    InputError, ShapeError
        If networks, samples, labels or metrics are inconsistent, or coefficients are not finite.
    BudgetExceededError
        If the sums for one output do not fit into memory.

    Notes
    -----
    One pass over the Jacobians of all networks, one more to evaluate the maps, and one more if they are fitted on
    other samples. With c columns of all networks together, ``s c^2`` further operations per output; c is small for
    networks with a narrow first layer (`row_space`). Procrustes distances add singular values of n x n matrices.

    References
    ----------
    .. [sattelberg2026] Section 7.3.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> layers = [(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))]
    >>> one, other, x = rs.load(layers), rs.load(layers), [[1.0, -1.0], [-1.0, 2.0], [1.0, 2.0]]
    >>> print(rs.similarity.compare([one, other], x).where(first="0", second="1").finding("cka"))
    1 (ESTIMATE)
    >>> found = rs.similarity.compare({"one": one, "other": other}, x)
    >>> print(found.where(first="one", second="other").finding("cka"))
    1 (ESTIMATE)
    """
    if not isinstance(networks, Mapping):
        networks = {str(place): network for place, network in enumerate(networks)}
    names, every = tuple(networks), list(networks.values())
    check_networks(every, names)
    chosen = _chosen(metrics)
    points = common_points(every, x)
    classes = None if labels is None else read_classes(every[0], labels, len(points))
    forwards = [rounded_forward(network.scores, points) for network in every]
    measured = _Measured(names, "outputs" if gates is None else "features")
    if OUTPUT_CROSS_ENTROPY in chosen and (odd := _without_softmax(every)) is not None:
        if metrics is not None:
            refuse_left_off("output_cross_entropy", odd)
        chosen.remove(OUTPUT_CROSS_ENTROPY)
        measured.left_out.append(f"output_cross_entropy: left out, as a model ends with a {odd.name}, not a softmax")
    for metric in chosen:
        if metric.source is Source.OUTPUTS:
            measured.add(metric, forwards)
        elif metric.source is Source.CODES:
            measured.add(metric, _partitions(every, forwards, points))
    on_features = [one for one in chosen if one.source is Source.MOMENTS and one is not MAP_RESIDUAL]
    if on_features:
        given = (None,) * len(every) if gates is None else tuple(gates)
        if len(given) != len(every):
            raise InputError(f"expected one gate, or None, for each of {len(every)} networks, got {len(given)}")
        seen = moments_of(*(features(one, points, gate=gate) for one, gate in zip(every, given, strict=True)))
        for metric in on_features:
            measured.add(metric, seen, prefix=FEATURES)
    mapped = None
    if any(one.source in (Source.MOMENTS, Source.ENTRIES) for one in chosen):
        fitted = points if fit_on is None else common_points(every, fit_on)
        work = _Coefficients(
            every, points, fitted, fit_on is not None, chosen, ridge, (budget or Budget()).memory_or(MEMORY)
        )
        mapped = work.run(measured, progress)
    return _assembled(measured, mapped, forwards, classes)


def _without_softmax(networks: Sequence[Network]) -> LeftOff | None:
    """Return what the first network ends with of which a softmax of several outputs gives no probabilities."""
    ends = [one.left_off for one in networks if one.num_outputs > 1]
    return next((end for end in ends if end is not None and not end.is_one_softmax), None)


def _chosen(metrics: Sequence[str] | None) -> list[Metric]:
    if metrics is None:
        return list(METRICS.values())
    given = [metrics] if isinstance(metrics, str) else list(metrics)
    # What follows from a metric is asked for by its own name, too.
    of_maps = {one.quantity.name for one in (MAPPED_AGREEMENT, MAPPED_ACCURACY, DROP)}
    wanted = [MAP_RESIDUAL.name if name in of_maps else name.removeprefix(FEATURES) for name in given]
    unknown = [name for name, metric in zip(given, wanted, strict=True) if metric not in METRICS]
    if unknown or not given:
        raise InputError(f"expected metrics among {', '.join(METRICS)}, got {', '.join(unknown) or 'none'}")
    return [METRICS[name] for name in dict.fromkeys(wanted)]


def _partitions(
    networks: Sequence[Network], forwards: Sequence[RoundedForward], points: torch.Tensor
) -> CodePartitions:
    labels = [network.codes(points).unique(return_inverse=True)[1] for network in networks]
    return CodePartitions(np.stack(labels), np.stack([one.doubtful.any(axis=1) for one in forwards]))
