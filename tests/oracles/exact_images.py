"""Images of polygons under networks of one hidden layer, and areas of unions, in fractions: dull, and slow."""

from fractions import Fraction
from itertools import pairwise
from typing import Any


def fractions(rows) -> Any:
    """Return numbers as fractions, rows within rows."""
    return [fractions(row) for row in rows] if hasattr(rows, "__len__") else Fraction(float(rows))


def affine(W, b, x):
    return [sum((w * entry for w, entry in zip(row, x, strict=True)), bias) for row, bias in zip(W, b, strict=True)]


def clipped(polygon, row, offset):
    """Return the part of a polygon, its corners in order, on which ``row x + offset >= 0``."""
    heights = [sum(r * x for r, x in zip(row, corner, strict=True)) + offset for corner in polygon]
    found = []
    for place, (corner, height) in enumerate(zip(polygon, heights, strict=True)):
        after, later = polygon[(place + 1) % len(polygon)], heights[(place + 1) % len(polygon)]
        if height >= 0:
            found.append(corner)
        if (height > 0 > later) or (height < 0 < later):
            share = height / (height - later)
            found.append([x + share * (y - x) for x, y in zip(corner, after, strict=True)])
    return found


def images(layers, polygon):
    """Yield every part of a polygon on which no hidden unit changes sign, and what the layers make of its corners."""
    (W, b), (V, c) = layers
    parts = [polygon]
    for row, offset in zip(W, b, strict=True):
        turned = [-entry for entry in row], -offset
        parts = [half for part in parts for half in (clipped(part, row, offset), clipped(part, *turned)) if half]
    for part in parts:
        yield part, [affine(V, c, [max(z, Fraction(0)) for z in affine(W, b, corner)]) for corner in part]


def area_of_union(bodies):
    """Return the area of the union of convex hulls of points of the plane.

    Between two neighbouring places where corners are, or where lines through two points of a body cross, the length of
    a vertical section is affine.
    """
    lines = [(p, q) for body in bodies for i, p in enumerate(body) for q in body[:i] if p[0] != q[0]]
    places = {point[0] for body in bodies for point in body}
    slopes = [((q[1] - p[1]) / (q[0] - p[0]), p) for p, q in lines]
    low = [(min(p[0], q[0]), max(p[0], q[0])) for p, q in lines]
    for i, (slope, p) in enumerate(slopes):
        for j in range(i):
            other, q = slopes[j]
            if slope != other and max(low[i][0], low[j][0]) < min(low[i][1], low[j][1]):
                x = (q[1] - p[1] + slope * p[0] - other * q[0]) / (slope - other)
                if max(low[i][0], low[j][0]) < x < min(low[i][1], low[j][1]):
                    places.add(x)
    places = sorted(places)
    total = Fraction(0)
    for left, right in pairwise(places):
        middle, length, end = (left + right) / 2, Fraction(0), None
        for start, stop in sorted(filter(None, (section(body, middle) for body in bodies))):
            if end is None or stop > end:
                length += stop - (start if end is None else max(start, end))
                end = stop
        total += length * (right - left)
    return total


def section(body, x):
    """Return the lowest and the highest point of a hull over x, None if there is none."""
    found = [p[1] + (x - p[0]) / (q[0] - p[0]) * (q[1] - p[1]) for p in body for q in body if p[0] < x < q[0]]
    return (min(found), max(found)) if found else None
