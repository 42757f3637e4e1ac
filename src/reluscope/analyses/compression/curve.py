"""Accuracy over the number of maps: how few affine functions per output a classifier could do with.

After Sattelberg 2026, section 7.2 and Figures 7.3 and 7.4: centres from training samples, accuracy on others.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from reluscope.analyses.classification.class_predictions import ACCURACY, accuracy, accuracy_of_outputs, read_classes
from reluscope.analyses.coefficients.matrices import CoefficientMatrices
from reluscope.analyses.compression.compressed import RULES, Rule, compressed_outputs_by_number
from reluscope.analyses.compression.map_clusters import cluster_maps_by_number
from reluscope.arguments import Count, NonNegative, Seed, read_arguments
from reluscope.errors import InputError
from reluscope.findings import Column, Finding, Findings, Kind, declare

# Of shares of samples, which are known to much less than one sample.
SHARES = 1e-9
ACCURACY_DROP = declare(
    "accuracy_drop",
    "accuracy of the network itself, less that of the network with so many maps per output",
    least=-1.0,
    most=1.0,
    source="sattelberg2026",
)
NUM_USED = declare(
    "num_maps_used",
    "maps of the output that has the most; fewer than asked for where the output has fewer different ones",
    kind=Kind.COUNT,
)
NETWORK_ACCURACY = declare(
    "network_accuracy", "share of samples whose class by the network itself is their label", kind=Kind.SHARE
)


@read_arguments
def accuracy_curve(
    training: CoefficientMatrices,
    samples: CoefficientMatrices,
    labels: Int[np.ndarray, " s"],
    num_clusters: Sequence[int] = (1, 2, 5, 10, 20, 50, 100),
    *,
    rules: Sequence[Rule] = ("own_map", "mean_input", "nearest_sample"),
    restarts: Count = 1,
    seed: Seed = 0,
) -> Findings:
    """Return the accuracy of clustered maps of training samples on other samples.

    Parameters
    ----------
    training : CoefficientMatrices
        Of all outputs, on the samples from which the centres are learned.
    samples : CoefficientMatrices
        Of the same network, on the samples to classify. Coefficients are computed for ``own_map`` only.
    labels : (s,) int
        Classes of the samples to classify.
    num_clusters : sequence of int
        Clusters per output.
    rules : sequence of {"own_map", "mean_input", "nearest_sample", "logistic"}
        Selection of the centre of a sample: see `compressed_outputs`. The paper uses ``own_map``, which requires
        the Jacobian at every sample; the others use the input alone. Logistic regression has by far the longest
        runtime.
    restarts, seed : int
        As for `cluster_maps`.

    Returns
    -------
    Findings
        For each rule and number of clusters (keys ``rule`` and ``num_clusters``, ascending): ``accuracy``,
        ``accuracy_drop`` and ``num_maps_used``; also ``network_accuracy``. Accuracies are EXACT shares of these
        samples for these centres, or intervals where rounding or ties of centres could change classes.

    Raises
    ------
    InputError
        If matrices mix networks or lack outputs, labels are not classes, or a number or rule is invalid.
    ShapeError
        If there is not one label per sample.

    Notes
    -----
    One pass over the training coefficients per output, and for ``own_map`` one over those of the samples, whatever
    the numbers of clusters.

    References
    ----------
    .. [sattelberg2026] Section 7.2, Figures 7.3 and 7.4.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 1.0]]), np.array([-1.0]))])
    >>> x, y = np.linspace(-3, 3, 12)[:, None], (np.abs(np.linspace(-3, 3, 12)) > 1).astype(int)
    >>> matrices = rs.coefficients.matrix(net, x)
    >>> curve = rs.compression.accuracy_curve(matrices, matrices, y, (1, 2), rules=("own_map", "mean_input"))
    >>> print(curve)
    rule        num_clusters  accuracy  accuracy drop  number of maps used
    own_map     1               33.3 %         0.6667                    1
    own_map     2              100.0 %              0                    2
    mean_input  1               33.3 %         0.6667                    1
    mean_input  2              100.0 %              0                    2
    network accuracy  100.0 %
    >>> rs.compression.fewest_clusters(curve)
    Finding(maps that matter: 2 (UPPER, in [1, 2]))
    """
    network = samples.network
    numbers = tuple(sorted({int(number) for number in num_clusters}))
    unknown = [rule for rule in rules if rule not in RULES]
    if unknown or not rules:
        raise InputError(f"expected rules among {', '.join(RULES)}, got {unknown or 'none'}")
    if training.network.fingerprint != network.fingerprint or any(
        len(one.outputs) != network.num_outputs for one in (training, samples)
    ):
        raise InputError("expected matrices of all outputs of one network, got others: call coefficients.matrix again")
    labels = read_classes(network, labels, len(samples))
    found = cluster_maps_by_number(training, numbers, restarts=restarts, seed=seed)
    rules = tuple(dict.fromkeys(rules))
    shares = [
        accuracy_of_outputs(forward, labels)
        for rule in rules
        for forward in compressed_outputs_by_number(found, samples, rule)
    ]
    method = f"{found[0].method}; float64 with bounds on rounding"
    original = Column.of_findings(NETWORK_ACCURACY, [accuracy(network, samples.inputs, labels)])
    left = Column.of_findings(ACCURACY, shares, method=method)
    domain = f"{len(labels):,} samples"
    return Findings.of(
        left,
        Column.of(
            ACCURACY_DROP,
            original.value - left.value,
            original.lower - left.upper,
            original.upper - left.lower,
            method=method,
        ),
        Column.of(NUM_USED, [max(one.num_clusters) for one in found] * len(rules), method=found[0].method),
        keys={"rule": np.repeat(rules, len(numbers)), "num_clusters": np.tile(numbers, len(rules))},
        domain=domain,
        num_samples=len(labels),
        summary=Findings.of(original, domain=domain, num_samples=len(labels)),
        notes=tuple(one.note for one in found if one.note),
    )


@read_arguments
def fewest_clusters(curve: Findings, drop: NonNegative = 0.01, rule: Rule = "own_map") -> Finding | None:
    """Return the least number of clusters whose accuracy is within a drop of the network's.

    It is the number of maps that matter.

    Parameters
    ----------
    curve : Findings
        Result of `accuracy_curve`.
    drop : float
        0.01 is one percentage point.
    rule : str
        A rule of the curve.

    Returns
    -------
    Finding or None
        UPPER: other centres may suffice with fewer. None if no number in the curve suffices.

    Raises
    ------
    InputError
        If the drop or rule is invalid, or the findings are not a curve.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 1.0]]), np.array([-1.0]))])
    >>> matrices = rs.coefficients.matrix(net, [[-2.0], [-0.5], [0.5], [2.0]])
    >>> curve = rs.compression.accuracy_curve(matrices, matrices, np.array([1, 0, 0, 1]), (1, 2))
    >>> print(rs.compression.fewest_clusters(curve), rs.compression.fewest_clusters(curve, 0.5))
    2 (UPPER, in [1, 2]) 1 (EXACT)
    """
    known = list(dict.fromkeys(curve.keys.get("rule", np.array([])).tolist()))
    if rule not in known or not 0 <= drop <= 1:
        raise InputError(f"expected a drop from 0 to 1 and a rule of {', '.join(known)}, got {drop} and {rule!r}")
    tried = curve.where(rule=rule)
    # Shares of samples are known to much less than one sample.
    enough = np.flatnonzero(tried[ACCURACY].lower >= curve[NETWORK_ACCURACY].upper[0] - drop - SHARES)
    if not len(enough):
        return None
    number = int(tried[NUM_USED].value[enough[0]])
    return Finding.of(
        number,
        1,
        number,
        name="maps that matter",
        definition=f"affine functions per output that keep the accuracy within {drop:g}, by {rule}",
        domain=curve.domain,
        method=f"k-means, numbers of clusters tried: {', '.join(map(str, tried.keys['num_clusters']))}",
        source="sattelberg2026",
    )
