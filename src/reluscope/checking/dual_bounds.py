"""Lower bounds of linear functions of a network's values, from any numbers that are given for its units, exactly.

A weight w of what a unit gives, and any number v, its dual: ``w f(x) >= v x + min (w f - v x)``, with the least over
what the unit may see. As f is affine between its breakpoints, that is at one of these, or at an end. So weights w of a
value become weights v of what units see before it, and constants, gate by gate back to the box of inputs. Whatever the
duals are the bound holds, and nothing is rounded; where units are held to pieces, what they may see is less.

References: Wong and Kolter, "Provable defenses against adversarial examples via the convex outer adversarial polytope"
(ICML 2018); Dvijotham et al., "A dual approach to scalable verification of deep networks" (UAI 2018).
"""

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reluscope.checking.demand import demand
from reluscope.checking.whole_numbers import Matrix, Whole
from reluscope.networks.graph.nodes import Affine, Pointwise

if TYPE_CHECKING:
    from reluscope.networks.network import Network


class Seen(NamedTuple):
    """What the units of a gate may see: ends of ranges, (u,) float64, infinite where nothing is known."""

    low: np.ndarray
    high: np.ndarray

    @property
    def is_empty(self) -> bool:
        """Whether some unit may see nothing."""
        return bool((self.low > self.high).any())


class DualBounds:
    """Bounds a network of pointwise gates without jumps on a box of inputs.

    ``gates`` are in the order in which values pass them.
    """

    def __init__(self, network: "Network", lower: np.ndarray, upper: np.ndarray) -> None:
        self._nodes, self._output = network.nodes, network.output
        self._box = Whole.of(np.stack([lower, upper]))
        self._matrices: dict[int, list[Matrix]] = {}
        self._constants: dict[int, Whole] = {}
        self._gates = {place: node for place, node in enumerate(self._nodes) if isinstance(node, Pointwise)}
        self.gates = [*self._gates.values()]
        for place, node in enumerate(self._nodes):
            if isinstance(node, Affine):
                self._matrices[place] = [Matrix(one.toarray()) for one in node.matrix()]
                if node.constant is not None:
                    self._constants[place] = Whole.of(node.constant.expand(node.shape).flatten().cpu().numpy())

    def on(self, lower: np.ndarray, upper: np.ndarray) -> "DualBounds":
        """Return the network on another box."""
        other = copy(self)
        other._box = Whole.of(np.stack([lower, upper]))
        return other

    def unknown(self) -> list[Seen]:
        """Return what the units of all gates may see if nothing is known of it."""
        return [Seen(np.full(gate.size, -np.inf), np.full(gate.size, np.inf)) for gate in self.gates]

    def seen_by(self, gate: int) -> int:
        """Return the position of the value that a gate sees."""
        return self.gates[gate].inputs[0]

    def held(self, gate: int, seen: Seen, first: np.ndarray, last: np.ndarray) -> Seen:
        """Return what is left of ranges where units have one of their pieces from the first to the last, (u,) each."""
        levels = _tables(self.gates[gate])[0]
        endless = np.full((1, levels.shape[1]), np.inf)
        ends, unit = np.concatenate([-endless, levels, endless]), np.arange(levels.shape[1])
        return Seen(np.maximum(seen.low, ends[first, unit]), np.minimum(seen.high, ends[last + 1, unit]))

    def num_pieces(self, gate: int) -> int:
        """Return how many pieces the units of a gate have."""
        return len(_tables(self.gates[gate])[1])

    def num_units(self, gate: int) -> int:
        """Return how many units a gate has."""
        return self.gates[gate].size

    def least(
        self, rows: Whole, duals: Sequence[np.ndarray], seen: Sequence[Seen], position: int | None = None
    ) -> Whole:
        """Return lower bounds of linear functions of a node's value, by default the output's.

        `duals` are (k, u) for each gate, and count only for gates that the value depends on. `seen` is what the units
        of each gate may see; none is needed for units below.
        """
        start = self._output if position is None else position
        waiting, total = {start: rows}, Whole.of(np.zeros(len(rows.numbers)))
        for place in range(start, 0, -1):
            if place not in waiting:
                continue
            node, weights = self._nodes[place], waiting.pop(place)
            if isinstance(node, Affine):
                if place in self._constants:
                    total = total + (weights * self._constants[place]).sum()
                before = [matrix.after(weights) for matrix in self._matrices[place]]
            else:
                gate = [*self._gates].index(place)
                dual = Whole.of(duals[gate])
                total = total + _rest(self.gates[gate], weights, dual, seen[gate]).sum()
                before = [dual]
            for source, part in zip(node.inputs, before, strict=True):
                waiting[source] = waiting[source] + part if source in waiting else part
        if 0 in waiting:
            ends = waiting[0][None] * self._box[:, None]
            total = total + ends.least().sum()
        return total


def _rest(node: Pointwise, weights: Whole, duals: Whole, seen: Seen) -> Whole:
    """Return the least of ``w f(x) - v x`` over what units may see, (k, u)."""
    levels, slopes, starts = _tables(node)
    # Beyond the last breakpoint on a side that does not end, the function is to rise.
    for end, side, sign in ((seen.low, 0, -1.0), (seen.high, -1, 1.0)):
        if (is_endless := np.isinf(end)).any():
            rise = Whole.of(sign * slopes[side]) * weights - Whole.of(np.full(1, sign)) * duals
            demand(not (rise.numbers < 0)[:, is_endless].any(), "duals do not bound what a unit gives")
    inner = levels if len(levels) else np.zeros((1, levels.shape[1]))
    low = np.where(np.isinf(seen.low), np.minimum(inner[0], seen.high), seen.low)
    high = np.where(np.isinf(seen.high), np.maximum(inner[-1], low), seen.high)
    places = np.concatenate([[low, high], np.clip(levels, low, high)])[:, None]
    unit = np.arange(levels.shape[1])
    # Of both sides of a breakpoint: pieces whose constants are rounded may meet in float64 alone.
    piece = np.concatenate([(places > levels).sum(axis=1), (places >= levels).sum(axis=1)])
    where = Whole.of(np.concatenate([places, places])[:, 0])
    values = Whole.of(slopes[piece, unit]) * where + Whole.of(starts[piece, unit])
    return (values[:, None] * weights[None] - where[:, None] * duals[None]).least()


def _tables(node: Pointwise) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the breakpoints of a gate's units, and the slopes and values at 0 of their pieces."""
    tables = (node.breakpoints, node.slopes, node.intercepts)
    levels, slopes, starts = (table.expand(-1, node.size).cpu().numpy() for table in tables)
    return levels, slopes, starts
