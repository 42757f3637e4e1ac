"""Decision boundaries and parts of classes in rational arithmetic, for small partitions where rounding decides ties.

On a region every score is an affine function with rational coefficients, and the region is a polygon with rational
corners. Two classes tie along a line; the part of it counts on which no third class is ahead. A segment inside a region
is a piece. A segment in its boundary is a piece once, however many regions and classes share it; it is none where the
classes tie everywhere beyond it and the lower one leads on this side, since the class does not change there.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np

from reluscope.geometry.polyhedra.rational_polytopes import RationalPolytope, Row, between, half_spaces, integer_row
from reluscope.geometry.programs.proved_programs import nearest
from reluscope.networks.evaluation.decisions import scores_network
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.fractions.rational_maps import AffineFunction, rational_maps
from reluscope.partitions.decisions.decision_pieces import BoundaryPieces
from reluscope.partitions.exact.exact_regions import code_rows, code_tuples
from reluscope.partitions.partition_in_memory import Partition

Point = tuple[Fraction, ...]
Span = tuple[Fraction, Fraction]


class _Tie(NamedTuple):
    """A segment, on a line a point, along which two classes tie and are ahead of all others."""

    region: int
    classes: tuple[int, int]
    line: Row
    ends: tuple[Point, Point]
    leader: int | None  # in the region, where the segment lies in its boundary

    @property
    def span(self) -> Span:
        """The coordinates of the ends along the line."""
        low, high = (_along(self.line, end) for end in self.ends)
        return low, high


def rational_pieces(part: Partition) -> BoundaryPieces:
    """Return the decision boundary's pieces on a line or plane in rational arithmetic; ends are rounded.

    The partition must be of a bounded line or plane, with its network.
    """
    ties: list[_Tie] = []
    flat: dict[tuple[Row, tuple[int, int]], list[Span]] = {}
    for region, _, polygon, scores in _regions(part):
        points = polygon.points()
        for pair in combinations(_contenders(scores, points), 2):
            lead = _difference(scores[pair[0]], scores[pair[1]])
            if not any(lead):
                for line, side in _sides(polygon):
                    flat.setdefault((line, pair), []).append((_along(line, side[0]), _along(line, side[1])))
            elif (tie := _tie(region, pair, lead, scores, polygon, points)) is not None:
                ties.append(tie)
    return _joined(ties, flat, part.dim)


def rational_parts(part: Partition) -> Iterator[tuple[int, int, list[Point]]]:
    """Yield (region, class, corners) of the polygons of a plane, or intervals of a line, on which one class wins.

    The lowest of classes that tie wins. Corners are counter-clockwise, ends ascending.
    """
    for region, rows, polygon, scores in _regions(part):
        contenders = _contenders(scores, polygon.points())
        for one in contenders:
            leads = [_difference(scores[one], scores[other]) for other in contenders if other != one]
            if scores[one] in [scores[other] for other in contenders if other < one]:
                continue
            won = between(part.dim, [*rows, *(integer_row(lead) for lead in leads if any(lead))])[1]
            if won is not None:
                yield region, one, _in_order(won.points())


def _regions(part: Partition) -> Iterator[tuple[int, list[Row], RationalPolytope, list[AffineFunction]]]:
    """Yield each region with its rows, its polygon, and the scores of the classes."""
    exact = RationalNetwork(scores_network(part.network_on_domain))
    walls = [integer_row(side) for side in half_spaces(part.window.polyhedron)]
    for region, code in enumerate(code_tuples(part.codes)):
        imposed = code_rows(exact, code)
        rows = None if imposed is None else [*walls, *imposed]
        polygon = None if rows is None else between(part.dim, rows)[1]
        if rows is not None and polygon is not None:
            outputs = rational_maps(exact, code).outputs
            yield region, rows, polygon, [*(_difference(one, one) for one in outputs if len(outputs) == 1), *outputs]


def _in_order(points: Sequence[Point]) -> list[Point]:
    """Return the ends of an interval, or the corners of a convex polygon counter-clockwise."""
    ordered = sorted(points)
    if len(ordered[0]) == 1:
        return ordered
    (a, b), (c, d) = ordered[0], ordered[-1]
    is_above = [(c - a) * (y - b) > (d - b) * (x - a) for x, y in ordered]
    below, above = (
        [point for point, up in zip(ordered, is_above, strict=True) if up is side] for side in (False, True)
    )
    return [*below, *reversed(above)]


def _contenders(scores: Sequence[AffineFunction], points: Sequence[Point]) -> list[int]:
    """Return the classes that no other one exceeds at all corners."""
    values = [[_at(score, point) for point in points] for score in scores]
    return [
        one
        for one, own in enumerate(values)
        if not any(all(a < b for a, b in zip(own, other, strict=True)) for other in values)
    ]


def _tie(
    region: int,
    pair: tuple[int, int],
    lead: AffineFunction,
    scores: Sequence[AffineFunction],
    polygon: RationalPolytope,
    points: Sequence[Point],
) -> _Tie | None:
    """Return where two classes tie on a region and are ahead of all others; None if that is less than a segment."""
    line = _line(lead)
    leads = [_at(lead, point) for point in points]
    found = [point for point, value in zip(points, leads, strict=True) if value == 0]
    is_inside = min(leads) < 0 < max(leads)
    if is_inside:
        sides = [(points[0], points[1])] if len(line) == 2 else [side for _, side in _sides(polygon)]
        found += [_mixed(*side, _at(lead, side[0]), _at(lead, side[1])) for side in sides if _crosses(lead, *side)]
    if len(found) < len(line) - 1:
        return None
    start, stop = (end(found, key=lambda point: _along(line, point)) for end in (min, max))
    for other, score in enumerate(scores):
        ahead = _difference(scores[pair[0]], score)
        first, last = _at(ahead, start), _at(ahead, stop)
        if other in pair or (first >= 0 and last >= 0):
            continue
        if first <= 0 and last <= 0:
            return None
        zero = _mixed(start, stop, first, last)
        start, stop = (zero, stop) if first < 0 else (start, zero)
    ahead = max(leads) > 0
    leader = None if is_inside else pair[0] if ahead else pair[1]
    return _Tie(region, pair, line, (start, stop), leader)


def _joined(ties: list[_Tie], flat: dict[tuple[Row, tuple[int, int]], list[Span]], dim: int) -> BoundaryPieces:
    """Return ties as pieces, what several share once."""
    taken: dict[Row, list[Span]] = {}
    regions, classes, ends = [], [], []
    for tie in ties:
        covered = taken.setdefault(tie.line, [])
        none = flat.get((tie.line, tie.classes), []) if tie.leader == tie.classes[0] else []
        for span in _without(tie.span, [*covered, *none]):
            covered.append(span)
            regions.append(tie.region)
            classes.append(tie.classes)
            ends.append([[nearest(entry) for entry in _point_at(tie, place)] for place in span[:dim]])
    number = len(regions)
    return BoundaryPieces(
        np.array(regions, dtype=np.int64),
        np.array(classes, dtype=np.int64).reshape(number, 2),
        np.array(ends, dtype=float).reshape(number, dim, dim),
    )


def _without(span: Span, others: Sequence[Span]) -> list[Span]:
    """Return the parts of an interval outside others; of a point, itself or nothing."""
    if span[0] == span[1]:
        return [] if any(low <= span[0] <= high for low, high in others) else [span]
    rest = [span]
    for low, high in others:
        rest = [
            part
            for start, stop in rest
            for part in ((start, min(stop, low)), (max(start, high), stop))
            if part[0] < part[1]
        ]
    return rest


def _point_at(tie: _Tie, place: Fraction) -> Point:
    (start, stop), (low, high) = tie.ends, tie.span
    share = (place - low) / (high - low) if high > low else Fraction(0)
    return tuple(a + share * (b - a) for a, b in zip(start, stop, strict=True))


def _sides(polygon: RationalPolytope) -> list[tuple[Row, tuple[Point, Point]]]:
    """Return the lines of the sides of a polygon with their ends, in order along the line; of a segment its ends."""
    found = []
    points = polygon.points()
    for row, members in polygon.facets().items():
        line = _line(row)
        first, last = sorted((points[members[0]], points[members[-1]]), key=lambda point: _along(line, point))
        found.append((line, (first, last)))
    return found


def _line(form: Sequence[Fraction | int]) -> Row:
    """Return whole numbers that name the zeros of an affine function."""
    row = integer_row([Fraction(entry) for entry in form])
    return max(row, tuple(-entry for entry in row))


def _along(line: Row, point: Point) -> Fraction:
    """Return the coordinate of a point along its line."""
    return point[0] if len(line) == 2 or line[1] else point[1]


def _at(form: Sequence[Fraction], point: Point) -> Fraction:
    return sum((slope * x for slope, x in zip(form, point, strict=False)), form[-1])


def _crosses(form: Sequence[Fraction], start: Point, stop: Point) -> bool:
    return _at(form, start) * _at(form, stop) < 0


def _mixed(start: Point, stop: Point, first: Fraction, last: Fraction) -> Point:
    """Return where a function with these values at two points is 0 between them."""
    share = first / (first - last)
    return tuple(a + share * (b - a) for a, b in zip(start, stop, strict=True))


def _difference(one: AffineFunction, other: AffineFunction) -> AffineFunction:
    return tuple(a - b for a, b in zip(one, other, strict=True))
