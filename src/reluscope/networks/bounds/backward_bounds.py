"""Lower bounds of linear functions of a network's values on a box of inputs, carried back from them to the box.

A positive weight of a unit is carried back along a line below the unit's function on its range, a negative one along a
line above. Any slope below is allowed, and so it is chosen by gradient. Units may be held to some of their pieces:
their range is then cut there, and a multiplier lets what is known of the cut help the bound (Lagrange). Whatever slopes
and multipliers are, the bound holds: rounding is counted with the sums of absolute values that it comes from.

References: Zhang et al., "Efficient neural network robustness certification with general activation functions"
(NeurIPS 2018) for lines carried back; Xu et al., "Fast and complete" (ICLR 2021) for slopes by gradient; Wang et al.,
"Beta-CROWN" (NeurIPS 2021) for multipliers of units held to pieces.
"""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from reluscope.networks.bounds.best_multipliers import NUM_STEPS, Bound, maximized
from reluscope.networks.bounds.gate_lines import Lines, lines_around
from reluscope.networks.bounds.holding import Holding
from reluscope.networks.bounds.lines_back import LinesBack, PullsBack
from reluscope.networks.evaluation.underflow import underflow
from reluscope.networks.graph.nodes import Affine, Pointwise
from reluscope.networks.passes.carry_back import carry_back
from reluscope.networks.passes.network_graph import NetworkGraph
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.networks.passes.stages import Stage

# Numbers in the matrices of a network that are held, at most, and in arrays made together.
MAX_MATRIX, MAX_NUMBERS = 2**25, 2**22
# Affine nodes whose matrices are so small, or have no fewer numbers than this share, are products with them.
SMALL, DENSE = 2**14, 0.125
# Sums of so many terms are what `ANY_ORDER` is for.
MAX_LENGTH = 2**16


def is_suited(network: NetworkGraph) -> bool:
    """Return whether bounds can be carried back through a network: gates have to be pointwise without jumps."""
    longest = max(node.size for node in network.nodes)
    gates = [stage.gate for stage in network.stages]
    return longest <= MAX_LENGTH and all(isinstance(gate, Pointwise) and gate.is_continuous for gate in gates)


def has_small_matrices(network: NetworkGraph) -> bool:
    """Return whether all matrices of a network's affine nodes can be held at once."""
    affine = [node for node in network.nodes if isinstance(node, Affine)]
    return sum(_entries(node) for node in affine) <= MAX_MATRIX


def _entries(node: Affine) -> int:
    return sum(node.size * prod(shape) for shape in node.input_shapes)


def _is_dense(node: Affine) -> bool:
    """Whether a node is best a product with its matrix: convolutions and what moves entries are not."""
    constants = sum(tensor.numel() for tensor in node.tensors().values())
    return _entries(node) <= max(SMALL, constants / DENSE)


