"""Codes as points of the plane: classical scaling, or UMAP of the exact nearest codes.

The root of the Hamming distance is a Euclidean distance (of the vectors that mark the piece of every unit), so that
classical scaling of it is a projection along the two directions in which codes vary most. UMAP gets the exact nearest
codes and their Hamming distances, and starts from the classical scaling. Distances are taken as distances; a table of
them is never read as features.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy.linalg import eigh, orthogonal_procrustes

from reluscope.analyses.codespace.code_neighbors import nearest_codes
from reluscope.arguments import Count, Natural, Seed, read_arguments
from reluscope.codes.packed import Codes
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Column, Finding, Findings, Kind, declare
from reluscope.geometry.numbers.resolutions import TOTALS
from reluscope.shown import Shown

# Relative to the sum of all axes: an axis that is shorter has no direction.
NOTHING = 1e-12
Method = Literal["mds", "umap"]
LANDMARKS = 2_000
NUM_JUDGED = 3_000
TRUST = declare(
    "trustworthiness",
    "1 less a penalty for points that are near in the picture and whose codes are not near",
    kind=Kind.SHARE,
)
# UMAP asks for a neighbourhood, and its eigenvector start for more than a handful of points.
MIN_FOR_UMAP = 5


@dataclass(frozen=True, eq=False, repr=False)
class Embedding(Shown):
    """Codes as points of the plane.

    Parameters
    ----------
    points : (s, 2) float64
        For "mds" squared distances correspond to numbers of units that differ. For "umap" the unit has no meaning.
    method : {"mds", "umap"}
        Method used: "mds" for codes that are all equal or too few, whichever was requested.
    share : float
        Share of the variance of the codes that the picture shows; NaN for "umap".
    """

    points: Float[np.ndarray, "s 2"]
    method: Method
    share: float

    def __len__(self) -> int:
        return len(self.points)


@read_arguments
def embed(
    codes: Codes,
    *,
    method: Method = "mds",
    threshold: Natural | None = None,
    num_neighbors: Count = 15,
    reference: Embedding | None = None,
    seed: Seed = 0,
) -> Embedding:
    """Return an embedding of codes in the plane.

    Parameters
    ----------
    codes : Codes
        Of at least one sample.
    method : {"mds", "umap"}
        Classical multidimensional scaling, or UMAP, which needs ``pip install 'reluscope[umap]'``.
    threshold : int, optional
        Truncates the distances of classical scaling, as in `Codes.distance`.
    num_neighbors : int
        Neighbours in UMAP, including the sample itself; fewer if there are fewer samples.
    reference : Embedding, optional
        Of the same samples, such as one epoch before. UMAP starts from it; the result is turned, mirrored and moved
        (never stretched) as close to it as possible.
    seed : int
        Seed of the landmarks and of UMAP.

    Returns
    -------
    Embedding

    Raises
    ------
    InputError
        If there are no codes, the method is unknown or not installed, or UMAP is given a threshold.
    ShapeError
        If the reference has another number of samples.

    Notes
    -----
    Classical scaling uses all distances of at most 2,000 samples, drawn at random, and one eigenvalue problem (0.5
    s). All others are placed by their distances to these (de Silva and Tenenbaum, "Sparse multidimensional scaling
    using landmark points", 2004). UMAP: McInnes, Healy and Melville, 2018; see `nearest_codes` for its neighbours.

    References
    ----------
    Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17, 1952.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.codes import CodeLayout, GateLayout
    >>> pieces = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1]])
    >>> placed = rs.codespace.embed(rs.Codes.from_pieces([pieces], CodeLayout((GateLayout("relu", 4),))))
    >>> squared = ((placed.points[:, None] - placed.points) ** 2).sum(axis=2)  # three points fit into a plane
    >>> squared.round(9)
    array([[0., 1., 4.],
           [1., 0., 3.],
           [4., 3., 0.]])
    """
    if not len(codes) or method not in ("mds", "umap"):
        raise InputError(f'expected codes and method "mds" or "umap", got {len(codes):,} codes and method {method!r}')
    if method == "umap" and threshold is not None:
        raise InputError("UMAP compares near codes alone and takes no threshold: leave it out")
    if reference is not None and len(reference) != len(codes):
        raise ShapeError(
            f"expected a reference of the same {len(codes):,} samples, got one of {len(reference):,}: embed the same "
            "samples in the same order"
        )
    placed = _scale_classically(codes, threshold, np.random.default_rng(seed))
    if method == "umap" and len(codes) >= MIN_FOR_UMAP and len(codes.unique()) > 1:
        start = placed if reference is None else reference
        placed = Embedding(_umap(codes, start.points, num_neighbors, seed), "umap", np.nan)
    return placed if reference is None else align(placed, reference)


@read_arguments
def embed_series(
    series: Sequence[Codes],
    *,
    method: Method = "mds",
    threshold: Natural | None = None,
    num_neighbors: Count = 15,
    reference: Embedding | None = None,
    seed: Seed = 0,
) -> tuple[Embedding, ...]:
    """Return comparable embeddings of the codes of the same samples at several times, such as epochs.

    Parameters
    ----------
    series : sequence of Codes
        Row i belongs to the same sample throughout; layouts may differ.
    method, threshold, num_neighbors, seed
        As for `embed`.
    reference : Embedding, optional
        Reference of the first embedding.

    Returns
    -------
    tuple of Embedding
        The reference of each is the embedding before it.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.codes import CodeLayout, GateLayout
    >>> layout = CodeLayout((GateLayout("relu", 2),))
    >>> epochs = [rs.Codes.from_pieces([np.array(rows)], layout) for rows in ([[0, 0], [1, 1]], [[1, 1], [0, 0]])]
    >>> first, second = rs.codespace.embed_series(epochs)
    >>> np.allclose(first.points, second.points)
    True
    """
    found: list[Embedding] = []
    for codes in series:
        last = found[-1] if found else reference
        found.append(
            embed(
                codes,
                method=method,
                threshold=threshold,
                num_neighbors=num_neighbors,
                reference=last,
                seed=seed,
            )
        )
    return tuple(found)


@read_arguments
def align(embedding: Embedding, reference: Embedding) -> Embedding:
    """Return an embedding turned, mirrored and moved as close as possible to another of the same samples.

    Minimises the sum of squared distances over orthogonal maps and translations (the Procrustes problem).

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> first = rs.codespace.Embedding(np.array([[0.0, 0.0], [2.0, 0.0]]), "mds", 1.0)
    >>> second = rs.codespace.Embedding(np.array([[5.0, 5.0], [5.0, 7.0]]), "mds", 1.0)
    >>> rs.codespace.align(second, first).points.round(9) + 0.0
    array([[0., 0.],
           [2., 0.]])
    """
    middle, target = embedding.points.mean(axis=0), reference.points.mean(axis=0)
    turn, _ = orthogonal_procrustes(embedding.points - middle, reference.points - target)
    return replace(embedding, points=(embedding.points - middle) @ turn + target)


@read_arguments
def embedding_trust(codes: Codes, embedding: Embedding, *, num_neighbors: Count = 10, seed: Seed = 0) -> Finding:
    """Return the trustworthiness of an embedding: how far its neighbours are neighbours in code space.

    Parameters
    ----------
    codes : Codes
    embedding : Embedding
        Of these codes.
    num_neighbors : int
        Neighbours in the picture; fewer than half of the samples.
    seed : int
        Seed of the draw, if there are more than 3,000 samples.

    Returns
    -------
    Finding
        From 0 to 1, where 1 means that all near points have near codes. EXACT for these samples; for more than
        3,000 samples an ESTIMATE from 3,000 of them.

    References
    ----------
    Venna and Kaski, "Neighborhood preservation in nonlinear projection methods", 2001.
    """
    if len(codes) != len(embedding):
        raise ShapeError(f"expected the {len(embedding):,} codes that were embedded, got {len(codes):,}")
    rows = np.arange(len(codes))
    if len(rows) > NUM_JUDGED:
        rows = np.random.default_rng(seed).choice(len(rows), NUM_JUDGED, replace=False)
    k = min(num_neighbors, (len(rows) - 1) // 2)
    value = 1.0
    if k >= 1:
        value = _trust(codes[rows].distance().astype(np.float64), embedding.points[rows], k)
    # Of other samples, nothing is known: from 0 to 1.
    ends = (value, value) if len(rows) == len(codes) else (0.0, 1.0)
    column = Column.of(
        TRUST,
        [value],
        [max(0.0, ends[0] - TOTALS)],
        [min(1.0, ends[1] + TOTALS)],
        method=f"{embedding.method}; Hamming distances of all pairs",
        given=f"among the {k} nearest",
    )
    return Findings.of(column, domain=f"{len(rows):,} of {len(codes):,} samples", num_samples=len(rows)).finding(TRUST)


def _trust(table: np.ndarray, points: np.ndarray, k: int) -> float:
    """Return 1 less the normalized sum of the ranks beyond k, in the table, of the k nearest in the picture."""
    number, place = len(table), np.arange(len(table))
    np.fill_diagonal(table, np.inf)
    ranks = np.empty((number, number), dtype=np.int64)
    np.put_along_axis(ranks, np.argsort(table, axis=1), place[None, :], axis=1)
    shown = sum((np.subtract.outer(column, column) ** 2 for column in points.T), np.zeros((number, number)))
    np.fill_diagonal(shown, np.inf)
    nearest = np.argpartition(shown, k - 1, axis=1)[:, :k]
    beyond = np.maximum(np.take_along_axis(ranks, nearest, axis=1) + 1 - k, 0).sum()
    return 1.0 - float(beyond) * 2.0 / (number * k * (2.0 * number - 3.0 * k - 1.0))


def _scale_classically(codes: Codes, threshold: int | None, generator: np.random.Generator) -> Embedding:
    rows = np.arange(len(codes))
    if len(rows) > LANDMARKS:
        rows = np.sort(generator.choice(len(rows), LANDMARKS, replace=False))
    landmarks = codes[rows]
    squared = landmarks.distance(threshold=threshold).astype(np.float64)  # squares of the distances that are scaled
    means = squared.mean(axis=0)
    gram = -0.5 * (squared - means - means[:, None] + means.mean())
    whole = float(np.trace(gram))
    if len(rows) < 2 or whole <= 0.0:
        return Embedding(np.zeros((len(codes), 2)), "mds", 1.0)
    largest, vectors = eigh(gram, subset_by_index=[max(0, len(rows) - 2), len(rows) - 1])
    largest, vectors = np.maximum(largest[::-1], 0.0), vectors[:, ::-1]
    # The sign of an eigenvector is chance: the entry of largest size is made positive.
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])
    # Below rounding an axis has no direction of its own.
    kept = largest > NOTHING * whole
    inverse = np.where(kept, 1.0 / np.sqrt(np.where(kept, largest, 1.0)), 0.0) * vectors
    points = np.empty((len(codes), 2))
    for start in range(0, len(codes), LANDMARKS):
        block = codes[start : start + LANDMARKS].distance(landmarks, threshold=threshold).astype(np.float64)
        points[start : start + LANDMARKS] = -0.5 * (block - means) @ inverse
    share = float(np.where(kept, largest, 0.0).sum() / whole)
    # The roots of Hamming distances are distances in a Euclidean space, so that no eigenvalue is negative and their sum
    # is the trace: two of them are above it by rounding alone. Roots of truncated distances need not be.
    return Embedding(points, "mds", min(share, 1.0) if threshold is None else share)


def _umap(codes: Codes, start: np.ndarray, num_neighbors: int, seed: int) -> np.ndarray:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells of optional packages that are not there
            from umap import UMAP  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise InputError(
            "UMAP is not installed: run pip install 'reluscope[umap]', or leave out method=\"umap\" for classical "
            "scaling"
        ) from error
    size = len(codes)
    k = min(num_neighbors, size)
    distances, rows = nearest_codes(codes, k=k - 1)
    # Its lists of neighbours begin with the sample itself.
    rows = np.column_stack([np.arange(size), rows])
    distances = np.column_stack([np.zeros(size), distances]).astype(np.float32)
    spread = np.abs(start - start.mean(axis=0)).max()
    first = (10.0 / spread if spread > 0 else 1.0) * (start - start.mean(axis=0))
    # Equal codes start at one point, and equal starts stay together: a little noise tells them apart.
    first = (first + np.random.default_rng(seed).normal(scale=1e-3, size=first.shape)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # new points are not to be placed, and one seed means one thread
        placed = UMAP(
            n_neighbors=k, precomputed_knn=(rows, distances), init=first, random_state=seed, n_jobs=1
        ).fit_transform(first)
    return np.asarray(placed, dtype=np.float64)
