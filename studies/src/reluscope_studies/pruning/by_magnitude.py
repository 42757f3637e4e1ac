"""Pruning by magnitude: the smallest weights are set to zero, and the others fine-tuned."""

from collections.abc import Callable, Sequence
from copy import deepcopy

from torch import nn
from torch.nn.utils import prune

from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.extending.analyses import Points, Progress, share_done
from reluscope_studies.pruning.pruning_curve import PruningCurve, measured_module, pruning_curve


@read_arguments
def prune_by_magnitude(
    module: nn.Module,
    amounts: Sequence[float],
    *,
    fine_tune: Callable[[nn.Module], object],
    test_x: Points,
    test_labels: Points,
    progress: Progress = False,
) -> PruningCurve:
    """Take the smallest weights away from a classifier, more and more of them, and measure what is left.

    Parameters
    ----------
    module : nn.Module
        It stays as it is.
    amounts : sequence of float
        Which shares of the weights go, each in (0, 1).
    fine_tune : callable
        Trains a module in place, for an epoch, say; weights that went stay zero.
    test_x : (s, *input_shape)
        Samples on which accuracies are measured.
    test_labels : (s,) int
    progress : bool or callable
        Show the share that is done, or a function that is told it, from 0 to 1.

    Returns
    -------
    PruningCurve
        The network itself as step 0, then one step per amount, each pruned from the network itself.

    Raises
    ------
    InputError
        If an amount is no such share, or the module has no dense layers or convolutions.

    Notes
    -----
    Magnitudes of all dense layers and convolutions are compared with each other; biases stay.

    References
    ----------
    .. [sattelberg2026] Section 3.4.5.

    Examples
    --------
    >>> import torch
    >>> module = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> curve = prune_by_magnitude(module, [0.5, 0.75], fine_tune=lambda module: None, test_x=torch.eye(2),
    ...                            test_labels=[0, 1])
    >>> curve.findings["num_weights"].value
    array([32., 16.,  8.])
    """
    if any(not 0 < amount < 1 for amount in amounts):
        raise InputError(f"expected shares of the weights above 0 and below 1, got {list(amounts)}")
    if not _weights(module):
        raise InputError("expected a module with Linear or Conv2d layers, got none")
    steps = [measured_module(deepcopy(module).eval(), test_x, test_labels)]
    with share_done("pruning", progress) as report_progress:
        for index, amount in enumerate(amounts):
            smaller = deepcopy(module)
            pruned = _weights(smaller)
            prune.global_unstructured(pruned, prune.L1Unstructured, amount=float(amount))
            fine_tune(smaller)
            for layer, name in pruned:
                prune.remove(layer, name)
            steps.append(measured_module(smaller.eval(), test_x, test_labels))
            report_progress((index + 1) / len(amounts))
    return pruning_curve(steps, test_x, "smallest weights removed")


def _weights(module: nn.Module) -> list[tuple[nn.Module, str]]:
    return [(layer, "weight") for layer in module.modules() if isinstance(layer, nn.Conv2d | nn.Linear)]
