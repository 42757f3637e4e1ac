"""Polyhedra in integers: cones over them by double description, with lines for what is unbounded both ways.

A polyhedron ``{x : A x <= b}`` of dimension d is the slice w = 1 of the cone ``{(x, w) : b w - A x >= 0, w >= 0}`` in
d + 1 dimensions. A cone is kept by its rows and by generators (lines, rays with the rows they lie on); all entries are
integers, so that nothing is ever rounded. Rays with w > 0 are vertices, the others directions to infinity. Two rays
span an edge if no third ray lies on all rows that they share (Fukuda and Prodon, 1996).

This is the ground of the fuzzer's oracle: it shares no code with the rest of the library, on purpose.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

Vector = tuple[int, ...]


@dataclass(frozen=True)
class RationalCone:
    """``{v : row . v >= 0 for every row}``; ``tight[i]`` has bit j set if ray i lies on row j.

    ``rows[0]`` is always w >= 0. Equalities are rows on which everything lies.
    """

    rows: tuple[Vector, ...]
    lines: tuple[Vector, ...]
    rays: tuple[Vector, ...]
    tight: tuple[int, ...]

    @property
    def length(self) -> int:
        """Number of coordinates, the last one, w, included."""
        return len(self.rows[0])

    @property
    def is_empty(self) -> bool:
        """Whether the polyhedron (the slice w = 1) is empty."""
        return not any(ray[-1] > 0 for ray in self.rays)

    @property
    def is_bounded(self) -> bool:
        """Whether the polyhedron, if not empty, has no direction to infinity."""
        return not self.lines and all(ray[-1] > 0 for ray in self.rays)

    @property
    def rank(self) -> int:
        """Dimension of the cone: that of the polyhedron plus one, if it is not empty."""
        return rank([*self.lines, *self.rays])

    @property
    def vertices(self) -> list[tuple[Fraction, ...]]:
        """Vertices of the polyhedron; complete only without lines."""
        return [point(ray) for ray in self.rays if ray[-1] > 0]

    def interior_point(self) -> tuple[Fraction, ...]:
        """Return a point in the relative interior of a polyhedron that is not empty."""
        total = [sum(column) for column in zip(*(scaled(ray) for ray in self.rays), strict=True)]
        return tuple(Fraction(entry) / total[-1] for entry in total[:-1])


def polyhedron(dimension: int, rows: Sequence[Sequence[Fraction]]) -> RationalCone:
    """Return the cone over ``{x : row . (x, 1) >= 0 for every row}``."""
    identity = [tuple(int(i == j) for j in range(dimension + 1)) for i in range(dimension + 1)]
    cone = RationalCone((identity[-1],), tuple(identity[:-1]), (identity[-1],), (0,))
    for row in rows:
        cone = above(cone, integers(row))
    return cone


def integers(row: Sequence[Fraction | int]) -> Vector:
    """Return the smallest integer vector that is a positive multiple of a rational one."""
    denominator = lcm(*(entry.denominator for entry in row))
    return _primitive([entry.numerator * (denominator // entry.denominator) for entry in row])


def above(cone: RationalCone, row: Vector) -> RationalCone:
    """Return the part of a cone with ``row . v >= 0``."""
    return _cut(cone, row, is_equality=False)


def below(cone: RationalCone, row: Vector) -> RationalCone:
    """Return the part of a cone with ``row . v <= 0``."""
    return _cut(cone, _negative(row), is_equality=False)


def on(cone: RationalCone, row: Vector) -> RationalCone:
    """Return the part of a cone with ``row . v == 0``."""
    return _cut(cone, row, is_equality=True)


def signs(cone: RationalCone, row: Vector) -> tuple[bool, bool]:
    """Return whether a form takes negative values on a cone, and whether positive ones."""
    if any(dot(row, line) for line in cone.lines):
        return True, True
    values = [dot(row, ray) for ray in cone.rays]
    return any(value < 0 for value in values), any(value > 0 for value in values)


def intersection(first: RationalCone, second: RationalCone) -> RationalCone:
    """Return what two cones share."""
    for position, row in enumerate(second.rows[1:], start=1):
        is_equality = all(tight >> position & 1 for tight in second.tight)
        first = _cut(first, row, is_equality=is_equality)
    return first


def face(cone: RationalCone, members: Sequence[int]) -> RationalCone:
    """Return the face of a cone that some of its rays span."""
    return RationalCone(
        cone.rows, cone.lines, tuple(cone.rays[i] for i in members), tuple(cone.tight[i] for i in members)
    )


def facets(cone: RationalCone) -> list[tuple[Vector, list[int]]]:
    """Return the facets of a polyhedron within its affine hull, none at infinity: a row of each, and the rays on it."""
    found: dict[tuple[int, ...], tuple[Vector, list[int]]] = {}
    whole = cone.rank
    for position, row in enumerate(cone.rows):
        members = [i for i, tight in enumerate(cone.tight) if tight >> position & 1]
        key = tuple(members)
        if key in found or len(members) == len(cone.rays) or not any(cone.rays[i][-1] > 0 for i in members):
            continue
        if rank([*cone.lines, *(cone.rays[i] for i in members)]) == whole - 1:
            found[key] = (row, members)
    return list(found.values())


def faces(cone: RationalCone) -> Iterator[RationalCone]:
    """Yield the non-empty closed faces of a polyhedron, itself included."""
    seen: set[tuple[Vector, ...]] = set()
    stack = [cone]
    while stack:
        face = stack.pop()
        key = tuple(sorted(face.rays))
        if key in seen or face.is_empty:
            continue
        seen.add(key)
        yield face
        for position, row in enumerate(face.rows):
            if position and not all(tight >> position & 1 for tight in face.tight):
                stack.append(on(face, row))


def volume(cone: RationalCone) -> Fraction:
    """Return the volume of a bounded polyhedron of full dimension: simplices from a vertex, face by face."""
    dimension = cone.length - 1
    points = [point(ray) for ray in cone.rays]
    masks = [0] * len(cone.rows)
    for i, tight in enumerate(cone.tight):
        for position in range(len(cone.rows)):
            if tight >> position & 1:
                masks[position] |= 1 << i
    total = Fraction(0)
    for simplex in _simplices((1 << len(points)) - 1, dimension, masks, cone.rays):
        apex, *others = (points[i] for i in simplex)
        total += abs(determinant([[a - b for a, b in zip(other, apex, strict=True)] for other in others]))
    for factor in range(2, dimension + 1):
        total /= factor
    return total


def _simplices(members: int, dimension: int, masks: Sequence[int], rays: Sequence[Vector]) -> Iterator[tuple[int, ...]]:
    """Yield simplices that make up the face whose rays are the bits of ``members``."""
    apex = (members & -members).bit_length() - 1
    if dimension == 0:
        yield (apex,)
        return
    seen: set[int] = set()
    for mask in masks:
        face = members & mask
        if face in seen or face == members or face >> apex & 1 or face.bit_count() < dimension:
            continue
        seen.add(face)
        if rank([rays[i] for i in range(face.bit_length()) if face >> i & 1]) == dimension:
            for simplex in _simplices(face, dimension - 1, masks, rays):
                yield (apex, *simplex)


def _cut(cone: RationalCone, row: Vector, *, is_equality: bool) -> RationalCone:
    rows = (*cone.rows, row)
    new = 1 << len(cone.rows)
    crossing = next((line for line in cone.lines if dot(row, line)), None)
    if crossing is not None:
        return _cut_line(cone, row, crossing, is_equality=is_equality)
    values = [dot(row, ray) for ray in cone.rays]
    rays: list[Vector] = []
    tight: list[int] = []
    for value, ray, mask in zip(values, cone.rays, cone.tight, strict=True):
        if value == 0 or (value > 0 and not is_equality):
            rays.append(ray)
            tight.append(mask | new if value == 0 else mask)
    fewest = cone.length - len(cone.lines) - 2
    upper = [i for i, value in enumerate(values) if value > 0]
    lower = [i for i, value in enumerate(values) if value < 0]
    for i in upper:
        for j in lower:
            common = cone.tight[i] & cone.tight[j]
            if common.bit_count() < fewest:
                continue
            if any(mask & common == common for k, mask in enumerate(cone.tight) if k not in (i, j)):
                continue
            p, q = values[i], -values[j]
            rays.append(_primitive([q * a + p * b for a, b in zip(cone.rays[i], cone.rays[j], strict=True)]))
            tight.append(common | new)
    return RationalCone(rows, cone.lines, tuple(rays), tuple(tight))


def _cut_line(cone: RationalCone, row: Vector, line: Vector, *, is_equality: bool) -> RationalCone:
    """Cut where a line crosses: it becomes a ray, and all other generators move along it into the hyperplane."""
    new = 1 << len(cone.rows)
    slope = dot(row, line)
    if slope < 0:
        line, slope = _negative(line), -slope

    def moved(vector: Vector) -> Vector:
        value = dot(row, vector)
        return _primitive([slope * a - value * b for a, b in zip(vector, line, strict=True)])

    lines = tuple(moved(other) for other in cone.lines if other not in (line, _negative(line)))
    rays = [moved(ray) for ray in cone.rays]
    tight = [mask | new for mask in cone.tight]
    if not is_equality:
        rays.append(line)
        tight.append(new - 1)
    return RationalCone((*cone.rows, row), lines, tuple(rays), tuple(tight))


def dot(first: Sequence, second: Sequence):
    """Return the inner product."""
    return sum(a * b for a, b in zip(first, second, strict=True))


def point(ray: Vector) -> tuple[Fraction, ...]:
    """Return the point of a ray with w > 0."""
    return tuple(Fraction(entry, ray[-1]) for entry in ray[:-1])


def scaled(ray: Vector) -> tuple[Fraction, ...]:
    """Return a ray with w = 1, or of size one if it goes to infinity."""
    size = ray[-1] or max(abs(entry) for entry in ray)
    return tuple(Fraction(entry, size) for entry in ray)


def rank(vectors: Sequence[Sequence[int]]) -> int:
    """Return the rank of integer vectors, by elimination without fractions."""
    rows = [list(vector) for vector in vectors]
    found = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        head = rows[found]
        for i in range(found + 1, len(rows)):
            if rows[i][column]:
                factor = rows[i][column]
                rows[i] = list(_primitive([head[column] * a - factor * b for a, b in zip(rows[i], head, strict=True)]))
        found += 1
    return found


def determinant(matrix: list[list[Fraction]]) -> Fraction:
    """Return the determinant of a small rational matrix."""
    rows = [row[:] for row in matrix]
    value = Fraction(1)
    for column in range(len(rows)):
        pivot = next((i for i in range(column, len(rows)) if rows[i][column]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != column:
            rows[column], rows[pivot] = rows[pivot], rows[column]
            value = -value
        head = rows[column]
        value *= head[column]
        for i in range(column + 1, len(rows)):
            factor = rows[i][column] / head[column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], head, strict=True)]
    return value


def _primitive(vector: Sequence[int]) -> Vector:
    divisor = gcd(*vector)
    return tuple(entry // divisor for entry in vector) if divisor > 1 else tuple(vector)


def _negative(vector: Vector) -> Vector:
    return tuple(-entry for entry in vector)
