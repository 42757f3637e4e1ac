"""The networks of the paper: convolutional layers as in VGG16 below dense heads, and a dense autoencoder.

Weights after Glorot and Bengio (uniform), biases zero, no dropout. Gates have names that readers of tables see.
"""

from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise
from math import prod

import torch
from torch import nn

from reluscope_studies.first_weights import glorot

# Filters and number of convolutions of each block; a block ends in a pooling.
VGG16 = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
ENCODER = (128, 64, 32)


def classifier(
    shape: Sequence[int], blocks: Sequence[tuple[int, int]], head: Sequence[int], num_classes: int, *, seed: int
) -> nn.Sequential:
    """Return an untrained classifier: blocks of 3 x 3 convolutions, a dense head, logits.

    Parameters
    ----------
    shape : (channels, height, width)
        Of an image.
    blocks : sequence of (filters, convolutions)
        Each block ends in a maximum over 2 x 2 pixels, over fewer at the border of an odd image.
    head : sequence of int
        Units of the dense hidden layers; their gates are called fc0, fc1 and so on.
    num_classes : int
    seed : int
        Of the first weights.
    """
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    channels = shape[0]
    with torch.random.fork_rng(devices=[]):  # layers draw first weights that are thrown away
        for block, (filters, convolutions) in enumerate(blocks, start=1):
            for number in range(1, convolutions + 1):
                layers[f"filters{block}_{number}"] = nn.Conv2d(channels, filters, 3, padding=1)
                layers[f"conv{block}_{number}"] = nn.ReLU()
                channels = filters
            layers[f"pool{block}"] = nn.MaxPool2d(2, ceil_mode=True)
        layers["flatten"] = nn.Flatten()
        with torch.no_grad():
            size = nn.Sequential(layers)(torch.zeros(1, *shape)).shape[1]
        for number, (reads, units) in enumerate(pairwise((size, *head))):
            layers[f"dense{number}"] = nn.Linear(reads, units)
            layers[f"fc{number}"] = nn.ReLU()
        layers["logits"] = nn.Linear((size, *head)[-1], num_classes)
    return glorot(nn.Sequential(layers), seed=seed)


def autoencoder(shape: Sequence[int], *, seed: int) -> nn.Sequential:
    """Return an untrained autoencoder of 128, 64 and 32 units and back, up to the logits of the pixels."""
    size = prod(shape)
    widths = (size, *ENCODER, *ENCODER[-2::-1], size)
    names = [f"encoder{number}" for number in (1, 2, 3)] + [f"decoder{number}" for number in (1, 2)]
    layers: OrderedDict[str, nn.Module] = OrderedDict(flatten=nn.Flatten())
    with torch.random.fork_rng(devices=[]):
        for number, (reads, units) in enumerate(pairwise(widths)):
            layers[f"dense{number}"] = nn.Linear(reads, units)
            if number < len(names):
                layers[names[number]] = nn.ReLU()
    return glorot(nn.Sequential(layers), seed=seed)
