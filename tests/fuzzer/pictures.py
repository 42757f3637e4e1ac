"""Convolutional networks with pooling on pictures of one background, where candidates of a maximum tie everywhere.

Pictures are rows of numbers, as all that the fuzzer draws, and so is what layers give. Equal patches of a picture tie
in truth; in floats they may not, where sums are taken in another order, as at the mirror image of a patch.
"""

import numpy as np
from numpy.random import Generator

from fuzzer.layers import ConvolutionLayer, DenseLayer, GateModule, Layer
from fuzzer.modules import Shape


def draw_pictures(generator: Generator, count: int) -> tuple[np.ndarray, Shape]:
    """Return pictures ``(count, n)`` that differ in few pixels, independent beside each other, and their shape."""
    shape = (1, int(generator.integers(1, 5)), int(generator.integers(4, 7)))
    size, ways = shape[1] * shape[2], count - 1
    while True:
        pictures = np.full((count, size), generator.choice([0.0, 0.0, 1.0, 0.3]))
        if generator.random() < 0.5:  # the middle is the background itself
            pictures[0] += _drawn(generator, size) * (generator.random(size) < 0.3)
        for row in range(1, count):
            place = generator.permutation(size)[: int(generator.integers(1, min(5, size)))]
            pictures[row] = pictures[0]
            pictures[row, place] = _drawn(generator, len(place))
        if generator.random() < 0.5:
            rows = pictures.reshape(count, *shape[1:])
            pictures = (rows + rows[..., ::-1]).reshape(count, -1)
        if np.linalg.matrix_rank(pictures[1:] - pictures[0]) == ways:
            return pictures, shape


def draw_convolutions(generator: Generator, shape: Shape) -> list[Layer]:
    """Return one or two convolutions with pooling behind them, and a dense layer at the end."""
    layers: list[Layer] = []
    for _ in range(int(generator.choice([1, 1, 2]))):
        channels, *sides = shape
        kernel = [min(side, int(generator.choice([1, 2, 3]))) for side in sides]
        weight = _drawn(generator, int(generator.integers(1, 4)) * channels * kernel[0] * kernel[1])
        weight = weight.reshape(-1, channels, *kernel)
        if generator.random() < 0.5:
            weight = weight + weight[..., ::-1]
        bias = _drawn(generator, len(weight)) * int(generator.integers(0, 2))
        convolution = ConvolutionLayer.of(shape, weight, bias, int(generator.choice([1, 1, 1, 2])))
        shape = convolution.shape_after
        window = [min(side, 2) for side in shape[1:]]
        stride = [min(side, int(generator.integers(1, 3))) for side in window]
        padding = [int(side > 1 and generator.random() < 0.2) for side in window]
        order = str(generator.choice(["before", "after", "none"]))
        pool = GateModule("pooling", (shape, tuple(window), tuple(stride), tuple(padding), order))
        is_one = max(window) == 1  # a single candidate is no maximum
        layers += [convolution, GateModule("relu") if is_one else pool]
        shape = shape if is_one else pool.shape_after
    width = shape[0] * shape[1] * shape[2]
    outputs = int(generator.integers(1, 3))
    layers.append(DenseLayer(_drawn(generator, outputs * width).reshape(outputs, width), _drawn(generator, outputs)))
    return layers


def _drawn(generator: Generator, number: int) -> np.ndarray:
    """Return small multiples of a quarter, or numbers of all their bits."""
    if generator.random() < 0.4:
        return generator.integers(-4, 5, number) / 4
    return generator.normal(size=number)
