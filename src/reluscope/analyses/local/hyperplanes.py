"""The hyperplanes at one point, a few at a time: unit normals that point into the point's region.

A unit of a pointwise gate with pre-activation h has the normal ``sgn(h) grad h`` where it may leave its piece: ``grad
h`` at a breakpoint below, ``-grad h`` at one above; a max unit has ``grad (z_a - z_b)`` for its candidate a and each
rival b. These are the rows of the region's half-spaces turned around (`networks.half_spaces`, where normals point
outward), so angles between them are the same. A table of all normals may be large: they are carried backward to the
inputs when they are asked for.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from reluscope.arguments import read_arguments, read_positions
from reluscope.budget import Budget, MemoryBudget
from reluscope.errors import InputError
from reluscope.geometry.numbers.norms import L2
from reluscope.networks.evaluation.gradient_errors import gradient_errors
from reluscope.networks.evaluation.linearize import gate_values_in_turn, identity, pull_back, weight_of_units
from reluscope.networks.evaluation.unit_half_spaces import gate_rows
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.network import Network
from reluscope.networks.passes.maps import Derivatives
from reluscope.regions.exact_facets import MULTIPLICATIONS, ExactFacets
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance

BUDGET = 256 * 2**20


@dataclass(frozen=True, eq=False, repr=False)
class Hyperplanes(Shown):
    """The hyperplanes of the units at one point.

    Parameters
    ----------
    network : Network
    point : (1, *input_shape) tensor
    sources : (r, 3) int64
        Gate, unit and the piece beyond, in the order of `Region.sources`.
    num_constant : int
        Rows left out because they are constant around the point and have no direction. Large networks also leave
        out rows with slopes below the rounding of their terms; in others fractions decide.
    exact : dict
        Normals from fractions, by source, of rows whose slopes are below the rounding of their terms.
    """

    network: Network
    point: Tensor
    sources: Int[np.ndarray, "r 3"]
    num_constant: int
    exact: dict[tuple[int, ...], np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.sources)

    @read_arguments
    def only(self, sources: Int[np.ndarray, "f 3"]) -> "Hyperplanes":
        """Return some of the hyperplanes, in the order of `sources`; constant ones are counted and left out.

        Raises
        ------
        InputError
            If no unit has such a row here.
        """
        given = np.unique(np.asarray(sources, dtype=np.int64).reshape(-1, 3), axis=0)
        rows = {tuple(row) for row in given.tolist()}
        kept = np.array([tuple(row) in rows for row in self.sources.tolist()], dtype=bool)
        missing = rows - {tuple(row) for row in self.sources[kept].tolist()}
        names = self.network.gates
        for gate, unit, piece in sorted(missing):
            if not (
                0 <= gate < len(names) and 0 <= unit < names[gate].num_units and 0 <= piece < names[gate].num_pieces
            ):
                raise InputError(
                    f"expected rows of units, as Region.sources has them, got gate {gate}, unit {unit}, piece {piece}: "
                    "leave rows of the domain (gate -1) out"
                )
        return Hyperplanes(self.network, self.point, self.sources[kept], len(missing), self.exact)

    @read_arguments
    def normals(
        self, rows: slice | Int[np.ndarray, " k"], *, budget: MemoryBudget | None = None
    ) -> Float[Tensor, "k n"]:
        """Return unit normals that point into the region.

        Parameters
        ----------
        rows : slice or (k,) int
            Which hyperplanes.
        budget : Budget, optional
            Memory for intermediate results; the normals come on top.
        """
        sources = self.sources[read_positions(rows, "rows", len(self), "hyperplanes")]
        pieces = self.network.codes(self.point).by_gate()
        result = self.point.new_empty(len(sources), self.network.num_inputs)
        for gate in np.unique(sources[:, 0]).tolist():
            stage = self.network.stages[gate]
            here = np.flatnonzero(sources[:, 0] == gate)
            own = pieces[stage.gate.name].to_array()[0].astype(np.int64)
            shape = tuple(stage.gate.index.shape) if isinstance(stage.gate, Max) else (stage.gate.num_units,)
            per_row = 8 * (int(np.prod(shape)) + 2 * self.network.num_inputs) + 2 * self.network.bytes_per_point
            for part in chunks(len(here), per_row, (budget or Budget()).memory_or(BUDGET)):
                chosen = sources[here[part]]
                found = pull_back(self.network, self.point, gate, self._cotangents(chosen, own, shape))
                result[torch.from_numpy(here[part]).to(result.device)] = _unit(found)
        for row, source in enumerate(sources.tolist()):
            if (normal := self.exact.get(tuple(source))) is not None:
                result[row] = _unit(torch.as_tensor(normal, device=result.device)[None])[0]
        return result

    def _cotangents(self, sources: np.ndarray, own: np.ndarray, shape: tuple[int, ...]) -> Tensor:
        _, unit, beyond = sources.T
        cotangents = np.zeros((len(sources), *shape))
        row = np.arange(len(sources))
        if len(shape) == 2:
            cotangents[row, unit, own[unit]] = 1.0
            cotangents[row, unit, beyond] = -1.0
        else:
            cotangents[row, unit] = np.where(beyond < own[unit], 1.0, -1.0)
        return torch.from_numpy(cotangents).to(self.point.device)


@read_arguments
def hyperplanes(
    network: Network, x: Points, *, budget: MemoryBudget | None = None, tolerance: Tolerance | None = None
) -> Hyperplanes:
    """Return the hyperplanes of all units at one point: the rows of its region, without their table.

    Parameters
    ----------
    network : Network
    x : (1, *input_shape) or (n,)
    budget : Budget, optional
        Memory for the derivatives by one block of inputs.
    tolerance : Tolerance, optional
        Its ``rounding`` decides which normals count as zero, as in `regions`.

    Raises
    ------
    InputError
        If there is more than one point.

    Notes
    -----
    Computes the derivatives of all units by all inputs once, in blocks of inputs.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[3.0, 4.0], [0.0, 0.0]], [0.0, 1.0]), ([[1.0, 1.0]], [0.0])])
    >>> found = rs.local.hyperplanes(net, [-1.0, -1.0])
    >>> found.sources.tolist(), found.num_constant, found.normals(slice(None))
    ([[0, 0, 1]], 1, tensor([[-0.6000, -0.8000]], dtype=torch.float64))
    """
    tolerance, memory = tolerance or Tolerance(), (budget or Budget()).memory_or(BUDGET)
    point = network.points(x)
    if len(point) != 1:
        raise InputError(f"expected one point, got {len(point)}: ask for one after the other")
    pieces = network.at(point, tolerance=tolerance).pieces
    own_pieces = [piece.cpu().numpy() for piece in pieces]
    shapes = [
        (1, *stage.gate.index.shape) if isinstance(stage.gate, Max) else (1, stage.gate.num_units)
        for stage in network.stages
    ]
    entries = [np.zeros(0)] * len(network.stages)
    largest = [np.zeros(shape) for shape in shapes]
    numbers = sum(table.size for table in largest)
    for inputs in chunks(network.num_inputs, 8 * 8 * max(1, numbers) + network.bytes_per_point, memory):
        walk = gate_values_in_turn(network, Derivatives(pieces), identity(network, inputs))
        for index, (stage, derivatives) in enumerate(walk):
            table = weight_of_units(stage.gate, derivatives, 1).cpu().numpy()
            largest[index] = np.maximum(largest[index], np.abs(table).max(axis=-1, initial=0.0))
            own, zero = own_pieces[index], np.zeros(shapes[index])
            rows = gate_rows(stage.gate, index, pieces=own, pre=zero, maps=(table, zero), noise=zero, map_noise=zero)
            most = np.abs(rows.normals[0]).max(axis=1, initial=0.0)
            entries[index] = most if inputs.start == 0 else np.maximum(entries[index], most)
    sources, constant = [np.zeros((0, 3), dtype=np.int64)], [np.zeros(0, dtype=bool)]
    hidden = [np.zeros(0, dtype=bool)]
    sizes = [torch.as_tensor(table, device=point.device) for table in largest]
    errors, _ = gradient_errors(network, pieces, sizes, 1, tolerance.unit)
    for index, stage in enumerate(network.stages):
        own, zero, nothing = own_pieces[index], np.zeros(shapes[index]), np.zeros((*shapes[index], 1))
        noise = errors[index].cpu().numpy()
        rows = gate_rows(stage.gate, index, pieces=own, pre=zero, maps=(nothing, zero), noise=zero, map_noise=noise)
        exists = rows.exists[0]
        sources.append(rows.sources[0][exists].astype(np.int64))
        constant.append((entries[index] <= rows.constant_below[0])[exists])
        hidden.append((rows.constant_below[0] > 0)[exists])
    listed, left_out = np.concatenate(sources), np.concatenate(constant)
    doubtful = listed[left_out & np.concatenate(hidden)]
    exact = _exact_normals(network, point, [table[0].tolist() for table in own_pieces], doubtful)
    left_out &= np.array([tuple(row) not in exact for row in listed.tolist()], dtype=bool)
    return Hyperplanes(network, point, listed[~left_out], int(left_out.sum()), exact)


def _exact_normals(
    network: Network, point: Tensor, code: list[list[int]], sources: np.ndarray
) -> dict[tuple[int, ...], np.ndarray]:
    """Return normals into the region of rows that are not constant, by fractions, as far as these are quick."""
    facets, most = ExactFacets(network, L2), MULTIPLICATIONS
    found: dict[tuple[int, ...], np.ndarray] = {}
    if not len(sources) or not facets.is_small:
        return found
    x = point.reshape(-1).cpu().numpy()
    for source in sources.tolist():
        decided = facets.decide(code, x, source, most)
        if decided is None:
            break
        facet, cost = decided
        most -= cost
        if facet is not None and facet.normal.any():
            found[tuple(source)] = -facet.normal
    return found


def _unit(normals: Tensor) -> Tensor:
    """Scale rows to length 1; by the largest entry first, whose square may be too small for a float."""
    tiny = torch.finfo(torch.float64).tiny
    normals = normals / normals.abs().amax(dim=1, keepdim=True).clamp_min(tiny)
    return normals / torch.linalg.vector_norm(normals, dim=1, keepdim=True).clamp_min(tiny)
