"""Steps that take channels away from layers and leave the function as it is: constant, unused, duplicate, always-on.

Every step changes two layers in place: rows of one and, where what is left has to make up for them, columns of the
next. Where that needs sums, floats round them, and bounds on this go into the errors of the layers. Sizes and pieces
are those of the network as it was: each channel that is left stands for the same number, on all of the domain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import scipy.linalg

from reluscope.analyses.compression.layer_chain import Layer
from reluscope.analyses.compression.rounded_sums import combined, gamma, multiplied, summed_errors, upwards

# Relative to the largest sum of entries: sums of rows that may be multiples of one another.
MULTIPLES = 1e-10
Reason = Literal["dead", "constant", "unused", "duplicate", "dependent", "always on"]

# Rows are taken for dependent if what is left of one, against its size, is of the order of rounding.
MAX_RESIDUAL = 2.0**-36
# Coefficients of dependences are tried as fractions over this, so that those of dyadic networks are found exactly.
DENOMINATOR = 2.0**20


@dataclass(frozen=True)
class Removal:
    """A removed channel: a unit of a dense layer, or a channel of a convolution.

    Parameters
    ----------
    gate : str
        Name of its gate.
    channel : int
        Its number in the original network.
    reason : {"dead", "constant", "unused", "duplicate", "dependent", "always on"}
    explanation : str
        Reason why the function does not change, in words.
    """

    gate: str
    channel: int
    reason: Reason
    explanation: str


Pieces = tuple[np.ndarray, np.ndarray]


def remove_constant(layer: Layer, following: Layer, pieces: Pieces) -> list[Removal]:
    """Remove channels that are constant: on a piece of slope 0, or without weights.

    Both layers are changed in place. ``pieces`` are the least and the largest piece of every channel.
    """
    gate = layer.gate
    assert gate is not None
    found: dict[int, tuple[Fraction, Reason, str]] = {}
    for channel in range(layer.num_channels):
        low, high = int(pieces[0][channel]), int(pieces[1][channel])
        own = layer.weight[channel].any() or layer.weight_error[channel].any() or layer.bias_error[channel]
        if not own:
            value = Fraction(float(layer.bias[channel]))
            piece = sum(Fraction(float(level)) < value for level in gate.breakpoints[:, channel])
            value = Fraction(gate.slopes[piece, channel]) * value + Fraction(gate.intercepts[piece, channel])
            found[channel] = value, "constant", "all weights into it are 0"
        elif low == high and gate.slopes[low, channel] == 0.0:
            value = Fraction(gate.intercepts[low, channel])
            if value or low:
                found[channel] = value, "constant", f"its gate is at the level {float(value):g} on all of the domain"
            else:
                found[channel] = value, "dead", "never above 0 on the domain"
    # A constant in front of a border of zeros is no constant to a convolution.
    if following.kernel is not None and any(following.kernel.padding):
        found = {channel: entry for channel, entry in found.items() if not entry[0]}
    if len(found) == layer.num_channels:
        found.pop(min(found))
    channels = np.array(sorted(found), dtype=np.int64)
    removals = [Removal(gate.name, int(layer.origin[c]), *found[c][1:]) for c in channels.tolist()]
    values = [found[channel][0] for channel in channels.tolist()]
    constants = [(value, channel) for value, channel in zip(values, channels.tolist(), strict=True) if value]
    for value, channel in constants:
        columns = following.weight[:, channel]
        terms = [columns[:, place] for place in range(columns.shape[1])]
        following.bias, error = combined(following.bias, [value] * len(terms), terms)
        following.bias_error = summed_errors(
            following.bias_error + error + upwards(abs(value)) * following.weight_error[:, channel].sum(1)
        )
    _drop(layer, following, channels)
    return removals


def remove_unused(layer: Layer, following: Layer) -> list[Removal]:
    """Remove channels whose weights into the next layer are all 0."""
    assert layer.gate is not None
    used = following.weight.any(axis=(0, 2)) | following.weight_error.any(axis=(0, 2))
    channels = np.flatnonzero(~used)
    if len(channels) == layer.num_channels:
        channels = channels[1:]
    removals = [Removal(layer.gate.name, int(layer.origin[c]), "unused", "nothing after it reads it") for c in channels]
    _drop(layer, following, channels)
    return removals


def merge_duplicates(layer: Layer, following: Layer) -> list[Removal]:
    """Merge channels whose weights and bias are those of another one times a positive number."""
    gate = layer.gate
    assert gate is not None
    removals, dropped = [], []
    for group in _alike(layer):
        first, others = group[0], []
        for channel in group[1:]:
            factor = _factor(layer, first, channel)
            if factor is not None and gate.same_function(first, channel) and (factor == 1 or gate.has_identity):
                others.append((channel, factor))
        if not others:
            continue
        factors = [factor for _, factor in others]
        terms = [following.weight[:, channel] for channel, _ in others]
        merged, error = combined(following.weight[:, first], factors, terms)
        sizes = layer.row_error
        for channel, factor in others:
            upper = upwards(factor)
            apart = gate.steepest * (sizes[channel] + upper * sizes[first])
            error = error + upper * following.weight_error[:, channel]
            if apart:
                weights = (np.abs(following.weight[:, channel]) + following.weight_error[:, channel]).sum(axis=1)
                read = weights > 0  # what nothing reads may be off by any number
                following.bias_error[read] = summed_errors(following.bias_error[read] + apart * weights[read])
            times = "" if factor == 1 else f" times {float(factor):g}"
            removals.append(
                Removal(gate.name, int(layer.origin[channel]), "duplicate", f"channel {layer.origin[first]}{times}")
            )
            dropped.append(channel)
        following.weight[:, first] = merged
        following.weight_error[:, first] = summed_errors(following.weight_error[:, first] + error)
    _drop(layer, following, np.array(sorted(dropped), dtype=np.int64))
    return removals


def fold(layer: Layer, following: Layer, pieces: Pieces) -> list[Removal] | None:
    """Multiply a dense layer whose units each keep one piece into the next; None if that is no smaller.

    If there are any removals, the layer is to be left out: ``following`` reads what it read.
    """
    gate = layer.gate
    low, high = pieces
    if gate is None or not (layer.is_dense and following.is_dense) or (low != high).any():
        return None
    outputs, units, inputs = following.num_channels, layer.num_channels, layer.weight[0].size
    if outputs * (inputs + 1) > units * (inputs + 1 + outputs):
        return None
    columns = np.arange(units)
    slopes, intercepts = gate.slopes[low, columns], gate.intercepts[low, columns]
    joined = np.concatenate([layer.weight.reshape(units, -1), layer.bias[:, None]], axis=1)
    scaled, first_error = multiplied(np.diag(slopes), joined)
    if intercepts.any():
        scaled[:, -1], more = combined(scaled[:, -1], [Fraction(1)], [intercepts])
        first_error[:, -1] += more
    own = np.concatenate([layer.weight_error.reshape(units, -1), layer.bias_error[:, None]], axis=1)
    first_error = first_error + np.abs(slopes)[:, None] * own
    after, after_error = following.weight[:, :, 0], following.weight_error[:, :, 0]
    product, error = multiplied(after, scaled)
    error = error + np.abs(after) @ first_error + after_error @ (np.abs(scaled) + first_error)
    bias, bias_error = combined(following.bias, [Fraction(1)], [product[:, -1]])
    following.bias, following.bias_error = bias, summed_errors(following.bias_error + bias_error + error[:, -1])
    following.weight = product[:, :-1].reshape(outputs, *layer.weight.shape[1:])
    following.weight_error = summed_errors(error[:, :-1].reshape(following.weight.shape))
    following.input_sizes = layer.input_sizes
    told = "every unit of its gate keeps one piece: the layer is affine, and multiplied into the next one"
    reasons: list[Reason] = [
        "always on" if slope else "constant" if level or piece else "dead"
        for slope, level, piece in zip(slopes, intercepts, low, strict=True)
    ]
    return [Removal(gate.name, int(unit), why, told) for unit, why in zip(layer.origin, reasons, strict=True)]


def merge_always_on(layer: Layer, following: Layer, pieces: Pieces) -> list[Removal]:
    """Replace dense units that keep one piece by as many as the next layer has, or remove those that others replace.

    Together they add ``V (S z + t)`` to the next layer: one unit ``(V S z)_o``, lifted above 0, does for each of its
    rows. If that are no fewer, units whose ``z`` are combinations of others' go.
    """
    gate = layer.gate
    assert gate is not None
    low, high = pieces
    always = np.flatnonzero((low == high) & (gate.slopes[low, np.arange(len(low))] != 0.0))
    if not (layer.is_dense and following.is_dense) or len(always) < 2 or not np.isfinite(layer.input_sizes).all():
        return []
    if gate.has_identity and len(always) > following.num_channels:
        return _merged(layer, following, always, low[always])
    return _dependent(layer, following, always, low[always])


def _merged(layer: Layer, following: Layer, always: np.ndarray, piece: np.ndarray) -> list[Removal]:
    gate = layer.gate
    assert gate is not None
    outputs, places = following.num_channels, layer.weight.shape[1:]
    rows = np.concatenate([layer.weight[always].reshape(len(always), -1), layer.bias[always, None]], axis=1)
    rows_error = np.concatenate(
        [layer.weight_error[always].reshape(len(always), -1), layer.bias_error[always, None]], axis=1
    )
    slopes = gate.slopes[piece, always]
    after, after_error = following.weight[:, always, 0], following.weight_error[:, always, 0]
    scaled, scaled_error = multiplied(after, np.diag(slopes))
    scaled_error = scaled_error + after_error * np.abs(slopes)
    product, error = multiplied(scaled, rows)
    error = error + np.abs(scaled) @ rows_error + scaled_error @ (np.abs(rows) + rows_error)
    # The new units have to stay above 0: they are lifted by a power of 2, which is taken off again after the gate.
    sizes = np.append(np.repeat(layer.input_sizes, places[1]), 1.0)
    reach = (np.abs(product) + error) @ sizes * (1 + 2.0**-20)
    lift = np.where(reach > 0, 2.0 ** np.ceil(np.log2(np.where(reach > 0, reach, 1.0))), 0.0)
    bias, bias_error = combined(product[:, -1], [Fraction(1)], [lift])
    lowered, lowered_error = combined(following.bias, [Fraction(-1)], [lift])
    removals = [
        Removal(
            gate.name,
            int(layer.origin[unit]),
            "always on",
            f"always on one piece: {len(always)} such units became {outputs}, one for every row of the next layer",
        )
        for unit in always
    ]
    kept = np.setdiff1d(np.arange(layer.num_channels), always)
    _drop(layer, following, always)
    layer.weight = np.concatenate([layer.weight, product[:, :-1].reshape(outputs, *places)])
    layer.weight_error = np.concatenate([layer.weight_error, summed_errors(error[:, :-1]).reshape(outputs, *places)])
    layer.bias = np.concatenate([layer.bias, bias])
    layer.bias_error = np.concatenate([layer.bias_error, summed_errors(error[:, -1] + bias_error)])
    layer.origin = np.concatenate([layer.origin, np.full(outputs, -1)])
    layer.gate = gate.at(np.concatenate([kept, np.full(outputs, always[0])]))
    following.weight = np.concatenate([following.weight, np.eye(outputs)[:, :, None]], axis=1)
    following.weight_error = np.concatenate([following.weight_error, np.zeros((outputs, outputs, 1))], axis=1)
    following.bias, following.bias_error = lowered, summed_errors(following.bias_error + lowered_error)
    following.input_sizes = np.concatenate([following.input_sizes, reach + lift])
    return removals


def _dependent(layer: Layer, following: Layer, always: np.ndarray, piece: np.ndarray) -> list[Removal]:
    gate = layer.gate
    assert gate is not None
    rows = layer.weight[always].reshape(len(always), -1)
    scale = np.abs(rows).max(axis=1)
    scale[scale == 0] = 1.0
    found = scipy.linalg.qr((rows / scale[:, None]).T, mode="r", pivoting=True)
    triangle, order = np.asarray(found[0]), np.asarray(found[1])  # pyright: ignore[reportGeneralTypeIssues]
    sizes = np.abs(np.diagonal(triangle))
    rank = int((sizes > MAX_RESIDUAL * sizes.max(initial=1.0)).sum())
    basis, others = np.sort(order[:rank]), np.sort(order[rank:])
    removals, dropped = [], []
    magnitudes = np.repeat(layer.input_sizes, layer.weight.shape[2])
    for other in others.tolist():
        factors, rest = _combination(rows[basis], rows[other])
        if (rest > MAX_RESIDUAL * scale[other]).any():
            continue
        channels, channel = always[basis], int(always[other])
        slope, level = (float(table[piece[other], channel]) for table in (gate.slopes, gate.intercepts))
        # h = s z + t of every unit: h_other = sum of (s_other / s_i) a_i (h_i - t_i) + s_other c + t_other.
        bases = [
            (Fraction(float(gate.slopes[piece[one], c])), Fraction(float(gate.intercepts[piece[one], c])))
            for one, c in zip(basis.tolist(), channels.tolist(), strict=True)
        ]
        shares = [Fraction(slope) / s * a for a, (s, _) in zip(factors, bases, strict=True)]
        constant = Fraction(float(layer.bias[channel]))
        constant -= sum(
            (a * Fraction(float(layer.bias[c])) for a, c in zip(factors, channels, strict=True)), Fraction()
        )
        total = Fraction(slope) * constant + Fraction(level)
        total -= sum((share * t for share, (_, t) in zip(shares, bases, strict=True)), Fraction())
        column, column_error = following.weight[:, channel], following.weight_error[:, channel]
        apart = abs(slope) * float(rest @ magnitudes + layer.row_error[channel])
        for share, factor, c in zip(shares, factors, channels.tolist(), strict=True):
            if not share:
                continue
            merged, error = combined(following.weight[:, c], [share], [column])
            following.weight[:, c] = merged
            following.weight_error[:, c] = summed_errors(
                following.weight_error[:, c] + error + abs(float(share)) * column_error
            )
            apart += abs(slope) * abs(float(factor)) * layer.row_error[c]
        bias, error = combined(following.bias, [total], [column[:, 0]])
        more = apart * (np.abs(column) + column_error).sum(axis=1) + abs(float(total)) * column_error.sum(axis=1)
        following.bias, following.bias_error = bias, summed_errors(following.bias_error + error + more)
        named = ", ".join(str(layer.origin[c]) for c, share in zip(channels, shares, strict=True) if share)
        removals.append(
            Removal(gate.name, int(layer.origin[channel]), "dependent", f"always on, a combination of {named}")
        )
        dropped.append(channel)
    _drop(layer, following, np.array(sorted(dropped), dtype=np.int64))
    return removals


def _combination(rows: np.ndarray, row: np.ndarray) -> tuple[list[Fraction], np.ndarray]:
    """Return the factors of the combination of rows that is nearest to one, and a bound on what is left, by entry."""
    solution = np.linalg.lstsq(rows.T, row, rcond=None)[0]
    snapped = np.round(solution * DENOMINATOR) / DENOMINATOR
    if np.array_equal(snapped @ rows, row):
        factors = [Fraction(entry) for entry in snapped.tolist()]
        left, error = combined(row, [-factor for factor in factors], list(rows))
        if not left.any() and not error.any():
            return factors, np.zeros(len(row))
    rest = np.abs(row - solution @ rows) + gamma(len(rows) + 1) * (np.abs(solution) @ np.abs(rows) + np.abs(row))
    return [Fraction(entry) for entry in solution.tolist()], rest


def _alike(layer: Layer) -> list[list[int]]:
    """Return groups of channels that may be multiples of one another, by their rows scaled to 1."""
    gate = layer.gate
    assert gate is not None
    rows = np.concatenate([layer.weight.reshape(layer.num_channels, -1), layer.bias[:, None]], axis=1)
    scale = np.abs(rows).max(axis=1) if gate.has_identity else np.ones(len(rows))
    scale[scale == 0] = 1.0
    table = rows / scale[:, None]
    # Sums of fixed random weights bring multiples together; fractions decide.
    keys = table @ np.random.default_rng(0).normal(size=table.shape[1])
    order = np.argsort(keys, kind="stable")
    near = np.diff(keys[order]) <= MULTIPLES * (1 + np.abs(table).sum(axis=1).max(initial=0.0))
    groups, current = [], [int(order[0])]
    for channel, joins in zip(order[1:].tolist(), near.tolist(), strict=True):
        if joins:
            current.append(channel)
        else:
            groups.append(sorted(current))
            current = [channel]
    groups.append(sorted(current))
    return [group for group in groups if len(group) > 1]


def _factor(layer: Layer, first: int, second: int) -> Fraction | None:
    """Return the positive number by which the second channel is the first, exactly; None if there is none."""
    one = np.append(layer.weight[first].reshape(-1), layer.bias[first])
    two = np.append(layer.weight[second].reshape(-1), layer.bias[second])
    if np.array_equal(one, two):
        return Fraction(1)
    if ((one == 0) != (two == 0)).any():
        return None
    pivot = int(np.abs(one).argmax())
    factor = Fraction(two[pivot]) / Fraction(one[pivot])
    if factor <= 0 or any(Fraction(b) != factor * Fraction(a) for a, b in zip(one.tolist(), two.tolist(), strict=True)):
        return None
    return factor


def _drop(layer: Layer, following: Layer, channels: Sequence[int] | np.ndarray) -> None:
    layer.drop(np.asarray(channels, dtype=np.int64))
    following.drop_inputs(np.asarray(channels, dtype=np.int64))
