"""Sizes of the affine maps that a network is near its samples, and how many of them differ.

For ``f(z) = W z + b`` on the region of a sample: the spectral norm (the most by which the outputs move per unit of
input, within the region), the Frobenius norm, and for classifiers the length of the margin's gradient.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from reluscope.analyses.coefficients.margins import margins_of_maps
from reluscope.analyses.coefficients.rounding import map_rounding
from reluscope.analyses.medians import median_finding
from reluscope.analyses.pacing import Pace, read_population, until_interrupted
from reluscope.arguments import Count, Seconds, read_arguments, read_position
from reluscope.findings import Claim, Finding
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.tolerance import Tolerance

BLOCK_BYTES = 64 * 2**20
PROJECTIONS = 3


@dataclass(frozen=True)
class LocalNorms:
    """Norms of the local maps of samples.

    Parameters
    ----------
    spectral, frobenius : (s,) float64
        Of W, for the samples that were reached, in the order they were given.
    slopes : (s,) float64 or None
        Length of the gradient of the margin between the class and its nearest rival; None if not asked for.
    maps : (low, high)
        Between how many different maps these are: as many as differ by more than rounding, and as there are codes.
    population : int
        Samples that they stand for.
    error : float
        Bound on what rounding changes in a norm.
    stopped : str
        ``"time"`` or ``"interrupted"`` if not all given samples were reached, else empty.
    seconds : float
    """

    spectral: Float[np.ndarray, " s"]
    frobenius: Float[np.ndarray, " s"]
    slopes: Float[np.ndarray, " s"] | None
    maps: tuple[int, int]
    population: int
    error: float
    stopped: str
    seconds: float

    def __len__(self) -> int:
        return len(self.spectral)

    def medians(self) -> tuple[Finding, ...]:
        """Return the medians of the norms: EXACT if all samples were reached, else ESTIMATES with intervals."""
        spectral = self._median(
            self.spectral, "spectral norm of the local map", "largest singular value of its weight, by LAPACK"
        )
        frobenius = self._median(
            self.frobenius, "Frobenius norm of the local map", "root of the sum of squares of its weight"
        )
        if self.slopes is None:
            return spectral, frobenius
        return spectral, frobenius, self._median(self.slopes, "slope of the margin", SLOPE)

    @read_arguments
    def of(self, row: int) -> tuple[Finding, ...]:
        """Return the norms of one sample's map, EXACT within the bound on rounding."""
        row = read_position(row, "row", len(self.spectral), "samples")
        kinds = [("spectral norm", self.spectral, "largest singular value of the local map's weight")]
        kinds.append(("Frobenius norm", self.frobenius, "root of the sum of squares of the local map's weight"))
        if self.slopes is not None:
            kinds.append(("slope of the margin", self.slopes, SLOPE))
        return tuple(
            Finding(
                float(values[row]),
                Claim.EXACT,
                name=name,
                definition=definition,
                domain="the region of one sample",
                method="the map of the sample's code, float64",
                tolerance=self.error,
            )
            for name, values, definition in kinds
        )

    def different_maps(self) -> Finding:
        """Return the number of different affine maps: EXACT where as many differ as there are codes, else LOWER."""
        low, high = self.maps
        return Finding(
            low,
            Claim.EXACT if low == high else Claim.LOWER,
            name="different affine maps",
            interval=None if low == high else (low, high),
            definition="number of different affine maps among the samples' regions; there are at most as many as codes",
            domain=f"{len(self):,} samples",
            method="random projections of (W, b) that differ by more than rounding",
            tolerance=self.error,
            work={"seconds": self.seconds},
        )

    def _median(self, values: np.ndarray, what: str, method: str) -> Finding:
        return median_finding(
            values,
            self.population,
            what=f"the {what}",
            tolerance=self.error,
            name=f"median {what}",
            method=f"{method}; float64",
            work={"seconds": self.seconds},
        )


SLOPE = "length of w_i - w_j for the class i and the rival j whose hyperplane is nearest"


@read_arguments
def local_norms(
    network: Network,
    x: Points,
    *,
    margins: bool = False,
    population: Count | None = None,
    seconds: Seconds = np.inf,
    tolerance: Tolerance | None = None,
    tell: Callable[[float], None] | None = None,
) -> LocalNorms:
    """Return the norms of the network's local maps.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        In random order, if there may not be time for all.
    margins : bool
        Read the outputs as classes and return the slope of the margin as well.
    population : int, optional
        How many samples these were drawn from, for the claims of medians; by default these are all.
    seconds : float
        When to stop; at least one sample is done.
    tolerance : Tolerance, optional
        Its safety factor for rounding.
    tell : callable, optional
        Told the share of the work done.

    Returns
    -------
    LocalNorms
        Of fewer samples if there was no time, or on Ctrl-C after the first.

    Notes
    -----
    ``min(m, n)`` passes and one singular value decomposition per sample; 64 MB of maps are alive at a time. Rounding is
    bounded by ``gamma`` times the sums of absolute products along all paths, which is generous for deep networks.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[3.0, 4.0]]), np.zeros(1))])
    >>> local_norms(net, [[1.0, 1.0], [1.0, -1.0]]).spectral.round(9)
    array([5., 3.])
    """
    began = time.perf_counter()
    points = network.points(x)
    population = read_population(population, len(points))
    size = network.num_outputs * network.num_inputs
    pace = Pace(len(points), seconds=seconds, most=max(1, BLOCK_BYTES // (8 * size)), progress=tell)
    generator = np.random.default_rng(0)
    directions = torch.as_tensor(
        generator.normal(size=(size + network.num_outputs, PROJECTIONS)), device=network.device
    )
    directions /= torch.linalg.vector_norm(directions, dim=0)
    parts: list[tuple[np.ndarray, ...]] = []

    def work() -> None:
        for block in pace.blocks():
            maps = network.linearize(points[block])
            flat = torch.cat([maps.weight.flatten(1), maps.bias], dim=1)
            found = [
                torch.linalg.svdvals(maps.weight)[:, 0],
                torch.linalg.vector_norm(maps.weight, dim=(1, 2)),
                flat @ directions,
            ]
            columns = [column.cpu().numpy() for column in found]
            if margins:
                columns.append(margins_of_maps(network(points[block]).flatten(1), maps.weight).slopes)
            parts.append(tuple(columns))

    stopped = until_interrupted(work, parts)
    spectral, frobenius, projected, *slopes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    error = map_rounding(network, tolerance or Tolerance())
    codes = network.codes(points[: len(spectral)])
    return LocalNorms(
        spectral,
        frobenius,
        slopes[0] if slopes else None,
        (min(_num_apart(projected, 2 * error), len(codes.unique())), len(codes.unique())),
        population,
        error,
        stopped or pace.stopped,
        time.perf_counter() - began,
    )


def _num_apart(values: np.ndarray, gap: float) -> int:
    """Return how many groups of rows there are that differ from all others by more than a gap in some column."""
    groups = np.zeros(len(values), dtype=np.int64)
    for column in values.T:
        order = np.lexsort((column, groups))
        new = (np.diff(groups[order]) != 0) | (np.diff(column[order]) > gap)
        groups[order] = np.concatenate([[0], np.cumsum(new)])
    return int(groups.max()) + 1
