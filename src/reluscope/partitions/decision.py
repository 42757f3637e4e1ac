"""Decision boundaries: where the class changes, as exact pieces.

On a region every output is affine, so two of them tie along a straight chord, of which the part counts where no third
output is larger. Outputs can also tie along a whole facet, which then is a piece itself.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from reluscope.arguments import read_arguments
from reluscope.budget import ENDS, INTERRUPTED, Budget, TimeBudget, why_ended
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Box
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.geometry.window_shapes import window_shape
from reluscope.interruption import held, safe_point
from reluscope.partitions.decision_pieces import Pieces, blocks_of, pieces_of, scores_by_block
from reluscope.partitions.polygons import measures
from reluscope.partitions.table import Partition
from reluscope.progress import Progress, counting_regions
from reluscope.shown import Shown

# Shares of the domain are known to so much.
ROUNDING = 1e-9


@dataclass(frozen=True, repr=False)
class DecisionBoundary(Shown):
    """Pieces of the set where two classes tie that are ahead of all others.

    Parameters
    ----------
    regions : (p,) int64
        Row of the region that each piece lies in (of the left one if it is a facet).
    classes : (p, 2) int64
        The two classes that tie, the lower first: outputs, or, of a single one, 0 (f <= 0) and 1 (f > 0); see
        `Network.with_decision`.
    ends : (p, d, d) float64
        End points in domain coordinates: two in the plane, one on a line.
    covered : float
        The share of the domain that was looked at: less than 1 where the partition or the search stopped early.
    is_whole : bool
        Whether these are surely all pieces: the partition is EXACT, and every region was looked at.
    note : str
        Why the search stopped early; empty if it did not.
    """

    regions: Int[np.ndarray, " p"]
    classes: Int[np.ndarray, "p 2"]
    ends: Float[np.ndarray, "p d d"]
    covered: float = 1.0
    is_whole: bool = True
    note: str = ""

    def __len__(self) -> int:
        return len(self.regions)

    @property
    def length(self) -> float:
        """Total length in domain coordinates; on a line 0."""
        if self.ends.shape[1] == 1:
            return 0.0
        return float(np.linalg.norm(self.ends[:, 0] - self.ends[:, 1], axis=1).sum())

    def finding(self) -> Finding:
        """Return the total length, on a line the number of points, with its claim: LOWER where pieces may be missing.

        Examples
        --------
        >>> import numpy as np, reluscope as rs
        >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[1.0, -1.0]]), np.zeros(1))])
        >>> print(rs.decision_boundary(rs.partition(net, rs.Box(1, 2, 2))).finding())
        1.41421 (EXACT)
        """
        is_line = self.ends.shape[1] == 1
        amount = len(self) if is_line else self.length
        return Finding.of(
            amount,
            upper=None if self.is_whole else float("inf"),
            name="points of the decision boundary" if is_line else "length of the decision boundary",
            definition="where two classes tie that are ahead of all others"
            + ("" if self.covered == 1 else f", in {self.covered:.2%} of the domain"),
        )


@held
@read_arguments
def decision_boundary(
    part: Partition, *, budget: TimeBudget | None = None, progress: Progress = False
) -> DecisionBoundary:
    """Return the exact pieces of the decision boundary on a partitioned line or plane.

    Parameters
    ----------
    part : Partition
        With its network.
    budget : Budget, optional
        Seconds, after which the pieces found so far are returned: those of the first block of regions at least.
    progress : bool or callable
        True shows a bar; a function is told the share of the regions that is done.

    Returns
    -------
    DecisionBoundary
        Exact up to the rounding of the outputs at the vertices. Where time or memory did not suffice, or Ctrl-C struck,
        its ``note`` says so, ``covered`` is the share of the domain that was looked at, and its `finding` claims LOWER.

    Raises
    ------
    InputError
        If the partition is not of a bounded line or plane, or was loaded without its network.

    Notes
    -----
    Costs one forward pass over the vertices, which the partition keeps; none where it has the outputs from its walk, as
    on lines and planes through large networks. Of many classes only those count that may be ahead somewhere among some
    thousand neighbouring regions: a thousand outputs cost about as much as the few of them that win.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[1.0, -1.0]]), np.zeros(1))])
    >>> pieces = rs.decision_boundary(rs.partition(net, rs.Box(-1, 1, 2)), budget=rs.Budget(seconds=60))
    >>> pieces.ends[np.abs(pieces.ends).sum((1, 2)).argmax()].tolist(), pieces.covered
    ([[0.0, 0.0], [1.0, 1.0]], 1.0)
    """
    if part.dim > 2 or not part.is_bounded().all():
        raise InputError(
            f"decision boundaries are found on bounded lines and planes, got {part.domain.describe()}: take a Segment "
            "or a Plane, or decision_surface(network, domain) in space"
        )
    dim = part.dim
    if not len(part):
        _ = part.scores  # which tells who has no network
        return _boundary(part, Pieces.none(dim), 0, "")
    search = _Search(part, budget or Budget(), time.time())
    with counting_regions("decision boundary", progress) as count:
        note = search.run(count)
    chords, facets = zip(*search.found, strict=True) if search.found else ((), ())
    return _boundary(part, Pieces.joined([*chords, *facets], dim), search.num_done, note)


class _Search:
    """The pieces of the first regions, as far as work has come."""

    def __init__(self, part: Partition, budget: Budget, began: float) -> None:
        self.part, self.budget, self.began = part, budget, began
        self.found: list[tuple[Pieces, Pieces]] = []
        self.num_done = 0

    def run(self, count: Callable[[int, float], None] | None) -> str:
        """Search until all is done; return why it is not."""
        try:
            return self._blocks(count)
        except ENDS as end:
            note = why_ended(end)
            if note == INTERRUPTED and not self.num_done:
                raise
            return note

    def _blocks(self, count: Callable[[int, float], None] | None) -> str:
        part, values, known, stopped = self.part, np.zeros((0, 2)), 0, ""
        offsets, ids = part.region_vertices
        first = int(ids[: offsets[1]].max())  # whatever the time, one region is looked at
        for found_so_far, known in scores_by_block(part):
            values = found_so_far
            safe_point()
            if known > first and (stopped := self.budget.spent(0, self.began)):
                break
        error = 64 * np.finfo(float).eps * float(np.abs(values[:known]).max())
        for start, stop in blocks_of(part, values.shape[1], known):
            safe_point()
            if self.num_done and (stopped := self.budget.spent(0, self.began)):
                return stopped
            found = pieces_of(part, values, start, stop, error)
            # One assignment for the pieces, one for their number: Ctrl-C is answered above alone.
            self.found, self.num_done = [*self.found, found], stop
            if count is not None:
                count(stop - start, (stop - start) / len(part))
        return stopped if self.num_done < len(part) else ""


def _boundary(part: Partition, pieces: Pieces, num_done: int, note: str) -> DecisionBoundary:
    """Return the pieces of the first regions, with what is known of the others."""
    is_whole = num_done == len(part) and part.claim is Claim.EXACT
    covered = 1.0
    if not is_whole:
        window = part.window
        assert isinstance(window, Box | Polyhedron)
        if isinstance(window, Box) and part.dim == 1:
            corners = np.stack([window.lo, window.hi])
        else:
            corners = window_shape(window).corners.points
        (all_of_it,) = measures(corners, np.array([0, len(corners)]), np.arange(len(corners), dtype=np.int32))
        share = float(part.volumes()[:num_done].sum() / abs(all_of_it))
        covered = share if share < 1 - ROUNDING else 1.0
    return DecisionBoundary(*pieces, covered=covered, is_whole=is_whole, note=note)
