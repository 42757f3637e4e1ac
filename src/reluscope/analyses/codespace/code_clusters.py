"""Clusters of codes: agglomerative clustering of the Hamming distances, with a medoid for every cluster.

Two clusters are joined where the mean (or largest, or smallest) truncated distance between their codes is least. A
medoid is the code with the least sum of distances to the codes of its cluster: unlike a mean it is a code, and the
region of a sample.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from reluscope.arguments import Count, Natural, Seed, read_arguments, read_labels
from reluscope.codes.packed import Codes
from reluscope.errors import InputError
from reluscope.findings import Column, Finding, Findings, declare
from reluscope.geometry.numbers.resolutions import TOTALS
from reluscope.shown import Shown

NUM_SAMPLES = 3_000
AGREEMENT = declare(
    "agreement_with_classes",
    "mutual information of clusters of codes and classes, adjusted for chance",
    least=-np.inf,
    most=1.0,
)


@dataclass(frozen=True, repr=False)
class CodeClusters(Shown):
    """Clusters of samples by their codes.

    Parameters
    ----------
    labels : (s,) int64
        Cluster of each sample, from 0; the largest cluster is 0.
    medoids : (c,) int64
        Row of the medoid of each cluster.
    distances : (s,) int64
        Distance of each sample to the medoid of its cluster.
    drawn : (k,) int64
        Rows that were clustered; every other row was assigned to the closest medoid.
    """

    labels: Int[np.ndarray, " s"]
    medoids: Int[np.ndarray, " c"]
    distances: Int[np.ndarray, " s"]
    drawn: Int[np.ndarray, " k"]

    def __len__(self) -> int:
        return len(self.medoids)

    @read_arguments
    def agreement(self, classes: Int[np.ndarray, " s"]) -> Finding:
        """Return the agreement of clusters and classes: their adjusted mutual information.

        Returns
        -------
        Finding
            EXACT for these clusters: 1 if the groupings are equal, about 0 if they are unrelated.

        Raises
        ------
        ShapeError
            If there is not one class per sample.
        """
        classes = read_labels(classes, num_samples=len(self.labels), name="classes")
        from sklearn.metrics import adjusted_mutual_info_score  # slow to import, and seldom asked for

        value = float(adjusted_mutual_info_score(classes, self.labels))
        column = Column.of(AGREEMENT, [value], [value - TOTALS], [min(1.0, value + TOTALS)])
        domain = f"{len(self.labels):,} samples in {len(self)} clusters"
        return Findings.of(column, domain=domain, num_samples=len(self.labels)).finding(AGREEMENT)


@read_arguments
def cluster(
    codes: Codes,
    num_clusters: Count,
    *,
    join: Literal["average", "complete", "single"] = "average",
    threshold: Natural | None = None,
    num_samples: Count = NUM_SAMPLES,
    seed: Seed = 0,
) -> CodeClusters:
    """Return clusters of samples by the Hamming distances of their codes.

    Parameters
    ----------
    codes : Codes
        Of at least one sample.
    num_clusters : int
        There may be fewer clusters, because equal codes are never separated.
    join : {"average", "complete", "single"}
        Distance of two clusters: the mean, largest or smallest distance of their codes.
    threshold : int, optional
        Truncates distances, as in `Codes.distance`.
    num_samples : int
        Maximum number of samples to cluster, drawn at random. All others join the cluster of the closest medoid
        (the first at a tie).
    seed : int
        Seed of the draw.

    Returns
    -------
    CodeClusters

    Raises
    ------
    InputError
        If there are no codes or no clusters, or ``join`` is not one of the three.

    Notes
    -----
    Time and memory grow with the square of ``num_samples``: a second and 100 MB for 3,000 samples. Method: the
    nearest-neighbour chain of SciPy (Müllner, "Modern hierarchical, agglomerative clustering algorithms", 2011).

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.codes import CodeLayout, GateLayout
    >>> pieces = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0]])
    >>> found = rs.codespace.cluster(rs.Codes.from_pieces([pieces], CodeLayout((GateLayout("relu", 4),))), 2)
    >>> found.labels, found.medoids
    (array([0, 0, 1, 0]), array([0, 2]))
    """
    if not len(codes):
        raise InputError("expected codes to put into clusters, got none: give those of at least one point")
    size = len(codes)
    drawn = np.arange(size)
    if size > num_samples:
        drawn = np.sort(np.random.default_rng(seed).choice(size, num_samples, replace=False))
    table = codes[drawn].distance(threshold=threshold).astype(np.float64)
    groups = np.zeros(len(drawn), dtype=np.int64)
    if len(drawn) > 1:
        groups = fcluster(linkage(squareform(table, checks=False), join), num_clusters, "maxclust").astype(np.int64)
    # Largest cluster first, the one that appears first among equals.
    _, first, groups, sizes = np.unique(groups, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    groups = np.argsort(order)[groups.reshape(-1)]
    medoids = np.empty(len(order), dtype=np.int64)
    for group in range(len(order)):
        members = np.flatnonzero(groups == group)
        medoids[group] = drawn[members[table[np.ix_(members, members)].sum(axis=1).argmin()]]
    to_medoids = codes.distance(codes[medoids], threshold=threshold).astype(np.int64)
    labels = to_medoids.argmin(axis=1)
    labels[drawn] = groups
    return CodeClusters(labels, medoids, to_medoids[np.arange(size), labels], drawn)
