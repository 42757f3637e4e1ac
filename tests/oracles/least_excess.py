"""By how much the outputs of a ReLU network on a box stay outside of a polyhedron, by one big-M program of HiGHS."""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp


def least_excess(layers, lower, upper, A, b):
    """Return the least, over the box, of the largest entry of ``A y - b``; up to about 1e-6.

    Units are ``h >= 0, h >= g, h <= g + M (1 - z), h <= M z`` with one M of interval arithmetic for all.
    """
    widths = [len(bias) for _, bias in layers[:-1]]
    first = np.cumsum([len(lower), *(2 * width for width in widths)])
    total = int(first[-1]) + 1
    low, high, is_whole = np.zeros(total), np.full(total, np.inf), np.zeros(total)
    low[: len(lower)], high[: len(lower)] = lower, upper
    low[-1] = -np.inf
    reach, rows, ends = np.maximum(np.abs(lower), np.abs(upper)), [], []
    reads = np.arange(len(lower))
    for (weight, bias), begin, width in zip(layers[:-1], first, widths, strict=False):
        reach = np.abs(weight) @ reach + np.abs(bias)
        big = float(reach.max()) + 1
        h, z = begin + np.arange(width), begin + width + np.arange(width)
        high[z], is_whole[z] = 1, 1
        for unit in range(width):
            for at_h, at_g, at_z, end in (
                (-1, 1, 0, -bias[unit]),  # g <= h
                (1, -1, big, bias[unit] + big),
                (1, 0, -big, 0.0),
            ):
                row = np.zeros(total)
                row[reads] = at_g * weight[unit]
                row[h[unit]], row[z[unit]] = at_h, at_z
                rows.append(row)
                ends.append(end)
        reads = h
    weight, bias = layers[-1]
    for factors, end in zip(A, b, strict=True):
        row = np.zeros(total)
        row[reads], row[-1] = factors @ weight, -1
        rows.append(row)
        ends.append(end - factors @ bias)
    cost = np.zeros(total)
    cost[-1] = 1
    found = milp(
        cost,
        constraints=LinearConstraint(np.array(rows), -np.inf, ends),
        bounds=Bounds(low, high),
        integrality=is_whole,
        options={"mip_rel_gap": 1e-9},
    )
    assert found.status == 0
    return float(found.fun)
