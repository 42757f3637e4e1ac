"""The largest ball inside the linear region of a sample; its centre may be far from the sample."""

import time
from functools import partial
from itertools import chain

import numpy as np
import torch

from reluscope.analyses.bodies.region_bodies import as_bodies, ask_within_memory, bodies_at_once, regions_inside
from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.arguments import Count, read_arguments
from reluscope.budget import TimeBudget
from reluscope.effort import Effort
from reluscope.errors import SolverError
from reluscope.findings import Column, Findings
from reluscope.geometry.numbers.resolutions import RELATIVE_GAP
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.interior import WELL_PROVED, Ball, inscribed_ball
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.programs.convex_questions import largest_balls
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.partitions.region_numbers import INRADIUS
from reluscope.progress import Progress
from reluscope.regions.region import Region
from reluscope.tolerance import Tolerance

METHOD = "linear program over all half-spaces of the region; the radius is checked against each, the gap is the dual's"
# Multiplications a second that the estimate of the time for one ball counts on, and steps of the method.
MULTIPLICATIONS = 2e10
STEPS = 25


def ball_seconds(network: Network, domain: Box | None = None) -> float:
    """Return about how long one inscribed ball takes, from the size of its linear program."""
    rows = sum(gate.num_units * max(1, gate.num_pieces - 1) for gate in network.gates)
    rows += 0 if domain is None else 2 * network.num_inputs
    return 0.01 + STEPS * rows * network.num_inputs**2 / MULTIPLICATIONS


@read_arguments
def inscribed_balls(
    network: Network,
    x: Points,
    *,
    domain: Box | None = None,
    population: Count | None = None,
    budget: TimeBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return largest balls in the regions of samples, also called Chebyshev balls.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        In random order if the time may not suffice for all.
    domain : Box, optional
        Regions are cut to it; by default they are not cut.
    population : int, optional
        Population size if the samples are a random draw; by default the samples are all.
    budget : Budget, optional
        Its seconds: no further sample is begun after them; one is always finished.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    tolerance : Tolerance, optional

    Returns
    -------
    Findings
        ``inradius``: a ball of the lower end lies inside the region, and no ball in it is larger than the upper
        end. Infinite for balls of every size; undefined for a sample on a kink whose code has no region with an
        interior. Details: ``offsets`` (s,), the distance from the sample to the centre of the ball, NaN for balls
        of every size.

    Raises
    ------
    ShapeError
        If points or the domain are not in the input space of the network.

    Notes
    -----
    One linear program per sample, in n + 1 variables with a dense row per unit.

    References
    ----------
    Sattelberg, "Local linearity of ReLU neural networks", 2026.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> print(rs.inscribed_balls(net, [[3.0, -1.0]], domain=rs.Box(-4, 4, 2)).finding("inradius"))
    2 (EXACT)
    """
    if domain is not None:
        read_domain(domain, network.num_inputs)
    points = network.points(x)
    flat = points.reshape(len(points), -1)

    seconds = None if budget is None else budget.seconds

    def ask(block: slice) -> Measured:
        there = regions_inside(network, points[block], tolerance)
        table = np.full((3, block.stop - block.start), np.nan)
        if there:
            question = partial(_ask_balls, there, flat[block], domain, seconds)
            for row, ball in chain(*ask_within_memory(question, list(there), network.device)):
                away = float(np.linalg.norm(ball.center - flat[block.start + row].cpu().numpy()))
                is_inside = there[row].is_whole_within(ball.center - ball.radius, ball.center + ball.radius)
                radius = ball.radius if is_inside else min(0.0, ball.radius)
                table[:, row] = radius, ball.radius + ball.gap, away if np.isfinite(ball.radius) else np.nan
        radii, above, offsets = table
        return Measured((Column.of(INRADIUS, radii, radii, above, method=METHOD),), {"offsets": offsets})

    where = "input space" if domain is None else domain.describe()
    effort, most = Effort.of(budget, None, progress), bodies_at_once(network)
    return measure(len(points), ask, effort, domain=where, most=most, population=population)


def _ask_balls(
    found: dict[int, Region],
    points: torch.Tensor,
    domain: Box | None,
    seconds: float | None,
    rows: list[int],
    device: torch.device,
) -> list[tuple[int, Ball]]:
    return _largest_balls({row: found[row] for row in rows}, points[rows], domain, seconds, device)


def _largest_balls(
    found: dict[int, Region],
    points: torch.Tensor,
    domain: Box | None,
    seconds: float | None,
    device: torch.device,
) -> list[tuple[int, Ball]]:
    """Return largest balls in regions cut down to a domain, by the rows of their samples.

    What the interior-point method does not prove is left to a simplex method, as long as there is time for it.
    """
    began = time.perf_counter()
    bodies = as_bodies(list(found.values()), domain, device)
    answers = largest_balls(bodies, points.to(device), relative_gap=RELATIVE_GAP)
    balls = []
    for (row, region), center, radius, gap in zip(found.items(), *answers, strict=True):
        ball = Ball(center, float(radius), float(gap))
        if not (np.isinf(ball.radius) or (ball.radius > 0 and ball.gap <= WELL_PROVED * ball.radius)):
            polyhedron = region.polyhedron
            polyhedron = polyhedron if domain is None else polyhedron.intersect(domain.polyhedron)
            left = None if seconds is None else max(0.0, seconds - (time.perf_counter() - began))
            ball = _within_time(polyhedron, ball, left)
        balls.append((row, ball))
    return balls


def _within_time(polyhedron: Polyhedron, ball: Ball, seconds: float | None) -> Ball:
    """Return a largest ball, or what another method has proved of it where a simplex method has not the time."""
    if seconds is None:
        return polyhedron.insphere()
    try:
        return inscribed_ball(polyhedron.A, polyhedron.b, seconds=seconds)
    except SolverError:
        radius = max(0.0, ball.radius)
        return Ball(ball.center, radius, max(0.0, ball.radius + ball.gap - radius))
