"""All networks that are left when units of one hidden layer are taken away, as one stack."""

import torch

from reluscope.arguments import read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope_studies.stacked.stack import Stack

MAX_UNITS = 20


@read_arguments
def subnetworks(stack: Stack, *, layer: int = 0) -> Stack:
    """Return all 2^u networks with some of the u units of one hidden layer of a network.

    Parameters
    ----------
    stack : Stack
        Of one network.
    layer : int
        Number of the hidden layer, from 0.

    Returns
    -------
    Stack
        Network i has unit j if bit j of i is 1: the first has none, the last all.

    Raises
    ------
    ShapeError
        If the stack has several networks, or there is no such layer.
    InputError
        If the layer has more than 20 units.

    Notes
    -----
    Memory: 2^u copies of the parameters; 14 units with 4 inputs take 6 MB.

    Examples
    --------
    >>> from reluscope_studies.stacked import initialize, losses
    >>> every = subnetworks(initialize((5,), num_inputs=1, seeds=[0]))
    >>> len(every), losses(every, [[0.0], [1.0]], [0.0, 1.0], loss="mse").argmin().item() < 32
    (32, True)
    """
    if len(stack) != 1 or not 0 <= layer < len(stack.kept):
        raise ShapeError(
            f"expected a stack of one network with hidden layer {layer}, got {len(stack)} networks of "
            f"{len(stack.kept)} hidden layers: take one with stack.take([index])"
        )
    units = stack.sizes[layer + 1]
    if units > MAX_UNITS:
        raise InputError(f"expected at most {MAX_UNITS} units, got {units}: there would be 2^{units} networks")
    numbers = torch.arange(2**units, device=stack.device)
    kept = (numbers[:, None] >> torch.arange(units, device=stack.device)) & 1
    return stack.take(torch.zeros_like(numbers)).keep(layer, kept.bool())
