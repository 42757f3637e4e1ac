"""Small networks with known parameters, and changes of them that leave their function as it is."""

from itertools import pairwise

import numpy as np

import reluscope as rs


def parameters(sizes, seed):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(wide, narrow)), rng.normal(size=wide)) for narrow, wide in pairwise(sizes)]


def xor(width, seed=0):
    """Return a network that solves XOR on (+-1, +-1): of two units in closed form, or of many."""
    if width == 2:  # 1 - s, s + 1, -1 with s = x1 + x2: three regions
        return [(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([2.0, 0.0])), (np.array([[1.0, -2.0]]), np.array([-1.0]))]
    # Random features whose last layer is fitted to the product of the inputs on a grid.
    rng = np.random.default_rng(seed)
    weight, bias = rng.normal(size=(width, 2)), rng.normal(size=width)
    points = grid(21)
    hidden = np.concatenate([np.maximum(points @ weight.T + bias, 0.0), np.ones((len(points), 1))], axis=1)
    last = np.linalg.lstsq(hidden, -points.prod(axis=1), rcond=1e-6)[0]
    return [(weight, bias), (last[None, :-1], last[-1:])]


def grid(number):
    """Return the uniform grid of so many by so many points of [-1, 1]^2."""
    axis = np.linspace(-1.0, 1.0, number)
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


def permuted(layers, seed=0):
    """Put the units of every hidden layer in another order."""
    rng, layers = np.random.default_rng(seed), [(W.copy(), b.copy()) for W, b in layers]
    for place in range(len(layers) - 1):
        (W, b), (V, c) = layers[place], layers[place + 1]
        order = rng.permutation(len(b))
        layers[place], layers[place + 1] = (W[order], b[order]), (V[:, order], c)
    return layers


def rescaled(layers, seed=0):
    """Move positive factors (powers of two, so that nothing is rounded) from before every unit to after it."""
    rng, layers = np.random.default_rng(seed), [(W.copy(), b.copy()) for W, b in layers]
    for place in range(len(layers) - 1):
        (W, b), (V, c) = layers[place], layers[place + 1]
        factors = 2.0 ** rng.integers(-2, 3, size=len(b))
        layers[place], layers[place + 1] = (W * factors[:, None], b * factors), (V / factors, c)
    return layers


def scaled(layers, factor=4.0):
    """Multiply all outputs."""
    W, b = layers[-1]
    return [*layers[:-1], (factor * W, factor * b)]


def translated(layers, constant=3.0):
    """Add a constant to all outputs."""
    W, b = layers[-1]
    return [*layers[:-1], (W, b + constant)]


def load(layers):
    return rs.load(layers)
