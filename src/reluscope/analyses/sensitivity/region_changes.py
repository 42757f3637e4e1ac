"""How often a trajectory changes its linear region, and how many units change their piece on the way, exactly.

Every segment is partitioned: crossings are not looked for by steps. Within a segment there is one transition between
consecutive pieces; at a corner there is one if the pieces on its two sides have different codes. Novak et al. add up
the changes of codes between many points of a trajectory, see [novak2018]_; here nothing is left between points.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from reluscope.analyses.sensitivity.trajectories import Trajectory, trajectory
from reluscope.arguments import read_arguments
from reluscope.budget import Budget
from reluscope.codes.packed import Codes
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Segment
from reluscope.networks.network import Network
from reluscope.partitions.dispatch import partition
from reluscope.partitions.table import Partition
from reluscope.tolerance import Tolerance


@dataclass(frozen=True, eq=False)
class Transitions:
    """Changes of region along a trajectory.

    Parameters
    ----------
    crossings : (k,) int64
        Transitions inside each segment.
    flips : (k,) int64
        Units that change their piece at them, each time counted.
    corner_crossings, corner_flips : (k,) int64
        The same at the end of each segment, on to the next; 0 at the end of a trajectory that is not closed.
    lengths : (k,) float64
        Of the segments, in input space.
    places : tuple of (c,) arrays
        Where on each segment its crossings are, as distances from its beginning.
    description : str
        What the trajectory is.
    claim : Claim
        EXACT, or LOWER if signs stayed undecided or work stopped early.
    num_undecided : int
    stopped : str
        Why work stopped early, if it did.
    tolerance : Tolerance
    """

    crossings: Int[np.ndarray, " k"]
    flips: Int[np.ndarray, " k"]
    corner_crossings: Int[np.ndarray, " k"]
    corner_flips: Int[np.ndarray, " k"]
    lengths: Float[np.ndarray, " k"]
    places: tuple[Float[np.ndarray, " _"], ...]
    description: str
    claim: Claim
    num_undecided: int
    stopped: str
    tolerance: Tolerance

    def __len__(self) -> int:
        return len(self.crossings)

    @property
    def length(self) -> float:
        """Length of the trajectory."""
        return float(self.lengths.sum())

    def number(self) -> Finding:
        """Return how many transitions between linear regions there are: EXACT, or LOWER; of the polyline."""
        total = int(self.crossings.sum() + self.corner_crossings.sum())
        definition = "changes of the activation region on the way; stretches within a boundary have codes of their own"
        return self._finding(total, "transitions", definition)

    def changes_of_units(self) -> Finding:
        """Return how many times units change their piece: EXACT, or LOWER; of the polyline."""
        total = int(self.flips.sum() + self.corner_flips.sum())
        return self._finding(total, "changes of units", "changes of pieces, summed over units and over the way")

    def _finding(self, value: int, name: str, definition: str) -> Finding:
        return Finding(
            value,
            self.claim,
            name=name,
            interval=None if self.claim is Claim.EXACT else (value, np.inf),
            definition=definition,
            domain=self.description,
            method="exact partition of every segment",
            source="novak2018",
            tolerance=self.tolerance.resolution,
            num_undecided=self.num_undecided,
        )


@read_arguments
def transitions(
    network: Network,
    way: Trajectory | ArrayLike,
    *,
    budget: Budget | int | None = None,
    tolerance: Tolerance | None = None,
) -> Transitions:
    """Count the changes of linear region along a trajectory, exactly.

    Parameters
    ----------
    network : Network
    way : Trajectory, or (k, n) or (k, *input_shape) array
        See `trajectory`, `ellipse` and `translations`; points give the polyline through them. Counts are those of the
        polyline, of which curves are no part but for the points that they share.
    budget : Budget or int, optional
        For all segments together.
    tolerance : Tolerance, optional

    Returns
    -------
    Transitions
        EXACT, or LOWER; see `Transitions.claim`.

    Raises
    ------
    ShapeError
        If the points do not fit the inputs.

    Notes
    -----
    About one forward pass over all crossing points. A trajectory that touches a boundary in a corner and turns back
    does not cross it.

    References
    ----------
    .. [novak2018] Novak et al., "Sensitivity and generalization in neural networks: an empirical study", 2018.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> circle = rs.sensitivity.ellipse([1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)], num_points=30)
    >>> print(rs.sensitivity.transitions(net, circle).number())  # around the four quadrants
    4 (EXACT)
    """
    path = way if isinstance(way, Trajectory) else trajectory(way)
    tolerance = tolerance or Tolerance()
    starts, ends = path.ends()
    segments = [Segment(start, end) for start, end in zip(starts, ends, strict=True)]
    parts = partition(network, segments, budget=budget, tolerance=tolerance) if segments else []
    orders = [np.argsort(part.witnesses[:, 0]) for part in parts]
    corner_crossings, corner_flips = _at_corners(parts, orders, path.is_closed)
    is_exact = all(part.finding().claim is Claim.EXACT for part in parts)
    return Transitions(
        np.array([len(part.facets) for part in parts], dtype=np.int64),
        np.array([len(part.facets.flips) for part in parts], dtype=np.int64),
        corner_crossings,
        corner_flips,
        np.linalg.norm(ends - starts, axis=1),
        tuple(np.sort(part.vertices[part.facets.vertices[:, 0], 0]) for part in parts),
        path.description,
        Claim.EXACT if is_exact else Claim.LOWER,
        sum(part.num_undecided for part in parts),
        next((part.note for part in parts if part.note), ""),
        tolerance,
    )


def _at_corners(
    parts: list[Partition], orders: list[np.ndarray], is_closed: bool
) -> tuple[Int[np.ndarray, " k"], Int[np.ndarray, " k"]]:
    """Return for every segment whether the next begins in another region, and how many units differ."""
    flips = np.zeros(len(parts), dtype=np.int64)
    for index, (part, order) in enumerate(zip(parts, orders, strict=True)):
        following = (index + 1) % len(parts)
        if following == 0 and not is_closed:
            continue
        # What an unfinished segment ends with is not known.
        if part.num_open or parts[following].num_open or not len(order) or not len(orders[following]):
            continue
        last, first = int(order[-1]), int(orders[following][0])
        flips[index] = _distance(part.codes[last : last + 1], parts[following].codes[first : first + 1])
    return (flips > 0).astype(np.int64), flips


def _distance(one: Codes, other: Codes) -> int:
    return int(one.distance(other)[0, 0])
