"""Decision boundaries: where two classes tie that are ahead of all others, as exact pieces.

On a region every output is affine, so two of them tie along a straight chord, of which the part counts where no third
output is larger. Outputs can also tie along a whole facet, which then is a piece itself, whether the class changes
across it or one class is only touched by another. Regions on which two classes tie everywhere have no piece inside.
"""

import time
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import overload

import numpy as np
from jaxtyping import Float, Int

from reluscope.arguments import read_arguments
from reluscope.budget import RegionBudget, TimeBudget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Finding
from reluscope.findings.claims import largest_error
from reluscope.findings.derived import Ends, at_an_end
from reluscope.geometry.polyhedra.domains import Box, Domain
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.window_shapes import window_shape
from reluscope.interruption import held
from reluscope.networks.network import Network
from reluscope.partitions.decisions.chords import ChordSearch
from reluscope.partitions.decisions.decision_pieces import (
    BoundaryPieces,
)
from reluscope.partitions.decisions.length_errors import length_error
from reluscope.partitions.decisions.open_ties import is_small, needs_fractions, open_ties
from reluscope.partitions.decisions.rational_boundary import rational_pieces
from reluscope.partitions.left_open import LeftOpen, left_open
from reluscope.partitions.levels.decision_surfaces import DecisionSurface
from reluscope.partitions.levels.decision_walk import decision_surface
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.polygons import polygon_sizes
from reluscope.progress import Progress
from reluscope.shown import Shown
from reluscope.stopping import Noted, Stop
from reluscope.tolerance import Tolerance

# Shares of the domain are known to so much.
ROUNDING = 1e-9


@dataclass(frozen=True, repr=False)
class DecisionBoundary(Shown, Noted):
    """Pieces of the set where two classes tie and are ahead of all others.

    Parameters
    ----------
    regions : (p,) int64
        Row of the region that contains each piece (of the left region if the piece is a facet).
    classes : (p, 2) int64
        The two classes that tie, the lower first: outputs, or, for a single output, 0 (f <= 0) and 1 (f > 0); see
        `Network.with_decision`.
    ends : (p, d, d) float64
        End points in domain coordinates: two in the plane, one on a line.
    covered : float
        Share of the domain that was searched: less than 1 if the partition or the search stopped early.
    is_whole : bool
        Whether all pieces are certainly here: partition EXACT, every region searched, every tie decided.
    stop : Stop, optional
        Why the search stopped early, if it did; `note` says it in words.
    partition : Partition, optional
        The partition that was searched.
    doubtful : float
        Length of the facets (on a line, their number) where contact of two classes is undecided; infinite if
        regions were not searched. What may be in regions where rounding decides about ties, beyond their pieces.
    loose : float
        Length of the pieces (on a line, their number) in regions where rounding decides about ties.
    is_rational : bool
        Whether fractions computed the pieces, with only their ends rounded.
    """

    regions: Int[np.ndarray, " p"]
    classes: Int[np.ndarray, "p 2"]
    ends: Float[np.ndarray, "p d d"]
    covered: float = 1.0
    is_whole: bool = True
    stop: Stop | None = None
    partition: Partition | None = None
    doubtful: float = 0.0
    loose: float = 0.0
    is_rational: bool = False

    def __len__(self) -> int:
        return len(self.regions)

    def __repr__(self) -> str:
        kind = "points" if self.ends.shape[1] == 1 else "segments"
        pairs = len(np.unique(self.classes, axis=0))
        between = "between two classes" if pairs == 1 else f"between {pairs} pairs of classes"
        of = "" if self.partition is None else f", of {self.partition.domain.describe()}"
        missing = "" if self.is_whole else ", some may be missing"
        return f"DecisionBoundary({len(self):,} {kind} {between}{of}{missing}{self.note and ': ' + self.note})"

    @property
    def length(self) -> float:
        """Total length in domain coordinates; on a line 0."""
        if self.ends.shape[1] == 1:
            return 0.0
        return float(np.linalg.norm(self.ends[:, 0] - self.ends[:, 1], axis=1).sum())

    @cached_property
    def _length_error(self) -> float:
        if self.partition is None or self.is_rational:
            return 8 * np.finfo(float).eps * float(np.abs(self.ends).sum())
        return length_error(self.partition, self.regions, self.classes, self.ends)

    def finding(self) -> Finding:
        """Return the total length, on a line the number of points, with its claim.

        LOWER if pieces may be missing, ESTIMATE if undecided signs leave the maps of regions open.

        Examples
        --------
        >>> import numpy as np, reluscope as rs
        >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[1.0, -1.0]]), np.zeros(1))])
        >>> print(rs.decision_boundary(rs.partition(net, rs.Box(1, 2, 2))).finding())
        1.41421 (EXACT)
        """
        is_line, part = self.ends.shape[1] == 1, self.partition
        amount = len(self) if is_line else self.length
        left = LeftOpen(num_unfinished=not self.is_whole) if part is None else left_open(part)
        error = self._length_error if not is_line and left.is_listed_sure else 0
        lower, upper = left.ends(max(0, amount - error - self.loose), amount + error + self.doubtful, least=0)
        scale = float(np.linalg.norm(np.ptp(part.vertices, axis=0))) if part is not None and len(part) else 0.0
        if not is_line:
            amount = at_an_end(Ends(amount, lower, upper), float(largest_error(amount, scale))).value
        return Finding.of(
            amount,
            int(lower) if is_line else lower,
            int(upper) if is_line and upper < inf else upper,
            scale=scale,
            name="points of the decision boundary" if is_line else "length of the decision boundary",
            definition="where two classes tie that are ahead of all others"
            + ("" if self.covered == 1 else f", in {self.covered:.2%} of the domain"),
        )


