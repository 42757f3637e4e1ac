"""Networks of matrices in a row as arrays, for kernels that bound all values on boxes of inputs.

Affine nodes in a row become one matrix where that is exact: shifts after matrices, signs, entries that only move.
Others stay apart, with units between them that pass on what they see.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Integer

from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine, Pointwise
from reluscope.networks.passes.network_graph import NetworkGraph

# Weights of a network that is bounded by kernels, at most: larger products are PyTorch's.
MAX_WEIGHTS = 2**18


@dataclass(frozen=True, eq=False)
class DenseLayers:
    """Layers ``W x + b`` with a gate of units after all but the last one."""

    matrices: tuple[tuple[np.ndarray, np.ndarray], ...]
    gates: tuple[Pointwise | None, ...]  # None where units pass on what they see

    @cached_property
    def sizes(self) -> Integer[np.ndarray, " _"]:
        """How many inputs, units of each gate and outputs there are."""
        return np.array([self.matrices[0][0].shape[1], *(len(bias) for _, bias in self.matrices)], dtype=np.int64)

    @cached_property
    def weights(self) -> Float[np.ndarray, " _"]:
        """Entries of all matrices, back to back."""
        return np.concatenate([weight.ravel() for weight, _ in self.matrices])

    @cached_property
    def biases(self) -> Float[np.ndarray, " _"]:
        """Constants of all layers."""
        return np.concatenate([bias for _, bias in self.matrices])

    @cached_property
    def breakpoints(self) -> Float[np.ndarray, "_ u"]:
        """Breakpoints of all units, infinite where there are fewer."""
        return self._table("breakpoints", np.inf)

    @cached_property
    def slopes(self) -> Float[np.ndarray, "_ u"]:
        """Slopes of all pieces of units."""
        return self._table("slopes", 1.0)

    @cached_property
    def intercepts(self) -> Float[np.ndarray, "_ u"]:
        """Intercepts of all pieces of units."""
        return self._table("intercepts", 0.0)

    @cached_property
    def places(self) -> list[slice]:
        """Where the units of the network's gates are among all."""
        ends = np.concatenate([[0], np.cumsum(self.sizes[1:-1])]).tolist()
        return [slice(*part) for part, gate in zip(pairwise(ends), self.gates, strict=True) if gate is not None]

    def _table(self, name: str, missing: float) -> np.ndarray:
        """Return what gates say of their pieces, the last row again where others have more."""
        height = max((len(getattr(gate, name)) for gate in self.gates if gate is not None), default=0)
        parts = [np.zeros((height, 0))]
        for gate, units in zip(self.gates, self.sizes[1:-1].tolist(), strict=True):
            part = np.full((height, units), missing)
            if gate is not None:
                own = getattr(gate, name).expand(-1, units).cpu().numpy()
                part[:] = missing if name == "breakpoints" else own[-1]
                part[: len(own)] = own
            parts.append(part)
        table = np.concatenate(parts, axis=1)
        return table if height or name == "breakpoints" else np.full((1, table.shape[1]), missing)


def dense_layers(network: NetworkGraph) -> DenseLayers | None:
    """Return a network as a sequence of matrices, or None.

    None if the network is no such sequence, is too large, or has gates that jump. A product of matrices for each affine
    node.
    """
    nodes = network.nodes[1:]
    if any(list(node.inputs) != [place] for place, node in enumerate(nodes)) or network.device.type != "cpu":
        return None
    if not nodes or not (isinstance(nodes[0], Affine) and isinstance(nodes[-1], Affine)):
        return None
    matrices: list[tuple[np.ndarray, np.ndarray]] = []
    gates: list[Pointwise | None] = []
    is_open = False
    for node in nodes:
        if not isinstance(node, Affine):
            if isinstance(node, Max) or not isinstance(node, Pointwise) or not node.is_continuous or not is_open:
                return None
            gates.append(node)
            is_open = False
            continue
        if node.size * int(np.prod(node.input_shapes[0])) > MAX_WEIGHTS:
            return None
        weight = node.matrix()[0].toarray()
        constant = node.constant
        bias = np.zeros(len(weight)) if constant is None else constant.expand(node.shape).reshape(-1).cpu().numpy()
        joined = _joined(matrices[-1], (weight, bias)) if is_open else None
        if joined is not None:
            matrices[-1] = joined
            continue
        if is_open:
            gates.append(None)
        matrices.append((weight, np.array(bias)))
        is_open = True
    found = DenseLayers(tuple(matrices), tuple(gates))
    return found if len(found.weights) <= MAX_WEIGHTS and found.sizes.min() > 0 else None


def _joined(
    first: tuple[np.ndarray, np.ndarray], then: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return one layer that does what two do, None where float64 might round it."""
    (weight, bias), (other, shift) = first, then
    is_moved = _moves(other)
    if not (is_moved or (_moves(weight) and _moves(weight.T) and not bias.any())):
        return None
    moved = other @ bias
    if (moved.astype(bool) & shift.astype(bool)).any():
        return None
    return other @ weight, moved + shift


def _moves(weight: np.ndarray) -> bool:
    """Return whether a matrix only moves entries, and changes signs."""
    return bool(np.isin(weight, (-1.0, 0.0, 1.0)).all() and ((weight != 0).sum(axis=1) <= 1).all())
