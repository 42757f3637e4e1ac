"""Rounding as it is found to be, for gates of deep networks where bounds that are proved say nothing.

A proved bound adds up what every rounding may do at worst, and grows about tenfold with each gate of a ResNet; what
rounding truly does hardly grows. It is measured at a few points, as the difference between float64 and numbers of a
hundred bits (`reluscope.networks.passes.wide_numbers`), in units of what a sum of the size of a pre-activation
rounds. Many times the largest of these differences then bounds errors elsewhere: no proof, and whatever rests on it is
an ESTIMATE.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.network_graph import NetworkGraph
from reluscope.networks.passes.stages import Stage, Values
from reluscope.networks.passes.wide_numbers import Wide, WideNumbers
from reluscope.tolerance import Tolerance

# Bounds are this many times what was found.
SAFETY = 16.0
# Proofs suffice where for most units the bound is at most this part of what the unit varies by: that is the resolution.
ENOUGH = 1e-11
# Points at which rounding is measured.
SAMPLES = 2


@dataclass(frozen=True)
class MeasuredRounding:
    """Measured sizes of rounding errors in the gates of a network.

    ``growth`` has the largest error found per gate, relative to what one sum of the size of a pre-activation may round.
    """

    growth: tuple[float, ...]
    largest: float  # largest error found in any gate
    proved: float  # largest bound that is proved

    def errors(self, gate: int, size: np.ndarray, unit: float) -> np.ndarray:
        """Return expected bounds (u,) or (u, k) on the errors of a gate's pre-activations, not proved ones.

        ``size`` bounds each pre-activation by the absolute values of all terms of its sum.
        """
        return max(1.0, SAFETY * self.growth[gate]) * unit * size

    def __str__(self) -> str:
        return f"errors of {self.largest:.1g} found, up to {self.proved:.2g} proved"

    def work(self, first: int) -> dict[str, float]:
        """Return what is to be told of it, used from a gate on."""
        return {"gates_proved": first, "rounding_measured": self.largest, "rounding_proved": self.proved}


def said_of(work: Mapping[str, float]) -> str:
    """Return what the work on a partition says of measured rounding, empty if there was none."""
    if "gates_proved" not in work:
        return ""
    first = int(work["gates_proved"])
    which = f"proved for the first {f'{first} gates' if first > 1 else 'gate'}, measured for the others"
    found, proved = work["rounding_measured"], work["rounding_proved"]
    return f"rounding {which if first else 'measured'} (errors of {found:.1g} found, up to {proved:.2g} proved)"


@torch.no_grad()
def measured_rounding(network: NetworkGraph, x: Tensor, tolerance: Tolerance) -> MeasuredRounding | None:
    """Measure rounding, if proved bounds do not suffice for all gates; else return None.

    Points show how large values are; rounding is measured at the last two of them. A forward pass of all points, and
    some 25 of the last two.
    """
    proved, suffices = _proved(network, x, tolerance.unit)
    if suffices:
        return None
    x = x[-SAMPLES:]
    wide, values = carry(network, WideNumbers(), Wide.exactly(x)), network.start(x)
    growth, largest = [], 0.0
    for stage in network.stages:
        sizes = _sizes(stage, values)
        size, _, _ = stage.advance_errors(sizes, {at: 0 * values[at][:1] for at in values}, tolerance.unit)
        own = tolerance.unit * size
        pre, values = stage.advance(values)
        exact = next(wide)
        # Padding is minus infinity in both.
        away = torch.where(pre.isfinite(), ((pre - exact.high) - exact.low).abs(), 0.0).amax(0).cpu().numpy()
        growth.append(float(np.divide(away, own, out=np.zeros_like(away), where=own > 0).max(initial=0.0)))
        largest = max(largest, float(away.max(initial=0.0)))
        values = stage.close(values, pre)
    return MeasuredRounding(tuple(growth), largest, proved)


def _proved(network: NetworkGraph, x: Tensor, unit: float) -> tuple[float, bool]:
    """Return the largest bound that is proved, and whether bounds suffice for all gates."""
    values = network.start(x)
    errors = {position: torch.zeros_like(value[:1]) for position, value in values.items()}
    largest, suffices = 0.0, True
    for stage in network.stages:
        size, error, errors = stage.advance_errors(_sizes(stage, values), errors, unit)
        pre, values = stage.advance(values)
        extent = (pre.amax(0) - pre.amin(0)).nan_to_num(0.0, posinf=0.0, neginf=0.0).cpu().numpy()
        varies = extent > 0
        suffices &= not varies.any() or float(np.median(error[varies] / extent[varies])) <= ENOUGH
        largest = max(largest, float(error.max(initial=0.0)))
        errors[stage.position] = stage.pass_errors(size, error, stage.gate.pieces(pre).cpu().numpy(), unit)
        values = stage.close(values, pre)
    return largest, suffices


def _sizes(stage: Stage, values: Values) -> Values:
    return {position: values[position].abs().amax(0, keepdim=True) for position in stage.reads}
