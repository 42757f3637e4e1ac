"""Bodies of boxes as networks: with max gates, negative inside, and with ReLU units alone, zero inside."""

import numpy as np
import torch

from reluscope.networks.building.builder import GraphBuilder

# A box is its lower and its upper corner; a body is a union of boxes.
CUBE = [((0, 0, 0), (1, 1, 1))]
TWO = [((0, 0, 0), (1, 1, 1)), ((2, 0, 0), (3, 2, 1))]
FRAME = [((0, 0, 0), (3, 1, 1)), ((0, 2, 0), (3, 3, 1)), ((0, 0, 0), (1, 3, 1)), ((2, 0, 0), (3, 3, 1))]
# The second ring goes through the first.
OTHER = [
    ((-1, 1.25, -1), (1.75, 1.75, -0.5)),
    ((-1, 1.25, 1.5), (1.75, 1.75, 2)),
    ((-1, 1.25, -1), (-0.5, 1.75, 2)),
    ((1.25, 1.25, -1), (1.75, 1.75, 2)),
]
LINKED = FRAME + OTHER
# Two cubes that share an edge alone: their union is pinched there.
PINCHED = [((0, 0, 0), (1, 1, 1)), ((1, 1, 0), (2, 2, 1))]
# A cube with a cube cut out of its middle, as six slabs.
HOLLOW = [
    ((0, 0, 0), (3, 3, 1)),
    ((0, 0, 2), (3, 3, 3)),
    ((0, 0, 0), (3, 1, 3)),
    ((0, 2, 0), (3, 3, 3)),
    ((0, 0, 0), (1, 3, 3)),
    ((2, 0, 0), (3, 3, 3)),
]

# Body, area, volume, Euler characteristic, components of the surface.
KNOWN = {
    "cube": (CUBE, 6.0, 1.0, 2, 1),
    "two": (TWO, 16.0, 3.0, 4, 2),
    "frame": (FRAME, 32.0, 8.0, 0, 1),
    "linked": (LINKED, 32.0 + 19.0, 8.0 + 2.375, 0, 2),
    "hollow": (HOLLOW, 60.0, 26.0, 4, 2),
}


def by_maxima(boxes):
    """Return the network min over boxes of the max over sides."""
    builder = GraphBuilder()
    x = builder.input((len(boxes[0][0]),))
    dim = len(boxes[0][0])
    rows = np.concatenate([np.concatenate([np.eye(dim), -np.eye(dim)]) for _ in boxes])
    shift = np.concatenate([np.concatenate([-np.array(high, float), np.array(low, float)]) for low, high in boxes])
    sides = builder.linear(x, torch.from_numpy(rows), torch.from_numpy(shift))
    inside = builder.amax(builder.reshape(sides, (len(boxes), 2 * dim)), [1], keepdims=False)
    if len(boxes) == 1:
        return builder.build(inside)
    return builder.build(builder.negate(builder.amax(builder.negate(inside), [0], keepdims=True)))


def by_units(boxes, negated=False):
    """Return the network min over boxes of the l1 distance, by ReLU units: ``min(a, b) = a - relu(a - b)``.

    Negated it is zero in the body, and negative outside.
    """
    builder = GraphBuilder()
    dim = len(boxes[0][0])
    x = builder.input((dim,))
    found = None
    for low, high in boxes:
        rows = torch.from_numpy(np.concatenate([np.eye(dim), -np.eye(dim)]))
        shift = torch.from_numpy(np.concatenate([-np.array(high, float), np.array(low, float)]))
        beyond = builder.relu(builder.linear(x, rows, shift))
        one = builder.sum(beyond, [0], keepdims=True)
        found = one if found is None else builder.subtract(found, builder.relu(builder.subtract(found, one)))
    return builder.build(builder.negate(found) if negated else found)
