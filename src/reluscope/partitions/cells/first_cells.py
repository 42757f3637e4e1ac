"""The cells that a walk cell by cell begins with: one for a bounded domain, cones around the origin for others."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.geometry.cutting.polytopes import BORDER, WALL, Polytopes
from reluscope.geometry.numbers.row_scales import scaled_rows
from reluscope.geometry.polyhedra.domains import Box, Domain, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.rational_polytopes import Row, between, half_spaces, integer_row
from reluscope.geometry.polyhedra.window_shapes import window_shape
from reluscope.networks.evaluation.affine_values import advance_affinely, affine_input
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.network import Network
from reluscope.tolerance import Tolerance

EPSILON = float(np.finfo(np.float64).eps)
# Powers of two between which float64 has a scale and its inverse.
SCALES = (-1000, 1000)


class Start(NamedTuple):
    """The cells that a walk begins with, their scale and their resolution.

    One cell for a bounded domain, else its parts in d + 1 cones. The scale is about the size of a bounded domain, else
    the distance at which the first units typically bend.
    """

    cells: Polytopes
    scale: float  # coordinates of the cells times this are the domain's
    resolution: np.ndarray  # (d + 1,) for `cut_cells`
    relative: float  # for `cut_cells`


def first_cells(network: Network, domain: Domain, tolerance: Tolerance) -> Start:
    """Return the cells that a walk begins with, and how finely they are resolved.

    On an unbounded domain no region is lost that holds a ball of radius above ``relative (1 + s) |c|`` around a point
    c, ``s = sqrt(d - 1) + sqrt(d)``.
    """
    dim = domain.dim
    if isinstance(domain, Box) or (isinstance(domain, Polyhedron) and domain.is_bounded()):
        shape = window_shape(domain)
        points, errors = shape.corners.points, shape.corners.errors
        scale = float(2.0 ** np.round(np.log2(np.abs(points).max())))
        vertices = np.hstack([points / scale, np.ones((len(points), 1))])
        blurs = np.hstack([np.repeat(errors[:, None] / scale, dim, axis=1), np.zeros((len(points), 1))])
        size = float(np.linalg.norm(np.ptp(points, axis=0))) / scale
        # The height of a unit of unit slope at the distance of the resolution, to within sqrt(d).
        resolution = np.append(np.full(dim, tolerance.resolution * size / np.sqrt(dim)), 0.0)
        kinds = np.full(shape.incidence.shape[1], BORDER)
        return Start(_cells([vertices], [blurs], [shape.incidence], [kinds], None), scale, resolution, 0.0)
    if not isinstance(domain, Space | Polyhedron):
        raise InputError(f"expected a Space, Box or Polyhedron, got {type(domain).__name__}: give one of these")
    scale = typical_distance(network, domain)
    cells = _fan(dim) if isinstance(domain, Space) else _in_cones(domain, scale)
    if cells is None:
        raise DegenerateGeometryError(
            f"the domain must have an interior, but {domain.describe()} is empty or flat: give another, or a Slice"
        )
    return Start(cells, scale, np.zeros(dim + 1), tolerance.resolution / (1 + np.sqrt(dim - 1) + np.sqrt(dim)))


def typical_distance(network: Network, domain: Space | Polyhedron) -> float:
    """Return the median distance from the origin of hyperplanes that miss it, as a power of two.

    The hyperplanes are those of the domain and of the first units.
    """
    rows = np.zeros((0, domain.dim + 1))
    if isinstance(domain, Polyhedron):
        normals, offsets = scaled_rows(domain.A, domain.b)
        rows = np.column_stack([normals, -offsets])
    if network.stages and isinstance(network.stages[0].gate, Pointwise):
        gate = network.stages[0].gate
        maps, _, _ = advance_affinely(network.stages[0], affine_input(network, 1), 0.0)
        for level in gate.breakpoints.cpu().numpy():
            shifted = maps[0].copy()
            shifted[:, -1] -= level
            rows = np.concatenate([rows, shifted])
    # Squares of numbers beyond 1e154 overflow: lengths are those of rows by their largest entries.
    largest = np.abs(rows[:, :-1]).max(axis=1, initial=0.0)
    known = (largest > 0) & (rows[:, -1] != 0)
    if not known.any():
        return 1.0
    rows, largest = rows[known], largest[known]
    slopes = np.log2(np.linalg.norm(rows[:, :-1] / largest[:, None], axis=1)) + np.log2(largest)
    return float(2.0 ** np.clip(np.round(np.median(np.log2(np.abs(rows[:, -1])) - slopes)), *SCALES))


def _in_cones(domain: Polyhedron, scale: float) -> Polytopes | None:
    """Return the parts of a domain in all cones, exact but for their vertices' last digits; None if it is flat."""
    dim = domain.dim
    if len(domain.C):
        return None
    walls = _walls(dim)
    sides = [integer_row(side) for side in half_spaces(domain)]
    vertices, errors, incidences, kinds, keys = [], [], [], [], []
    for missing, wall_rows in enumerate(cone_rows(dim)):
        others = [other for other in range(dim + 1) if other != missing]
        _, part = between(dim, [*wall_rows, *sides])
        if part is None:
            continue
        facets = part.facets()
        corners = np.array([_surface_point(vertex, scale) for vertex in part.vertices])
        incidence = np.zeros((len(corners), len(facets)), dtype=bool)
        for side, members in enumerate(facets.values()):
            incidence[list(members), side] = True
        # A wall between cones that is a side of the domain, too, is nothing to be crossed.
        inner = [row in wall_rows and row not in sides for row in facets]
        vertices.append(corners)
        errors.append(EPSILON * np.abs(corners))
        incidences.append(incidence)
        kinds.append(np.where(inner, WALL, BORDER))
        nothing = np.zeros(2, dtype=np.uint64)
        keys.append(
            np.stack(
                [
                    walls[missing, others[wall_rows.index(row)]] if crossed else nothing
                    for row, crossed in zip(facets, inner, strict=True)
                ]
            )
        )
    return _cells(vertices, errors, incidences, kinds, keys) if vertices else None


