"""Which rows of {x : A x <= b} are facets: rays first, then points on hyperplanes, then linear programs.

A ray from an inner point shows the facet that it hits first. For the other rows a point on their hyperplane is pushed
off the rows that it violates, one after the other (Agmon, "The relaxation method for linear inequalities", Canadian
Journal of Mathematics 6, 1954; Motzkin and Schoenberg, ibid.): where it comes to rest inside all of them, there is a
facet. What is left is asked by linear programs against the facets found, after Clarkson, "More output-sensitive
geometric algorithms" (FOCS 1994): a row is redundant as soon as these imply it; else the point that violates it shows
the way to a new facet. In many dimensions, where a simplex method takes minutes, all are asked against all rows,
together (`passable_rows`), and one by one what that leaves open.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from reluscope.errors import SolverError
from reluscope.geometry.numbers.axis_rows import read_bounds
from reluscope.geometry.numbers.coincidence import coincident_groups
from reluscope.geometry.numbers.row_scales import unit_rows
from reluscope.geometry.polyhedra.interior import Ball, row_space
from reluscope.geometry.programs.convex_questions import point_beyond
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.geometry.programs.half_spaces import HalfSpaces
from reluscope.geometry.programs.linear_program import LinearProgram
from reluscope.geometry.programs.passable_rows import passable_rows
from reluscope.interruption import step_point

# Of rays and rows of length 1: slower rays run along a row.
ALONG = 1e-12
# Relative to the time of the first crossing: when the second has to come, so that the first is clear.
LATER = 1e-9
# A point is pushed this much farther than it needs, and so far inside, in units of the inscribed ball's radius.
OVERSHOOT, INSIDE = 1.5, 0.01
MAX_PUSHES = 300
# Rows whose angle has less than this square of the sine are as good as parallel.
PARALLEL = 1e-6
# Memory for products of rows with rows, in bytes.
PRODUCTS_BYTES, AT_ONCE = 2**29, 256
# From this many dimensions on an interior-point method over all rows is faster than a simplex method over some.
MANY_DIMENSIONS = 128
# From this many open rows on it is worth asking about all of them together first.
MANY_ROWS = 8


class FoundFacets(NamedTuple):
    """The facets of {x : A x <= b}, in the order of their first rows."""

    groups: tuple[np.ndarray, ...]  # the rows of each facet's hyperplane
    points: Float[np.ndarray, "f n"]  # on each hyperplane, strictly inside all other rows


def find_facets(A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"], ball: Ball, tolerance: float) -> FoundFacets:
    """Return the irredundant rows, grouped by hyperplane, and a point inside each facet.

    In coordinates in which the ball is the unit ball, rows closer than the tolerance are one, and a row is redundant if
    the others let nothing beyond it by more, each relative to its distance.
    """
    normals, offsets, kept = unit_rows(A, b)
    scale = ball.radius if np.isfinite(ball.radius) else 1.0
    depths = (offsets - normals @ ball.center) / scale
    space = row_space(normals) if 0 < len(normals) < normals.shape[1] else None
    if space is not None:
        normals = normals @ space.T
    # Depths are at least 1; their logarithms differ by their relative difference.
    table = np.column_stack([normals, np.log(np.maximum(depths, 1.0))])
    groups = coincident_groups(table, tolerance)
    first = np.array([group[0] for group in groups], dtype=int)
    points = _irredundant(normals[first], depths[first], tolerance)
    found = np.flatnonzero(~np.isnan(points[:, 0]))
    order = found[np.argsort([kept[groups[index][0]] for index in found])]
    inside = points[order] if space is None else points[order] @ space
    return FoundFacets(tuple(kept[groups[index]] for index in order), ball.center + scale * inside)


def facet_point(
    A: Float[np.ndarray, "h n"], b: Float[np.ndarray, " h"], row: int, inside: Float[np.ndarray, " n"], tolerance: float
) -> Float[np.ndarray, " n"] | None:
    """Return a point of one row's hyperplane strictly inside all other rows, None if the row is redundant.

    No other row may lie on that hyperplane. The tolerance is that of `find_facets` with the largest ball around
    ``inside``. Takes at most one linear program.
    """
    normals, offsets, kept = unit_rows(A, b)
    depths = offsets - normals @ inside
    scale = float(depths.min())
    depths = depths / scale
    which = int(np.searchsorted(kept, row))
    slack = tolerance * np.maximum(1.0, depths)
    _, reached = _reached_on_hyperplanes(normals, depths, np.array([which]), slack)
    if len(reached):
        return inside + scale * reached[0]
    space = row_space(normals) if len(normals) < normals.shape[1] else None
    if space is not None:
        normals = normals @ space.T
    ask = _passed if normals.shape[1] >= MANY_DIMENSIONS else _passed_by_simplex
    found = ask(normals, depths, which, np.ones(len(normals), dtype=bool), slack[which])
    if found is None:
        return None
    return inside + scale * (found if space is None else found @ space)


def _irredundant(normals: np.ndarray, depths: np.ndarray, tolerance: float) -> Float[np.ndarray, "h n"]:
    """Return a point inside every facet among rows of length 1, no two equal, around the unit ball; NaN for others."""
    number, dim = normals.shape
    points = np.full((number, dim), np.nan)
    if not number:
        return points
    slack = tolerance * np.maximum(1.0, depths)
    hit, where = _hit_along_normals(normals, depths)
    points[hit] = where
    reached, where = _reached_on_hyperplanes(normals, depths, _unknown(points), slack)
    points[reached] = where
    if dim >= MANY_DIMENSIONS:
        _ask_all(normals, depths, points, slack)
    else:
        _ask_known(normals, depths, points, slack)
    return points


def _unknown(points: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.isnan(points[:, 0]))


def _ask_known(normals: np.ndarray, depths: np.ndarray, points: np.ndarray, slack: np.ndarray) -> None:
    """Find the facets among the open rows, each asked against the facets known so far."""
    number, dim = normals.shape
    generator = np.random.default_rng(0)
    known = ~np.isnan(points[:, 0])
    program = LinearProgram(dim)
    program.add_rows(normals, np.where(known, depths, np.inf))
    left = np.ones(number, dtype=bool)
    for row in range(number):
        while not known[row] and left[row]:
            program.set_row(row, -np.inf, depths[row] + max(1.0, depths[row]))  # keeps the program bounded
            try:
                solution = program.maximize(normals[row])
            except SolverError:  # thrown off by rows that are nearly the same
                passed = _passed(normals, depths, row, left, slack[row])
                left[row] = known[row] = passed is not None
                points[row] = np.nan if passed is None else passed
                program.set_row(row, -np.inf, depths[row] if known[row] else np.inf)
                break
            program.set_row(row, -np.inf, np.inf)
            if solution.value <= depths[row] + slack[row]:
                left[row] = False
                break
            new, where = _first_hit(normals, depths, solution.point, ~known & left, generator)
            if new is None:  # too close to call from here: ask about this row itself, against everything
                where = _passed_by_simplex(normals, depths, row, left, slack[row])
                new = None if where is None else row
            if new is None:
                left[row] = False
            else:
                known[new], points[new] = True, where
                program.set_row(new, -np.inf, depths[new])


def _ask_all(normals: np.ndarray, depths: np.ndarray, points: np.ndarray, slack: np.ndarray) -> None:
    """Find the facets among the open rows, asking whether each can be passed if all rows left but it hold."""
    left = np.ones(len(normals), dtype=bool)
    rows = read_bounds(normals, depths).rows
    place = np.full(len(normals), -1)
    place[rows] = np.arange(len(rows))
    asked = _unknown(points)
    asked = asked[place[asked] >= 0]
    if len(asked) >= MANY_ROWS:
        body = HalfSpaceStack.of([HalfSpaces.of(normals, depths)])
        found = passable_rows(body, place[asked], slack[asked])
        for row, point in zip(asked[found.is_passed].tolist(), found.points[found.is_passed], strict=True):
            points[row] = _onto(normals, depths, row, point)
        left[asked[found.is_implied]] = False
    for row in np.flatnonzero(np.isnan(points[:, 0]) & left).tolist():
        passed = _passed(normals, depths, row, left, slack[row])
        left[row] = passed is not None
        points[row] = np.nan if passed is None else passed


def _passed(normals: np.ndarray, depths: np.ndarray, row: int, left: np.ndarray, slack: float) -> np.ndarray | None:
    """Return a point of a row's hyperplane inside all other rows that are left, if some point is beyond it."""
    # Its own row is moved outwards, so that the program stays bounded.
    offsets = np.where(left, depths, np.inf)
    offsets[row] = depths[row] + max(1.0, depths[row])
    body = HalfSpaceStack.of([HalfSpaces.of(normals, offsets)])
    found = point_beyond(body, torch.from_numpy(normals[row : row + 1]), float(depths[row] + slack))
    return None if found is None else _onto(normals, depths, row, found)


