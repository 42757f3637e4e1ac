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
from jaxtyping import Bool, Float, Int

from reluscope.geometry.polyhedra.rational_polytopes import RationalPolytope, Row, between, half_spaces, integer_row
from reluscope.geometry.programs.proved_programs import nearest
from reluscope.networks.evaluation.decisions import scores_network
from reluscope.networks.evaluation.maps_of_codes import maps_of_codes
from reluscope.networks.evaluation.rounded_forward import forward_with_errors, largest_errors, rounded_forward
from reluscope.networks.fractions.rational import RationalNetwork, multiplications
from reluscope.networks.fractions.rational_maps import AffineFunction, rational_maps
from reluscope.partitions.corner_errors import corner_errors
from reluscope.partitions.decisions.decision_pieces import BoundaryPieces, of_classes, scores_at, tie_error
from reluscope.partitions.exact.exact_regions import code_rows, code_tuples
from reluscope.partitions.left_open import left_open
from reluscope.partitions.partition_in_memory import Partition

# Multiplications of fractions, and rows that regions are cut by, for all regions of a partition: some seconds.
MOST_MULTIPLICATIONS, MOST_ROWS = 2_000_000, 50_000

# Scores that differ by less than this share of the largest one are looked at, and more where rounding may be larger.
NEAR = 1e-6

TINY = np.finfo(float).tiny

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


def needs_fractions(part: Partition) -> bool:
    """Whether rounding may decide where classes tie, and the partition is small enough for fractions to decide it."""
    return not part.jumps and is_small(part) and not is_clear(part)


def is_clear(part: Partition) -> bool:
    """Whether one class is ahead at every vertex, beyond the rounding of scores and of the vertices themselves."""
    values = scores_at(part, part.vertices)
    near, _ = _near_vertices(part, values)
    return not near.any() or not _unclear_vertices(part, np.flatnonzero(near), tie_error(values)).any()


def _unclear_vertices(part: Partition, asked: Int[np.ndarray, " q"], resolution: float) -> Bool[np.ndarray, " v"]:
    """Return at which of some vertices no class is ahead beyond the rounding of scores and of the vertices.

    A lead below the ``resolution`` counts as none wherever scores are compared without their own errors.
    """
    unclear = np.zeros(len(part.vertices), dtype=bool)
    unclear[asked] = True
    offsets, ids = part.region_vertices
    numbers = np.diff(offsets)
    around = np.flatnonzero(np.add.reduceat(unclear[ids], offsets[:-1]))
    network = scores_network(part.network_on_domain)
    forward = rounded_forward(network, part.vertices[asked], tolerance=part.tolerance)
    maps, off = maps_of_codes(network, part.codes[around])
    slopes = np.linalg.norm(maps.weight.cpu().numpy(), axis=2) + np.sqrt(part.dim) * off
    steepest = np.zeros((len(unclear), slopes.shape[1]))
    corners = np.concatenate([ids[offsets[row] : offsets[row + 1]] for row in around])
    np.maximum.at(steepest, corners, np.repeat(slopes, numbers[around], axis=0))
    noise = of_classes(forward.errors + steepest[asked] * corner_errors(part)[asked, None])
    values = of_classes(forward.outputs)
    first = values.argmax(axis=1)[:, None]
    leads = np.take_along_axis(values - noise, first, axis=1) - (values + noise)
    np.put_along_axis(leads, first, np.inf, axis=1)
    unclear[asked] = ~(leads > resolution).all(axis=1)
    return unclear


class OpenTies(NamedTuple):
    """Regions in which rounding decides about ties, and how long the decision boundary in them is at most."""

    regions: Bool[np.ndarray, " r"]
    most: float  # on a line the number of points


