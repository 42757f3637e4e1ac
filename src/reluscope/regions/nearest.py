"""How far a point is from where its units change their piece: ``d_i = (b_i - a_i x) / |a_i|*`` over its half-spaces.

The least of these distances is that to the boundary of the region, since the nearest hyperplane is met before any
other: the ball of that radius around the point lies in the region. Lengths of normals, in the dual norm, are gathered
over blocks of inputs, so that no table of all normals is made.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from reluscope.geometry.norms import Norm, check_norm, dual, size
from reluscope.networks.graph import Max
from reluscope.networks.linearize import point_pieces, run_fixed, unit_maps
from reluscope.networks.network import Network
from reluscope.networks.points import Points, chunks
from reluscope.networks.value_errors import ValueErrors
from reluscope.regions.half_spaces import gate_rows
from reluscope.regions.map_errors import MapErrors
from reluscope.tolerance import Tolerance

BUDGET = 256 * 2**20


@dataclass(frozen=True)
class NearestFacets:
    """The nearest hyperplane of every point's region.

    Parameters
    ----------
    distances : (s,) float64
        Infinite where no unit can change its piece; 0 where the point lies on a hyperplane as far as rounding can tell.
    errors : (s,) float64
        Bounds on what rounding changes in the distances.
    sources : (s, 3) int64
        Gate, unit and the piece that the unit has beyond the hyperplane; -1 where there is none.
    of_gradients : (s, m) float64
        Bounds on what rounding makes of an entry of the outputs' gradients on the region.
    """

    distances: Float[np.ndarray, " s"]
    errors: Float[np.ndarray, " s"]
    sources: Int[np.ndarray, "s 3"]
    of_gradients: Float[np.ndarray, "s m"]

    def __len__(self) -> int:
        return len(self.distances)

    @property
    def is_on_boundary(self) -> Bool[np.ndarray, " s"]:
        """Whether a point lies on a hyperplane, as far as rounding can tell."""
        return self.distances == 0


def nearest_facets(
    network: Network,
    x: Points,
    *,
    norm: Norm = "l2",
    tolerance: Tolerance | None = None,
    budget: int = BUDGET,
) -> NearestFacets:
    """Return how far points are from the boundary of their linear regions.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    norm : "l1", "l2" or "linf"
        What distance is.
    tolerance : Tolerance, optional
        Its ``rounding`` says which pre-activations count as zero.
    budget : int
        Memory for the normals of one block of inputs, in bytes.

    Returns
    -------
    NearestFacets
        Distances in input space, unrestricted by any domain.

    Raises
    ------
    InputError
        If the norm is unknown.

    Notes
    -----
    The derivatives of all units by all inputs, once: about n forward passes per point (0.1 s for 3 x 1024 units on 784
    inputs). Units that are constant around the point have no hyperplane.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[3.0, 4.0], [1.0, 0.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> found = nearest_facets(net, [[1.0, 1.0]])  # distances 7 / 5 and 1
    >>> float(found.distances[0]), found.sources[0].tolist()
    (1.0, [0, 1, 0])
    """
    check_norm(norm)
    tolerance = tolerance or Tolerance()
    points = network.points(x)
    candidates = [stage.gate.index.numel() if isinstance(stage.gate, Max) else 0 for stage in network.stages]
    numbers_per_input = sum(gate.num_units for gate in network.gates) + 2 * sum(candidates)
    per_input = 8 * max(1, numbers_per_input) + network.bytes_per_point
    parts = [
        _nearest(network, points[rows], norm, tolerance, budget // max(1, rows.stop - rows.start) // per_input)
        for rows in chunks(len(points), per_input * min(network.num_inputs, 64), budget)
    ]
    return NearestFacets(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS))


_FIELDS = ("distances", "errors", "sources", "of_gradients")


def _nearest(network: Network, points: torch.Tensor, norm: Norm, tolerance: Tolerance, block: int) -> NearestFacets:
    number = len(points)
    spread = float(size(np.ones(network.num_inputs), dual(norm)))
    unit = tolerance.rounding * np.finfo(float).eps
    lengths, largest, constants = _lengths(network, points, norm, max(1, block))
    pieces = network.codes(points).by_gate()
    distances, errors = np.full(number, np.inf), np.zeros(number)
    sources = np.full((number, 3), -1, dtype=np.int64)
    map_errors = MapErrors(network, number, unit)
    values = network.start(points)
    value_errors = ValueErrors(values, unit)
    every = np.arange(number)
    for stage in network.stages:
        own = pieces[stage.gate.name].to_array()
        noise = value_errors.at(stage, values)
        pre, live = stage.advance(values)
        values = stage.close(live, pre)
        value_errors.pass_on(stage, own, values[stage.position])
        # Lengths stand for normals: what makes rows of them only changes signs, or subtracts the chosen one's zero.
        rows = gate_rows(
            stage.gate,
            stage.index,
            pieces=own,
            pre=pre.cpu().numpy(),
            maps=(lengths[stage.index][..., None], constants[stage.index]),
            noise=noise,
            map_noise=map_errors.at(stage, own, largest[stage.index]),
        )
        length = np.abs(rows.normals[..., 0])
        wrong = spread * rows.constant_below  # in the length of a normal
        bends = rows.exists & (length > wrong)
        if not bends.shape[1]:
            continue
        safe = np.where(bends, length, 1.0)
        clear = np.where(rows.slack > rows.noise, rows.slack, 0.0)
        distance = np.where(bends, clear / safe, np.inf)
        first = distance.argmin(axis=1)
        best = distance[every, first]
        with np.errstate(invalid="ignore"):
            error = (rows.noise + np.where(bends, distance, 0.0) * wrong) / safe
        closer = best < distances
        distances = np.where(closer, best, distances)
        errors = np.where(closer, error[every, first], errors)
        sources[closer] = rows.sources[every, first][closer]
    return NearestFacets(distances, errors, sources, map_errors.at_end(network.finish))


def _lengths(
    network: Network, points: torch.Tensor, norm: Norm, block: int
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Return per gate lengths of normals, largest entries of the units' gradients, and the maps' constants.

    A normal is the gradient of a pointwise unit, or of a max unit's candidate less the one chosen.
    """
    pieces = network.codes(points).by_gate()
    sizes: list[np.ndarray] = []
    largest: list[np.ndarray] = []
    constants: list[np.ndarray] = []
    for start in range(0, network.num_inputs, block):
        inputs = slice(start, min(start + block, network.num_inputs))
        maps = unit_maps(network, points, inputs)
        for index, (stage, (weight, constant)) in enumerate(zip(network.stages, maps, strict=True)):
            entries = weight.abs().amax(dim=-1).cpu().numpy()
            if isinstance(stage.gate, Max):
                piece = torch.as_tensor(pieces[stage.gate.name].to_array().astype(np.int64), device=weight.device)
                chosen = piece[..., None, None].expand(-1, -1, 1, weight.shape[-1])
                weight = weight - weight.gather(2, chosen)
            part = _part(weight, norm).cpu().numpy()
            if start == 0:
                sizes.append(part)
                largest.append(entries)
                constants.append(constant.cpu().numpy())
            else:
                largest[index] = np.maximum(largest[index], entries)
                sizes[index] = np.maximum(sizes[index], part) if norm == "l1" else sizes[index] + part
    return [np.sqrt(table) if norm == "l2" else table for table in sizes], largest, constants


def _part(weight: torch.Tensor, norm: Norm) -> torch.Tensor:
    """Return what a block of inputs adds to the dual norm of normals; to its square in l2."""
    if norm == "l2":
        return weight.square().sum(-1)
    return weight.abs().amax(-1) if norm == "l1" else weight.abs().sum(-1)


def facet_normals(network: Network, x: Points, sources: Int[np.ndarray, "s 3"]) -> Float[np.ndarray, "s n"]:
    """Return one outward normal ``a`` of each point's region ``a z <= b``, by its source; zero where there is none.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    sources : (s, 3) int array
        Gate, unit, and the piece beyond, as `nearest_facets` returns them.

    Notes
    -----
    One pass forward and one backward, for all points.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[3.0, 4.0], [1.0, 0.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> facet_normals(net, [[1.0, 1.0]], np.array([[0, 1, 0]]))
    array([[-1.,  0.]])
    """
    points = network.points(x)
    pieces = point_pieces(network, points)
    with torch.enable_grad():
        start = points.detach().clone().requires_grad_()
        passed, _ = run_fixed(network, pieces, start)
        total = start.sum() * 0.0
        for stage, piece, (pre, _) in zip(network.stages, pieces, passed, strict=True):
            rows = torch.as_tensor(np.flatnonzero(sources[:, 0] == stage.index), device=points.device)
            unit, beyond = (torch.as_tensor(column, device=points.device)[rows] for column in sources.T[1:])
            own = piece[rows, unit].long()
            if isinstance(stage.gate, Max):
                total = total + (pre[rows, unit, beyond] - pre[rows, unit, own]).sum()
            else:
                total = total + (torch.where(beyond > own, 1.0, -1.0) * pre[rows, unit]).sum()
        (gradient,) = torch.autograd.grad(total, start)
    return gradient.reshape(len(points), -1).cpu().numpy()
