"""Rows ``A z <= b`` of one gate for a batch of points: where each unit would leave its piece.

A pointwise unit on piece j leaves it at the breakpoints on either side; a max unit leaves candidate a for candidate b
where ``z_b - z_a`` turns positive; a unit among the k largest leaves them where one that is not overtakes it. Rows that
do not exist (no breakpoint on that side, padding) are masked: a gate gives one rectangular table for all points.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Integer

from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.points import steps

# Bytes of derivatives that are looked at together.
TOGETHER = 2**24


class Rows(NamedTuple):
    """Half-spaces of s points, r possible ones each.

    ``slack`` is how far the point is from leaving, in units of the pre-activation, computed by the forward pass.
    """

    normals: Float[np.ndarray, "s r n"]
    offsets: Float[np.ndarray, "s r"]
    sources: Integer[np.ndarray, "s r 3"]
    exists: Bool[np.ndarray, "s r"]
    slack: Float[np.ndarray, "s r"]
    noise: Float[np.ndarray, "s r"]  # bound on the rounding error of ``slack``
    constant_below: Float[np.ndarray, "s r"]  # same bound for a normal's entries


def largest_entries(table: np.ndarray, axis: int) -> np.ndarray:
    """Return the largest absolute values along an axis, without a table of absolute values."""
    return np.maximum(table.max(axis=axis, initial=0.0), -table.min(axis=axis, initial=0.0))


def gate_rows(
    gate: Pointwise | Max,
    index: int,
    *,
    pieces: Integer[np.ndarray, "s u"],
    pre: np.ndarray,
    maps: tuple[np.ndarray, np.ndarray],
    noise: np.ndarray,
    map_noise: np.ndarray,
) -> Rows:
    """Return the rows of one gate in unit order.

    ``pre`` are pre-activations at the points, ``maps`` their affine functions on the points' regions, ``noise`` and
    ``map_noise`` rounding bounds of each, shaped like ``pre``.
    """
    own = _copied(maps[0]), maps[1]
    return rows_of_own(gate, index, pieces=pieces, pre=pre, maps=own, noise=noise, map_noise=map_noise)


def _copied(table: np.ndarray) -> np.ndarray:
    """Return a copy, row after row, of a table (s, u, ...) of which there may be a gigabyte column after column."""
    found = np.empty(table.shape)
    for units in steps(table.shape[1], found[:, :1].nbytes, TOGETHER):
        found[:, units] = table[:, units]
    return found


def rows_of_own(
    gate: Pointwise | Max,
    index: int,
    *,
    pieces: Integer[np.ndarray, "s u"],
    pre: np.ndarray,
    maps: tuple[np.ndarray, np.ndarray],
    noise: np.ndarray,
    map_noise: np.ndarray,
) -> Rows:
    """Return `gate_rows` whose normals are made in place of the weights of ``maps``: there may be gigabytes of them."""
    if isinstance(gate, Max):
        return _max_rows(gate, index, pieces, pre, maps, noise, map_noise)
    if isinstance(gate, TopK):
        return _top_rows(gate, index, pieces, pre, maps, noise, map_noise)
    return _pointwise_rows(gate, index, pieces, pre, maps, noise, map_noise)


def _pointwise_rows(
    gate: Pointwise,
    index: int,
    pieces: np.ndarray,
    pre: np.ndarray,
    maps: tuple[np.ndarray, np.ndarray],
    noise: np.ndarray,
    map_noise: np.ndarray,
) -> Rows:
    weight, bias = maps
    number, units = pieces.shape
    breakpoints = np.broadcast_to(gate.breakpoints.cpu().numpy(), (len(gate.breakpoints), units))
    last = len(breakpoints)
    unit = np.arange(units)
    if last == 1:  # one row per unit, below or above its only breakpoint
        sides = [(np.where(pieces > 0, -1.0, 1.0), np.zeros_like(pieces, dtype=int), np.ones_like(pieces, dtype=bool))]
    else:
        sides = [
            (np.full(pieces.shape, -1.0), np.maximum(pieces.astype(int) - 1, 0), pieces > 0),
            (np.full(pieces.shape, 1.0), np.minimum(pieces.astype(int), last - 1), pieces < last),
        ]
    tables = []
    for sign, which, exists in sides:
        threshold = breakpoints[which, unit]
        exists = exists & np.isfinite(threshold)  # units of one gate may differ in their number of breakpoints
        threshold = np.where(exists, threshold, 0.0)
        # Breakpoints may coincide: the piece beyond is the next one that is not empty.
        below = (breakpoints[:, None] < threshold).sum(axis=0)
        up_to = (breakpoints[:, None] <= threshold).sum(axis=0)
        beyond = np.where(sign < 0, below, up_to)
        source = np.stack([np.full(pieces.shape, index), np.broadcast_to(unit, pieces.shape), beyond], axis=-1)
        tables.append(
            (
                np.multiply(sign[..., None], weight, out=weight if last == 1 else None),
                sign * (threshold - bias),
                source,
                exists,
                sign * (threshold - pre),
                noise + np.finfo(float).eps * np.abs(threshold),
                map_noise,
            )
        )
    return Rows(*(_interleave(parts, number) for parts in zip(*tables, strict=True)))


def _max_rows(
    gate: Max,
    index: int,
    pieces: np.ndarray,
    pre: np.ndarray,
    maps: tuple[np.ndarray, np.ndarray],
    noise: np.ndarray,
    map_noise: np.ndarray,
) -> Rows:
    weight, bias = maps
    number, units = pieces.shape
    candidates = gate.index.cpu().numpy()
    chosen = pieces.astype(int)[..., None]
    real = np.broadcast_to(candidates >= 0, pre.shape)
    bias, pre = np.where(real, bias, 0.0), np.where(real, pre, 0.0)
    order = np.broadcast_to(np.arange(candidates.shape[1]), pre.shape)
    own_bias, own_pre = (np.take_along_axis(table, chosen, axis=-1) for table in (bias, pre))
    source = np.stack(
        [np.full(pre.shape, index), np.broadcast_to(np.arange(units)[:, None], pre.shape), order], axis=-1
    )
    tables = (
        _beside_chosen(weight, chosen, candidates >= 0),
        own_bias - bias,
        source,
        real & (order != chosen),
        own_pre - pre,
        noise + np.take_along_axis(noise, chosen, axis=-1),
        map_noise + np.take_along_axis(map_noise, chosen, axis=-1),
    )
    return Rows(*(table.reshape(number, -1, *table.shape[3:]) for table in tables))


def _beside_chosen(weight: np.ndarray, chosen: np.ndarray, real: np.ndarray) -> np.ndarray:
    """Make of derivatives ``(s, u, k, c)`` of candidates those minus the chosen one's, some units at a time."""
    number, units, *sizes = weight.shape
    for some in steps(units, 8 * number * math.prod(sizes), TOGETHER):
        weight[:, some] -= np.take_along_axis(weight[:, some], chosen[:, some, :, None], axis=2)
    weight[:, ~real] = 0.0
    return weight


