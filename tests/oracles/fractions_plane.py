"""The dull oracle: cut a polygon (or an interval) by the units of a network in exact rational arithmetic.

Every float is taken as the rational number it is. A region is a list of exact vertices with the affine maps of the
current layer; every unit cuts every region that it crosses strictly. No tolerance, no sharing, no numerics.

Layers are ``("affine", W, b)``, ``("pointwise", breakpoints, slopes, intercepts)`` (flat lists for all units, or one
list per unit) and ``("max", groups)`` (one list of candidate indices per unit). A list of ``(W, b)`` is a ReLU network.
"""

from fractions import Fraction
from math import inf, sqrt
from typing import Any, NamedTuple

RELU = ("pointwise", [0], [0, 1], [0, 0])


class Piece(NamedTuple):
    """One full-dimensional region: its code, its exact vertices and the affine map (coefficients, constant) there."""

    code: tuple[int, ...]
    vertices: list[tuple[Fraction, ...]]
    map: list[tuple[Fraction, ...]]

    @property
    def measure(self) -> Fraction:
        return measure(self.vertices)

    @property
    def centroid(self) -> tuple[Fraction, ...]:
        return tuple(sum(column, Fraction(0)) / len(self.vertices) for column in zip(*self.vertices, strict=True))


def split(network: Any, window: Any) -> list[Piece]:
    """Return the full-dimensional regions of the network in the window, one per code.

    The window is a pair of numbers, or the vertices of a convex polygon in counter-clockwise order.
    """
    layers = network if isinstance(network[0][0], str) else relu_layers(network)
    vertices = [tuple(Fraction(float(c)) for c in (p if hasattr(p, "__len__") else [p])) for p in window]
    dim = len(vertices[0])
    identity = [tuple(Fraction(int(i == j)) for j in range(dim + 1)) for i in range(dim)]
    pieces = [Piece((), vertices, identity)]
    for kind, *parameters in layers:
        step = {"affine": _affine, "pointwise": _pointwise, "max": _max}[kind]
        pieces = [child for piece in pieces for child in step(piece, *parameters)]
    return pieces


def relu_layers(parameters: Any) -> list:
    """Turn [(W, b), ...] into layers with a ReLU after all but the last."""
    layers: list = []
    for weight, bias in parameters:
        layers += [("affine", weight, bias), RELU]
    return layers[:-1]


def rectangle(lo: Any, hi: Any) -> list:
    """Return the corners of [lo, hi]^2, or of the box between two corners, counter-clockwise."""
    (x0, y0), (x1, y1) = (p if hasattr(p, "__len__") else (p, p) for p in (lo, hi))
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def measure(vertices: list[tuple[Fraction, ...]]) -> Fraction:
    """Area of a counter-clockwise polygon, or length of an interval."""
    if len(vertices) < 2:
        return Fraction(0)
    if len(vertices[0]) == 1:
        return max(vertices)[0] - min(vertices)[0]
    ring = zip(vertices, vertices[1:] + vertices[:1], strict=True)
    return sum((p[0] * q[1] - p[1] * q[0] for p, q in ring), Fraction(0)) / 2


def width(vertices: list[tuple[Fraction, ...]]) -> float:
    """Least distance between two parallel lines that enclose the polygon: 2 to 3 times its inradius."""
    if len(vertices[0]) == 1:
        return float(measure(vertices))
    least = inf
    for p, q in zip(vertices, vertices[1:] + vertices[:1], strict=True):
        twice = max((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]) for r in vertices)
        least = min(least, float(twice) / sqrt(float((q[0] - p[0]) ** 2 + (q[1] - p[1]) ** 2)))
    return least


def _value(function: tuple[Fraction, ...], point: tuple[Fraction, ...]) -> Fraction:
    return sum((a * x for a, x in zip(function[:-1], point, strict=True)), function[-1])


def _clip(vertices: list, function: tuple[Fraction, ...]) -> list:
    """Return the part of the polygon where the affine function is not negative."""
    kept: list = []
    for p, q in zip(vertices, vertices[1:] + vertices[:1], strict=True):
        at_p, at_q = _value(function, p), _value(function, q)
        if at_p >= 0:
            kept.append(p)
        if at_p * at_q < 0:
            t = at_p / (at_p - at_q)
            kept.append(tuple(a + t * (b - a) for a, b in zip(p, q, strict=True)))
    return [p for i, p in enumerate(kept) if p not in kept[:i]]


def _combine(coefficients: Any, maps: list, constant: Any) -> tuple[Fraction, ...]:
    columns = zip(*maps, strict=True)
    terms = [Fraction(float(c)) for c in coefficients]
    total = [sum((c * a for c, a in zip(terms, column, strict=True) if c), Fraction(0)) for column in columns]
    return (*total[:-1], total[-1] + Fraction(float(constant)))


def _affine(piece: Piece, weight: Any, bias: Any) -> list[Piece]:
    return [piece._replace(map=[_combine(row, piece.map, b) for row, b in zip(weight, bias, strict=True)])]


def _pointwise(piece: Piece, breakpoints: Any, slopes: Any, intercepts: Any) -> list[Piece]:
    parts = [piece._replace(map=[])]
    for unit, function in enumerate(piece.map):
        cuts, rates, starts = ([float(v) for v in (t[unit] if hasattr(t[0], "__len__") else t)]
                               for t in (breakpoints, slopes, intercepts))  # fmt: skip
        below = [(*function[:-1], function[-1] - Fraction(cut)) for cut in cuts]  # z - breakpoint, increasing cuts
        children = []
        for part in parts:
            for index in range(len(cuts) + 1):  # piece index: z above cut index - 1, at most cut index
                vertices = part.vertices
                if index > 0:
                    vertices = _clip(vertices, below[index - 1])
                if index < len(cuts):
                    vertices = _clip(vertices, tuple(-a for a in below[index]))
                if index > 0 and all(_value(below[index - 1], p) == 0 for p in vertices):
                    continue  # a unit that is constantly at its breakpoint is not above it
                if measure(vertices) > 0:
                    rate, start = Fraction(rates[index]), Fraction(starts[index])
                    image = (*(rate * a for a in function[:-1]), rate * function[-1] + start)
                    children.append(Piece((*part.code, index), vertices, [*part.map, image]))
        parts = children
    return parts


def _max(piece: Piece, groups: Any) -> list[Piece]:
    parts = [piece._replace(map=[])]
    for group in groups:
        candidates = [piece.map[i] for i in group]
        children = []
        for part in parts:
            for index, function in enumerate(candidates):
                if function in candidates[:index]:
                    continue  # the same affine function here: the lowest index names the piece
                vertices = part.vertices
                for other in candidates:
                    vertices = _clip(vertices, tuple(a - b for a, b in zip(function, other, strict=True)))
                if measure(vertices) > 0:
                    children.append(Piece((*part.code, index), vertices, [*part.map, function]))
        parts = children
    return parts
