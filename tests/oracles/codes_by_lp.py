"""All codes of a tiny ReLU network, by one linear program per prefix of a code: slow, simple, any dimension."""

from typing import Any

import numpy as np
from scipy.optimize import linprog


def codes_by_lp(parameters: Any, *, box: tuple[float, float] | None = None, margin: float = 1e-7) -> list[tuple]:
    """Return the codes whose regions contain a ball of radius ``margin`` (in the box if one is given).

    A prefix of a code without such a ball has no continuation, so prefixes are extended unit by unit.
    """
    first = np.asarray(parameters[0][0], dtype=float)
    dim = first.shape[1]
    found = []
    stack = [((), np.zeros((0, dim)), np.zeros(0))]
    while stack:
        code, normals, offsets = stack.pop()
        row = _next_unit(parameters, code, dim)
        if row is None:
            found.append(code)
            continue
        slope, constant = row
        length = np.linalg.norm(slope)
        if length < 1e-12:
            stack.append(((*code, int(constant > 0)), normals, offsets))
            continue
        for active in (0, 1):
            sign = -1.0 if active else 1.0
            wider = np.vstack([normals, sign * slope / length])
            further = np.append(offsets, -sign * constant / length)
            if radius(wider, further, box) > margin:
                stack.append(((*code, active), wider, further))
    return sorted(found)


def radius(normals: np.ndarray, offsets: np.ndarray, box: tuple[float, float] | None) -> float:
    """Return the radius, at most 1, of the largest ball in {normals x <= offsets}, rows of length 1."""
    dim = normals.shape[1]
    if box is not None:
        normals = np.vstack([normals, np.eye(dim), -np.eye(dim)])
        offsets = np.concatenate([offsets, np.full(dim, box[1]), np.full(dim, -box[0])])
    table = np.hstack([normals, np.ones((len(normals), 1))])
    bounds = [(None, None)] * dim + [(0, 1)]
    answer = linprog(np.append(np.zeros(dim), -1.0), A_ub=table, b_ub=offsets, bounds=bounds, method="highs")
    assert answer.status in (0, 2), answer.message
    return float(answer.x[-1]) if answer.status == 0 else -1.0


def _next_unit(parameters: Any, code: tuple, dim: int) -> tuple[np.ndarray, float] | None:
    weight, bias, used = np.eye(dim), np.zeros(dim), 0
    for matrix, shift in parameters[:-1]:
        matrix, shift = np.asarray(matrix, dtype=float), np.asarray(shift, dtype=float)
        weight, bias = matrix @ weight, matrix @ bias + shift
        if len(code) - used < len(bias):
            return weight[len(code) - used], float(bias[len(code) - used])
        active = np.array(code[used : used + len(bias)], dtype=float)
        weight, bias, used = active[:, None] * weight, active * bias, used + len(bias)
    return None
