"""Accuracy over the number of maps: how few affine functions per output a classifier could do with.

After Sattelberg 2026, section 7.2 and Figures 7.3 and 7.4: centres from training samples, accuracy on others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int

from reluscope import markup
from reluscope.analyses.classification.classes import accuracy, accuracy_of_outputs, read_classes
from reluscope.analyses.coefficients.matrices import CoefficientMatrices
from reluscope.analyses.compression.clusters import cluster_maps_by_number
from reluscope.analyses.compression.compressed import RULES, Rule, compressed_outputs_by_number
from reluscope.arguments import Count, NonNegative, Seed, read_arguments
from reluscope.errors import InputError
from reluscope.findings import Finding


@dataclass(frozen=True, eq=False)
class AccuracyCurve:
    """Accuracies of a network that is left a few affine functions per output.

    Parameters
    ----------
    num_clusters : tuple of int
        Functions per output, ascending.
    accuracies : mapping of rules to tuples of Finding
        One per number of clusters; rules as in `compressed_outputs`.
    original : Finding
        Accuracy of the network itself on the same samples.
    largest_used : tuple of int
        The most clusters that any output has; less than asked for where there are not so many different functions.
    notes : tuple of str
    """

    num_clusters: tuple[int, ...]
    accuracies: Mapping[Rule, tuple[Finding, ...]]
    original: Finding
    largest_used: tuple[int, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"AccuracyCurve({len(self.num_clusters)} numbers of clusters, by {', '.join(self.accuracies)})"

    @read_arguments
    def fewest_clusters(self, drop: NonNegative = 0.01, rule: Rule = "own_map") -> Finding | None:
        """Return how many maps matter: the least number of clusters whose accuracy is within a drop of the network's.

        Parameters
        ----------
        drop : float
            0.01 is one percentage point.
        rule : str

        Returns
        -------
        Finding or None
            UPPER: other centres may do with fewer. None if no number that was tried suffices.
        """
        if rule not in self.accuracies or not 0 <= drop <= 1:
            raise InputError(
                f"expected a drop from 0 to 1 and a rule of {', '.join(self.accuracies)}, got {drop} and {rule!r}"
            )
        needed = _ends(self.original)[1] - drop
        for number, share in zip(self.largest_used, self.accuracies[rule], strict=True):
            # Shares of samples are known to much less than one sample.
            if _ends(share)[0] >= needed - 1e-9:
                return Finding.of(
                    number,
                    1,
                    number,
                    name="maps that matter",
                    definition=f"affine functions per output that keep the accuracy within {drop:g}, by {rule}",
                    domain=self.original.domain,
                    method=f"k-means, numbers of clusters tried: {', '.join(map(str, self.num_clusters))}",
                    source="sattelberg2026",
                )
        return None

    def to_table(self):
        """Return one row per rule and number of clusters, with accuracy, claim, interval and drop.

        Returns
        -------
        pyarrow.Table
        """
        import pyarrow as pa

        rows = [
            {
                "rule": rule,
                "clusters": number,
                "accuracy": float(share),
                "claim": str(share.claim),
                "low": _ends(share)[0],
                "high": _ends(share)[1],
                "drop": float(self.original) - float(share),
            }
            for rule, shares in self.accuracies.items()
            for number, share in zip(self.num_clusters, shares, strict=True)
        ]
        return pa.Table.from_pylist(rows)

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        head = ("clusters per output", *self.accuracies)
        rows = [("network", *[f"{float(self.original):.2%}"] * len(self.accuracies))]
        for place, number in enumerate(self.num_clusters):
            rows.append((f"{number:,}", *(f"{float(shares[place]):.2%}" for shares in self.accuracies.values())))
        return markup.figure("Accuracy by number of maps", markup.table(head, rows), markup.notes(self.notes))


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
) -> AccuracyCurve:
    """Cluster the maps of training samples, and classify other samples by the centres.

    Parameters
    ----------
    training : CoefficientMatrices
        Of all outputs, on the samples that centres are learned from.
    samples : CoefficientMatrices
        Of the same network, on the samples to classify. Coefficients are computed for ``own_map`` only.
    labels : (s,) int
        Their classes.
    num_clusters : sequence of int
        Clusters per output.
    rules : sequence of {"own_map", "mean_input", "nearest_sample", "logistic"}
        Which centre a sample uses: see `compressed_outputs`. The paper's is ``own_map``, which needs the network's
        Jacobian at every sample; the others read the input alone. Logistic regression takes by far the longest.
    restarts, seed : int
        As for `cluster_maps`.

    Returns
    -------
    AccuracyCurve
        Accuracies are EXACT shares of these samples for these centres, and ESTIMATES with intervals where rounding or
        ties of centres could change classes.

    Raises
    ------
    InputError
        If matrices are of several networks or not of all outputs, labels are no classes, or a number or rule is none.
    ShapeError
        If there is not one label per sample.

    Notes
    -----
    One pass over the training coefficients per output, and one over the others for ``own_map``, whatever the numbers of
    clusters.

    References
    ----------
    .. [sattelberg2026] Section 7.2, Figures 7.3 and 7.4.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 1.0]]), np.array([-1.0]))])
    >>> x, y = np.linspace(-3, 3, 12)[:, None], (np.abs(np.linspace(-3, 3, 12)) > 1).astype(int)
    >>> matrices = rs.coefficients.matrix(net, x)
    >>> curve = accuracy_curve(matrices, matrices, y, (1, 2), rules=("own_map", "mean_input"))
    >>> [str(share) for share in curve.accuracies["own_map"]], curve.fewest_clusters()
    (['0.333333 (EXACT)', '1 (EXACT)'], Finding(maps that matter: 2 (UPPER, in [1, 2])))
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
    accuracies: dict[Rule, tuple[Finding, ...]] = {}
    for rule in rules:
        forwards = compressed_outputs_by_number(found, samples, rule)
        accuracies[rule] = tuple(
            replace(
                accuracy_of_outputs(forward, labels),
                name=f"accuracy with {clusters.num_asked:,} maps per output",
                method=f"{clusters.method}; maps chosen by {rule}; float64 with bounds on rounding",
                source="sattelberg2026" if rule == "own_map" else "",
            )
            for clusters, forward in zip(found, forwards, strict=True)
        )
    return AccuracyCurve(
        numbers,
        accuracies,
        accuracy(network, samples.inputs, labels),
        tuple(max(one.num_clusters) for one in found),
        tuple(one.note for one in found if one.note),
    )


def _ends(finding: Finding) -> tuple[float, float]:
    return (float(finding), float(finding)) if finding.interval is None else finding.interval
