"""How far a point is from where its units change their piece: ``d_i = (b_i - a_i x) / |a_i|*`` over its half-spaces.

The least of these distances is that to the boundary of the region, since the nearest hyperplane is met before any
other: the ball of that radius around the point lies in the region. Lengths of normals, in the dual norm, are gathered
over blocks of inputs, so that no table of all normals is made. Rows whose lengths are below their rounding are decided
in rational arithmetic where they may be the nearest ones, or bound the distance from below.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from reluscope.errors import DiscontinuousNetworkError
from reluscope.geometry.numbers.norms import L2, Norm
from reluscope.geometry.numbers.scales import LONGEST, SHORTEST
from reluscope.networks.evaluation.backward import Recording
from reluscope.networks.evaluation.gradient_errors import gradient_errors
from reluscope.networks.evaluation.linearize import gate_values, gate_values_in_turn, identity, weight_of_units
from reluscope.networks.evaluation.unit_half_spaces import gate_rows
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.network import Network
from reluscope.networks.passes.maps import Derivatives
from reluscope.networks.passes.numbers import HeldNumbers
from reluscope.networks.point_evaluation import Evaluation
from reluscope.regions.exact_facets import MULTIPLICATIONS, ExactFacets, Facet

BUDGET = 256 * 2**20


@dataclass(frozen=True)
class NearestFacets:
    """The nearest hyperplane of every point's region.

    Distances are infinite where no unit can change its piece, and 0 where the point lies on a hyperplane as far as
    rounding can tell.
    """

    distances: Float[np.ndarray, " s"]
    errors: Float[np.ndarray, " s"]  # bounds on what rounding takes from the distances
    lower: Float[np.ndarray, " s"]  # lower bounds, over hyperplanes hidden by rounding too
    sources: Int[np.ndarray, "s 3"]  # gate, unit, piece beyond; -1 where there is none
    of_gradients: Float[np.ndarray, "s m"]  # rounding bounds per entry of outputs' gradients
    normals: Mapping[int, Float[np.ndarray, " n"]]  # by point, those found in rational arithmetic

    def __len__(self) -> int:
        return len(self.distances)

    @property
    def is_on_boundary(self) -> Bool[np.ndarray, " s"]:
        """Whether a point lies on a hyperplane, as far as rounding can tell."""
        return self.distances == 0


def nearest_facets(at: Evaluation, *, norm: Norm = L2, memory: int = BUDGET) -> NearestFacets:
    """Return how far points are from the boundary of their linear regions.

    Distances are in input space, without a domain. Costs about n forward passes per point. Raises
    DiscontinuousNetworkError if a gate passes on the k largest.
    """
    if top := [stage.gate.name for stage in at.network.stages if isinstance(stage.gate, TopK)]:
        raise DiscontinuousNetworkError(
            f"distances to all facets look at one unit at a time, and the top-k gate {top[0]!r} compares two: take the "
            "half-spaces of rs.region(network, x).polyhedron, which hold",
            "a network without top-k gates",
        )
    per_input = bytes_per_input(at.network)
    exact, parts, normals = ExactFacets(at.network, norm), [], {}
    for rows, part in at.with_gates().blocks(per_input * min(at.network.num_inputs, 64), memory):
        parts.append(_nearest(part, norm, memory // max(1, len(part)) // per_input, exact))
        normals |= {rows.start + row: normal for row, normal in parts[-1].normals.items()}
    return NearestFacets(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS), normals=normals
    )


_FIELDS = ("distances", "errors", "lower", "sources", "of_gradients")


def bytes_per_input(network: Network) -> int:
    """Return the memory that the derivatives of all units by one input take at one point."""
    candidates = [stage.gate.index.numel() if isinstance(stage.gate, Max) else 0 for stage in network.stages]
    numbers = sum(gate.num_units for gate in network.gates) + 2 * sum(candidates)
    return 8 * max(1, numbers) + network.bytes_per_point


class _Doubtful(NamedTuple):
    """A row whose length is below its rounding, with a lower bound on the distance to its hyperplane."""

    lower: float
    source: list[int]


@torch.no_grad()
def _nearest(at: Evaluation, norm: Norm, block: int, exact: ExactFacets) -> NearestFacets:
    network, number = at.network, len(at)
    spread = norm.dual.size_of_ones(network.num_inputs)
    constants = gate_values(network, HeldNumbers(at.pieces), torch.zeros_like(at.points))
    lengths, largest = _lengths(at, norm, max(1, block))
    errors_of_maps, of_outputs = gradient_errors(network, at.pieces, largest, number, at.tolerance.unit)
    distances, uppers, lowers = (np.full(number, np.inf) for _ in range(3))
    sources = np.full((number, 3), -1, dtype=np.int64)
    doubtful: dict[int, list[_Doubtful]] = {}
    every = np.arange(number)
    for stage, gate in zip(network.stages, at.gates, strict=True):
        # Lengths stand for normals: what makes rows of them only changes signs, or subtracts the chosen one's zero.
        rows = gate_rows(
            stage.gate,
            stage.index,
            pieces=gate.pieces.cpu().numpy(),
            pre=gate.preactivations.cpu().numpy(),
            maps=(lengths[stage.index][..., None], constants[stage.index].cpu().numpy()),
            noise=gate.errors.cpu().numpy(),
            map_noise=errors_of_maps[stage.index].cpu().numpy(),
        )
        if not rows.exists.shape[1]:
            continue
        length = np.abs(rows.normals[..., 0])
        wrong = spread * rows.constant_below  # in the length of a normal
        bends = rows.exists & (length > wrong)
        clear = np.maximum(rows.slack - rows.noise, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            distance = np.where(bends, np.where(clear > 0, rows.slack, 0.0) / length, np.inf)
            lower = clear / (length + wrong)
        first = every, distance.argmin(axis=1)
        closer = distance[first] < distances
        upper = (np.abs(rows.slack[first]) + rows.noise[first]) / np.where(closer, length[first] - wrong[first], 1.0)
        distances = np.where(closer, distance[first], distances)
        uppers = np.where(closer, upper, uppers)
        sources[closer] = rows.sources[first][closer]
        lowers = np.minimum(lowers, np.where(bends, lower, np.inf).min(axis=1))
        hidden = rows.exists & ~bends
        if not hidden.any():
            continue
        # A constant on its breakpoint has no hyperplane, and one that rounding may have put on either side is unknown.
        lower = np.where(np.isnan(lower), np.where(rows.slack == 0, np.inf, 0.0), lower)
        if not exact.is_small:
            lowers = np.minimum(lowers, np.where(hidden, lower, np.inf).min(axis=1))
            continue
        for row, place in np.argwhere(hidden & (lower < uppers[:, None])).tolist():
            found = _Doubtful(float(lower[row, place]), rows.sources[row, place].tolist())
            doubtful.setdefault(row, []).append(found)
    normals = {}
    for row, found in doubtful.items():
        facet, source, lowers[row] = _decided(at[row : row + 1], found, uppers[row], lowers[row], exact)
        if facet is not None and (facet.distance < distances[row] or facet.is_crossed):
            distances[row], uppers[row], sources[row] = facet.distance, facet.upper, source
            normals[row] = facet.normal
    with np.errstate(invalid="ignore"):
        errors = np.where(np.isfinite(distances), uppers - distances, 0.0)
    return NearestFacets(distances, errors, lowers, sources, of_outputs.cpu().numpy(), normals)


def _decided(
    at: Evaluation, doubtful: list[_Doubtful], upper: float, lower: float, exact: ExactFacets
) -> tuple[Facet | None, list[int], float]:
    """Return the nearest facet among a point's doubtful rows, its source, and a lower bound on the distance to all."""
    best, source, left = None, [-1, -1, -1], MULTIPLICATIONS
    code = [piece[0].tolist() for piece in at.pieces]
    x = at.points.reshape(-1).cpu().numpy()
    for row in sorted(doubtful):
        if row.lower >= upper:
            break
        decided = exact.decide(code, x, row.source, left)
        if decided is None:
            return best, source, min(lower, row.lower)
        facet, cost = decided
        left -= cost
        if facet is None:
            continue
        if facet.is_crossed:
            return facet, row.source, 0.0
        lower = min(lower, facet.lower)
        if best is None or facet.distance < best.distance:
            best, source, upper = facet, row.source, min(upper, facet.upper)
    return best, source, lower


