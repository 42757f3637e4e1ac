"""What gates see on cells, as affine maps with bounds on their errors: of one network, or of several with one shape."""

from typing import NamedTuple, Protocol

import numpy as np
import torch
from jaxtyping import Float, Int

from reluscope.networks.evaluation.affine_values import AffineValues, advance_affinely, affine_input, pass_affinely
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.models.stacked_networks import StackedNetworks
from reluscope.networks.network import Network
from reluscope.networks.passes.maps import AffineValue


class MapsAtGate(NamedTuple):
    """What a gate sees on cells, and what later gates need of these cells."""

    maps: Float[np.ndarray, "c u d1"]
    errors: Float[np.ndarray, "c u d1"]
    values: AffineValues


class CarriedMaps(Protocol):
    """The way from one gate to the next."""

    @property
    def network(self) -> Network:
        """The network, or one of several, whose gates are those of all."""
        ...

    def start(self, num_cells: int, scale: float) -> AffineValues:
        """Return the input on cells whose coordinates are in units of a scale."""
        ...

    def at_gate(
        self, stage: int, values: AffineValues, cell_of: np.ndarray, pieces: np.ndarray, owners: np.ndarray
    ) -> MapsAtGate:
        """Return what a gate sees on parts of cells: ``cell_of`` says of which, ``owners`` of which network."""
        ...


class MapsOfNetwork(NamedTuple):
    """The way through one network."""

    network: Network
    gamma: float

    def start(self, num_cells: int, scale: float) -> AffineValues:
        """Return the input on cells."""
        return affine_input(self.network, num_cells, scale)

    def at_gate(
        self, stage: int, values: AffineValues, cell_of: np.ndarray, pieces: np.ndarray, owners: np.ndarray
    ) -> MapsAtGate:
        """Run the affine nodes up to the gate of a stage, each cell for itself."""
        del owners
        if stage:
            return MapsAtGate(*pass_affinely(self.network, stage, values, cell_of, pieces, self.gamma))
        return MapsAtGate(*advance_affinely(self.network.stages[0], select(values, cell_of), self.gamma))


class MapsOfStack(NamedTuple):
    """The way through several networks with a matrix before each gate."""

    stack: StackedNetworks
    gamma: float

    @property
    def network(self) -> Network:
        """The first of the networks."""
        return self.stack.first

    def start(self, num_cells: int, scale: float) -> AffineValues:
        """Return the input on cells."""
        return affine_input(self.network, num_cells, scale)

    def at_gate(
        self, stage: int, values: AffineValues, cell_of: np.ndarray, pieces: np.ndarray, owners: np.ndarray
    ) -> MapsAtGate:
        """Multiply by the matrices of each cell's network."""
        stages = self.network.stages
        if stage:
            arrived = values[stages[stage - 1].position]
            held, noise = self._held(stage - 1, *(_of_cells(part, cell_of) for part in arrived), pieces=pieces)
        else:
            held = _of_cells(values[0].coefficients, cell_of)
            noise = np.zeros_like(held)
        weights, biases = self.stack.weights[stage][owners], self.stack.biases[stage][owners]
        sizes = np.abs(weights)
        maps, errors = weights @ held, sizes @ (noise + self.gamma * np.abs(held))
        maps[..., -1] += biases
        errors[..., -1] += self.gamma * np.abs(biases)
        parts = (torch.from_numpy(part).transpose(1, 2) for part in (maps, errors))
        return MapsAtGate(maps, errors, {stages[stage].position: AffineValue(*parts)})

    def _held(
        self, stage: int, maps: np.ndarray, errors: np.ndarray, pieces: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what units give that are held to pieces, with bounds on the errors."""
        gate = self.network.stages[stage].gate
        assert isinstance(gate, Pointwise)
        units = np.arange(pieces.shape[1])
        slopes, intercepts = (
            np.broadcast_to(table.numpy(), (len(table), len(units)))[pieces, units]
            for table in (gate.slopes, gate.intercepts)
        )
        held = slopes[..., None] * maps
        held[..., -1] += intercepts
        sizes = np.abs(slopes)[..., None] * np.abs(maps)
        sizes[..., -1] += np.abs(intercepts)
        is_exact = ((slopes == 0) | (slopes == 1)) & (intercepts == 0)
        return held, np.abs(slopes)[..., None] * errors + np.where(is_exact[..., None], 0.0, self.gamma * sizes)


def _of_cells(part: torch.Tensor, cell_of: Int[np.ndarray, " c"]) -> Float[np.ndarray, "c u d1"]:
    """Return coefficients on parts of cells, by unit."""
    return part.flatten(2).transpose(1, 2).numpy()[cell_of]


def select(values: AffineValues, cells: np.ndarray) -> AffineValues:
    """Return values on some of the cells."""
    rows = torch.from_numpy(cells)
    return {position: value.take(rows.to(value.coefficients.device)) for position, value in values.items()}
