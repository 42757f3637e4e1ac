"""How far a change of class is, by dull means: all polygons of an exact partition, or one mixed-integer program."""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from reluscope.geometry.numbers.norms import Norm


def in_the_plane(part, x, label, norm):
    """Return the least distance from x to the part of any polygon in which another class wins; inf if there is none."""
    best = np.inf
    for row in part:
        weight, bias = row.map.weight[0].numpy(), row.map.bias[0].numpy()
        if len(bias) == 1:
            weight, bias = np.concatenate([0 * weight, weight]), np.append(0.0, bias)
        corners = row.vertices - x
        middle = corners.mean(axis=0)
        corners = corners[np.argsort(np.arctan2(*(corners - middle).T))]
        values = (corners + x) @ weight.T + bias
        for other in range(len(bias)):
            lead = values[:, other] - values[:, label]
            if other == label or not (lead.max() > 1e-9 or (other < label and np.abs(lead).max() < 1e-9)):
                continue
            best = min(best, to_polygon(clipped(corners, np.maximum(lead, 0) if lead.max() <= 1e-9 else lead), norm))
    return best


def clipped(corners, lead):
    """Return the part of a convex polygon where a linear function, given at its corners, is not negative."""
    found = []
    for i in range(len(corners)):
        j = (i + 1) % len(corners)
        if lead[i] >= 0:
            found.append(corners[i])
        if (lead[i] >= 0) != (lead[j] >= 0):
            found.append(corners[i] + lead[i] / (lead[i] - lead[j]) * (corners[j] - corners[i]))
    return np.array(found)


def to_polygon(corners, norm):
    """Return the distance from the origin to a convex polygon with ordered corners."""
    nexts = np.roll(corners, -1, axis=0)
    turns = corners[:, 0] * nexts[:, 1] - corners[:, 1] * nexts[:, 0]
    if len(corners) > 2 and ((turns >= 0).all() or (turns <= 0).all()) and np.abs(turns).max() > 1e-14:
        return 0.0
    return min(to_segment(start, end, norm) for start, end in zip(corners, nexts, strict=True))


def to_segment(start, end, norm):
    """Return the distance from the origin to a segment, which is least at an end or where one of these forms is 0."""
    along = end - start
    (a, b), (c, d) = start, along
    pairs = [(a, c), (b, d), (a - b, c - d), (a + b, c + d), (start @ along, along @ along)]
    shares = [0.0, 1.0] + [min(max(-p / q, 0.0), 1.0) for p, q in pairs if q]
    return min(float(Norm(norm).size(start + share * along)) for share in shares)


def by_milp(layers, x, label, norm, box):
    """Return the least l1 or linf distance to where another class is not below, for a ReLU network in a box.

    Variables: steps u with parts p - q or a common length; per layer outputs h >= 0 and binaries z, with the ranges of
    interval arithmetic as big numbers.
    """
    best = np.inf
    num_outputs = len(layers[-1][1])
    for other in set(range(max(2, num_outputs))) - {label}:
        best = min(best, _milp(layers, x, label, other, norm, box))
    return best


def _milp(layers, x, label, other, norm, box):
    dim, widths = len(x), [len(b) for _, b in layers[:-1]]
    lengths = dim if norm == "l1" else 1
    total = dim + lengths + 2 * sum(widths)
    rows, lower, upper = [], [], []

    def add(entries, low, high):
        row = np.zeros(total)
        for place, entry in entries:
            row[place] += entry
        rows.append(row)
        lower.append(low)
        upper.append(high)

    low, high = np.full(total, 0.0), np.full(total, np.inf)
    low[:dim], high[:dim] = box.lo, box.hi
    for k in range(dim):  # |y_k - x_k| <= length
        length = dim + (k if norm == "l1" else 0)
        add([(k, 1.0), (length, -1.0)], -np.inf, x[k])
        add([(k, -1.0), (length, -1.0)], -np.inf, -x[k])
    integrality = np.zeros(total)
    reads, least, most = np.arange(dim), box.lo, box.hi
    place = dim + lengths
    for W, b in layers[:-1]:
        pre_least = np.maximum(W, 0) @ least + np.minimum(W, 0) @ most + b
        pre_most = np.maximum(W, 0) @ most + np.minimum(W, 0) @ least + b
        units = len(b)
        h, z = place + np.arange(units), place + units + np.arange(units)
        high[z], integrality[z] = 1.0, 1
        for i in range(units):
            big, small = max(pre_most[i], 0.0), min(pre_least[i], 0.0)
            form = [(source, -W[i, j]) for j, source in enumerate(reads)]
            add([(h[i], 1.0), *form], b[i], np.inf)  # h >= g
            add([(h[i], 1.0), *form, (z[i], -small)], -np.inf, b[i] - small)  # h <= g - small (1 - z)
            add([(h[i], 1.0), (z[i], -big)], -np.inf, 0.0)  # h <= big z
        reads, least, most, place = h, np.maximum(pre_least, 0), np.maximum(pre_most, 0), place + 2 * units
    W, b = layers[-1]
    if len(b) == 1:
        W, b = np.concatenate([0 * W, W]), np.append(0.0, b)
    add([(source, W[other, j] - W[label, j]) for j, source in enumerate(reads)], b[label] - b[other], np.inf)
    cost = np.zeros(total)
    cost[dim : dim + lengths] = 1.0
    found = milp(
        cost,
        constraints=LinearConstraint(np.array(rows), lower, upper),
        bounds=Bounds(low, high),
        integrality=integrality,
        options={"mip_rel_gap": 1e-9},
    )
    return found.fun if found.status == 0 else np.inf
