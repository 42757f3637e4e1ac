"""What share of a linear region each class has, and how far its points are away, from points drawn inside it.

Points come from hit-and-run chains that do not know of one another. Means over chains are then independent, and their
spread says how well the mean is known, whatever dependence there is within a chain (Student's t).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import t as student

from reluscope.analyses.bodies import regions_inside
from reluscope.analyses.classification.classes import classes_of_outputs, num_classes
from reluscope.analyses.pacing import Pace, until_interrupted
from reluscope.arguments import Count, Seconds, Seed, read_arguments, read_position
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Box
from reluscope.interruption import deferred
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.tolerance import Tolerance

CONFIDENCE = 0.95


@dataclass(frozen=True)
class ClassShares:
    """Shares of classes in the regions of points, estimated.

    Parameters
    ----------
    rows : (k,) int64
        Which of the given points these are.
    shares : (k, m) float64
        Estimated shares of the volume of the region that belong to each class.
    share_intervals : (k, m, 2) float64
        Each by itself contains the share with the confidence 95 %, once chains have forgotten where they began.
    distances : (k,) float64
        Estimated mean distance from the given point to a point of its region.
    distance_intervals : (k, 2) float64
    without : (j,) int64
        Points whose code has no region with an interior in the domain.
    domain : Box
        What regions were cut down to.
    chains, draws : int
        Chains for each region, and points of each.
    stopped : str
        ``"time"`` or ``"interrupted"`` if not all given points were reached, else empty.
    seconds : float
    """

    rows: Int[np.ndarray, " k"]
    shares: Float[np.ndarray, "k m"]
    share_intervals: Float[np.ndarray, "k m 2"]
    distances: Float[np.ndarray, " k"]
    distance_intervals: Float[np.ndarray, "k 2"]
    without: Int[np.ndarray, " j"]
    domain: Box
    chains: int
    draws: int
    stopped: str
    seconds: float

    def __len__(self) -> int:
        return len(self.rows)

    @read_arguments
    def share(self, position: int, label: int) -> Finding:
        """Return the share of one class in one region, an ESTIMATE."""
        label = read_position(label, "label", self.shares.shape[1], "classes")
        position = read_position(position, "position", len(self), "points")
        return self._finding(
            self.shares[position, label],
            self.share_intervals[position, label],
            name=f"share of class {label}",
            definition=f"share of the volume of the linear region that belongs to class {label}",
        )

    @read_arguments
    def distance(self, position: int) -> Finding:
        """Return the mean distance from one point to its region, an ESTIMATE."""
        position = read_position(position, "position", len(self), "points")
        return self._finding(
            self.distances[position],
            self.distance_intervals[position],
            name="mean distance to the region",
            definition="mean Euclidean distance from the point to the points of its linear region",
        )

    def _finding(self, value: float, interval: np.ndarray, **fields: Any) -> Finding:
        return Finding(
            float(value),
            Claim.ESTIMATE,
            interval=(float(interval[0]), float(interval[1])),
            domain=self.domain.describe(),
            method=f"coordinate hit-and-run, {self.chains} chains of {self.draws:,} points; the interval of "
            f"{CONFIDENCE:.0%} follows from the spread of the chains",
            **fields,
        )


@read_arguments
def class_shares(
    network: Network,
    x: Points,
    *,
    domain: Box,
    draws: Count = 50,
    chains: Count = 16,
    thinning: Count | None = None,
    seed: Seed = 0,
    seconds: Seconds = np.inf,
    tolerance: Tolerance | None = None,
    tell: Callable[[float], None] | None = None,
) -> ClassShares:
    """Estimate the share of every class in the linear regions of points, and mean distances.

    Parameters
    ----------
    network : Network
        A classifier; one output f stands for the logits 0 and f.
    x : (s, *input_shape) or (s, n)
    domain : Box
        Bounded; regions are cut down to it.
    draws, chains : int
        Points of each chain, and chains for each region, at least two.
    thinning : int, optional
        Steps between two points of a chain; see `Polyhedron.sample`.
    seed : int
    seconds : float
        When to begin with no further point; one is always done.
    tolerance : Tolerance, optional
    tell : callable, optional
        Told the share of the work done.

    Returns
    -------
    ClassShares
        Of fewer points if there was no time, or on Ctrl-C.

    Raises
    ------
    InputError
        If there are fewer than two chains.

    Notes
    -----
    A class that no point shows may still have a share, and where all points agree their spread is zero: the interval is
    then that of Clopper and Pearson for one point of every chain.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0, 0.0]], [-0.25])])  # class 1 where the first input is above 1 / 4
    >>> found = rs.local.class_shares(net, [[0.5, 0.5]], domain=rs.Box(0, 1, 2))
    >>> low, high = found.share(0, 1).interval
    >>> bool(low < 0.75 < high)
    True
    """
    if chains < 2 or draws < 1:
        raise InputError(
            f"expected two chains of one draw at least, got {chains} of {draws}: their spread is the error"
        )
    began = time.perf_counter()
    points, number = network.points(x), num_classes(network)
    flat = points.reshape(len(points), -1).cpu().numpy()
    pace = Pace(len(points), seconds=seconds, most=1, tell=tell)
    found: list[tuple[np.ndarray, np.ndarray]] = []
    rows: list[int] = []
    without: list[int] = []

    def work() -> None:
        for block in pace.blocks():
            regions = regions_inside(network, points[block], tolerance)
            inside = regions[0].polyhedron.intersect(domain.polyhedron) if regions else None
            if inside is None or not inside.insphere().radius > 0:
                without.append(block.start)
                continue
            drawn = inside.sample(draws * chains, chains=chains, thinning=thinning, seed=seed)
            weight, bias = (part[0].cpu().numpy() for part in (regions[0].map.weight, regions[0].map.bias))
            classes = classes_of_outputs(drawn @ weight.T + bias).reshape(draws, chains)
            away = np.linalg.norm(drawn - flat[block.start], axis=1).reshape(draws, chains)
            is_of = classes[..., None] == np.arange(number)
            means = _mean(is_of.mean(axis=0).T, are_shares=True), _mean(away.mean(axis=0)[None])[0]
            with deferred():
                found.append(means)
                rows.append(block.start)

    stopped = until_interrupted(work, rows) or pace.stopped
    shares = np.array([of_classes for of_classes, _ in found]).reshape(-1, number, 3)
    distances = np.array([away for _, away in found]).reshape(-1, 3)
    return ClassShares(
        np.array(rows, dtype=np.int64),
        shares[..., 0],
        shares[..., 1:],
        distances[:, 0],
        distances[:, 1:],
        np.array(without, dtype=np.int64),
        domain,
        chains,
        draws,
        stopped,
        time.perf_counter() - began,
    )


def _mean(of_chains: Float[np.ndarray, "q c"], *, are_shares: bool = False) -> Float[np.ndarray, "q 3"]:
    """Return means over chains and the ends of their intervals."""
    chains = of_chains.shape[1]
    mean = of_chains.mean(axis=1)
    reach = student.ppf(0.5 + CONFIDENCE / 2, chains - 1) * of_chains.std(axis=1, ddof=1) / np.sqrt(chains)
    low, high = np.maximum(mean - reach, 0.0), mean + reach
    if are_shares:
        rare = 1 - (0.5 - CONFIDENCE / 2) ** (1 / chains)
        high = np.minimum(np.where(mean == 0, rare, high), 1.0)
        low = np.where(mean == 1, 1 - rare, low)
    return np.stack([mean, low, high], axis=1)
