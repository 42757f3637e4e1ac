"""What lies around a point where its logits do not change: regions along random rays, and how alike they decide.

A ray leaves x along a unit vector e with ``grad z_j . e = 0`` for all m logits z_j of the region of x. This is stricter
than keeping to the decision boundaries of the region, for which the differences of gradients would do: e then changes
no logit at all, not even all of them by the same amount. Crossings along a ray come from the exact partition of the
segment, not from steps, so that no region is jumped over. How alike a region decides is the cosine between ``g = grad
(z_k1 - z_k2)`` there and at x, with k1 and k2 the two largest logits *at x* in both: one function, its two gradients.

Reference: Zhang and Wu, "Empirical studies on the properties of linear regions in deep neural networks", 2020,
section 3.5: 100 rays of length 0.2 from each of 1,000 points.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.analyses.local.along import PiecesAlong, pieces_along
from reluscope.analyses.samples.measuring import Measured, measure, ragged
from reluscope.arguments import Count, Positive, Seed, read_arguments
from reluscope.budget import Budget, TimeBudget, end_again
from reluscope.codes.packed import Codes
from reluscope.effort import Effort
from reluscope.errors import IncompletePartitionError
from reluscope.findings import Column, Findings, Kind, declare
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.network import Network
from reluscope.progress import Progress
from reluscope.tolerance import Tolerance

RAYS = 256
BUDGET = 64 * 2**20


ALONG_RAYS = declare(
    "regions_along_rays",
    "distinct proper activation regions that meet a ray in more than a point, that of the point included",
    kind=Kind.COUNT,
    source="zhang2020",
)
AROUND = declare(
    "surrounding_regions",
    "proper activation regions around the point where its logits do not change: those that meet the ball in the null "
    "space of all logit gradients",
    kind=Kind.COUNT,
    source="zhang2020",
)


@read_arguments
def null_space_rays(
    network: Network,
    x: Points,
    *,
    count: Count = 100,
    reach: Positive = 0.2,
    population: Count | None = None,
    budget: TimeBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    seed: Seed = 0,
) -> Findings:
    """Return the regions along random rays on which no logit changes at first, and their decisions.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    count : int
        Rays per point.
    reach : float
        Length of a ray, in the units of the inputs. No box ends a ray.
    population : int, optional
        Population size if the points are a random draw; by default the points are all.
    budget : Budget, optional
        Its seconds: no further point is begun after them; one is always finished.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    tolerance : Tolerance, optional
    seed : int
        Directions are projected samples of a normal distribution; they depend on the seed and the position of the
        point.

    Returns
    -------
    Findings
        ``regions_along_rays``, EXACT for the drawn rays, LOWER if signs stayed undecided. ``surrounding_regions``,
        the same number as LOWER, since other rays may meet other regions. Both are 0 if there is no ray. Details:
        ``nullity``, the dimension of the space from which rays are drawn; ``num_crossings`` (s, c), the boundaries
        that each ray crosses. For the regions around each point, closest first: ``cosines`` between the decision
        direction there and at the point (NaN where one of them vanishes), and ``entered``, the shortest distance
        along a ray to the region.

    Raises
    ------
    InputError
        If there is no ray, or it has no length.

    Notes
    -----
    Less than one forward pass over the crossing points, and two backward passes over the distinct regions. Memory
    holds a few hundred rays, and the codes along the rays of one point. A network with a single output f has ``g =
    grad f``. If gradients span all inputs, there is no ray.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> W = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> net = rs.load([(W, np.array([0.0, -0.1])), (np.array([[1.0, 1.0], [0.0, 0.0]]), np.zeros(2))])
    >>> found = rs.local.null_space_rays(net, [[1.0, 0.0]], count=8)  # rays run along (0, 1) and (0, -1)
    >>> print(found.finding("regions_along_rays"), found.finding("surrounding_regions"))
    2 (EXACT) 2 (LOWER)
    >>> int(found.details["num_crossings"].max()), found.details["cosines"][0].round(6)
    (1, array([0.707107]))
    """
    points = network.points(x)
    per_point = max(2 * 8 * network.num_outputs * network.num_inputs, BUDGET * count // RAYS)

    def ask(block: slice) -> Measured:
        try:
            return _measured(_group(network, points[block], block.start, count, reach, seed, tolerance), count, reach)
        except IncompletePartitionError as error:  # what is left of the rays of some points is no answer
            raise end_again(error.stop) from None

    where, most = f"input space, {_rays(count, reach)} from every point", max(1, BUDGET // per_point)
    effort = Effort.of(budget, None, progress)
    return measure(len(points), ask, effort, domain=where, most=most, population=population)


@read_arguments
def null_directions(
    weight: Float[Tensor, "m n"], count: Count, generator: np.random.Generator
) -> tuple[int, Float[np.ndarray, "c n"]]:
    """Return the dimension of the space of vectors orthogonal to all rows, and random unit vectors in it.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> import torch
    >>> weight = torch.tensor([[3.0, 4.0]], dtype=torch.float64)
    >>> nullity, e = rs.local.null_directions(weight, 1, np.random.default_rng(0))
    >>> nullity, np.abs(e).round(9)
    (1, array([[0.8, 0.6]]))
    """
    _, sizes, basis = torch.linalg.svd(weight, full_matrices=False)
    smallest = max(weight.shape) * torch.finfo(torch.float64).eps * sizes.max()
    basis = basis[sizes > smallest].cpu().numpy()
    size = weight.shape[1]
    nullity = size - len(basis)
    if not nullity:
        return 0, np.zeros((0, size))
    drawn = generator.normal(size=(count, size))
    for _ in range(2):  # the second time takes away what rounding left
        drawn = drawn - (drawn @ basis.T) @ basis
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return nullity, drawn


@dataclass(frozen=True)
class _Around:
    """What is around one point."""

    nullity: int
    num_crossings: np.ndarray
    num_regions: int
    cosines: np.ndarray
    entered: np.ndarray
    is_exact: bool


def _rays(count: int, reach: float) -> str:
    return f"{count:,} random rays of length {reach:g}"


def _measured(found: list[_Around], count: int, reach: float) -> Measured:
    numbers = np.array([one.num_regions for one in found], dtype=np.float64)
    endless = np.full(len(found), np.inf)
    rays = _rays(count, reach)
    exact = np.array([one.is_exact for one in found], dtype=bool)
    return Measured(
        (
            Column.of(
                ALONG_RAYS,
                numbers,
                upper=np.where(exact, numbers, endless),
                method="exact partition of every ray, codes compared",
            ),
            Column.of(
                AROUND, numbers, upper=endless, given=f"of radius {reach:g}", method=f"exact partition of {rays}"
            ),
        ),
        {
            "nullity": np.array([one.nullity for one in found], dtype=np.int64),
            "num_crossings": np.stack([one.num_crossings for one in found]),
            "cosines": ragged([one.cosines for one in found]),
            "entered": ragged([one.entered for one in found]),
        },
    )


def _group(
    network: Network,
    points: Tensor,
    first: int,
    count: int,
    reach: float,
    seed: int,
    tolerance: Tolerance | None,
) -> list[_Around]:
    """Walk along the rays of some points together."""
    flat = points.reshape(len(points), -1).cpu().numpy()
    at = network.at(points, tolerance=tolerance)
    logits, codes, weights = at.outputs, at.codes, at.maps.weight
    drawn = [
        null_directions(weight, count, np.random.default_rng([seed, first + row])) for row, weight in enumerate(weights)
    ]
    owner = np.repeat(np.arange(len(points)), [len(rays) for _, rays in drawn])
    rays = np.concatenate([rays for _, rays in drawn])
    walks = [
        pieces_along(network, flat[owner[some]], flat[owner[some]] + reach * rays[some], tolerance=tolerance)
        for some in (slice(start, start + RAYS) for start in range(0, len(rays), RAYS))
    ]
    pieces = _joined(walks, codes[:0])
    bounds = np.searchsorted(owner, np.arange(len(points) + 1))
    found = []
    for row, (nullity, _) in enumerate(drawn):
        mine = slice(int(bounds[row]), int(bounds[row + 1]))
        top = np.argsort(-logits[row], kind="stable")[:2].tolist()
        own = _decision(weights[row][top])
        place = pieces.offsets[mine.start], pieces.offsets[mine.stop]
        here = slice(int(place[0]), int(place[1]))
        lengths, starts = pieces.stops[here] - pieces.starts[here], pieces.starts[here]
        order = np.argsort(-lengths, kind="stable")  # a region is represented where it is longest
        distinct, chosen, inverse = pieces.codes[here][order].unique(return_index=True, return_inverse=True)
        entered = np.full(len(distinct), np.inf)
        np.minimum.at(entered, inverse, starts[order])
        other = np.flatnonzero((distinct.words != codes[row].words).any(axis=1))
        other = other[np.argsort(entered[other], kind="stable")]
        where = order[chosen[other]]
        share = starts[where] + lengths[where] / 2
        ray = np.repeat(np.arange(mine.start, mine.stop), np.diff(pieces.offsets[mine.start : mine.stop + 1]))[where]
        crossings = np.zeros(count, dtype=np.int64)
        crossings[: mine.stop - mine.start] = np.diff(pieces.offsets[mine.start : mine.stop + 1]) - 1
        found.append(
            _Around(
                nullity,
                crossings,
                len(distinct),
                _cosines(network, flat[row], rays[ray], reach * share, top, own),
                reach * entered[other],
                bool(pieces.is_exact[mine].all()),
            )
        )
    return found


def _joined(walks: list[PiecesAlong], no_codes: Codes) -> PiecesAlong:
    """Return several walks as one."""
    shifts = np.cumsum([0, *(len(walk) for walk in walks)])
    return PiecesAlong(
        np.concatenate([[0], *(walk.offsets[1:] + shift for walk, shift in zip(walks, shifts, strict=False))]),
        np.concatenate([np.zeros(0), *(walk.starts for walk in walks)]),
        np.concatenate([np.zeros(0), *(walk.stops for walk in walks)]),
        Codes.concatenate([no_codes, *(walk.codes for walk in walks)]),
        np.concatenate([np.zeros(0, dtype=bool), *(walk.is_exact for walk in walks)]),
    )


def _decision(weight: Float[Tensor, "... k n"]) -> Float[Tensor, "... n"]:
    """Return the gradient of the first logit less the second, or of the only one."""
    return weight[..., 0, :] - weight[..., 1, :] if weight.shape[-2] > 1 else weight[..., 0, :]


def _cosines(
    network: Network, center: np.ndarray, rays: np.ndarray, ways: np.ndarray, top: list[int], own: Tensor
) -> np.ndarray:
    """Return the cosines of decision directions on some rays with that at their centre."""
    found = np.empty(len(rays))
    for rows in chunks(len(rays), 4 * 8 * network.num_inputs, BUDGET) if len(rays) else ():
        witnesses = center + ways[rows, None] * rays[rows]
        there = _decision(network.linearize(witnesses, outputs=top, budget=Budget(memory=BUDGET)).weight)
        product = (there @ own) / torch.linalg.vector_norm(own)
        found[rows] = (product / torch.linalg.vector_norm(there, dim=1)).cpu().numpy()
    return found
