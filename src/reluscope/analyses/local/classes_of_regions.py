"""Which classes live in the linear region of a point, and where each of them is likeliest there.

Logits z are affine on a region. Class t occurs in it iff ``max_x min_j (z_t - z_j)``, a linear program, is positive.
Zhang and Wu (2020) ask instead whether t is the class of the point at which its probability is largest: with three
classes or more that counts too few. On [0, 1] with z = (0, 0.6 x - 0.1, -10 x - 0.1), class 0 is the largest at 0, and
the point where it is likeliest, 0.265, belongs to class 1.
"""

import time
from typing import NamedTuple

import numpy as np
import torch

from reluscope.analyses.bodies.region_bodies import ask_within_memory, bodies_at_once, whole_regions_inside
from reluscope.analyses.classification.class_predictions import num_classes
from reluscope.analyses.local.likeliest_points import MATRICES_BYTES, Likeliest, check_inside, likeliest_within
from reluscope.analyses.local.rivals import GAP
from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.arguments import read_arguments
from reluscope.budget import Budget, TimeBudget
from reluscope.effort import Effort
from reluscope.findings import Column, Findings, Kind, Quantity, declare
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.programs.convex_questions import widest_margins
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.progress import Progress
from reluscope.stopping import Stop, StopReason
from reluscope.tolerance import Tolerance

NUM_CLASSES = declare(
    "num_classes", "classes with a point of the linear region at which they are strictly the largest", kind=Kind.COUNT
)
NUM_AT_LIKELIEST = declare(
    "num_classes_at_likeliest",
    "classes that the points of the linear region belong to at which their probabilities are largest",
    kind=Kind.COUNT,
    source="zhang2020",
)
HAS_BOUNDARY = declare(
    "holds_decision_boundary", "whether the linear region has points of more than one class", kind=Kind.TRUTH
)
DISTORTION = declare(
    "distortion",
    "distance to the farthest of the likeliest points of all classes in the linear region, each the nearest one of "
    f"those as likely, with the logarithm of its probability within about {GAP:g} of the largest, or this share",
    unit="input",
    source="zhang2020",
)
PROGRAMS = "convex programs, decided by a point or by multipliers"
BY_GAPS = "interior-point method, decided by the gaps of probabilities"


