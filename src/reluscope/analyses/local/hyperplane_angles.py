"""Angles between the hyperplanes of a linear region: ``arccos(w_i . w_j / |w_i| |w_j|)`` for all pairs of rows.

The normals w_i point into the region: an active unit with pre-activation h has ``grad h``, an inactive one ``-grad h``,
in short ``sgn(h) grad h``, so that the sign of an angle does not depend on how a unit's weights are signed but on which
side of it the region lies. Angles are in degrees from 0 (parallel, both sides bound alike) to 180 (opposite sides).
Pairs stream through a table of a few thousand rows at a time: 12,512 hyperplanes in 3,072 dimensions need neither their
156 million angles nor their normals at once.

Reference: Zhang and Wu, "Empirical studies on the properties of linear regions in deep neural networks", 2020,
section 3.3 and Figure 4, over all rows; here also over facets alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from reluscope.analyses.local.hyperplanes import Hyperplanes, hyperplanes
from reluscope.arguments import Count, Natural, read_arguments, read_positions
from reluscope.budget import Budget, MemoryBudget
from reluscope.errors import ShapeError
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.network import Network
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance

BUDGET = 256 * 2**20


@dataclass(frozen=True, eq=False, repr=False)
class Directions(Shown):
    """Angles between r hyperplanes at one point, as counts by pairs of g gates, and as an image.

    Parameters
    ----------
    hyperplanes : Hyperplanes
        In the order of their units.
    gates : tuple of str
        Names of the gates of the network.
    edges : (b1,) float64
        Edges of the bins, in degrees.
    counts : (g, g, b) int64
        Pairs of different rows by the gates of the two, symmetric; within a gate every pair counts once.
    sums : (g, g) float64
        Sums of the angles of these pairs.
    image : (p, p) float64
        Mean angle over blocks of rows, blocks within a gate; a row with itself has the angle 0.
    pixels : (p1,) int64
        First row of each block, and the number of rows; only 0 if there is no image.
    """

    hyperplanes: Hyperplanes
    gates: tuple[str, ...]
    edges: Float[np.ndarray, " b1"]
    counts: Int[np.ndarray, "g g b"]
    sums: Float[np.ndarray, "g g"]
    image: Float[np.ndarray, "p p"]
    pixels: Int[np.ndarray, " p1"]

    def __len__(self) -> int:
        return len(self.hyperplanes)

    @property
    def sources(self) -> Int[np.ndarray, "r 3"]:
        """Gate, unit and the piece beyond of every row, as `Region.sources` has them."""
        return self.hyperplanes.sources

    @property
    def num_constant(self) -> int:
        """Rows that are constant around the point: they have no direction and are left out."""
        return self.hyperplanes.num_constant

    @property
    def rows(self) -> Int[np.ndarray, " g1"]:
        """The rows at which gates begin, and their number."""
        return np.searchsorted(self.sources[:, 0], np.arange(len(self.gates) + 1))

    @property
    def all_counts(self) -> Int[np.ndarray, " b"]:
        """Pairs of different rows of all gates, every pair once."""
        return self.counts[np.triu_indices(len(self.gates))].sum(axis=0)

    @property
    def means(self) -> Float[np.ndarray, "g g"]:
        """Mean angle of every pair of gates, right to 1e-5 degrees; NaN where there is no pair."""
        number = self.counts.sum(axis=2)
        return np.where(number > 0, self.sums / np.maximum(number, 1), np.nan)

    @property
    def medians(self) -> Float[np.ndarray, "g g"]:
        """Median angle of every pair of gates from the counts: right to the width of a bin; NaN where no pair is."""
        return np.array([[self._median(self.counts[i, j]) for j in range(len(self.gates))]
                         for i in range(len(self.gates))]).reshape(self.sums.shape)  # fmt: skip

    @property
    def mean(self) -> float:
        """Mean angle of all pairs, right to 1e-5 degrees; NaN if there is none."""
        number = int(self.all_counts.sum())
        return float(np.triu(self.sums).sum() / number) if number else float("nan")

    @property
    def median(self) -> float:
        """Median angle of all pairs, from the counts."""
        return self._median(self.all_counts)

    @read_arguments
    def angles(
        self, rows: Sequence[int] | Int[np.ndarray, " k"], *, budget: MemoryBudget | None = None
    ) -> Float[np.ndarray, "k r"]:
        """Return the angles of some rows with all rows, accurate also where rows are nearly parallel.

        Parameters
        ----------
        rows : sequence of int
            Positions in ``sources``.
        budget : Budget, optional
            Memory for normals; the result takes additional memory.

        Notes
        -----
        ``2 atan2(|u - v|, |u + v|)`` after Kahan, for unit normals u and v. An arc cosine resolves angles near 0 and
        180 only to a millionth of a degree.
        """
        chosen = read_positions(rows, "rows", len(self), "hyperplanes")
        number, size = len(self), self.hyperplanes.network.num_inputs
        memory = (budget or Budget()).memory_or(BUDGET)
        quarter = Budget(memory=max(1, memory // 4))
        some = self.hyperplanes.normals(chosen, budget=quarter)
        found = np.zeros((len(chosen), number))
        for part in chunks(number, 3 * 8 * size, memory // 2) if number else ():
            others = self.hyperplanes.normals(part, budget=quarter)
            for row, one in enumerate(some):
                apart = torch.linalg.vector_norm(others - one, dim=1)
                together = torch.linalg.vector_norm(others + one, dim=1)
                found[row, part] = torch.rad2deg(2 * torch.atan2(apart, together)).cpu().numpy()
        return found

    def _median(self, counts: np.ndarray) -> float:
        below = np.concatenate([[0], np.cumsum(counts)])
        if not below[-1]:
            return float("nan")
        half = below[-1] / 2
        bin_ = int(np.searchsorted(below[1:], half))
        share = (half - below[bin_]) / counts[bin_]
        return float(self.edges[bin_] + share * (self.edges[bin_ + 1] - self.edges[bin_]))


@read_arguments
def directions(
    network: Network,
    x: Points,
    *,
    rows: Sequence[Int[np.ndarray, "f 3"]] | None = None,
    bins: Count = 181,
    pixels: Natural = 512,
    budget: MemoryBudget | None = None,
    tolerance: Tolerance | None = None,
) -> tuple[Directions, ...]:
    """Return the angles between the hyperplanes of all units at every point.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    rows : sequence of (f, 3) int, optional
        Rows to use for every point, as in `Region.sources`, such as the facets of its region; by default all rows.
    bins : int
        Bins of equal width between 0 and 180 degrees. With an odd number right angles lie inside a bin.
    pixels : int
        Blocks along a side of the image, apart from one more per gate; 0 for no image.
    budget : Budget, optional
        Memory for normals and angles.
    tolerance : Tolerance, optional
        Its ``rounding`` decides which normals count as zero, as in `regions`.

    Returns
    -------
    tuple of Directions
        One per point. All rows come from units; sides of the domain are not included.

    Raises
    ------
    InputError
        If an option is out of range, or a given row belongs to no unit.
    ShapeError
        If there is not one table of rows per point.

    Notes
    -----
    Cost per point: all normals, and ``r^2 n`` multiplications and additions. Normals that do not fit the budget are
    computed again for every block of partners.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [0.0])])
    >>> (found,) = rs.local.directions(net, [[2.0, -1.0]])  # normals (1, 0), (0, -1), (1, 1)
    >>> found.angles([0]).round(6), round(found.mean, 6)
    (array([[ 0., 90., 45.]]), 90.0)
    """
    points = network.points(x)
    if rows is not None and len(rows) != len(points):
        raise ShapeError(f"expected one table of rows per point, got {len(rows)} for {len(points)} points")
    found = []
    for position in range(len(points)):
        planes = hyperplanes(network, points[position : position + 1], tolerance=tolerance, budget=budget)
        if rows is not None:
            planes = planes.only(rows[position])
        found.append(_directions(planes, bins, pixels, (budget or Budget()).memory_or(BUDGET)))
    return tuple(found)


def _directions(planes: Hyperplanes, bins: int, pixels: int, memory: int) -> Directions:
    gates = tuple(gate.name for gate in planes.network.gates)
    begins = np.searchsorted(planes.sources[:, 0], np.arange(len(gates) + 1))
    blocks = _pixels(begins, pixels)
    device = planes.point.device
    sizes = np.diff(blocks)
    side = len(sizes)
    labels = torch.from_numpy(np.repeat(np.arange(side), sizes)).to(device)
    image = torch.zeros(side, side, dtype=torch.float64, device=device)
    counts = np.zeros((len(gates), len(gates), bins), dtype=np.int64)
    sums = np.zeros((len(gates), len(gates)))
    for rows, columns, angles in _tiles(planes, memory):
        for i, j, part in _by_gates(begins, rows, columns, angles):
            values = part[part >= 0] if columns.start < rows.stop else part.reshape(-1)
            which = (values * (bins / 180.0)).long().clamp_(max=bins - 1)
            counts[i, j] += torch.bincount(which, minlength=bins).cpu().numpy()
            sums[i, j] += float(values.sum())
        if side:
            wide = torch.zeros(len(angles), side, dtype=torch.float64, device=device)
            wide.index_add_(1, labels[columns], angles.clamp_min_(0.0))
            image.index_add_(0, labels[rows], wide)
    upper = np.triu_indices(len(gates), 1)
    counts[upper[1], upper[0]], sums[upper[1], upper[0]] = counts[upper], sums[upper]
    picture = (image + image.T).cpu().numpy() / np.outer(sizes, sizes)
    edges = np.linspace(0.0, 180.0, bins + 1)
    return Directions(planes, gates, edges, counts, sums, picture, blocks)


def _tiles(planes: Hyperplanes, memory: int) -> Iterator[tuple[slice, slice, Tensor]]:
    """Yield the angles of rows with columns, every pair of different rows once; what is not a new pair is -1."""
    number, size = len(planes), planes.network.num_inputs
    eighth = Budget(memory=max(1, memory // 8))
    blocks = list(chunks(number, 8 * size, 3 * memory // 8)) if number else []
    for first, above in enumerate(blocks):
        left = planes.normals(above, budget=eighth)
        for beside in blocks[first:]:
            right = left if beside == above else planes.normals(beside, budget=eighth)
            # A tile is there as cosines, as angles, and as numbers of bins.
            for part in chunks(len(left), 4 * 8 * len(right), memory // 4):
                skipped = part.start if beside == above else 0
                cosines = left[part] @ right[skipped:].T
                angles = torch.rad2deg(torch.arccos(cosines.clamp_(-1.0, 1.0)))
                rows = slice(above.start + part.start, above.start + part.stop)
                if beside == above:
                    square = angles[:, : len(angles)]
                    square.masked_fill_(torch.ones_like(square, dtype=torch.bool).tril_(), -1.0)
                yield rows, slice(beside.start + skipped, beside.stop), angles


def _by_gates(begins: np.ndarray, rows: slice, columns: slice, angles: Tensor) -> Iterator[tuple[int, int, Tensor]]:
    """Yield the parts of a tile that belong to two gates."""
    for i in range(len(begins) - 1):
        top, bottom = max(begins[i], rows.start), min(begins[i + 1], rows.stop)
        for j in range(len(begins) - 1) if top < bottom else ():
            low, high = max(begins[j], columns.start), min(begins[j + 1], columns.stop)
            if low < high:
                part = angles[top - rows.start : bottom - rows.start, low - columns.start : high - columns.start]
                yield i, j, part


def _pixels(begins: np.ndarray, pixels: int) -> Int[np.ndarray, " p1"]:
    """Return where blocks of rows begin, and the number of rows: blocks of one size, of which a gate's last is less."""
    if not pixels:
        return np.zeros(1, dtype=np.int64)
    size = max(1, -(-int(begins[-1]) // pixels))
    starts = [np.arange(start, stop, size) for start, stop in pairwise(begins.tolist())]
    return np.concatenate([*starts, begins[-1:]]).astype(np.int64)
