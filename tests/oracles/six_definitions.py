"""The dull oracle of all six definitions, on lines and planes: exact polygons of the splitter, compared pair by pair.

Cost grows with the square of the number of regions, and exponentially for convex regions: for a few dozen regions.
"""

from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import networkx as nx

from oracles.fractions_plane import Piece, measure, split

Point = tuple[Fraction, ...]


def six_counts(parameters: Any, window: Any, *, convex: bool = False) -> dict[str, int]:
    """Count the regions of a ReLU network [(W, b), ...] in a window under every definition.

    Convex regions, where asked for, are the fewest that unions of activation regions can make; a complex of other cells
    may have fewer.
    """
    pieces = split(parameters, window)
    same = [(a, b) for a, b in combinations(range(len(pieces)), 2) if pieces[a].map == pieces[b].map]
    counts = {
        "activation": len({code_at(parameters, point) for point in points_of_all_faces(pieces)}),
        "proper_activation": len(pieces),
        "open_connected": components(len(pieces), [pair for pair in same if share_a_facet(*(pieces[i] for i in pair))]),
        "closed_connected": sum(closed_components(pieces, one) for one in {map_of(piece) for piece in pieces}),
        "affine": len({map_of(piece) for piece in pieces}),
    }
    if convex:
        counts["convex"] = fewest_convex_cells(pieces)
    return counts


def map_of(piece: Piece) -> tuple[Point, ...]:
    return tuple(tuple(row) for row in piece.map)


def components(number: int, pairs: list[tuple[int, int]]) -> int:
    graph = nx.Graph(pairs)
    graph.add_nodes_from(range(number))
    return nx.number_connected_components(graph)


def code_at(parameters: Any, point: Point) -> tuple[bool, ...]:
    values, code = list(point), []
    for weight, bias in parameters[:-1]:
        rows = zip(weight.tolist(), bias.tolist(), strict=True)
        before = [sum((Fraction(w) * v for w, v in zip(row, values, strict=True)), Fraction(b)) for row, b in rows]
        code += [value > 0 for value in before]
        values = [max(value, Fraction(0)) for value in before]
    return tuple(code)


def points_of_all_faces(pieces: list[Piece]) -> set[Point]:
    """Return a point inside every face of the coarsest complex that has all corners of all pieces."""
    corners = {vertex for piece in pieces for vertex in piece.vertices}
    points = corners | {piece.centroid for piece in pieces}
    if len(pieces[0].vertices[0]) == 1:
        return points
    for piece in pieces:
        for tail, head in sides(piece.vertices):
            on_side = sorted({p for p in corners if turn(tail, head, p) == 0 and between(tail, p, head)})
            points |= {middle(a, b) for a, b in pairwise(on_side)}
    return points


def share_a_facet(one: Piece, other: Piece) -> bool:
    if len(one.vertices[0]) == 1:
        return bool({*one.vertices} & {*other.vertices})
    touching = [p for p in one.vertices if inside(p, other.vertices)]
    touching += [p for p in other.vertices if inside(p, one.vertices)]
    return len({*touching}) > 1


def closed_components(pieces: list[Piece], one: Any) -> int:
    """Count the components of {f = g} that have an interior, g being one of the maps."""
    zero_sets = [agreement(piece, one) for piece in pieces]
    graph = nx.Graph()
    graph.add_nodes_from(row for row, points in enumerate(zero_sets) if points)
    graph.add_edges_from(pair for pair in combinations(graph, 2) if meet(*(zero_sets[row] for row in pair)))
    full = {row for row, piece in enumerate(pieces) if map_of(piece) == one}
    return sum(bool(full & {*members}) for members in nx.connected_components(graph))


def agreement(piece: Piece, one: Any) -> list[Point]:
    """Return the corners of the convex set on which a piece's map is another one."""
    points = piece.vertices
    for row, other in zip(piece.map, one, strict=True):
        difference = [a - b for a, b in zip(row, other, strict=True)]
        heights = [sum(c * x for c, x in zip(difference, (*p, Fraction(1)), strict=True)) for p in points]
        kept = [p for p, h in zip(points, heights, strict=True) if h == 0]
        for (p, q), (a, b) in zip(combinations(points, 2), combinations(heights, 2), strict=True):
            if a * b < 0:
                share = a / (a - b)
                kept.append(tuple(x + share * (y - x) for x, y in zip(p, q, strict=True)))
        points = kept
    return points


def meet(one: list[Point], other: list[Point]) -> bool:
    """Tell whether the hulls of two sets of points meet: no line, and on a line no point, parts them strictly."""
    if len(one[0]) == 1:
        return max(min(one), min(other)) <= min(max(one), max(other))
    ways = [(q[0] - p[0], q[1] - p[1]) for p, q in combinations(one + other, 2)]
    for x, y in ways:
        for normal in ((x, y), (-y, x)):
            first, second = ([normal[0] * p[0] + normal[1] * p[1] for p in hull] for hull in (one, other))
            if max(first) < min(second) or max(second) < min(first):
                return False
    return True


def fewest_convex_cells(pieces: list[Piece]) -> int:
    """Try all ways to unite pieces with one map so that the cells are convex and meet in common faces."""
    best = len(pieces)

    def extend(left: frozenset[int], cells: list[list[Point]]) -> None:
        nonlocal best
        if len(cells) + (1 if left else 0) > best or (left and len(cells) + 1 > best):
            return
        if not left:
            best = min(best, len(cells))
            return
        first = min(left)
        alike = [row for row in left if row != first and map_of(pieces[row]) == map_of(pieces[first])]
        for size in range(len(alike), -1, -1):
            for others in combinations(alike, size):
                members = [first, *others]
                cell = corners_of({p for row in members for p in pieces[row].vertices})
                if measure(cell) != sum(pieces[row].measure for row in members):
                    continue
                if all(meet_in_a_face(cell, before) for before in cells):
                    extend(left - {*members}, [*cells, cell])

    extend(frozenset(range(len(pieces))), [])
    return best


def meet_in_a_face(one: list[Point], other: list[Point]) -> bool:
    if len(one[0]) == 1:
        return True
    common = {p for p in one if inside(p, other)} | {p for p in other if inside(p, one)}
    return common <= {*one} and common <= {*other}


def corners_of(points: set[Point]) -> list[Point]:
    """Return the corners of the hull, counter-clockwise."""
    if len(next(iter(points))) == 1:
        return [min(points), max(points)]
    ordered, hull = sorted(points), []
    for way in (ordered, ordered[::-1]):
        chain: list[Point] = []
        for p in way:
            while len(chain) > 1 and turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        hull += chain[:-1]
    return hull


def inside(p: Point, polygon: list[Point]) -> bool:
    corners = corners_of({*polygon})
    return all(turn(tail, head, p) >= 0 for tail, head in sides(corners))


def sides(corners: list[Point]) -> list[tuple[Point, Point]]:
    return list(zip(corners, [*corners[1:], corners[0]], strict=True))


def turn(a: Point, b: Point, c: Point) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def between(a: Point, p: Point, b: Point) -> bool:
    return min(a, b) <= p <= max(a, b)


def middle(a: Point, b: Point) -> Point:
    return tuple((x + y) / 2 for x, y in zip(a, b, strict=True))
