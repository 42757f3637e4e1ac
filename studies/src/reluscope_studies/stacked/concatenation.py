"""Networks of several stacks as one stack: narrower ones are padded by units without weights."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch.nn.functional import pad

from reluscope.arguments import read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope_studies.stacked.stack import Stack


@read_arguments
def concatenate(stacks: Sequence[Stack]) -> Stack:
    """Return the networks of several stacks as one.

    Parameters
    ----------
    stacks : sequence of Stack
        Of one depth, leak and precision, with as many inputs and outputs as each other.

    Returns
    -------
    Stack
        In the order given.

    Raises
    ------
    InputError, ShapeError
        If there are none, or they do not go together.

    Examples
    --------
    >>> from reluscope_studies.stacked import initialize
    >>> narrow, wide = (initialize((units,), num_inputs=4, seeds=[0]) for units in (2, 5))
    >>> both = concatenate([narrow, wide])
    >>> both.sizes, [len(both.layers(index)[0][1]) for index in range(2)]
    ((4, 5, 1), [2, 5])
    """
    if not stacks:
        raise InputError("expected at least one stack, got none")
    forms = {(len(one.kept), one.sizes[0], one.sizes[-1], one.leak, one.dtype, one.device) for one in stacks}
    if len(forms) > 1:
        raise ShapeError(
            f"expected stacks of one depth, leak, precision and device, with the same inputs and outputs, got {forms}"
        )
    widest = [max(sizes) for sizes in zip(*(one.sizes for one in stacks), strict=True)]
    weights, biases, kept = [], [], []
    for layer, (reads, units) in enumerate(pairwise(widest)):
        parts = [(one.weights[layer], one.biases[layer]) for one in stacks]
        weights.append(
            torch.cat([pad(weight, (0, reads - weight.shape[2], 0, units - weight.shape[1])) for weight, _ in parts])
        )
        biases.append(torch.cat([pad(bias, (0, units - bias.shape[1])) for _, bias in parts]))
        if layer < len(stacks[0].kept):
            kept.append(torch.cat([pad(one.kept[layer], (0, units - one.kept[layer].shape[1])) for one in stacks]))
    return Stack(tuple(weights), tuple(biases), tuple(kept), stacks[0].leak)