def _lengths(at: Evaluation, norm: Norm, block: int) -> tuple[list[np.ndarray], list[torch.Tensor]]:
    """Return per gate lengths of normals, and the largest entries of the units' gradients.

    A normal is the gradient of a pointwise unit, or of a max unit's candidate less the one chosen.
    """
    network = at.network
    sizes: list[torch.Tensor] = []
    largest: list[torch.Tensor] = []
    for start in range(0, network.num_inputs, block):
        inputs = slice(start, min(start + block, network.num_inputs))
        walk = gate_values_in_turn(network, Derivatives(at.pieces), identity(network, inputs))
        for (stage, derivatives), piece in zip(walk, at.pieces, strict=True):
            weight, index = weight_of_units(stage.gate, derivatives, len(at)), stage.index
            entries = weight.abs().amax(dim=-1)
            own = piece.long()[..., None]
            if isinstance(stage.gate, Max):
                weight = weight - weight.gather(2, own[..., None].expand(-1, -1, 1, weight.shape[-1]))
            part = norm.dual.size_of_tensor(weight)
            if norm.order == 2 and part.numel() and not SHORTEST < float(part.min()) <= float(part.max()) < LONGEST:
                moves = entries > 0
                if isinstance(stage.gate, Max):
                    moves = (moves | moves.gather(2, own)).scatter(2, own, False)
                extreme = moves & ~((part > SHORTEST) & (part < LONGEST))
                part[extreme] = torch.from_numpy(L2.size(weight[extreme].cpu().numpy())).to(part.device)
            if start == 0:
                sizes.append(part)
                largest.append(entries)
            else:
                largest[index] = torch.maximum(largest[index], entries)
                sizes[index] = norm.dual.joined(sizes[index], part)
    return [table.cpu().numpy() for table in sizes], largest


def facet_normals(at: Evaluation, sources: Int[np.ndarray, "s 3"]) -> Float[np.ndarray, "s n"]:
    """Return one outward normal ``a`` of each point's region ``a z <= b``, zero where there is none.

    ``sources`` are as `nearest_facets` returns them. One pass forward and one backward, for all points.
    """
    network, points = at.network, at.points
    recording = Recording(network, points, HeldNumbers(at.pieces))
    total = torch.zeros((), dtype=torch.float64, device=points.device)
    for stage, piece, pre in zip(network.stages, at.pieces, recording.values(), strict=False):
        rows = torch.as_tensor(np.flatnonzero(sources[:, 0] == stage.index), device=points.device)
        unit, beyond = (torch.as_tensor(column, device=points.device)[rows] for column in sources.T[1:])
        own = piece[rows, unit].long()
        with torch.enable_grad():
            if isinstance(stage.gate, Max):
                total = total + (pre[rows, unit, beyond] - pre[rows, unit, own]).sum()
            else:
                total = total + (torch.where(beyond > own, 1.0, -1.0) * pre[rows, unit]).sum()
    return recording.pull_back(total, torch.ones_like(total)[None])[0].cpu().numpy()