def _top_rows(
    gate: TopK,
    index: int,
    pieces: np.ndarray,
    pre: np.ndarray,
    maps: tuple[np.ndarray, np.ndarray],
    noise: np.ndarray,
    map_noise: np.ndarray,
) -> Rows:
    """Return a row for each of the k largest and each unit that may take its place, the last number of its source."""
    weight, bias = maps
    chosen, other = (part.numpy() for part in gate.pairs(torch.from_numpy(pieces.astype(np.int64))))
    point = np.arange(len(pieces))[:, None]
    normals = np.empty((*chosen.shape, weight.shape[-1]))
    for some in steps(chosen.shape[1], normals[:, :1].nbytes, TOGETHER):
        np.subtract(weight[point, other[:, some]], weight[point, chosen[:, some]], out=normals[:, some])
    return Rows(
        normals=normals,
        offsets=bias[point, chosen] - bias[point, other],
        sources=np.stack([np.full(chosen.shape, index), chosen, other], axis=-1),
        exists=np.ones(chosen.shape, dtype=bool),
        slack=pre[point, chosen] - pre[point, other],
        noise=noise[point, chosen] + noise[point, other],
        constant_below=map_noise[point, chosen] + map_noise[point, other],
    )


def _interleave(parts: tuple[np.ndarray, ...], number: int) -> np.ndarray:
    """Put the rows of one unit next to each other."""
    if len(parts) == 1:
        return parts[0]
    table = np.stack(parts, axis=2)
    return table.reshape(number, -1, *table.shape[3:])
