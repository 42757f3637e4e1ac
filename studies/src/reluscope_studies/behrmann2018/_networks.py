"""The paper's classifiers whose singular values it shows (Tables 2 to 4), and how they are trained (appendix A4).

WideCIFAR and ThinCIFAR have six convolutions with 3 x 3 kernels, the second and the last with stride 2, a dense layer
and the logits; the dense network has two hidden layers. Each layer but the last is followed by ReLU. The paper names
no padding; here a convolution keeps the size of the image but for its stride.
"""

from collections import OrderedDict
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import nn

from reluscope_studies.classifiers import Training
from reluscope_studies.first_weights import glorot


@dataclass(frozen=True)
class Architecture:
    """A classifier of images.

    Parameters
    ----------
    name : str
    convolutions : tuple of (filters, stride)
    hidden : tuple of int
        Units of the dense hidden layers.
    """

    name: str
    convolutions: tuple[tuple[int, int], ...]
    hidden: tuple[int, ...]

    def build(self, shape: tuple[int, ...], num_classes: int, seed: int) -> nn.Sequential:
        """Return the untrained network: weights after Glorot and Bengio (uniform), biases zero, as in Keras."""
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        number = 0
        with torch.random.fork_rng(devices=[]):  # layers draw first weights that are thrown away
            for (reads, _), (filters, stride) in pairwise(((shape[0], 1), *self.convolutions)):
                number += 1
                layers[f"conv{number}"] = nn.Conv2d(reads, filters, 3, stride, padding=1)
                layers[f"relu{number}"] = nn.ReLU()
            layers["flatten"] = nn.Flatten()
            size = nn.Sequential(layers)(torch.zeros(1, *shape)).shape[1]
            for reads, units in pairwise((size, *self.hidden)):
                number += 1
                layers[f"dense{number}"] = nn.Linear(reads, units)
                layers[f"relu{number}"] = nn.ReLU()
            layers["logits"] = nn.Linear((size, *self.hidden)[-1], num_classes)
            model = nn.Sequential(layers)
        return glorot(model, seed=seed)


@dataclass(frozen=True)
class Plan:
    """Which network is trained, and how."""

    architecture: Architecture
    training: Training


WIDE = Architecture("WideCIFAR", ((32, 1), (64, 2), (64, 1), (32, 1), (32, 1), (64, 2)), (512,))
THIN = Architecture("ThinCIFAR", ((32, 1), (32, 2), (16, 1), (16, 1), (16, 1), (32, 2)), (512,))
DENSE = Architecture("784-3500-784-10", (), (3500, 784))
# The same shapes for images of 8 x 8, with an eighth of the filters and of the units.
SMALL_WIDE = Architecture("wide", ((4, 1), (8, 2), (8, 1), (4, 1), (4, 1), (8, 2)), (64,))
SMALL_THIN = Architecture("thin", ((4, 1), (4, 2), (2, 1), (2, 1), (2, 1), (4, 2)), (64,))
SMALL_DENSE = Architecture("dense", (), (286, 64))


KERAS = Training("RMSprop", 1e-4, 100, 32)
MLP = Training("Adam", 1e-3, 25, 1000)