def cone_rows(dim: int) -> list[list[Row]]:
    """Return the rows of d + 1 cones around the origin: in each one coordinate, or 0, is the least of them and 0."""
    axes = [tuple(int(axis == other < dim) for other in range(dim + 1)) for axis in range(dim + 1)]
    return [
        [tuple(a - b for a, b in zip(other, least, strict=True)) for other in axes if other is not least]
        for least in axes
    ]


def _fan(dim: int) -> Polytopes:
    """Return the cones that all but one of d + 1 directions span, between walls and infinity."""
    number = dim + 1
    directions = np.hstack([np.vstack([np.eye(dim), -np.ones(dim)]), np.zeros((number, 1))])
    origin = np.append(np.zeros(dim), 1.0)
    walls = _walls(dim)
    # Every vertex is on all facets but one: a direction on all other walls and at infinity, the origin on all walls.
    incidence = ~np.eye(number, dtype=bool)
    kinds = np.append(np.full(dim, WALL), BORDER)
    corners, keys = [], []
    for missing in range(number):
        others = np.delete(np.arange(number), missing)
        corners.append(np.vstack([directions[others], origin]))
        keys.append(np.concatenate([walls[missing, others], np.zeros((1, 2), dtype=np.uint64)]))
    nothing = [np.zeros((number, number))] * number
    return _cells(corners, nothing, [incidence] * number, [kinds] * number, keys)


def _walls(dim: int) -> np.ndarray:
    """Return random words for the walls between cones, given which direction the one and the other is without."""
    words = np.random.default_rng(20_18).integers(2**64, size=(dim + 1, dim + 1, 2), dtype=np.uint64)
    return words ^ words.swapaxes(0, 1)


def _surface_point(vertex: Row, scale: float) -> list[float]:
    """Return the homogeneous coordinates of a vertex, their magnitudes adding up to 1."""
    entries = [*(Fraction(entry) / Fraction(scale) for entry in vertex[:-1]), Fraction(vertex[-1])]
    size = sum(map(abs, entries))
    return [float(entry / size) for entry in entries]


def _cells(
    vertices: list[np.ndarray],
    errors: list[np.ndarray],
    incidences: list[np.ndarray],
    kinds: list[np.ndarray],
    keys: list[np.ndarray] | None,
) -> Polytopes:
    """Return cells from vertices and incidences, facets in slots 0, 1, ... of each."""
    num_words = 1 + max(incidence.shape[1] for incidence in incidences) // 64
    tight = np.zeros((sum(map(len, vertices)), num_words), dtype=np.uint64)
    row = 0
    for incidence in incidences:
        for facet, column in enumerate(incidence.T):
            tight[row : row + len(incidence), facet // 64] |= column.astype(np.uint64) << np.uint64(facet % 64)
        row += len(incidence)
    num_facets = [incidence.shape[1] for incidence in incidences]
    total = sum(num_facets)
    return Polytopes(
        np.cumsum([0, *map(len, vertices)]),
        np.concatenate(vertices),
        np.concatenate(errors),
        tight,
        np.cumsum([0, *num_facets]),
        np.concatenate([np.arange(number) for number in num_facets]),
        np.concatenate(kinds).astype(np.uint8),
        np.zeros((total, 2), dtype=np.uint64) if keys is None else np.concatenate(keys),
        np.zeros((len(vertices), 2), dtype=np.uint64),
    )
