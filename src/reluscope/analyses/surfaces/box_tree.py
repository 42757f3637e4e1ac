"""A tree of boxes around many small things, so that a question looks at few of them.

The tree is complete and binary: a level halves every group at the middle of its widest side, and a leaf is one thing.
All questions go down together, level by level, with the boxes that they still have to look into.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.geometry.numbers.resolutions import UNIT_ROUNDOFF

Keep = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class BoxTree:
    """A tree with the boxes of things, and of groups of them."""

    def __init__(self, low: Float[np.ndarray, "k d"], high: Float[np.ndarray, "k d"]) -> None:
        number, dim = low.shape
        depth = max(0, number - 1).bit_length()
        order = np.full(2**depth, -1)
        order[:number] = np.arange(number)
        middle = np.concatenate([(low + high) / 2, np.full((1, dim), np.inf)])
        for level in range(depth):
            groups = order.reshape(2**level, -1)
            points = middle[groups]
            is_there = (groups >= 0)[..., None]
            widths = np.where(is_there, points, -np.inf).max(1) - np.where(is_there, points, np.inf).min(1)
            keys = np.take_along_axis(points, widths.argmax(axis=1)[:, None, None], axis=2)[..., 0]
            order = np.take_along_axis(groups, keys.argsort(axis=1, kind="stable"), axis=1).reshape(-1)
        self._things = order
        # Boxes of nothing are never looked into: they end before they begin.
        none = np.full((1, dim), np.inf)
        lows, highs = [np.concatenate([low, none])[order]], [np.concatenate([high, -none])[order]]
        for _ in range(depth):
            lows.append(lows[-1].reshape(-1, 2, dim).min(axis=1))
            highs.append(highs[-1].reshape(-1, 2, dim).max(axis=1))
        self._levels = list(zip(lows[::-1], highs[::-1], strict=True))

    def pairs(self, number: int, keep: Keep) -> tuple[Int[np.ndarray, " c"], Int[np.ndarray, " c"]]:
        """Return which question has to look at which thing.

        ``keep`` takes questions (c,) and boxes (c, d), (c, d) to which have to be looked into (c,). A question that
        looks into a box must also look into any larger box that holds it.
        """
        rows, nodes = np.arange(number), np.zeros(number, dtype=np.int64)
        for level, (low, high) in enumerate(self._levels):
            if level:
                rows, nodes = np.repeat(rows, 2), (2 * nodes[:, None] + [0, 1]).reshape(-1)
            there = low[nodes, 0] <= high[nodes, 0]
            rows, nodes = rows[there], nodes[there]
            kept = keep(rows, low[nodes], high[nodes])
            rows, nodes = rows[kept], nodes[kept]
        return rows, self._things[nodes]


def gaps(
    points: Float[np.ndarray, "c d"], low: Float[np.ndarray, "c d"], high: Float[np.ndarray, "c d"]
) -> Float[np.ndarray, " c"]:
    """Return how far points are from boxes, 0 inside."""
    return np.linalg.norm(np.maximum(0.0, np.maximum(low - points, points - high)), axis=1)


def at_most(distances: Float[np.ndarray, " c"], most: Float[np.ndarray, " c"]) -> Bool[np.ndarray, " c"]:
    """Return which distances may be at most others, whatever rounding made of both."""
    return distances <= most * (1 + 64 * UNIT_ROUNDOFF)
