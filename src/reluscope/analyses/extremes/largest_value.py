"""The largest value of a network on a domain, between an input that takes it and a proof that no more is taken.

A climb over regions finds an input. That no input gives more by a small step is a property, which `verify`'s searches
prove or refute: an input that refutes it is climbed from again. Where work ends before, the bounds of what is left say
how much more there may be.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import torch
from jaxtyping import Float

from reluscope.analyses.extremes.climbing import can_climb, climbed
from reluscope.analyses.verification.deciding import NUM_BOXES
from reluscope.analyses.verification.in_turns import Search, search_kind
from reluscope.analyses.verification.property import Case, Property
from reluscope.analyses.verification.violation_attack import candidates, outputs_at
from reluscope.arguments import Seed, read_arguments
from reluscope.budget import Budget, Interrupted, RegionBudget
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Claim, Finding
from reluscope.geometry.polyhedra.bounding_box import bounding_box
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.interruption import deferred
from reluscope.networks.bounds.backward_bounds import BackwardBounds, is_suited
from reluscope.networks.building.combined import beside_inputs
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.network import Network
from reluscope.progress import Progress, share_done
from reluscope.shown import Shown
from reluscope.stopping import INTERRUPTED, Stop, StopReason
from reluscope.time_limits import if_in_time, is_overdue
from reluscope.tolerance import EPSILON

# By how much more than is known a proof rules out: of the value, and of what values there are.
STEP, LEAST_STEP = 2.0**-21, 2.0**-31
# Bounds of rounding at the best input that a step is at least: bounds over boxes hold as much.
ROUNDINGS = 64.0
# Where rounding leaves open what comes so near, the step grows so, up to this share of what values there are.
LARGER, MOST_STEP = 32.0, 1e-3
# Of points that an attack tries, so many are climbed from.
NUM_CLIMBED = 5


@dataclass(frozen=True, eq=False, repr=False)
class LargestValue(Shown):
    """The largest value of a linear function of a network's outputs on a domain.

    Parameters
    ----------
    value : Finding
        EXACT where the ends agree to 1e-6 of it, else LOWER, with an interval that holds it, rounding included.
    point : (n,) float64
        An input of the domain with this value.
    outputs : (m,) float64
        Its outputs.
    """

    value: Finding
    point: Float[np.ndarray, " n"]
    outputs: Float[np.ndarray, " m"]

    def __str__(self) -> str:
        return str(self.value)

    def __float__(self) -> float:
        return float(self.value)


@read_arguments
def maximize(
    network: Network,
    domain: Domain,
    direction: Float[np.ndarray, " m"] | None = None,
    *,
    budget: RegionBudget | None = None,
    progress: Progress = False,
    seed: Seed = 0,
) -> LargestValue:
    """Return the largest value of ``direction . f(x)`` on a bounded domain, and an input that takes it.

    Parameters
    ----------
    network : Network
        Continuous, with its weights as exact numbers. The model's last sigmoid or softmax must not be left off.
    domain : Domain
        A Box, a bounded Polyhedron (a box with linear constraints between inputs), or a bounded Slice.
    direction : (m,) array, optional
        Weights of the outputs; for a single output 1 by default. A negative one gives the smallest value.
    budget : Budget, optional
        Number of boxes or sets of regions to examine (``regions``), 100,000 by default, or time.
    progress : bool or callable
        Show the finished share of the search under way, or of its budget.
    seed : int
        Of the random points that the first climbs begin at.

    Returns
    -------
    LargestValue
        EXACT if the search is finished; on Ctrl-C or at the end of the budget LOWER, the largest value found, with an
        upper bound from the regions left.

    Raises
    ------
    ShapeError
        If the direction has another number of entries than the network outputs.
    InputError
        If the domain is unbounded, or empty, or the direction is missing for several outputs.

    Notes
    -----
    Some thousand forward passes, linear programs on up to some hundred regions, and then a search as `verify` makes: of
    boxes for up to two inputs, of sets of regions for more than ten, of both in turns between. Finding the largest
    value is NP-hard in general.

    References
    ----------
    Bunel et al., "Branch and bound for piecewise linear neural network verification" (JMLR 21, 2020).

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # |x|
    >>> found = rs.maximize(net, rs.Box([-1.0], [3.0]))
    >>> print(found, found.point)
    3 (EXACT) [3.]
    >>> triangle = rs.Polyhedron([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [0.0, 0.0, 1.0])  # x, y >= 0, x + y <= 1
    >>> print(rs.maximize(rs.load([(np.array([[2.0, 1.0]]), np.zeros(1))]), triangle))
    2 (EXACT)
    """
    row = _read_direction(network, direction)
    if network.left_off is not None:
        refuse_left_off("the largest value", network.left_off, "end the model before it")
    read_domain(domain, network.num_inputs)
    if isinstance(domain, Space) or not domain.is_bounded():
        raise InputError(f"domain must be bounded, got {domain.describe()}: give a Box")
    if isinstance(domain, Slice):
        found = maximize(network.restrict(domain), domain.window, row, budget=budget, progress=progress, seed=seed)
        return replace(found, point=domain.lift(found.point[None])[0])
    with share_done("maximize", progress) as tell, deferred():
        search = _Search(network, domain, row, Budget(regions=NUM_BOXES) if budget is None else budget)
        try:
            # What the middle of the domain has is known: a step that time is over for is left out, and those behind it.
            starts = if_in_time(lambda: search.start(np.random.default_rng(seed)), np.zeros((0, network.num_inputs)))
            for step in (lambda: search.climb(starts), search.bound):
                if not is_overdue():
                    if_in_time(step, None)
        except KeyboardInterrupt:
            search.limit, search.stop = Interrupted(), INTERRUPTED
        search.run(tell)
    return search.found


def _read_direction(network: Network, direction: np.ndarray | None) -> Float[np.ndarray, " m"]:
    size = network.num_outputs
    if direction is None:
        if size != 1:
            raise InputError(f"direction must be given for {size} outputs: one weight for each, such as 1 and zeros")
        return np.ones(1)
    if len(direction) != size:
        raise ShapeError(f"direction must have {size} entries, one for each output, got {len(direction)}")
    if not np.abs(direction).max(initial=0.0) > 0:
        raise InputError("direction must not be zero: give a weight to some output")
    return direction


class _Search:
    """The largest value so far, an upper bound, and how both come nearer."""

    def __init__(self, network: Network, domain: Box | Polyhedron, row: np.ndarray, limit: Budget) -> None:
        self.network, self.row, self.limit = network, row, limit
        self.domain, self.stop = domain, None
        ends = (domain.lo, domain.hi) if isinstance(domain, Box) else bounding_box(domain)
        assert ends is not None
        self.lower, self.upper = ends
        if (self.lower > self.upper).any():
            raise InputError("domain must not be empty, got a polyhedron without points")
        self.is_box = isinstance(domain, Box)
        self.asked = network if self.is_box else beside_inputs(network)
        self.least, self.most = -np.inf, np.inf
        self.began, self.num_branches, self.work = time.time(), 0, Counter[str]()
        middle = domain.center if isinstance(domain, Box) else self._inner()
        self._take(middle[None])

    @cached_property
    def body(self) -> Polyhedron:
        """The domain as half-spaces, two for each input of a box."""
        return self.domain.polyhedron

    def _inner(self) -> np.ndarray:
        ball = self.body.insphere()
        if len(self.body.C) or not ball.radius > 0:
            raise InputError(
                "domain must have an interior, got a flat polyhedron: give a Slice of the inputs that vary"
            )
        return ball.center

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Return points to climb from: those of an attack that are highest."""
        case = Case(self.lower.copy(), self.upper.copy(), [Polyhedron(-self.row[None], np.zeros(1))])
        points = self._inside(candidates(self.network, case, case.unsafe[0], rng))
        heights = outputs_at(self.network, points) @ self.row if len(points) else np.zeros(0)
        return points[np.argsort(-heights, kind="stable")[:NUM_CLIMBED]]

    def climb(self, points: np.ndarray) -> None:
        """Take the best of points, and of climbs from them."""
        self._take(points)
        if can_climb(self.network):
            for point in points:
                self._take(self._inside(climbed(self.network, self.row, point, self.body)))

    def _inside(self, points: np.ndarray) -> np.ndarray:
        """Return the points of the domain, those beyond a side of its box by rounding moved to it."""
        points = np.clip(points, self.lower, self.upper)
        return points if self.is_box or not len(points) else points[self.body.contains(points, 0.0)]

    def _take(self, points: np.ndarray) -> None:
        if not len(points):
            return
        seen = rounded_forward(self.network, points)
        values, noise = seen.outputs @ self.row, self._noise(seen.outputs, seen.errors)
        best = int(np.argmax(values - noise))
        if values[best] - noise[best] > self.least:
            self.least = float(values[best] - noise[best])
            self.point, self.outputs = points[best], seen.outputs[best]

    def _noise(self, outputs: np.ndarray, errors: np.ndarray) -> np.ndarray:
        sizes = np.abs(outputs) @ np.abs(self.row)
        return errors @ np.abs(self.row) + 2 * len(self.row) * EPSILON * sizes

    def bound(self) -> None:
        """Bound the value on the whole box, where bounds can be carried back."""
        if is_suited(self.network):
            bounds = BackwardBounds(self.network, self.lower.copy(), self.upper.copy())
            row = torch.as_tensor(-self.row, device=self.network.device)[None]
            with torch.no_grad():
                self.most = -float(bounds.lower_bounds(row, bounds.unheld(1)).values[0])

    def run(self, tell: Callable[[float], None]) -> None:
        """Prove that there is little more, or find it, until the budget ends."""
        step, scale = 0.0, 1.0
        while self.stop is None:
            scale = max(abs(self.least), float(np.abs(self.row * self.outputs).sum()))
            noise = ROUNDINGS * (float(self.outputs @ self.row) - self.least)
            finest = max(STEP * abs(self.least), LEAST_STEP * scale, noise, np.finfo(float).tiny)
            step = max(step, finest)
            if self.most - self.least <= 1.5 * finest:  # in spite of rounding
                break
            level = self.least + step
            search = None if is_overdue() else if_in_time(partial(self._search, level), None)
            if search is None:
                self.stop = Stop(StopReason.SECONDS, self.limit.seconds)
                break
            limit = self._left()
            stopped = search.run(limit, tell)
            self.num_branches += search.num_branches
            self.work.update(search.work)
            if search.counterexample is not None:
                self.climb(self._inside(search.counterexample.point[None, : self.network.num_inputs]))
                gap = (self.most - self.least) / 4
                if self.least < level - step / 2:  # what was found is none of the domain's floats
                    self.stop = Stop(StopReason.UNDECIDED)
                step = gap if np.isfinite(gap) else 0.0
            elif search.is_proved:
                self.most, step = min(self.most, level), (level - self.least) / 4
            elif stopped:
                # Of several rows bounds hold for a mixture, which says nothing of the value alone.
                self.most = min(self.most, _most_left(search, level) if self.is_box else np.inf)
                self.stop = stopped.of_seconds(self.limit.seconds)
            elif step * LARGER > MOST_STEP * scale:
                self.stop = Stop(StopReason.UNDECIDED)
            else:
                step *= LARGER

    def _search(self, level: float) -> Search:
        """Return the search for an input whose value is at least a level."""
        rows, offsets = -self.row[None], np.array([-level])
        if not self.is_box:
            body = self.body
            normals = np.concatenate([body.A, body.C, -body.C])
            rows = np.block([[rows, np.zeros((1, body.dim))], [np.zeros((len(normals), len(self.row))), normals]])
            offsets = np.concatenate([offsets, body.b, body.d, -body.d])
        safe = Property([Case(self.lower.copy(), self.upper.copy(), [Polyhedron(rows, offsets)])])
        return search_kind(self.asked, safe, "auto")(self.asked, safe, None)

    def _left(self) -> Budget:
        limit = self.limit.after(self.num_branches)
        if limit.seconds is None or isinstance(limit, Interrupted):
            return limit
        return replace(limit, seconds=max(0.0, limit.seconds - (time.time() - self.began)))

    @property
    def found(self) -> LargestValue:
        """What is known."""
        value = float(self.outputs @ self.row)
        finding = self._finding(value)
        if finding.claim is not Claim.EXACT:  # what is surely taken, not what it was computed as
            finding = self._finding(self.least)
        return LargestValue(finding, self.point, self.outputs)

    def _finding(self, value: float) -> Finding:
        return Finding.of(
            min(value, self.most),
            min(self.least, value, self.most),
            max(value, self.most),
            scale=float(np.abs(self.row * self.outputs).sum()),
            name="largest value",
            definition="largest value of a linear function of the outputs over the domain",
            domain=self.domain.describe(),
            method="climbs over regions, and branch and bound",
            work=dict(self.work),
            stop=self.stop,
        )


def _most_left(search: Search, level: float) -> float:
    """Return an upper bound on the value where a search for a level ended: its keys say by how much that is missed."""
    missed = -np.inf if search.has_passed else search.least_key
    return level - min(missed, 0.0)
