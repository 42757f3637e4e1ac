"""What pruning keeps: accuracy over the weights that are left, step by step."""

from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from reluscope.analyses.classification.classes import accuracy
from reluscope.arguments import NonNegative, read_arguments, read_array, read_labels
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding
from reluscope.networks.load import load
from reluscope.networks.points import Points


@dataclass(frozen=True, eq=False)
class PruningStep:
    """A pruned network.

    Parameters
    ----------
    module : nn.Module
        In evaluation mode; masks of pruned weights are where these are not zero.
    num_weights : int
        Weights of dense layers and convolutions that are not zero, biases aside.
    channels : tuple of int
        Output channels of the convolutions, first to last.
    accuracy : Finding
        On the test samples: see `reluscope.classification.accuracy`.
    """

    module: nn.Module
    num_weights: int
    channels: tuple[int, ...]
    accuracy: Finding


@dataclass(frozen=True, eq=False)
class PruningCurve:
    """A network and what is left of it after more and more pruning.

    Parameters
    ----------
    steps : tuple of PruningStep
        The network itself first.
    method : str
    """

    steps: tuple[PruningStep, ...]
    method: str

    def __repr__(self) -> str:
        return f"PruningCurve({len(self.steps)} steps down to {min(self.shares):.3g} of the weights, {self.method})"

    @property
    def shares(self) -> tuple[float, ...]:
        """Weights that are left, by those of the network itself."""
        return tuple(step.num_weights / self.steps[0].num_weights for step in self.steps)

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
            UPPER: other pruning may do with fewer; an ESTIMATE where rounding could change a class.
        """
        if not 0 <= drop <= 1:
            raise InputError(f"expected a drop from 0 to 1, got {drop}")
        needed = float(self.steps[0].accuracy) - drop
        share, step = min(
            (share, index) for index, share in enumerate(self.shares) if float(self.steps[index].accuracy) >= needed
        )
        is_exact = all(one.accuracy.claim is Claim.EXACT for one in (self.steps[0], self.steps[step]))
        fields = {
            "name": "fewest weights",
            "is_share": True,
            "definition": "least share of the weights with an accuracy at most "
            f"{100 * drop:g} points below all weights",
            "domain": "the test samples",
            "method": self.method,
            "source": "sattelberg2026",
        }
        return Finding.of(share, 0.0, share, **fields) if is_exact else Finding.estimate(share, **fields)


def as_tensor(values: Points) -> Tensor:
    """Return values as a tensor; arrays are copied, as those of data sets are read-only."""
    if isinstance(values, Tensor):
        return values
    read_array(values, "points")  # raises; the precision stays what it is
    return torch.tensor(np.asarray(values))


def step_of(module: nn.Module, test_x: Points, test_labels: Points) -> PruningStep:
    """Measure a network, which is kept as it is."""
    device = next(module.parameters()).device
    layers = [one for one in module.modules() if isinstance(one, nn.Conv2d | nn.Linear)]
    points = as_tensor(test_x)
    network = load(deepcopy(module).cpu().eval(), tuple(points.shape[1:])).to(device)
    found = accuracy(network, points, read_labels(test_labels, num_samples=len(points)))
    return PruningStep(
        module,
        sum(int((one.weight != 0).sum()) for one in layers),
        tuple(one.out_channels for one in layers if isinstance(one, nn.Conv2d)),
        replace(found, source="sattelberg2026"),
    )
