"""Which rows of {x : A x <= b} are facets: rays from an inner point first, then programs against facets found.

After Clarkson, "More output-sensitive geometric algorithms" (FOCS 1994): a row is redundant as soon as the facets
found so far imply it; else the point that violates it shows the way to a new facet.
"""

import numpy as np
from jaxtyping import Float

from reluscope.geometry.coincidence import coincident_groups
from reluscope.geometry.interior import Ball, row_space, unit_rows
from reluscope.geometry.linear_program import LinearProgram


def facet_groups(
    A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"], ball: Ball, tolerance: float
) -> tuple[np.ndarray, ...]:
    """Return the irredundant rows, rows of the same hyperplane together.

    Parameters
    ----------
    A, b : arrays
        Half-spaces.
    ball : Ball
        A ball inside, of positive radius.
    tolerance : float
        Rows are compared in coordinates in which the ball is the unit ball: rows closer than this are one, and a row
        is redundant if the others let nothing beyond it by more than this, each relative to its distance.

    Returns
    -------
    tuple of index arrays
        In order of first rows.
    """
    normals, offsets, kept = unit_rows(A, b)
    scale = ball.radius if np.isfinite(ball.radius) else 1.0
    depths = (offsets - normals @ ball.center) / scale
    if 0 < len(normals) < normals.shape[1]:
        normals = normals @ row_space(normals).T
    # Depths are at least 1; their logarithms differ by their relative difference.
    table = np.column_stack([normals, np.log(np.maximum(depths, 1.0))])
    groups = coincident_groups(table, tolerance)
    first = np.array([group[0] for group in groups], dtype=int)
    found = _irredundant(normals[first], depths[first], tolerance) if len(first) else []
    return tuple(sorted((kept[groups[index]] for index in found), key=lambda rows: int(rows[0])))


def _irredundant(normals: np.ndarray, depths: np.ndarray, tolerance: float) -> list[int]:
    """Return the facets among rows of length 1, no two equal, around the unit ball."""
    number, dim = normals.shape
    generator = np.random.default_rng(0)
    known = np.zeros(number, dtype=bool)
    known[_hit_along_normals(normals, depths)] = True
    slack = tolerance * np.maximum(1.0, depths)
    program = LinearProgram(dim)
    program.add_rows(normals, np.where(known, depths, np.inf))
    dropped = np.zeros(number, dtype=bool)
    for row in range(number):
        while not known[row] and not dropped[row]:
            program.set_row(row, -np.inf, depths[row] + max(1.0, depths[row]))  # keeps the program bounded
            solution = program.maximize(normals[row])
            program.set_row(row, -np.inf, np.inf)
            if solution.value <= depths[row] + slack[row]:
                dropped[row] = True
                break
            new = _first_hit(normals, depths, solution.point, ~known & ~dropped, generator)
            if new is None:  # too close to call from here: ask about this row itself, against everything
                new = row if _is_facet(normals, depths, row, ~dropped, slack[row]) else None
            if new is None:
                dropped[row] = True
            else:
                known[new] = True
                program.set_row(new, -np.inf, depths[new])
    return [int(row) for row in np.flatnonzero(known)]


def _hit_along_normals(normals: np.ndarray, depths: np.ndarray) -> np.ndarray:
    """Return rows that a ray from the centre along some row's normal hits strictly before any other."""
    hit = []
    for start in range(0, len(normals), 256):
        speed = normals[start : start + 256] @ normals.T
        with np.errstate(divide="ignore"):
            time = np.where(speed > 1e-12, depths / speed, np.inf)
        first = time.argmin(axis=1)
        rays = np.arange(len(time))
        earliest = time[rays, first].copy()
        time[rays, first] = np.inf
        hit.append(first[time.min(axis=1) > earliest * (1 + 1e-6)])
    return np.unique(np.concatenate(hit))


def _first_hit(
    normals: np.ndarray, depths: np.ndarray, target: np.ndarray, open_rows: np.ndarray, generator: np.random.Generator
) -> int | None:
    """Return the row that a ray from inside the unit ball to the target crosses first, if it is clear and still open.

    The start is random: then two rows are crossed at once with probability zero.
    """
    for _ in range(8):
        direction = generator.normal(size=len(target))
        start = 0.5 * generator.uniform() * direction / np.linalg.norm(direction)
        speed = normals @ (target - start)
        with np.errstate(divide="ignore", invalid="ignore"):
            time = np.where(speed > 0, (depths - normals @ start) / speed, np.inf)
        first = int(time.argmin())
        earliest, time[first] = time[first], np.inf
        if open_rows[first] and time.min() > earliest * (1 + 1e-9):
            return first
    return None


def _is_facet(normals: np.ndarray, depths: np.ndarray, row: int, alive: np.ndarray, slack: float) -> bool:
    upper = np.where(alive, depths, np.inf)
    upper[row] = depths[row] + max(1.0, depths[row])
    program = LinearProgram(normals.shape[1])
    program.add_rows(normals, upper)
    return program.maximize(normals[row]).value > depths[row] + slack
