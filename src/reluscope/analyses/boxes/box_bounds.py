"""Boxes of inputs with affine functions below what is asked of the outputs on each, from one evaluation for all.

There are up to three for each: that of affine forms carried on from the box to the outputs (`BoxForms`); of weights
carried back from the outputs to the box, along lines around each unit on the range that the forms give it
(`BackwardBounds`); and, where nodes are in a row, a constant from the least and largest values of one gate: what is
never negative is not for its lines, either. None is the best one everywhere, and all hold with all rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.analyses.boxes.dense_boxes import DenseBoxes, SeenOnBoxes
from reluscope.analyses.boxes.output_boxes import ROUNDING, OutputBox, half_sides, output_box
from reluscope.networks.bounds.backward_bounds import BackwardBounds, has_small_matrices, is_suited
from reluscope.networks.bounds.dense_layers import dense_layers
from reluscope.networks.bounds.gate_lines import lines_around
from reluscope.networks.bounds.lines_back import WeightsBack
from reluscope.networks.evaluation.underflow import underflow
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.network import Network
from reluscope.networks.passes.box_forms import BoxForms, SeenRange
from reluscope.networks.passes.carry import carry_to_output
from reluscope.networks.passes.carry_back import carry_back
from reluscope.networks.passes.forms import Forms
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.networks.passes.stages import Stage


class Below(NamedTuple):
    """Affine functions ``slopes v + offsets`` below functions of the outputs, on boxes.

    v is the step from the centre of a box; there are w ways to bound each of t functions on each of k boxes.
    """

    slopes: Float[np.ndarray, "w k t n"]
    offsets: Float[np.ndarray, "w k t"]

    def least(self, half: Float[np.ndarray, "k n"]) -> Float[np.ndarray, "k t"]:
        """Return what the functions are at least on boxes of such half sides."""
        return (self.offsets - np.einsum("wktn,kn->wkt", np.abs(self.slopes), half)).max(axis=0)


@dataclass(frozen=True, eq=False)
class BoundedBoxes:
    """Boxes of inputs and what is known of the outputs on each.

    ``center``, ``weights``, ``noise`` and ``errors`` are forms of the outputs in steps from the centres.
    """

    lower: Float[np.ndarray, "k n"]
    upper: Float[np.ndarray, "k n"]
    center: Float[np.ndarray, "k m"]
    weights: Float[np.ndarray, "k m n"]
    noise: Float[np.ndarray, "k m e"]
    errors: Float[np.ndarray, "k m"]
    ranges: list[SeenRange] | None  # what units see, by gate; None for networks with max units
    back: BackwardBounds | None  # None where weights are not carried back
    dense: tuple[DenseBoxes, SeenOnBoxes] | None = None  # where kernels do all this
    lost: float = 0.0  # what underflow of products may change; in ``errors`` too

    def __getitem__(self, place: int) -> OutputBox:
        forms = Forms(self.center[place], self.weights[place], self.noise[place], self.errors[place])
        return OutputBox(self.lower[place], self.upper[place], forms)

    def __len__(self) -> int:
        return len(self.lower)

    @cached_property
    def num_codes(self) -> Float[np.ndarray, " k"]:
        """How many codes regions that meet a box may have, at most; of max units known at single points alone."""
        if self.ranges is None:
            return np.where((self.lower == self.upper).all(axis=1), 1.0, np.inf)
        logarithms = np.zeros(len(self))
        for one in self.ranges:
            logarithms += torch.log2((one.last - one.first + 1).double()).sum(dim=1).cpu().numpy()
        return np.rint(np.exp2(np.minimum(logarithms, 1023.0)))

    @cached_property
    def centers(self) -> Float[np.ndarray, "k n"]:
        """Midpoints."""
        return (self.lower + self.upper) / 2

    @cached_property
    def half(self) -> Float[np.ndarray, "k n"]:
        """Half of every side, rounded up."""
        return half_sides(self.lower, self.upper)

    @torch.no_grad()
    def below(self, rows: Float[np.ndarray, "t m"]) -> Below:
        """Return affine functions below linear functions of the outputs, on each box.

        Cost: a product of the rows with every matrix for each box.
        """
        sizes = np.abs(self.center) + np.einsum("kmn,kn->km", np.abs(self.weights), self.half)
        sizes = sizes + np.abs(self.noise).sum(axis=2)
        rest = np.abs(rows @ self.noise).sum(axis=2) + (self.errors + ROUNDING * sizes) @ np.abs(rows).T
        slopes, offsets = [rows @ self.weights], [self.center @ rows.T - rest]
        if self.dense is not None:
            kernels, seen = self.dense
            own, levels, constants = kernels.below(self.lower, self.upper, seen, rows)
            slopes += [own, np.zeros_like(own)]
            offsets += [levels, constants]
        elif self.back is not None and self.ranges is not None:
            lines = _RowsBack(self.back, self.ranges)
            start = torch.as_tensor(rows, device=self.back.device).expand(len(self.lower), *rows.shape)
            weights = carry_back(self.back.network, lines, start)
            own = np.zeros_like(slopes[0]) if weights is None else weights.cpu().numpy()
            constants, noise = (one.expand(own.shape[:2]).cpu().numpy() for one in (lines.constants, lines.rounding))
            sizes = np.einsum("ktn,kn->kt", np.abs(own), np.abs(self.centers) + self.half) + np.abs(constants)
            slopes.append(own)
            offsets.append(np.einsum("ktn,kn->kt", own, self.centers) + constants - 2 * (noise + ANY_ORDER * sizes))
            if lines.flat is not None:
                slopes.append(np.zeros_like(own))
                offsets.append(lines.flat.cpu().numpy())
        return Below(np.stack(slopes), np.stack(offsets) - self.lost * (1 + np.abs(rows).sum(axis=1)))


class BoxBounds:
    """A network whose outputs are bounded on boxes within one given box.

    With ``onwards`` by forms that are carried on from the box alone, as `reluscope.testing.check_proof` bounds them.
    """

    def __init__(
        self, network: Network, lower: Float[np.ndarray, " n"], upper: Float[np.ndarray, " n"], *, onwards: bool = False
    ) -> None:
        self.network = network
        self._has_max = any(isinstance(stage.gate, Max) for stage in network.stages)
        is_back = not onwards and is_suited(network) and has_small_matrices(network)
        self._back = BackwardBounds(network, lower, upper, steps=0) if is_back else None
        layers = None if self._back is None else dense_layers(network)
        self._dense = None if layers is None or self._back is None else DenseBoxes(layers, self._back)
        self._lost = underflow(network, lower, upper) if self._back is None else self._back.lost

    @torch.no_grad()
    def on(self, lower: Float[np.ndarray, "k n"], upper: Float[np.ndarray, "k n"]) -> BoundedBoxes:
        """Return boxes with bounds of the outputs on each.

        What an evaluation costs besides arithmetic is paid once for all boxes; networks with max units are evaluated
        box by box.
        """
        if self._has_max:
            found = [output_box(self.network, *ends).outputs for ends in zip(lower, upper, strict=True)]
            width = max(one.noise.shape[1] for one in found)
            noise = np.stack([np.pad(one.noise, ((0, 0), (0, width - one.noise.shape[1]))) for one in found])
            center, weights, errors = (
                np.stack([getattr(one, name) for one in found]) for name in ("centers", "weights", "errors")
            )
            errors = errors + self._lost
            return BoundedBoxes(lower, upper, center, weights, noise, errors, None, None, lost=self._lost)
        if self._dense is not None:
            (center, weights, noise, errors), ranges, seen = self._dense.forms(lower, upper)
            forms, kernels = (center, weights, noise, errors + self._lost), (self._dense, seen)
            return BoundedBoxes(lower, upper, *forms, ranges, self._back, kernels, self._lost)
        points = self.network.points((lower + upper) / 2)
        half = torch.as_tensor(half_sides(lower, upper), device=points.device)
        carrier = BoxForms(points, half, ROUNDING)
        value = carry_to_output(self.network, carrier, carrier.start)
        number, dim = lower.shape
        columns = carrier.widened(value.columns).reshape(number, carrier.count, -1).transpose(1, 2).cpu().numpy()
        center, error = (one.reshape(number, -1).cpu().numpy() for one in (value.center, value.error))
        weights, noise = columns[..., :dim], columns[..., dim:]
        error = error + self._lost
        return BoundedBoxes(lower, upper, center, weights, noise, error, carrier.ranges, self._back, lost=self._lost)


class _RowsBack(WeightsBack):
    """Weights (k, t, u) carried back on k boxes, along the lines of each."""

    def __init__(self, bounds: BackwardBounds, ranges: Sequence[SeenRange]) -> None:
        super().__init__(bounds, bounds.lower.new_zeros(()))
        self._ranges = ranges
        self.flat: Tensor | None = None
        self._is_chain = all(list(node.inputs) == [place] for place, node in enumerate(bounds.network.nodes[1:]))

    def gate_back(self, stage: Stage, weights: Tensor) -> Tensor:
        """Return the weights of what a gate sees."""
        gate = stage.gate
        assert isinstance(gate, Pointwise)
        seen, (least, most) = self._ranges[stage.index], self.bounds.ranges[stage.index]
        low, high = torch.maximum(seen.low, least), torch.minimum(seen.high, most)
        # The slope at the middle of the range: of a ReLU that of the line that strays less.
        lines = lines_around(gate, low, high, gate.slope(gate.pieces((low + high) / 2).long()))
        plus, minus = weights.clamp(min=0), weights.clamp(max=0)
        if self._is_chain:
            flat = self._between(gate, low, high, plus, minus)
            self.flat = flat if self.flat is None else torch.maximum(self.flat, flat)
        started = plus @ lines.below_start[..., None] + minus @ lines.above_start[..., None]
        self.constants = self.constants + started[..., 0]
        size = self.bounds.size(stage)
        terms = torch.maximum(lines.below.abs(), lines.above.abs()) * size
        terms = terms + torch.maximum(lines.below_start.abs(), lines.above_start.abs())
        self.rounding = self.rounding + ANY_ORDER * ((plus - minus) @ terms[..., None])[..., 0]
        return plus * lines.below[:, None] + minus * lines.above[:, None]

    def _between(self, gate: Pointwise, low: Tensor, high: Tensor, plus: Tensor, minus: Tensor) -> Tensor:
        """Return a lower bound from what the gate gives at least and at most."""
        places = [low, high, *(level.expand_as(low).clamp(low, high) for level in gate.breakpoints[:, None])]
        values = torch.stack([gate.apply(place).reshape(low.shape) for place in places])
        least, most = values.amin(dim=0), values.amax(dim=0)
        terms = gate.slopes.abs().amax(dim=0) * torch.maximum(low.abs(), high.abs()) + gate.intercepts.abs().amax(dim=0)
        bound = plus @ least[..., None] + minus @ most[..., None]
        noise = self.rounding + 2 * ANY_ORDER * (((plus - minus) @ terms[..., None])[..., 0] + self.constants.abs())
        return self.constants + bound[..., 0] - 2 * noise
