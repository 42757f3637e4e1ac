"""The Lipschitz constant of a network on a domain: the largest norm of its local maps.

On a convex domain a continuous piecewise-affine function is as steep between two points as on one of its regions.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from jaxtyping import Float

from reluscope.analyses.extremes.operator_norms import largest_norms, operator_norms
from reluscope.analyses.extremes.slope_search import SlopeSearch
from reluscope.arguments import Seed, read_arguments
from reluscope.budget import Budget, Interrupted, RegionBudget
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.findings import Claim, Finding
from reluscope.geometry.numbers.norms import Norm, NormName
from reluscope.geometry.polyhedra.bounding_box import bounding_box
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.interruption import deferred
from reluscope.networks.bounds.backward_bounds import is_suited
from reluscope.networks.bounds.slope_intervals import SlopeIntervals, rounding_of
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.network import Network
from reluscope.networks.point_evaluation import PointStatus
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.left_open import left_open
from reluscope.progress import Progress, share_done
from reluscope.regions.region import Region
from reluscope.regions.regions import find_regions
from reluscope.shown import Shown
from reluscope.stopping import Stop, StopReason
from reluscope.time_limits import if_in_time, is_overdue

# In up to so many dimensions, and where there is no box, all regions are listed.
FEW_DIMENSIONS = 3
# Sets that are examined by default, points that are looked at first, and regions of the steepest of them.
NUM_SETS, NUM_POINTS, NUM_LOOKED_AT = 100_000, 1_000, 20
# Regions whose maps are in memory together.
BATCH = 4_096
# Entries of a map that is made at once.
MOST_ENTRIES = 50_000_000


@dataclass(frozen=True, eq=False, repr=False)
class LipschitzConstant(Shown):
    """The Lipschitz constant of a network on a domain.

    Parameters
    ----------
    value : Finding
        EXACT where the ends agree to 1e-6 of it, else LOWER, with an interval that holds it, rounding included.
    point : (n,) float64
        An input inside a linear region whose local map has this norm: `rs.region` finds the region.
    """

    value: Finding
    point: Float[np.ndarray, " n"]

    def __str__(self) -> str:
        return str(self.value)

    def __float__(self) -> float:
        return float(self.value)


@read_arguments
def lipschitz(
    network: Network,
    domain: Domain,
    *,
    norm: NormName | Norm = "l2",
    budget: RegionBudget | None = None,
    progress: Progress = False,
    seed: Seed = 0,
) -> LipschitzConstant:
    """Return the Lipschitz constant ``max |f(x) - f(y)| / |x - y|`` over a convex domain, and where it is reached.

    It is the largest norm of a local map over the linear regions that meet the domain's interior.

    Parameters
    ----------
    network : Network
        Continuous, with its weights as exact numbers. The model's last sigmoid or softmax must not be left off.
    domain : Domain
        A Box, Polyhedron, Slice, or all of Space. On a slice inputs are its coordinates.
    norm : {"l2", "l1", "linf"} or Norm
        Of inputs and outputs; its weights are those of inputs.
    budget : Budget, optional
        Number of regions, or of sets of them, to examine (``regions``), 100,000 sets by default, or time.
    progress : bool or callable
        Show the finished share.
    seed : int
        Of the random points that are looked at first.

    Returns
    -------
    LipschitzConstant
        EXACT if the search is finished; on Ctrl-C or at the end of the budget LOWER, the largest norm of a region
        found, with an upper bound from intervals around the entries of all other local maps.

    Raises
    ------
    InputError
        If the domain is empty.

    Notes
    -----
    In up to three dimensions, on unbounded domains, and for networks with max gates all regions are listed. Elsewhere
    sets of regions are split unit by unit, the steepest first; each costs some products with every matrix. Finding the
    constant is NP-hard in general.

    References
    ----------
    Jordan and Dimakis, "Exactly computing the local Lipschitz constant of ReLU networks" (NeurIPS 2020).

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0, 1.0], [1.0, -1.0]]), np.zeros(2)), (np.array([[1.0, 2.0]]), np.zeros(1))])
    >>> found = rs.lipschitz(net, rs.Box(-1, 1, 2), norm="linf")
    >>> print(found, rs.lipschitz(net, rs.Space(2), norm="linf"))
    4 (EXACT) 4 (EXACT)
    """
    norm = Norm.of(norm)
    norm.check_inputs(domain.dim)
    if network.left_off is not None:
        refuse_left_off("the Lipschitz constant", network.left_off, "end the model before it")
    read_domain(domain, network.num_inputs)
    if isinstance(domain, Slice):
        inner, window = network.restrict(domain), domain.window
        found = lipschitz(inner, window, norm=norm, budget=budget, progress=progress, seed=seed)
        return replace(found, point=domain.lift(found.point[None])[0])
    with share_done("lipschitz", progress) as tell, deferred():
        known = _Known(network, domain, norm)
        if domain.dim <= FEW_DIMENSIONS or not domain.is_bounded() or not is_suited(network) or not network.gates:
            most, stop, work = known.list_all(budget)
        else:
            most, stop, work = known.search(budget, np.random.default_rng(seed), tell)
    return known.found(most, stop, work)


class _Known:
    """The steepest region found so far."""

    def __init__(self, network: Network, domain: Box | Polyhedron | Space, norm: Norm) -> None:
        self.network, self.domain, self.norm = network, domain, norm
        self.least = self.value = self.most = -np.inf
        self.point = domain.center if isinstance(domain, Box) else np.zeros(domain.dim)

    def take(self, maps: np.ndarray, errors: np.ndarray, points: np.ndarray) -> None:
        """Take the steepest of regions, by their maps and points inside."""
        sizes = operator_norms(maps, self.norm)
        # The norm of a map with such errors of rows, whatever the norm: a sum of entries is the largest.
        noise = errors.sum(axis=1) * self.norm.ball_sides(maps.shape[2]).max() + 2**10 * np.finfo(float).eps * sizes
        self.most = max(self.most, float((sizes + noise).max()))
        best = int(np.argmax(sizes - noise))
        if sizes[best] - noise[best] > self.least:
            self.least, self.value = float(sizes[best] - noise[best]), float(sizes[best])
            self.point = points[best]

    def look_at(self, points: np.ndarray) -> float:
        """Look at the regions of some points, and return the largest norm known."""
        try:
            found = find_regions(self.network.at(points), domain=self.domain)
        except DegenerateGeometryError:
            found = []
        for one in found:
            if isinstance(one, Region):
                at = self.network.at(one.witness[None])
                self.take(one.map.weight.cpu().numpy(), at.map_errors, one.witness[None])
        return self.least

    def _look_at_middle(self) -> None:
        """Look at the map in the middle of a box: it is that of a region around it if every unit is surely inside."""
        if not isinstance(self.domain, Box) or self.domain.dim * self.network.num_outputs > MOST_ENTRIES:
            return
        middle = self.domain.center[None]
        at = self.network.at(middle)
        if at.status[0] is PointStatus.CERTAIN:
            self.take(at.maps.weight.cpu().numpy(), at.map_errors, middle)

    def _look_at_steepest(self, points: np.ndarray) -> None:
        if len(points):
            sizes = operator_norms(self.network.linearize(points).weight.cpu().numpy(), self.norm)
            self.look_at(points[np.argsort(-sizes, kind="stable")[:NUM_LOOKED_AT]])

    def list_all(self, budget: Budget | None) -> tuple[float, Stop | None, dict[str, float]]:
        """List all regions."""
        part = partition(self.network, self.domain, budget=budget)
        is_whole = left_open(part).is_nothing
        for start in range(0, len(part), BATCH):
            rows = np.arange(start, min(start + BATCH, len(part)))
            at = part.network_on_domain.at(part.witnesses[rows])
            # Of a region thinner than rounding the witness lies beside it.
            is_own = (at.codes.words == part.codes.words[rows]).all(axis=1)
            is_whole &= bool(is_own.all())
            if is_own.any():
                self.take(at.maps.weight.cpu().numpy()[is_own], at.map_errors[is_own], part.witnesses[rows[is_own]])
        stop = part.stop or (None if is_whole else Stop(StopReason.UNDECIDED_SIGNS))
        return self.most if is_whole else self.root(), stop, {"regions": len(part)}

    def root(self) -> float:
        """Return a bound on all regions there can be."""
        gates = [stage.gate for stage in self.network.stages]
        if not is_suited(self.network):
            return np.inf
        first = [torch.zeros(1, gate.num_units, dtype=torch.int64) for gate in gates]
        last = [one + gate.num_pieces - 1 for one, gate in zip(first, gates, strict=True)]
        with torch.no_grad():
            found = SlopeIntervals(self.network, first, last).of_outputs(1)
            return float(largest_norms(found.middle, found.radius + rounding_of(self.network), self.norm)[0])

    def search(
        self, budget: Budget | None, rng: np.random.Generator, tell: Callable[[float], None]
    ) -> tuple[float, Stop | None, dict[str, float]]:
        """Split sets of regions."""
        domain = self.domain
        assert not isinstance(domain, Space)
        ends = (domain.lo, domain.hi) if isinstance(domain, Box) else bounding_box(domain)
        if ends is None or (ends[0] > ends[1]).any():
            raise InputError("domain must not be empty, got a polyhedron without points")
        beyond = None if isinstance(domain, Box) else domain
        limit = Budget(regions=NUM_SETS) if budget is None else budget
        try:
            points = rng.uniform(*ends, (NUM_POINTS, domain.dim))
            points = points if beyond is None else points[beyond.contains(points, 0.0)]
            self._look_at_middle()
            if_in_time(lambda: self._look_at_steepest(points), None)
        except KeyboardInterrupt:
            limit = Interrupted()
        known, look_at = max(self.least, 0.0), lambda point: self.look_at(point[None])
        begun = partial(SlopeSearch, self.network, *ends, self.norm, known, look_at, beyond)
        search = None if is_overdue() else if_in_time(begun, None)
        if search is None:
            return np.inf, Stop(StopReason.SECONDS, limit.seconds), {"sets": 0}
        stop = search.run(limit, tell)
        most = search.most if is_overdue() else min(search.most, if_in_time(self.root, np.inf))
        if not stop and most > max(self.least, 0.0) * (1 + 1e-6):
            stop = Stop(StopReason.UNDECIDED)
        return most, stop, {"sets": search.num_branches}

    def found(self, most: float, stop: Stop | None, work: dict[str, float]) -> LipschitzConstant:
        """Return what is known."""

        def finding(value: float) -> Finding:
            return Finding.of(
                value,
                min(least, value),
                max(most, value),
                name=f"Lipschitz constant in {self.norm}",
                definition="largest norm of a local map over the linear regions of the domain",
                domain=self.domain.describe(),
                method="intervals around local maps, and branch and bound",
                work=work,
                stop=stop,
            )

        least = max(self.least, 0.0)
        found = finding(min(max(self.value, least), max(most, least)))
        if found.claim is not Claim.EXACT:  # what is surely reached, not what it was computed as
            found = finding(least)
        return LipschitzConstant(found, self.point)
