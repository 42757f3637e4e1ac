"""Clusters of local maps: k-means of the rows of each coefficient matrix, as in Sattelberg 2026, section 7.2.

Equal rows are one row with a weight, which leaves the problem as it is. Where a matrix does not fit the memory, centres
are found by mini-batch k-means over its blocks, in one pass.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.coefficients.matrices import CoefficientMatrices
from reluscope.arguments import Count, Seed, read_arguments
from reluscope.errors import InputError
from reluscope.shown import Shown

# Copies of a matrix that k-means works on.
MATRICES_IN_MEMORY = 3


@dataclass(frozen=True, eq=False, repr=False)
class MapClusters(Shown):
    """Clusters of the affine maps that a network uses on samples, for each output.

    Parameters
    ----------
    centers : tuple of (k, n + 1) float64
        One table per output: coefficients and constant of every centre. Each centre is used by some sample.
    labels : (m, s) int64
        Cluster of every sample, for every output.
    inertia : (m,) float64
        Sums of squared distances to the centres.
    inputs : (s, n) float64
        The samples.
    num_asked : int
        Requested number of clusters.
    method : str
    note : str
        Reason why there are fewer clusters than requested; empty if there are not.
    """

    centers: tuple[Float[np.ndarray, "_ c"], ...]
    labels: Int[np.ndarray, "m s"]
    inertia: Float[np.ndarray, " m"]
    inputs: Float[np.ndarray, "s n"]
    num_asked: int
    method: str
    note: str

    @property
    def num_clusters(self) -> tuple[int, ...]:
        """Number of clusters of every output."""
        return tuple(len(table) for table in self.centers)


@read_arguments
def cluster_maps(
    matrices: CoefficientMatrices, num_clusters: Count, *, restarts: Count = 1, seed: Seed = 0
) -> MapClusters:
    """Return k-means clusters of the affine maps of every output.

    Parameters
    ----------
    matrices : CoefficientMatrices
        Of the samples to learn from.
    num_clusters : int
        Clusters for each output. If there are fewer different maps, each map is a cluster, and ``note`` reports
        this.
    restarts : int
        Number of runs; the best run is kept.
    seed : int

    Returns
    -------
    MapClusters
        A local optimum of k-means; for one cluster, the mean map.

    Raises
    ------
    InputError
        If there is no cluster, no sample or no run, or coefficients are not finite.

    Notes
    -----
    One pass over every output, if three matrices fit ``matrices.memory``. Otherwise two passes over the blocks and
    mini-batch k-means, whose result depends on the order of the samples: shuffle them, or draw fewer samples.

    References
    ----------
    .. [sattelberg2026] Section 7.2.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 2.0]]), np.ones(1))])
    >>> matrices = rs.coefficients.matrix(net, [[-1.0], [-2.0], [3.0], [4.0]])
    >>> rs.compression.cluster_maps(matrices, 2).labels, rs.compression.cluster_maps(matrices, 1).centers[0]
    (array([[0, 0, 1, 1]]), array([[-0.5,  1. ]]))
    """
    return cluster_maps_by_number(matrices, [num_clusters], restarts=restarts, seed=seed)[0]


def cluster_maps_by_number(
    matrices: CoefficientMatrices, numbers: Sequence[int], *, restarts: int = 1, seed: int = 0
) -> list[MapClusters]:
    """Return clusters for several numbers of them.

    It goes through the matrices no more often than for one number.
    """
    if not len(matrices) or restarts < 1 or not len(numbers) or min(numbers) < 1:
        raise InputError(
            f"expected samples, numbers of clusters from 1 up, and at least one run, got {len(matrices):,} samples, "
            f"{list(numbers)} clusters and {restarts} runs"
        )
    fits = MATRICES_IN_MEMORY * 8 * len(matrices) * (matrices.num_inputs + 1) <= matrices.memory
    found = _whole(matrices, numbers, restarts, seed) if fits else _streamed(matrices, numbers, seed)
    inputs = matrices.points.cpu().numpy()
    runs = "" if restarts == 1 else f", best of {restarts} runs"
    method = f"k-means of all {len(matrices):,} rows{runs}" if fits else "mini-batch k-means over blocks, one pass"
    results = []
    for number, outputs in zip(numbers, found, strict=True):
        centers, labels, inertia, distinct = zip(*outputs, strict=True)
        few = [(matrices.outputs[j], d) for j, d in enumerate(distinct) if d < number]
        note = ""
        if few:
            named = "output" if len(few) == 1 else "each of the outputs"
            most = max(count for _, count in few)
            uses = f"uses only {most:,}" if len(few) == 1 else f"uses at most {most:,}"
            note = (
                f"{number:,} clusters were asked for, and {named} {', '.join(str(output) for output, _ in few)} {uses} "
                "different functions on the samples"
            )
        results.append(MapClusters(tuple(centers), np.stack(labels), np.array(inertia), inputs, number, method, note))
    return results


# Centres, labels, inertia, and how many different rows there are.
_Fit = tuple[np.ndarray, np.ndarray, float, int]


def _whole(matrices: CoefficientMatrices, numbers: Sequence[int], restarts: int, seed: int) -> list[list[_Fit]]:
    found: list[list[_Fit]] = [[] for _ in numbers]
    for j in range(matrices.num_outputs):
        rows, first, kinds, counts = distinct_rows(matrices.output(j))
        table = rows[first]
        for place, number in enumerate(numbers):
            centers, labels = _fitted(table, counts, number, restarts, seed)
            rest = float((counts * ((table - centers[labels]) ** 2).sum(axis=1)).sum())
            found[place].append((centers, labels[kinds], rest, len(table)))
    return found


def _fitted(
    table: np.ndarray, counts: np.ndarray, number: int, restarts: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return centres and labels of different rows that count several times."""
    if number == 1:
        return np.average(table, axis=0, weights=counts)[None], np.zeros(len(table), dtype=np.int64)
    if number >= len(table):
        return table, np.arange(len(table))
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        # Rows that differ by rounding only: fewer clusters come out, and empty ones are dropped.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = KMeans(number, n_init=restarts, random_state=seed).fit(table, sample_weight=counts)  # pyright: ignore[reportArgumentType]
    return _used(np.asarray(fit.cluster_centers_), np.asarray(fit.labels_, dtype=np.int64))


