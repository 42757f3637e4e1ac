"""Sizes of cones and polytopes in fractions: heights, diameters, distances."""

from collections.abc import Sequence
from fractions import Fraction

from fuzzer import true_cones as cones
from fuzzer.true_cones import RationalCone, Vector


def _diameter_squared(cone: RationalCone) -> Fraction:
    vertices = cone.vertices
    return max((distance_squared(a, b) for i, a in enumerate(vertices) for b in vertices[i + 1 :]), default=Fraction(0))


def distance_squared(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    """Return the square of the Euclidean distance."""
    return sum(((a - b) ** 2 for a, b in zip(first, second, strict=True)), Fraction(0))


def smallest_height_squared(cone: RationalCone, normal: Sequence[int] | None = None) -> Fraction | None:
    """Return the square of the smallest height of a polyhedron over a facet, None if all are infinite.

    It is of full dimension, or lies in a hyperplane of which a normal is given.
    """
    heights = []
    for row, _ in cones.facets(cone):
        if any(ray[-1] == 0 and cones.dot(row, ray) for ray in cone.rays):
            continue
        height = max(cones.dot(row[:-1], vertex) + row[-1] for vertex in cone.vertices)
        steepness = Fraction(cones.dot(row[:-1], row[:-1]))
        if normal is not None:
            steepness -= Fraction(cones.dot(row[:-1], normal) ** 2, cones.dot(normal, normal))
        heights.append(height * height / steepness)
    return min(heights, default=None)


def largest_share_squared(cone: RationalCone, normal: Sequence[int] | None = None) -> Fraction | None:
    """Return the squared smallest height over a facet, as a share of the distance from zero.

    None if infinite. Heights are those of the generators, without lines. No point c of the polyhedron is much farther
    from that facet than this share of ``|c|``. Normals as for `smallest_height_squared`.
    """
    shares: list[Fraction] = []
    for row, _ in cones.facets(cone):
        steepness = Fraction(cones.dot(row[:-1], row[:-1]))
        if normal is not None:
            steepness -= Fraction(cones.dot(row[:-1], normal) ** 2, cones.dot(normal, normal))
        heights = [(cones.dot(row, ray), _size_squared(ray, cone.lines)) for ray in cone.rays]
        if all(size or not height for height, size in heights):
            shares.append(max(height * height / (steepness * size) for height, size in heights if height))
    return min(shares, default=None)


def _size_squared(ray: Vector, lines: Sequence[Vector]) -> Fraction:
    """Return the square of the distance of a ray's entries, w left out, from the span of some lines."""
    rest = [Fraction(entry) for entry in ray[:-1]]
    orthogonal: list[list[Fraction]] = []
    for line in lines:
        way = [Fraction(entry) for entry in line[:-1]]
        for other in orthogonal:
            way = _without(way, other)
        orthogonal.append(way)
    for way in orthogonal:
        rest = _without(rest, way)
    return Fraction(cones.dot(rest, rest))


def _without(vector: list[Fraction], direction: list[Fraction]) -> list[Fraction]:
    share = Fraction(cones.dot(vector, direction)) / cones.dot(direction, direction)
    return [a - share * b for a, b in zip(vector, direction, strict=True)]