def open_ties(part: Partition, values: Float[np.ndarray, "v k"], num_regions: int, pieces: BoundaryPieces) -> OpenTies:
    """Return in which of the first regions rounding decides about ties, for scores of the classes at vertices.

    Vertices are asked about where rounding may decide between two scores, and pieces along which a third class ties
    as nearly.
    """
    near, tolerance = _near_vertices(part, values)
    offsets, ids = part.region_vertices
    if num_regions < len(part):  # scores are not known at all vertices
        known = np.zeros(len(near), dtype=bool)
        known[ids[: offsets[num_regions]]] = True
        near &= known
    regions = np.zeros(len(part), dtype=bool)
    if near.any():
        unclear = _unclear_vertices(part, np.flatnonzero(near), tie_error(values))
        regions = np.add.reduceat(unclear[ids], offsets[:-1]) > 0
    regions[_of_three(part, pieces, tolerance)] = True
    regions[num_regions:] = False
    most = 0.0
    for row in np.flatnonzero(regions).tolist():
        corners = ids[offsets[row] : offsets[row + 1]]
        here, leaders = values[corners], np.unique(values[corners].argmax(axis=1))
        # Classes that no leader exceeds at all corners; a pair of them ties along one chord.
        number = int((~(here[:, leaders, None] - tolerance > here[:, None]).all(axis=0).any(axis=0)).sum())
        chord = float(np.linalg.norm(np.ptp(part.vertices[corners], axis=0))) if part.dim == 2 else 1.0
        most += number * (number - 1) / 2 * chord
    return OpenTies(regions, most)


def _near_vertices(part: Partition, values: Float[np.ndarray, "v k"]) -> tuple[Bool[np.ndarray, " v"], float]:
    """Return the vertices where rounding may decide which score is the largest, and how near is near enough."""
    tolerance = _largest_noise(part, NEAR * float(np.abs(values).max(initial=0.0)))
    near = (values >= values.max(axis=1, keepdims=True) - tolerance).sum(axis=1) > 1
    return near | _near_in_thin_regions(part, values, tolerance), tolerance


def _largest_noise(part: Partition, enough: float) -> float:
    """Return by how much rounding may change the difference of two scores at a vertex, at least ``enough``."""
    if not left_open(part).is_listed_sure:  # nothing is told EXACT
        return enough
    network, points = scores_network(part.network_on_domain), part.vertices
    errors = largest_errors(network, np.abs(points).max(axis=0), tolerance=part.tolerance)
    if not 2 * errors.max() <= enough:
        _, errors = forward_with_errors(network, points, tolerance=part.tolerance)
    return max(enough, 2 * float(errors.max()))


def _near_in_thin_regions(
    part: Partition, values: Float[np.ndarray, "v k"], tolerance: float
) -> Bool[np.ndarray, " v"]:
    """Return vertices where classes tie within what slopes make of the errors of corners of regions thin beside them.

    Scores vary by no more than NEAR of the largest one where corners of other regions are moved.
    """
    offsets, ids = part.region_vertices
    at, ends = part.vertices[ids], offsets[:-1]
    lengths = np.linalg.norm(np.maximum.reduceat(at, ends) - np.minimum.reduceat(at, ends), axis=1)
    widths = part.volumes() / np.maximum(lengths, TINY) ** (part.dim - 1)
    moved = np.maximum.reduceat(corner_errors(part)[ids], ends)
    near = np.zeros(len(values), dtype=bool)
    for row in np.flatnonzero(4 * moved > NEAR * widths).tolist():
        corners = ids[offsets[row] : offsets[row + 1]]
        here = values[corners]
        noise = tolerance + 4 * moved[row] / max(widths[row], TINY) * np.ptp(here, axis=0).max()
        near[corners] |= (here >= here.max(axis=1, keepdims=True) - noise).sum(axis=1) > 1
    return near


def _of_three(part: Partition, pieces: BoundaryPieces, tolerance: float) -> Int[np.ndarray, " p"]:
    """Return the regions of pieces along which a third class is behind by no more than a tolerance."""
    regions, ends, every = pieces.regions, pieces.ends, np.arange(len(pieces.regions))
    if not len(every):
        return regions
    values = scores_at(part, ends.reshape(-1, part.dim)).reshape(*ends.shape[:2], -1)
    one, other = pieces.classes.T
    tied = values[every, :, one]
    values[every, :, one] = values[every, :, other] = -np.inf
    # One class at both ends: where different ones tie at the ends, three classes meet in points.
    return regions[(values >= tied[:, :, None] - tolerance).all(axis=1).any(axis=-1)]


def is_small(part: Partition) -> bool:
    """Whether fractions take some seconds at most for all regions of a partition."""
    network = part.network_on_domain
    rows = sum(gate.num_units for gate in network.gates) * len(part)
    return rows <= MOST_ROWS and len(part) * (part.dim + 1) * multiplications(network) <= MOST_MULTIPLICATIONS


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