def _streamed(matrices: CoefficientMatrices, numbers: Sequence[int], seed: int) -> list[list[_Fit]]:
    from sklearn.cluster import MiniBatchKMeans

    distinct = len(matrices.regions()[1])
    size, columns = matrices.num_outputs, matrices.num_inputs + 1
    limits = [min(number, distinct) for number in numbers]
    models = [[MiniBatchKMeans(limit, random_state=seed) for _ in range(size)] for limit in limits]
    sums, pending = np.zeros((size, columns)), np.empty((size, 0, columns))
    for rows, values in matrices.blocks():
        block = values.cpu().numpy()
        sums += block.sum(axis=1)
        pending = np.concatenate([pending, block], axis=1)
        # The first batch has to hold as many rows as there are clusters.
        if pending.shape[1] < max(limits) and rows.stop < len(matrices):
            continue
        for limit, outputs in zip(limits, models, strict=True):
            if limit > 1:
                for j, model in enumerate(outputs):
                    if pending.shape[1] >= limit or hasattr(model, "cluster_centers_"):
                        model.partial_fit(pending[j])
        pending = pending[:, :0]
    mean = sums / len(matrices)
    centers = [
        [mean[j : j + 1] if limit == 1 else np.asarray(models[place][j].cluster_centers_) for j in range(size)]
        for place, limit in enumerate(limits)
    ]
    labels = np.zeros((len(numbers), size, len(matrices)), dtype=np.int64)
    inertia = np.zeros((len(numbers), size))
    for rows, values in matrices.blocks():
        block = values.cpu().numpy()
        for place in range(len(numbers)):
            for j in range(size):
                squares = squared_distances(block[j], centers[place][j])
                labels[place, j, rows] = squares.argmin(axis=1)
                inertia[place, j] += squares.min(axis=1).sum()
    return [
        [(*_used(centers[place][j], labels[place, j]), float(inertia[place, j]), distinct) for j in range(size)]
        for place in range(len(numbers))
    ]


def squared_distances(rows: Float[np.ndarray, "s c"], centers: Float[np.ndarray, "k c"]) -> Float[np.ndarray, "s k"]:
    """Return squared distances of rows to centres."""
    squares = (rows**2).sum(axis=1)[:, None] - 2 * rows @ centers.T + (centers**2).sum(axis=1)
    return np.maximum(squares, 0.0)


def distinct_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the table, each distinct row's first place, each place's row number, and each row's count."""
    table = np.ascontiguousarray(table) + 0.0  # one zero, not two
    numbers: dict[int, int] = {}
    kinds = np.array([numbers.setdefault(hash(row.tobytes()), len(numbers)) for row in table], dtype=np.int64)
    _, first, counts = np.unique(kinds, return_index=True, return_counts=True)
    return table, first, kinds, counts


def _used(centers: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave out centres of no row."""
    which, labels = np.unique(labels, return_inverse=True)
    return np.ascontiguousarray(centers[which]), labels.reshape(-1)