@read_arguments
def region_classes(
    network: Network,
    x: Points,
    *,
    domain: Box,
    budget: TimeBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return the classes that occur in the linear regions of points, and their likeliest points there.

    Parameters
    ----------
    network : Network
        With its outputs as logits; one output f stands for the logits 0 and f.
    x : (s, *input_shape) or (s, n)
    domain : Box
        Bounded; regions are cut to it.
    budget : Budget, optional
        Only its seconds: no further point is begun after them, and open cases of the current point stay unknown.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    tolerance : Tolerance, optional

    Returns
    -------
    Findings
        ``num_classes`` and ``holds_decision_boundary``, EXACT where every case is proved, else the lower end.
        ``num_classes_at_likeliest``, the published test, which is no larger. ``distortion``, an ESTIMATE. A point
        on a kink whose code has no region with an interior is undefined, and one whose `Region.clear` does not reach
        through the domain. Details, for each point and class:

        - ``occurs``: whether some point of the region belongs to the class. There it exceeds all other classes,
          except those of larger number with the same affine map on the region: the lowest class wins a tie.
        - ``is_known``: whether ``occurs`` is proved, with rounding; unproved classes count as not occurring.
          Rational arithmetic separates classes with equal maps on the region from classes with nearly equal maps.
        - ``is_at_likeliest``: whether the likeliest points of the class belong to it, which implies that it occurs.
          All likeliest points have the same probabilities. ``is_at_likeliest_known``: whether this is proved for
          the true likeliest points, from the gap of the point found; unproved counts as no.
        - ``log_probabilities``, ``gaps``: the logarithm of the probability of the class at the point found, and how
          much larger it may be elsewhere. The target is 1e-7, or this share of the logarithm; where float64 has no
          more digits the gap is some 1e-7.
        - ``distances``: distance from the given point to the likeliest points, often a whole face. It is measured
          to the closest point at which every rival is behind by the same amount as at the point found, or has next
          to no probability. ``distance_gaps``: no such point is closer by more than this. The gap is wide for
          classes that are closer than another class, because the search ends at the distance of that class; the
          largest distance, the distortion, is known.

    Raises
    ------
    InputError
        If a point lies outside the domain.
    ShapeError
        If the domain has another dimension than the input.

    Notes
    -----
    Each class costs a rough ball and an interior-point method: about 15 times ``n^3`` multiplications each with
    many half-spaces, and products of the half-spaces with vectors that all classes share. A dual active-set method
    decides whether classes not yet found occur, and finds the distance to the farthest likeliest point; it takes up
    to ``h n`` multiplications per tight row for h half-spaces. The interior-point method runs on the device of the
    network.

    References
    ----------
    Key ``zhang2020``, section 3.4.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[0.0], [0.6], [-10.0]], [0.0, -0.1, -0.1])])
    >>> found = rs.local.region_classes(net, [[0.5]], domain=rs.Box(0, 1, 1))
    >>> found.details["occurs"][0].tolist(), found.details["is_at_likeliest"][0].tolist()
    ([True, True, False], [False, True, False])
    >>> print(found.finding("num_classes"), found.finding("num_classes_at_likeliest"))
    2 (EXACT) 1 (EXACT)
    """
    network = network.scores
    number = num_classes(network)
    points = network.points(x).reshape(-1, network.num_inputs)
    check_inside(points.cpu().numpy(), domain)
    exact = RationalNetwork(network)
    until = time.perf_counter() + (budget or Budget()).seconds_allowed

    def ask(block: slice) -> Measured:
        there = whole_regions_inside(network, network.points(points[block]), tolerance, domain)
        regions = {block.start + row: region for row, region in there.items()}

        def one(rows: list[int], device: torch.device) -> _RegionsSeen:
            asked = likeliest_within(exact, regions, points, domain, until, rows, device)
            return _nothing(number) if asked is None else _classes_within(asked, domain, until)

        tables = ask_within_memory(one, list(regions), network.device) if regions else []
        found = _RegionsSeen(*(np.concatenate(columns) for columns in zip(_nothing(number), *tables, strict=True)))
        is_late = time.perf_counter() > until and not (found.is_known.all() and found.is_at_likeliest_known.all())
        return _measured(found, block, number, Stop(StopReason.SECONDS) if is_late else None)

    effort, most = Effort.of(budget, None, progress), bodies_at_once(network, number)
    return measure(len(points), ask, effort, domain=domain.describe(), most=most)


def _measured(found: "_RegionsSeen", block: slice, number: int, stopped: Stop | None) -> Measured:
    """Return a row for every point of a block; those without a region have no numbers."""
    size, at = block.stop - block.start, found.rows - block.start
    details = {}
    for name, table in found._asdict().items():
        if name != "rows":
            details[name] = np.full((size, number), np.nan if table.dtype.kind == "f" else False, dtype=table.dtype)
            details[name][at] = table
    counts = found.occurs.sum(axis=1)
    several = counts > 1
    # With one class known to occur, another that may occur decides.
    perhaps = several | (~found.is_known & ~found.occurs).any(axis=1)
    at_likeliest = found.is_at_likeliest.sum(axis=1)
    distortion = found.distances.max(axis=1)
    endless = np.full(len(counts), np.inf)

    def column(quantity: Quantity, value: np.ndarray, lower: np.ndarray, upper: np.ndarray, method: str) -> Column:
        table = np.full((3, size), np.nan)
        table[:, at] = value, lower, upper
        return Column.of(quantity, *table, method=method)

    unknown, more = (~found.is_known).sum(axis=1), (~found.is_at_likeliest_known).sum(axis=1)
    return Measured(
        (
            column(NUM_CLASSES, counts, counts, counts + unknown, PROGRAMS),
            column(NUM_AT_LIKELIEST, at_likeliest, at_likeliest, at_likeliest + more, BY_GAPS),
            column(HAS_BOUNDARY, several, several, perhaps, PROGRAMS),
            column(DISTORTION, distortion, 0 * distortion, endless, "interior-point method"),
        ),
        details,
        stopped,
    )


class _RegionsSeen(NamedTuple):
    """What is known of some regions: see `region_classes`."""

    rows: np.ndarray
    occurs: np.ndarray
    is_known: np.ndarray
    is_at_likeliest: np.ndarray
    is_at_likeliest_known: np.ndarray
    log_probabilities: np.ndarray
    gaps: np.ndarray
    distances: np.ndarray
    distance_gaps: np.ndarray


def _nothing(number: int) -> _RegionsSeen:
    tables = (np.zeros((0, number), dtype=kind) for kind in (*(bool,) * 4, *(float,) * 4))
    return _RegionsSeen(np.zeros(0, dtype=np.int64), *tables)


def _classes_within(asked: Likeliest, domain: Box, until: float) -> _RegionsSeen:
    """Find the classes in some regions, and the nearest of the likeliest points of the farthest class.

    Past a time nothing more is asked, and what is not known stays so.
    """
    device = asked.near.device
    own, found, doubt, number = asked.classes, asked.found, asked.doubt, asked.weights.shape[1]
    there = torch.from_numpy(found.points).to(device)
    logits = (asked.weights @ there[..., None])[..., 0] + asked.biases
    is_first = asked.firsts == own
    is_other = asked.by_region(asked.firsts).repeat(number, axis=0) != own[:, None]
    is_at, is_at_known = _at_likeliest(logits, own, is_other, found.gaps, doubt)
    is_at &= is_first
    occurs = is_first & (_leads(logits.cpu().numpy(), own, is_other) > doubt)
    is_known = occurs | ~is_first
    distances, slack = np.zeros(len(own)), np.zeros(len(own))
    for place in range(len(asked.rows)):
        mine = asked.of(place)
        if time.perf_counter() > until:
            # As likely as the points that were found is also the point found, and no point is nearer than nothing.
            apart = found.points[mine] - asked.near[place].cpu().numpy()
            distances[mine] = slack[mine] = np.linalg.norm(apart, axis=1)
            continue
        rivals = asked.rivals(place, domain)
        different = rivals.of_classes(np.flatnonzero(is_first[mine]))
        for one in np.flatnonzero(~is_known[mine]).tolist():
            if time.perf_counter() > until:
                break
            ahead = different.most_ahead(int(is_first[mine][:one].sum()))
            is_known[mine.start + one] = ahead < -doubt[mine.start + one]
        _, distances[mine], slack[mine] = rivals.nearest(found.points[mine], doubt[mine], False, until)
    left = np.flatnonzero(~is_known & (time.perf_counter() <= until))
    # Margins are one more variable, and so a table for each of them.
    tables = max(1, MATRICES_BYTES // (8 * asked.bodies.rows[0].numel()))
    for part in np.split(left, range(tables, len(left), tables)) if len(left) else []:
        some = torch.from_numpy(part).to(device)
        # In place of what is the same as another class stands one that is not: it says nothing new.
        stand_ins = torch.from_numpy(_stand_ins(asked.by_region(is_first)[part // number], own[part])).to(device)
        margins = widest_margins(
            asked.bodies.take(some),
            asked.start[some],
            asked.weights[some[:, None], stand_ins],
            asked.biases[some[:, None], stand_ins],
            torch.from_numpy(own[part]).to(device),
            is_sign_enough=True,
            until=until,
        )
        occurs[part] = margins.values > doubt[part]
        is_known[part] = occurs[part] | (margins.values + margins.gaps < -doubt[part])
    # What does not occur is ahead nowhere.
    is_at_known |= is_known & ~occurs
    columns = (occurs, is_known, is_at, is_at_known, found.values, found.gaps + GAP / 2, distances, slack)
    return _RegionsSeen(asked.rows, *(asked.by_region(column) for column in columns))


def _stand_ins(is_first: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return for each class itself, or another than the row's own if it is the same as one of lower number."""
    classes = np.broadcast_to(np.arange(is_first.shape[1]), is_first.shape)
    others = is_first & (classes != own[:, None])
    return np.where(is_first, classes, others.argmax(axis=1)[:, None])


def _leads(values: np.ndarray, own: np.ndarray, is_other: np.ndarray) -> np.ndarray:
    """Return how far the own entry of each row is ahead of all that are others; infinite if none is."""
    return values[np.arange(len(own)), own] - np.where(is_other, values, -np.inf).max(axis=1)


def _at_likeliest(
    logits: torch.Tensor, own: np.ndarray, is_other: np.ndarray, gaps: np.ndarray, doubt: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return whether classes are ahead at their likeliest points, and whether gaps leave that certain.

    All likeliest points have the same probabilities p, and where the logarithm is less by at most g there are q with
    ``sum p log p / q <= g``: no difference of two probabilities is then off by more than the root of 2 g (Pinsker).
    """
    leads = _leads(torch.softmax(logits, dim=1).cpu().numpy(), own, is_other)
    spread = np.sqrt(2 * (gaps + 2 * doubt)) + 2 * doubt
    return leads > spread, np.abs(leads) > spread