@overload
def decision_boundary(
    source: Partition, domain: None = ..., *, budget: TimeBudget | None = ..., progress: Progress = ...
) -> DecisionBoundary: ...
@overload
def decision_boundary(
    source: Network,
    domain: Domain,
    *,
    budget: RegionBudget | None = ...,
    executor: Executor | None = ...,
    progress: Progress = ...,
    tolerance: Tolerance | None = ...,
) -> DecisionSurface: ...


@held
@read_arguments
def decision_boundary(
    source: Network | Partition,
    domain: Domain | None = None,
    *,
    budget: RegionBudget | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> DecisionBoundary | DecisionSurface:
    """Return the exact set where the class of a network changes, on a partition or as a mesh in a domain.

    Parameters
    ----------
    source : Partition or Network
        A partition of a bounded line or plane, with its network; or a network and a domain. The network's `decision`
        defines the class; at ties the lower class wins.
    domain : Box, Polyhedron or Slice, optional
        With a network: bounded, of two or three dimensions, in the input space or a slice of an input space of any
        dimension.
    budget : Budget, optional
        Seconds, after which the pieces found so far are returned: on a partition at least those of the first block of
        regions. With a network also a limit of cells around the surface (``regions``).
    executor : concurrent.futures.Executor, optional
        Runs independent parts; with a network.
    progress : bool or callable
        True shows a bar; a function receives the share done, from 0 to 1.
    tolerance : Tolerance, optional
        Resolution and rounding, with a network; see `Tolerance`.

    Returns
    -------
    DecisionBoundary
        On a partition. Exact up to the rounding of the outputs at the vertices; where rounding decides, fractions are
        used in small networks. After a lack of time or memory, or Ctrl-C, its ``note`` gives the reason, ``covered``
        is the share of the domain that was searched, and its `finding` claims LOWER.
    DecisionSurface
        In a domain: polygons in space, segments in the plane, with shared vertices. Empty if the class does not
        change.

    Raises
    ------
    InputError
        If the partition is not of a bounded line or plane, or was loaded without its network; if the domain is
        unbounded or of another dimension.
    ShapeError
        If the domain lies in another space.
    DegenerateGeometryError
        If the domain is empty or flat.

    Notes
    -----
    On a partition: one forward pass over the vertices, which the partition keeps, and none if the partition already
    has their outputs, as on lines and planes through large networks. Only classes count that may be ahead somewhere
    among some thousand neighbouring regions: a thousand outputs cost about the same as the few winning ones.

    In a domain: the differences of all scores are one more gate after the network. Cells where bounds prove one class
    are dropped. With m classes the gate has m (m - 1) / 2 units, which also cut where two scores tie below a third:
    polygons may be in more parts than necessary.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[1.0, -1.0]]), np.zeros(1))])
    >>> pieces = rs.decision_boundary(rs.partition(net, rs.Box(-1, 1, 2)), budget=rs.Budget(seconds=60))
    >>> pieces.ends[np.abs(pieces.ends).sum((1, 2)).argmax()].tolist(), pieces.covered
    ([[0.0, 0.0], [1.0, 1.0]], 1.0)
    >>> net = rs.load([(np.eye(3), np.zeros(3))])  # the largest of three inputs
    >>> surface = rs.decision_boundary(net, rs.Box(-1, 1, 3))
    >>> surface.claim, surface.junctions.shape, np.unique(surface.classes, axis=0).tolist()
    (<Claim.EXACT: 'EXACT'>, (1, 2), [[0, 1], [0, 2], [1, 2]])
    >>> np.ptp(surface.vertices[surface.junctions[0]], axis=0).tolist()
    [2.0, 2.0, 2.0]
    """
    effort = Effort.of(budget, executor, progress, tolerance)
    if isinstance(source, Partition):
        given = {"domain": domain, "executor": executor, "tolerance": tolerance}
        if wrong := next((name for name, option in given.items() if option is not None), ""):
            raise InputError(f"the boundary on a partition takes no {wrong}: leave it out, or give the network")
        if budget is not None and budget.regions is not None:
            raise InputError("the boundary on a partition takes a budget of seconds alone: leave regions out")
        return _on_partition(source, effort)
    if domain is None:
        raise InputError("domain must be given with a network: a Box or a Slice of two or three dimensions")
    return decision_surface(source, domain, effort)


def _on_partition(part: Partition, effort: Effort) -> DecisionBoundary:
    if part.dim > 2 or not part.is_bounded().all():
        raise InputError(
            f"decision boundaries are found on bounded lines and planes, got {part.domain.describe()}: take a Segment "
            "or a Plane, or decision_boundary(network, domain) in space"
        )
    dim = part.dim
    if not len(part):
        _ = part.scores  # which tells who has no network
        return _boundary(part, BoundaryPieces.none(dim), 0, None)
    if needs_fractions(part):
        return _boundary(part, rational_pieces(part), len(part), None, is_rational=True)
    search = ChordSearch(part, effort.budget, time.time())
    with effort.counting("decision boundary") as counting:
        note = search.run(counting.count)
    chords, facets, touched = zip(*search.found, strict=True) if search.found else ((), (), ())
    pieces = BoundaryPieces.joined([*chords, *facets, *touched], dim)
    doubtful, loose = search.doubtful, 0.0
    if not part.jumps and search.num_done:
        ties = open_ties(part, search.values, search.num_done, pieces)
        if ties.regions.any() and note is None and is_small(part):
            return _boundary(part, rational_pieces(part), len(part), None, is_rational=True)
        sizes = (
            np.linalg.norm(pieces.ends[:, 0] - pieces.ends[:, -1], axis=1) if dim == 2 else np.ones(len(pieces.ends))
        )
        loose = float(sizes[ties.regions[pieces.regions]].sum())
        doubtful += max(0.0, ties.most - loose)
    return _boundary(part, pieces, search.num_done, note, doubtful, loose)


def _boundary(
    part: Partition,
    pieces: BoundaryPieces,
    num_done: int,
    note: Stop | None,
    doubtful: float = 0.0,
    loose: float = 0.0,
    *,
    is_rational: bool = False,
) -> DecisionBoundary:
    """Return the pieces of the first regions, with what is known of the others."""
    left = left_open(part)
    is_whole = num_done == len(part) and left.is_nothing and not doubtful and not loose
    covered = 1.0
    if not is_whole:
        window = part.window
        assert isinstance(window, Box | Polyhedron)
        if isinstance(window, Box) and part.dim == 1:
            corners = np.stack([window.lo, window.hi])
        else:
            corners = window_shape(window).corners.points
        (all_of_it,) = polygon_sizes(corners, np.array([0, len(corners)]), np.arange(len(corners), dtype=np.int32))
        share = float(part.volumes()[:num_done].sum() / abs(all_of_it))
        covered = share if share < 1 - ROUNDING else 1.0
    is_searched = num_done == len(part)
    return DecisionBoundary(
        *pieces,
        covered=covered,
        is_whole=is_whole,
        stop=note,
        partition=part,
        doubtful=doubtful if is_searched else inf,
        loose=loose,
        is_rational=is_rational,
    )
