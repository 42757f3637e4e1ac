"""Which rows of {x : A x <= b} are facets: rays first, then points on hyperplanes, then linear programs.

A ray from an inner point shows the facet that it hits first. For the other rows a point on their hyperplane is pushed
off the rows that it violates, one after the other (Agmon, "The relaxation method for linear inequalities", Canadian
Journal of Mathematics 6, 1954; Motzkin and Schoenberg, ibid.): where it comes to rest inside all of them, there is a
facet. What is left is asked by linear programs against the facets found, after Clarkson, "More output-sensitive
geometric algorithms" (FOCS 1994): a row is redundant as soon as these imply it; else the point that violates it shows
the way to a new facet. In many dimensions, where a simplex method takes minutes, each is asked against all rows.
"""

import numpy as np
import torch
from jaxtyping import Float

from reluscope.errors import SolverError
from reluscope.geometry.coincidence import coincident_groups
from reluscope.geometry.convex_questions import bodies_of, farther_than
from reluscope.geometry.interior import Ball, row_space, unit_rows
from reluscope.geometry.linear_program import LinearProgram

# A point is pushed this much farther than it needs, and so far inside, in units of the inscribed ball's radius.
OVERSHOOT, INSIDE = 1.5, 0.01
MOST_PUSHES = 500
# Rows whose angle has less than this square of the sine are as good as parallel.
PARALLEL = 1e-6
# Memory for products of rows with rows, in bytes.
PRODUCTS_BYTES = 2**29
# From so many dimensions on an interior-point method over all rows is faster than a simplex method over some.
MANY_DIMENSIONS = 128


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
    known[_reached_on_hyperplanes(normals, depths, np.flatnonzero(~known), slack)] = True
    if dim >= MANY_DIMENSIONS:
        return _asked_of_all(normals, depths, known, slack)
    program = LinearProgram(dim)
    program.add_rows(normals, np.where(known, depths, np.inf))
    dropped = np.zeros(number, dtype=bool)
    for row in range(number):
        while not known[row] and not dropped[row]:
            program.set_row(row, -np.inf, depths[row] + max(1.0, depths[row]))  # keeps the program bounded
            try:
                solution = program.maximize(normals[row])
            except SolverError:  # thrown off by rows that are nearly the same
                known[row] = _is_passed(normals, depths, row, ~dropped, slack[row])
                dropped[row] = not known[row]
                program.set_row(row, -np.inf, depths[row] if known[row] else np.inf)
                break
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


def _asked_of_all(normals: np.ndarray, depths: np.ndarray, known: np.ndarray, slack: np.ndarray) -> list[int]:
    """Return the facets, asking whether each open row can be passed if all rows left but it hold."""
    left = np.ones(len(normals), dtype=bool)
    for row in np.flatnonzero(~known).tolist():
        left[row] = _is_passed(normals, depths, row, left, slack[row])
    return [int(row) for row in np.flatnonzero(left)]


def _is_passed(normals: np.ndarray, depths: np.ndarray, row: int, left: np.ndarray, slack: float) -> bool:
    """Tell whether some point inside all rows that are left but one is beyond that one."""
    # Its own row is moved outwards, so that the program stays bounded.
    offsets = np.where(left, depths, np.inf)
    offsets[row] = depths[row] + max(1.0, depths[row])
    body = bodies_of([(normals, offsets)])
    return farther_than(body, torch.from_numpy(normals[row : row + 1]), float(depths[row] + slack))


def _reached_on_hyperplanes(normals: np.ndarray, depths: np.ndarray, rows: np.ndarray, slack: np.ndarray) -> np.ndarray:
    """Return those of some rows on whose hyperplanes a point was found that is clearly inside all other rows."""
    found = []
    block = max(1, PRODUCTS_BYTES // (8 * len(normals)))
    # All products at once if there is room for them, else those that are asked for.
    products = normals @ normals.T if len(normals) <= block else None
    for first in range(0, len(rows), block):
        found.append(_pushed(normals, depths, rows[first : first + block], slack, products))
    return np.concatenate([np.zeros(0, dtype=np.int64), *found])


def _pushed(
    normals: np.ndarray, depths: np.ndarray, rows: np.ndarray, slack: np.ndarray, products: np.ndarray | None
) -> np.ndarray:
    """Push points off violated rows within the hyperplanes of some rows; return the rows where that comes to an end."""

    def times_all(which: np.ndarray) -> np.ndarray:
        return normals[which] @ normals.T if products is None else products[which]

    found = []
    points, own = depths[rows, None] * normals[rows], times_all(rows)
    beyond = points @ normals.T - depths
    for _ in range(MOST_PUSHES):
        if not len(rows):
            break
        beyond[np.arange(len(rows)), rows] = -np.inf
        worst = beyond.argmax(axis=1)
        violation = beyond[np.arange(len(rows)), worst]
        is_inside = violation < -slack[rows]
        found.append(rows[is_inside][_are_inside(normals, depths, points[is_inside], rows[is_inside], slack)])
        cosine = own[np.arange(len(rows)), worst]
        is_going = ~is_inside & (1 - cosine**2 > PARALLEL)
        rows, points, beyond, own = rows[is_going], points[is_going], beyond[is_going], own[is_going]
        worst, violation, cosine = worst[is_going], violation[is_going], cosine[is_going]
        length = OVERSHOOT * (violation + INSIDE + 2 * slack[rows]) / (1 - cosine**2)
        points -= length[:, None] * (normals[worst] - cosine[:, None] * normals[rows])
        beyond -= length[:, None] * (times_all(worst) - cosine[:, None] * own)
    return np.concatenate([np.zeros(0, dtype=np.int64), *found])


def _are_inside(
    normals: np.ndarray, depths: np.ndarray, points: np.ndarray, rows: np.ndarray, slack: np.ndarray
) -> np.ndarray:
    """Tell which points on hyperplanes are inside all other rows: what was added up on the way is rounded."""
    beyond = points @ normals.T - depths
    beyond[np.arange(len(rows)), rows] = -np.inf
    on = np.abs(np.einsum("ij,ij->i", points, normals[rows]) - depths[rows])
    return beyond.max(axis=1, initial=-np.inf) < -slack[rows] - on


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
