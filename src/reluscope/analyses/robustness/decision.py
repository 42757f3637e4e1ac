"""How far points are from the nearest decision boundary of the whole network, exactly."""

import time
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.robustness.cells import open_domain, viewpoint
from reluscope.analyses.robustness.search import Search, search
from reluscope.arguments import read_arguments, read_position
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Domain
from reluscope.geometry.norms import Norm, check_norm
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.partitions.budget import INTERRUPTED, Budget
from reluscope.progress import counting
from reluscope.tolerance import Tolerance


@dataclass(frozen=True, eq=False)
class DecisionDistances:
    """Distances of points to the nearest change of class.

    Parameters
    ----------
    lower, upper : (s,) float64
        The distance is between these; both infinite where no other class is anywhere in the domain. Where a search came
        to its end, ``upper`` is the distance, and ``lower`` its certified bound.
    witnesses : (s, n) float64
        The nearest point of the boundary that was found; NaN where none was. In slice coordinates on a slice.
    beyond : (s, n) float64
        Right beyond the witness: there the network itself has another class.
    classes, adversarial : (s,) int64
        The class of the point, and the class beyond the boundary, -1 where none was found.
    errors : (s,) float64
        Bounds, to first order, on what rounding makes of the boundary's place.
    num_branches, num_undecided : (s,) int64
        Sets of regions looked into, and changes of class that rounding left undecided.
    seconds : (s,) float64
    stopped : tuple of str
        Why a search ended early; empty where it did not.
    norm : str
    domain : str
    """

    lower: Float[np.ndarray, " s"]
    upper: Float[np.ndarray, " s"]
    witnesses: Float[np.ndarray, "s n"]
    beyond: Float[np.ndarray, "s n"]
    classes: Int[np.ndarray, " s"]
    adversarial: Int[np.ndarray, " s"]
    errors: Float[np.ndarray, " s"]
    num_branches: Int[np.ndarray, " s"]
    num_undecided: Int[np.ndarray, " s"]
    seconds: Float[np.ndarray, " s"]
    stopped: tuple[str, ...]
    norm: Norm
    domain: str

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def is_exact(self) -> np.ndarray:
        """Whether a search came to its end with every change of class decided."""
        return np.array([not why for why in self.stopped], dtype=bool) & (self.num_undecided == 0)

    @read_arguments
    def finding(self, row: int) -> Finding:
        """Return the distance of one point: EXACT, or LOWER with the interval in which it lies."""
        row = read_position(row, "row", len(self), "points")
        exact = bool(self.is_exact[row])
        lower, upper = float(self.lower[row]), float(self.upper[row])
        why = f"; ended early: {self.stopped[row]}" if self.stopped[row] else ""
        return Finding(
            upper if exact else lower,
            Claim.EXACT if exact else Claim.LOWER,
            name="distance to the decision boundary",
            interval=None if exact else (lower, upper),
            definition=f"least {self.norm} distance at which a change of class begins; outputs that touch and do not "
            "cross change no class",
            domain=self.domain,
            method="best-first search over sets of regions, nearest points by quadratic or linear programs with dual "
            f"bounds{why}",
            tolerance=(upper - lower if np.isfinite(upper) else 0.0) + float(self.errors[row]) if exact else None,
            num_undecided=int(self.num_undecided[row]),
            work={"branches": int(self.num_branches[row]), "seconds": float(self.seconds[row])},
        )


@read_arguments
def decision_distance(
    network: Network,
    x: Points,
    *,
    norm: Norm,
    domain: Domain | None = None,
    budget: Budget | None = None,
    tolerance: Tolerance | None = None,
    progress: bool = False,
) -> DecisionDistances:
    """Return the exact distance of points to the nearest decision boundary of the network.

    Parameters
    ----------
    network : Network
        A classifier: the largest output wins, the lowest one at a tie; a single output f wins where f > 0.
    x : (s, *input_shape) or (s, n)
        Points; for a slice as domain ``(s, d)`` in slice coordinates.
    norm : "l1", "l2" or "linf"
    domain : Box, Polyhedron, Slice or Space, optional
        Where other classes count; by default everywhere. On a slice distances are those of slice coordinates.
    budget : Budget, optional
        For each point; ``regions`` counts sets of regions. Without one a search goes on to its end.
    tolerance : Tolerance, optional
        Its ``rounding`` says which pre-activations count as zero.
    progress : bool
        Show how many sets of regions were looked into.

    Returns
    -------
    DecisionDistances
        EXACT within the dual gap and the rounding of the outputs, regions thinner than 1e-9 (relative to the size of
        the point and the distance) left out. LOWER where a budget or Ctrl-C ended the search: no change of class is
        nearer than the frontier. On Ctrl-C later points have no row.

    Raises
    ------
    InputError
        If the norm is unknown, a point lies outside the domain, or the domain has equations.
    DegenerateGeometryError
        If the domain has no interior.

    Notes
    -----
    How many sets of regions are looked into depends on how many units change their piece nearer than the boundary: one
    to a great many. Each costs about a forward pass per input and per such unit, and a nearest-point program for each
    class that may win in it.

    References
    ----------
    Tjeng, Xiao, Tedrake, "Evaluating robustness of neural networks with mixed integer programming" (ICLR 2019), for
    exact distances by branch and bound.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 1.0]]), np.array([-2.0]))])
    >>> found = rs.robustness.decision_distance(net, [[0.5]], norm="l2")  # |x| - 2 changes its sign at 2
    >>> print(found.finding(0), found.witnesses[0], found.adversarial[0])
    1.5 (EXACT) [2.] 1
    """
    check_norm(norm)
    tolerance = tolerance or Tolerance()
    network, window = open_domain(network, domain)
    points = network.points(x).reshape(-1, network.num_inputs).cpu().numpy()
    views = [viewpoint(network, window, point, norm, tolerance) for point in points]
    found: list[tuple[Search, float]] = []
    with counting("decision distance", "sets of regions", shown=progress) as report:
        for view in views:
            began = time.perf_counter()
            found.append((search(view, budget or Budget(), report), time.perf_counter() - began))
            if found[-1][0].stopped == INTERRUPTED:
                break
    nowhere = np.full(network.num_inputs, np.nan)
    searches, changes = [search for search, _ in found], [search.change for search, _ in found]
    return DecisionDistances(
        lower=np.array([search.lower for search in searches], dtype=np.float64),
        upper=np.array([np.inf if change is None else change.distance for change in changes], dtype=np.float64),
        witnesses=np.stack(
            [nowhere if c is None else view.x + c.step for c, view in zip(changes, views, strict=False)]
        ),
        beyond=np.stack([nowhere if c is None else view.x + c.beyond for c, view in zip(changes, views, strict=False)]),
        classes=np.array([view.label for view in views[: len(found)]], dtype=np.int64),
        adversarial=np.array([-1 if change is None else change.label for change in changes], dtype=np.int64),
        errors=np.array([0.0 if change is None else change.error for change in changes], dtype=np.float64),
        num_branches=np.array([search.num_branches for search in searches], dtype=np.int64),
        num_undecided=np.array([search.num_undecided for search in searches], dtype=np.int64),
        seconds=np.array([seconds for _, seconds in found], dtype=np.float64),
        stopped=tuple(search.stopped for search in searches),
        norm=norm,
        domain=window.text,
    )