def _passed_by_simplex(
    normals: np.ndarray, depths: np.ndarray, row: int, left: np.ndarray, slack: float
) -> np.ndarray | None:
    upper = np.where(left, depths, np.inf)
    upper[row] = depths[row] + max(1.0, depths[row])
    program = LinearProgram(normals.shape[1])
    program.add_rows(normals, upper)
    found = program.maximize(normals[row])
    return _onto(normals, depths, row, found.point) if found.value > depths[row] + slack else None


def _onto(normals: np.ndarray, depths: np.ndarray, row: int, outside: np.ndarray) -> np.ndarray:
    """Return where the way from the centre to a point beyond a row crosses it: inside all rows that hold at its end."""
    return outside * (depths[row] / (normals[row] @ outside))


def _reached_on_hyperplanes(
    normals: np.ndarray, depths: np.ndarray, rows: np.ndarray, slack: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return those of some rows on whose hyperplanes points were found clearly inside all other rows, and these."""
    found = []
    # No more rows at once than fit into caches with what is known of them.
    block = max(1, min(AT_ONCE, PRODUCTS_BYTES // (4 * len(normals))))
    # All products at once if there is room for them, else those that are asked for.
    single = normals.astype(np.float32)
    products = single @ single.T if 4 * len(normals) ** 2 <= PRODUCTS_BYTES else None
    for first in range(0, len(rows), block):
        found += _pushed(normals, depths, rows[first : first + block], slack, products)
    return _joined(found, normals.shape[1])


def _joined(found: list[tuple[np.ndarray, np.ndarray]], dim: int) -> tuple[np.ndarray, np.ndarray]:
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *(part for part, _ in found)])
    return rows, np.concatenate([np.zeros((0, dim)), *(part for _, part in found)])


def _pushed(
    normals: np.ndarray, depths: np.ndarray, rows: np.ndarray, slack: np.ndarray, products: np.ndarray | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Push points off violated rows within the hyperplanes of some rows; return rows and points where that ends.

    What leads there is in float32: a push reads as much memory as there are rows. Where points end is checked.
    """

    def times_all(which: np.ndarray) -> np.ndarray:
        return (normals[which] @ normals.T).astype(np.float32) if products is None else products[which]

    found = []
    points, own = depths[rows, None] * normals[rows], times_all(rows)
    with np.errstate(over="ignore"):
        excess = (points @ normals.T - depths).astype(np.float32)
    for _ in range(MAX_PUSHES):
        if not len(rows):
            break
        step_point()
        excess[np.arange(len(rows)), rows] = -np.inf
        worst = excess.argmax(axis=1)
        violation = excess[np.arange(len(rows)), worst].astype(np.float64)
        is_inside = violation < -slack[rows]
        if is_inside.any():
            there = np.flatnonzero(is_inside)
            # Pushes along rounded directions have left the hyperplanes a little.
            heights = (points[there] * normals[rows[there]]).sum(axis=1) - depths[rows[there]]
            points[there] -= heights[:, None] * normals[rows[there]]
            there = there[_are_inside(normals, depths, points[there], rows[there], slack)]
            found.append((rows[there], points[there]))
        cosine = own[np.arange(len(rows)), worst].astype(np.float64)
        is_going = ~is_inside & (1 - cosine**2 > PARALLEL) & np.isfinite(violation)
        rows, points, excess, own = rows[is_going], points[is_going], excess[is_going], own[is_going]
        worst, violation, cosine = worst[is_going], violation[is_going], cosine[is_going]
        length = OVERSHOOT * (violation + INSIDE + 2 * slack[rows]) / (1 - cosine**2)
        points -= length[:, None] * (normals[worst] - cosine[:, None] * normals[rows])
        with np.errstate(over="ignore", invalid="ignore"):
            step, turned = length[:, None].astype(np.float32), cosine[:, None].astype(np.float32)
            excess -= step * (times_all(worst) - turned * own)
    return found


def _are_inside(
    normals: np.ndarray, depths: np.ndarray, points: np.ndarray, rows: np.ndarray, slack: np.ndarray
) -> np.ndarray:
    """Return which points on hyperplanes are inside all other rows: what was added up on the way is rounded."""
    excess = points @ normals.T - depths
    excess[np.arange(len(rows)), rows] = -np.inf
    on = np.abs(np.einsum("ij,ij->i", points, normals[rows]) - depths[rows])
    return excess.max(axis=1, initial=-np.inf) < -slack[rows] - on


def _hit_along_normals(normals: np.ndarray, depths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows that a ray from the centre along some row's normal hits strictly before any other, and where."""
    hit = []
    for start in range(0, len(normals), 256):
        directions = normals[start : start + 256]
        speed = directions @ normals.T
        with np.errstate(divide="ignore"):
            time = np.where(speed > ALONG, depths / speed, np.inf)
        first = time.argmin(axis=1)
        rays = np.arange(len(time))
        earliest = time[rays, first].copy()
        time[rays, first] = np.inf
        is_clear = time.min(axis=1) > earliest * (1 + 1e-6)
        hit.append((first[is_clear], earliest[is_clear, None] * directions[is_clear]))
    rows, points = _joined(hit, normals.shape[1])
    rows, first = np.unique(rows, return_index=True)
    return rows, points[first]


def _first_hit(
    normals: np.ndarray, depths: np.ndarray, target: np.ndarray, open_rows: np.ndarray, generator: np.random.Generator
) -> tuple[int | None, np.ndarray]:
    """Return the row that a ray from inside the unit ball to the target crosses first, if clear and open, and where.

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
        if open_rows[first] and time.min() > earliest * (1 + LATER):
            return first, start + earliest * (target - start)
    return None, target
