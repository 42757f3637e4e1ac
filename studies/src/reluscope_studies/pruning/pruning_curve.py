"""Accuracy over the weights that pruning leaves, step by step."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from reluscope import Finding, Findings, load
from reluscope.arguments import NonNegative, read_arguments, read_array, read_labels
from reluscope.errors import InputError
from reluscope.extending.analyses import ACCURACY, Column, Kind, Points, accuracy, declare

NUM_WEIGHTS = declare(
    "num_weights", "weights of dense layers and convolutions that are not zero, without biases", kind=Kind.COUNT
)
SHARE_OF_WEIGHTS = declare(
    "share_of_weights",
    "weights of dense layers and convolutions that are not zero, by those of the network before pruning",
    kind=Kind.SHARE,
)


@dataclass(frozen=True, eq=False)
class PruningCurve:
    """A network at successive steps of pruning: the modules and their measurements.

    Parameters
    ----------
    modules : tuple of nn.Module
        First the network itself; in evaluation mode. Masks of pruned weights are where these are not zero.
    findings : Findings
        A row for each module, with the key ``step``: ``num_weights``, ``share_of_weights`` and ``accuracy`` on the
        test samples (see `reluscope.classification.accuracy`). Details: ``channels``, (k, convolutions) output
        channels of the convolutions, first to last.
    """

    modules: tuple[nn.Module, ...]
    findings: Findings

    def __len__(self) -> int:
        return len(self.modules)

    def __repr__(self) -> str:
        shares = self.findings[SHARE_OF_WEIGHTS]
        return f"PruningCurve({len(self)} steps down to {shares.value.min():.3g} of the weights, {shares.method})"

    @read_arguments
    def fewest_weights(self, drop: NonNegative = 0.01) -> Finding:
        """Return the least share of the weights whose accuracy is within a drop of the network's.

        Parameters
        ----------
        drop : float
            0.01 is one percentage point.

        Returns
        -------
        Finding
            UPPER: fewer may suffice with other pruning. An ESTIMATE where rounding could change a class.
        """
        if not 0 <= drop <= 1:
            raise InputError(f"expected a drop from 0 to 1, got {drop}")
        shares, accuracies = self.findings[SHARE_OF_WEIGHTS], self.findings[ACCURACY]
        enough = np.flatnonzero(accuracies.value >= accuracies.value[0] - drop)
        step = int(enough[shares.value[enough].argmin()])
        share = float(shares.value[step])
        fields = {
            "name": "fewest weights",
            "is_share": True,
            "definition": "least share of the weights with an accuracy at most "
            f"{100 * drop:g} points below all weights",
            "domain": "the test samples",
            "method": shares.method,
            "source": "sattelberg2026",
        }
        if accuracies.is_exact[[0, step]].all():
            return Finding.of(share, 0.0, share, **fields)
        return Finding.estimate(share, **fields)


class MeasuredModule(NamedTuple):
    """A module, and what was measured of it."""

    module: nn.Module
    num_weights: int
    channels: tuple[int, ...]
    accuracy: Finding


def pruning_curve(steps: Sequence[MeasuredModule], test_x: Points, method: str) -> PruningCurve:
    """Return the curve of modules that were measured, the network itself first."""
    weights = np.array([step.num_weights for step in steps])
    findings = Findings.of(
        Column.of(NUM_WEIGHTS, weights, method=method),
        Column.of(SHARE_OF_WEIGHTS, weights / weights[0], method=method),
        Column.of_findings(ACCURACY, [step.accuracy for step in steps]),
        keys={"step": np.arange(len(steps))},
        domain=f"{len(test_x):,} samples",
        num_samples=len(test_x),
        details={"channels": np.array([step.channels for step in steps], dtype=np.int64)},
    )
    return PruningCurve(tuple(step.module for step in steps), findings)


def as_tensor(values: Points) -> Tensor:
    """Return values as a tensor; arrays are copied, as those of data sets are read-only."""
    if isinstance(values, Tensor):
        return values
    read_array(values, "points")  # raises; the precision stays what it is
    return torch.tensor(np.asarray(values))


def measured_module(module: nn.Module, test_x: Points, test_labels: Points) -> MeasuredModule:
    """Measure a module, which is kept as it is."""
    device = next(module.parameters()).device
    layers = [one for one in module.modules() if isinstance(one, nn.Conv2d | nn.Linear)]
    points = as_tensor(test_x)
    network = load(deepcopy(module).cpu().eval(), tuple(points.shape[1:])).to(device)
    return MeasuredModule(
        module,
        sum(int((one.weight != 0).sum()) for one in layers),
        tuple(one.out_channels for one in layers if isinstance(one, nn.Conv2d)),
        accuracy(network, points, read_labels(test_labels, num_samples=len(points))),
    )