class BackwardBounds:
    """Ranges of all pre-activations on a box, and bounds of functions of the output from them.

    The network has to pass `is_suited`. ``ranges`` (per gate) include rounding, ``lost`` is what products below the
    smallest number may change. ``steps`` of the gradient improve the slopes behind ranges.
    """

    def __init__(
        self,
        network: NetworkGraph,
        lower: Float[np.ndarray, " n"],
        upper: Float[np.ndarray, " n"],
        *,
        steps: int = NUM_STEPS,
    ) -> None:
        self.network, self._steps = network, steps
        self.device = network.device
        low, high = (torch.as_tensor(end, dtype=torch.float64, device=self.device) for end in (lower, upper))
        self.lower, self.upper, self.lost = low, high, underflow(network, lower, upper)
        self._matrices = {
            place: [torch.as_tensor(one.toarray(), device=self.device) for one in node.matrix()]
            for place, node in enumerate(network.nodes)
            if isinstance(node, Affine) and _is_dense(node)
        }
        self._places = {id(node): place for place, node in enumerate(network.nodes)}
        # How large every value may be on the box, and between what it lies.
        self._sizes: dict[int, Tensor] = {0: torch.maximum(low.abs(), high.abs())}
        self._ends: dict[int, tuple[Tensor, Tensor]] = {0: (low, high)}
        self._reaches: dict[int, Tensor] = {}
        self.ranges: list[tuple[Tensor, Tensor]] = []
        self.gates = [stage.gate for stage in network.stages if isinstance(stage.gate, Pointwise)]
        with torch.no_grad():
            for stage in network.stages:
                self._measure(stage.position)
                self._add_ranges(stage)
            self._measure(len(network.nodes))

    def unheld(self, number: int) -> Holding:
        """Return the choice for so many bounds in which units may have all pieces, with slopes to begin with.

        Pieces and ranges are one row, which is that of all bounds.
        """
        gates = self.gates[: len(self.ranges)]
        first = [torch.zeros(1, gate.num_units, dtype=torch.int64, device=self.device) for gate in gates]
        last = [torch.full_like(one, gate.num_pieces - 1) for one, gate in zip(first, gates, strict=True)]
        low, high = ([ends[side][None] for ends in self.ranges] for side in (0, 1))
        slopes = [
            gate.slope(gate.pieces((bottom + top) / 2).long()).expand(number, -1).clone()
            for gate, bottom, top in zip(gates, low, high, strict=True)
        ]
        pulls = [torch.zeros_like(one) for one in slopes]
        return Holding(first, last, slopes, pulls, low, high)

    def lower_bounds(
        self, rows: Float[Tensor, "k m"], held: Holding, *, position: int | None = None, is_sure: bool = True
    ) -> Bound:
        """Return lower bounds of linear functions of a node's value, by default the output, on the box.

        With ``is_sure`` rounding is counted; gradients do not need it. A product of k rows with each matrix.
        """
        carrier = LinesBack(self, held, len(rows), is_sure=is_sure)
        return self.carried_to_box(carrier, rows, position)

    def carried_to_box(self, carrier: LinesBack, rows: Float[Tensor, "k m"], position: int | None = None) -> Bound:
        """Return the lower bounds that a carrier finds for linear functions of a value, by default the output."""
        weights = self._carried(carrier, rows, position)
        middle = (self.lower + self.upper) / 2
        half = torch.maximum(self.upper - middle, middle - self.lower)
        values = weights @ middle - weights.abs() @ half + carrier.constants
        if carrier.is_sure:
            sizes = weights.abs() @ (middle.abs() + 2 * half) + carrier.constants.abs()
            values = values - 2 * (carrier.rounding + ANY_ORDER * sizes) - self.lost * (1 + rows.abs().sum(dim=1))
        corners = torch.where(weights > 0, self.lower, self.upper)
        return Bound(torch.where(carrier.is_empty, torch.inf, values), corners, carrier.weights, carrier.duals)

    def keeping(self, rows: Float[Tensor, "k m"], held: Holding, duals: list[Tensor]) -> Holding:
        """Return what is held with the multipliers under which bounds of the output have given duals."""
        carrier = PullsBack(self, held._replace(multipliers=[*held.multipliers]), len(rows), duals, is_sure=False)
        self._carried(carrier, rows, None)
        return carrier.held

    def forms(
        self, rows: Float[Tensor, "k m"], held: Holding, *, position: int | None = None
    ) -> tuple[Float[Tensor, "k n"], Float[Tensor, " k"]]:
        """Return affine functions of the input that are below linear functions of a value, up to rounding."""
        carrier = LinesBack(self, held, len(rows), is_sure=False)
        weights = self._carried(carrier, rows, position)
        return weights, carrier.constants

    def _carried(self, carrier: LinesBack, rows: Tensor, position: int | None) -> Tensor:
        weights = carry_back(self.network, carrier, rows, position)
        return rows.new_zeros(len(rows), len(self.lower)) if weights is None else weights

    def cut(self, gate: int, held: Holding) -> tuple[Tensor, Tensor]:
        """Return the ranges of what units see where they are held to pieces; empty ones have their ends swapped."""
        bottom, top = self.ends(gate, held)
        return torch.maximum(held.low[gate], bottom), torch.minimum(held.high[gate], top)

    def tightened(self, held: Holding, gate: int) -> Holding:
        """Return narrower ranges of open units of a gate, from what earlier units are held to.

        Where no input lets them be held so, ranges have their ends swapped. Two bounds for each open unit.
        """
        low, high = (one[gate].clone() for one in (held.low, held.high))
        item, unit = torch.nonzero(self.is_open(gate, held), as_tuple=True)
        target, units = self.network.stages[gate].leg.target, low.shape[1]
        step = self._rows_at_once(self.network.stages[gate])
        for start in range(0, len(item), step):
            which, one = item[start : start + step], unit[start : start + step]
            known = Holding(*([part[which] for part in table[:gate]] for table in held))
            rows = torch.zeros(len(which), units, dtype=torch.float64, device=self.device)
            rows[torch.arange(len(which)), one] = 1.0
            low[which, one] = torch.maximum(low[which, one], self.lower_bounds(rows, known, position=target).values)
            high[which, one] = torch.minimum(high[which, one], -self.lower_bounds(-rows, known, position=target).values)
        lows, highs = ([*table[:gate], new, *table[gate + 1 :]] for table, new in ((held.low, low), (held.high, high)))
        return held._replace(low=lows, high=highs)

    def narrowed(self, held: Holding, changed: Sequence[int]) -> Holding:
        """Return what is held with ranges behind the gates that were split last, one for each bound; -1 if none was."""
        low, high = ([one.clone() for one in table] for table in (held.low, held.high))
        held = held._replace(low=low, high=high)
        split = torch.tensor(changed)
        for gate in range(1, len(low)):
            rows = torch.nonzero((split >= 0) & (split < gate)).flatten()
            if len(rows):
                part = self.tightened(held.picked(rows), gate)
                low[gate][rows], high[gate][rows] = part.low[gate], part.high[gate]
        return held

    def ends(self, gate: int, held: Holding) -> tuple[Tensor, Tensor]:
        """Return the breakpoints between which units are held, infinite where there is none."""
        units = self.gates[gate].num_units
        levels = self.gates[gate].breakpoints.expand(-1, units)
        endless = levels.new_full((1, units), torch.inf)
        table = torch.cat([-endless, levels, endless])
        unit = torch.arange(units, device=self.device)
        return table[held.first[gate], unit], table[held.last[gate] + 1, unit]

    def lines(self, gate: int, held: Holding) -> Lines:
        """Return the lines below and above the units of a gate."""
        low, high = self.cut(gate, held)
        return lines_around(self.gates[gate], low, torch.maximum(low, high), held.slopes[gate])

    def is_open(self, gate: int, held: Holding) -> Tensor:
        """Return which units may change their piece on their ranges, (k, u)."""
        return self._may_bend(gate, *self.cut(gate, held))

    def products(self, node: Affine, weights: Tensor) -> list[Tensor]:
        """Return the weights of each value that an affine node reads, from those of what it gives."""
        tables = self._matrices.get(self._places[id(node)])
        if tables is not None:
            return [weights @ table for table in tables]
        found = node.transposed(weights.reshape(-1, weights.shape[-1]))
        return [one.reshape(*weights.shape[:-1], one.shape[-1]) for one in found]

    def reach(self, node: Affine) -> Tensor:
        """Return what the absolute terms of an affine node's sums add up to, at most."""
        return self._reaches[self._places[id(node)]]

    def size(self, stage: Stage) -> Tensor:
        """Return how large what a gate sees may be."""
        return self._sizes[stage.leg.target]

    @property
    def output_size(self) -> Tensor:
        """How large the outputs may be."""
        return self._sizes[self.network.output]

    def middle_piece(self, gate: int, held: Holding) -> Tensor:
        """Return the last piece below the middle one of the breakpoints within ranges, (k, u)."""
        low, high = self.cut(gate, held)
        levels = self.gates[gate].breakpoints.expand(-1, low.shape[1])[:, None]
        begin = (levels <= low).sum(dim=0)
        return begin + ((levels > low) & (levels < high)).sum(dim=0).sub(1).clamp(min=0) // 2

    def is_held(self, gate: int, held: Holding) -> Tensor:
        """Return which units are held to some of their pieces, (k, u)."""
        return (held.first[gate] > 0) | (held.last[gate] < self.gates[gate].num_pieces - 1)

    def slope_ends(self, gate: int) -> tuple[Tensor, Tensor]:
        """Return between what lines below units can gain from their slopes."""
        table = self.gates[gate].slopes
        return table.amin(dim=0), table.amax(dim=0)

    def clamp_slopes(self, gate: int, slopes: Tensor) -> Tensor:
        """Return slopes that lines below units can gain from."""
        least, most = self.slope_ends(gate)
        return torch.minimum(torch.maximum(slopes, least), most)

    def _measure(self, end: int) -> None:
        """Bound the affine values before a position, by those that they are computed from."""
        for place, node in enumerate(self.network.nodes[:end]):
            if place in self._sizes or not isinstance(node, Affine):
                continue
            sizes, middles, halves = [], [], []
            for source, shape in zip(node.inputs, node.input_shapes, strict=True):
                low, high = self._ends[source]
                middle = (low + high) / 2
                half = torch.maximum(high - middle, middle - low)
                for table, one in ((sizes, self._sizes[source]), (middles, middle), (halves, half)):
                    table.append(one.reshape(1, *shape))
            reach = node.magnitudes.apply(*sizes).reshape(-1) * (1 + ANY_ORDER)
            middle, half = node.apply(*middles).reshape(-1), node.magnitudes.linear(*halves).reshape(-1)
            half = half + 4 * ANY_ORDER * reach + self.lost
            self._reaches[place] = self._sizes[place] = reach
            self._ends[place] = _no_wider(middle - half, middle + half, reach)

    def _add_ranges(self, stage: Stage) -> None:
        """Find what the units of a gate see, and how large it and what the gate gives may be."""
        gate, target = self.gates[stage.index], stage.leg.target
        low, high = self.seen(stage)
        self.ranges.append((low, high))
        self._sizes[target], units = torch.maximum(low.abs(), high.abs()), gate.num_units
        levels = gate.breakpoints.expand(-1, units).clamp(low, high)
        values = torch.stack([gate.apply(one[None]).reshape(-1) for one in (low, high, *levels)])
        size = values.abs().amax(dim=0) * (1 + ANY_ORDER)
        self._sizes[stage.position] = size
        noise = 2 * ANY_ORDER * (size + gate.intercepts.abs().amax(dim=0))
        self._ends[stage.position] = _no_wider(values.amin(dim=0) - noise, values.amax(dim=0) + noise, size)

    def seen(self, stage: Stage) -> tuple[Tensor, Tensor]:
        """Return what the units of a gate see.

        Between what their inputs allow; where a unit may change its piece then, by lines, and where it still may, by
        lines whose slopes are chosen by gradient.
        """
        low, high = (one.clone() for one in self._ends[stage.leg.target])
        for steps in sorted({0, self._steps if self.ranges else 0}):
            unit = torch.nonzero(self._may_bend(stage.index, low, high)).flatten()
            for sign, end, better in ((1.0, low, torch.maximum), (-1.0, high, torch.minimum)):
                for some, rows in self.rows_of_units(stage, sign, unit):
                    end[some] = better(end[some], sign * self.best(rows, stage, steps).values)
        return low, high

    def rows_of_units(
        self, stage: Stage, sign: float, unit: Int[Tensor, " k"] | None = None
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield units of a gate, by default all, and rows of them by a sign, so many as are bounded together."""
        units = self.gates[stage.index].num_units
        every = torch.arange(units, device=self.device) if unit is None else unit
        for some in every.split(self._rows_at_once(stage)):
            if len(some):
                yield some, sign * torch.nn.functional.one_hot(some, units).double()

    def best(self, rows: Tensor, stage: Stage, steps: int) -> Bound:
        """Return bounds of what a gate sees, with slopes by so many steps of the gradient."""
        held, position = self.unheld(len(rows)), stage.leg.target
        if not steps or not self.ranges:
            return self.lower_bounds(rows, held, position=position)
        return maximized(self, rows, held, position=position, steps=steps)[0]

    def _rows_at_once(self, stage: Stage) -> int:
        """How many rows of a gate's units are carried back together."""
        numbers = len(self.lower) + sum(gate.num_units for gate in self.gates[: stage.index + 1])
        return max(1, MAX_NUMBERS // numbers)

    def _may_bend(self, gate: int, low: Tensor, high: Tensor) -> Tensor:
        """Return which units of a gate have breakpoints within ranges (..., u)."""
        levels = self.gates[gate].breakpoints.expand(-1, low.shape[-1])
        return torch.stack([(level > low) & (level < high) for level in levels]).any(dim=0)


def _no_wider(low: Tensor, high: Tensor, size: Tensor) -> tuple[Tensor, Tensor]:
    """Return ranges that are no wider than sizes say; these stand where numbers overflow."""
    low, high = torch.where(low.isnan(), -size, low), torch.where(high.isnan(), size, high)
    return torch.maximum(low, -size), torch.minimum(high, size)
