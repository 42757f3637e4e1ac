"""Random cases: domains, layers of many gates, and degenerate weights."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator

from fuzzer import true_cones as cones
from fuzzer.cases import (
    BoxDomain,
    Domain,
    FuzzCase,
    PointsDomain,
    PolyhedronDomain,
    SliceDomain,
    SpaceDomain,
    rows_of,
)
from fuzzer.layers import GATES, JUMPING, SMOOTH, DenseLayer, GateModule, Layer
from fuzzer.pictures import draw_convolutions, draw_pictures
from fuzzer.wild_scales import draw_scales


def draw_case(kind: str, generator: Generator) -> FuzzCase:
    """Draw a case of a kind of domain, or of convolutions on pictures."""
    if kind == "pictures":
        points, shape = draw_pictures(generator, int(generator.integers(2, 4)))
        margin = float(generator.choice([0.0, 0.25]))
        return FuzzCase(kind, tuple(draw_convolutions(generator, shape)), PointsDomain(points, margin))
    domain, inside = _DOMAINS[kind](generator)
    gates = _draw_gates(generator)
    return FuzzCase(kind, draw_scales(generator, draw_layers(generator, inside, gates)), domain)


Inside = Callable[[], np.ndarray]


def _dimension(generator: Generator, most: int = 4) -> int:
    return int(generator.choice([1, 2, 2, 2, 2, 3, 3, 3, 4][: {2: 5, 3: 8, 4: 9}[most]]))


def _draw_box(generator: Generator, dimension: int) -> BoxDomain:
    style = generator.choice(["unit", "dyadic", "far", "tiny", "huge", "lengths", "float"])
    if style == "unit":
        return BoxDomain(-np.ones(dimension), np.ones(dimension))
    low = generator.integers(-8, 4, dimension) / 4
    high = low + generator.integers(1, 13, dimension) / 4
    if style == "float":
        low, high = low + generator.random(dimension), high + 1 + generator.random(dimension)
    if style == "far":
        shift = 10.0 ** generator.integers(2, 7) * generator.integers(-3, 4, dimension)
        low, high = low + shift, high + shift
    if style == "tiny":
        size = 10.0 ** -generator.integers(2, 10)
        low, high = low * size, high * size
    if style == "huge":
        size = 10.0 ** generator.integers(2, 10)
        low, high = low * size, high * size
    if style == "lengths":
        size = 10.0 ** generator.integers(-4, 5, dimension)
        low, high = low * size, high * size
    return BoxDomain(low, high)


def _box(generator: Generator) -> tuple[Domain, Inside]:
    box = _draw_box(generator, _dimension(generator))
    return box, _inside_box(generator, box)


def _inside_box(generator: Generator, box: BoxDomain) -> Inside:
    def draw() -> np.ndarray:
        return box.low + (box.high - box.low) * generator.integers(0, 9, box.dimension) / 8

    return draw


def _space(generator: Generator) -> tuple[Domain, Inside]:
    dimension = _dimension(generator)
    return SpaceDomain(dimension), lambda: generator.integers(-8, 9, dimension) / 4


def _polyhedron(generator: Generator, dimension: int, *, bounded: bool) -> tuple[PolyhedronDomain, cones.RationalCone]:
    """Draw inequalities until they have interior points and are bounded or not, as asked."""
    while True:
        style = generator.choice(["integers", "simplex", "sheared", "float"])
        more = int(generator.integers(1, 4))
        if style == "simplex":
            normals = np.vstack([-np.eye(dimension), generator.integers(0, 4, (1, dimension))])
            offsets = np.concatenate([np.zeros(dimension), generator.integers(1, 5, 1)]).astype(float)
        elif style == "sheared":
            shear = generator.integers(-2, 3, (dimension, dimension)) + np.diag(generator.integers(1, 3, dimension))
            normals = np.vstack([shear, -shear]).astype(float)
            offsets = generator.integers(0, 5, 2 * dimension) / 2
        elif style == "float":
            normals = generator.normal(size=(dimension + more, dimension))
            offsets = generator.random(dimension + more)
        else:
            normals = generator.integers(-3, 4, (dimension + more, dimension)).astype(float)
            offsets = generator.integers(0, 4, dimension + more).astype(float)
        if not bounded and generator.random() < 0.7:
            keep = generator.random(len(normals)) < 0.6
            normals, offsets = normals[keep], offsets[keep]
        if not len(normals) or not normals.any(1).all():
            continue
        domain = _varied(generator, PolyhedronDomain(normals, offsets))
        cone = cones.polyhedron(dimension, rows_of(domain))
        if not cone.is_empty and cone.rank == dimension + 1 and cone.is_bounded == bounded:
            return domain, cone


def _varied(generator: Generator, domain: PolyhedronDomain) -> PolyhedronDomain:
    """Move, repeat and scale rows."""
    normals, offsets = domain.normals + 0.0, domain.offsets + 0.0
    if generator.random() < 0.15:
        offsets = offsets + normals @ (generator.integers(-4, 5, domain.dimension) * 10.0 ** generator.integers(0, 6))
    if generator.random() < 0.1:
        offsets = offsets * 10.0 ** generator.integers(-8, 9)
    if generator.random() < 0.2:
        again = generator.integers(0, len(normals), 2)
        slack = generator.choice([0.0, 0.0, 1.0])
        normals, offsets = np.vstack([normals, normals[again]]), np.concatenate([offsets, offsets[again] + slack])
    if generator.random() < 0.1:
        factors = generator.choice([1e-200, 1e-20, 2.0**-30, 0.5, 3.0, 1e10, 1e155], len(normals))
        normals, offsets = normals * factors[:, None], offsets * factors
    return PolyhedronDomain(normals, offsets)


def _inside_cone(generator: Generator, cone: cones.RationalCone) -> Inside:
    vertices = np.array([[float(entry) for entry in vertex] for vertex in cone.vertices])

    def draw() -> np.ndarray:
        if cone.lines:
            return vertices[0] + generator.integers(-4, 5, vertices.shape[1]) / 4
        weights = generator.integers(1, 5, len(vertices))
        return weights @ vertices / weights.sum()

    return draw


def _bounded_polyhedron(generator: Generator) -> tuple[Domain, Inside]:
    domain, cone = _polyhedron(generator, _dimension(generator), bounded=True)
    return domain, _inside_cone(generator, cone)


def _unbounded_polyhedron(generator: Generator) -> tuple[Domain, Inside]:
    domain, cone = _polyhedron(generator, _dimension(generator), bounded=False)
    return domain, _inside_cone(generator, cone)


def _embedding(generator: Generator, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    ambient = dimension + int(generator.integers(0, 4))
    while True:
        if generator.random() < 0.6:
            basis = generator.integers(-2, 3, (dimension, ambient)).astype(float)
        else:
            basis = generator.normal(size=(dimension, ambient))
        if np.linalg.matrix_rank(basis) == dimension:
            return generator.integers(-4, 5, ambient) / 4, basis


def _slice_of_box(generator: Generator) -> tuple[Domain, Inside]:
    dimension = _dimension(generator, 3)
    origin, basis = _embedding(generator, dimension)
    box = _draw_box(generator, dimension)
    inside = _inside_box(generator, box)
    return SliceDomain(origin, basis, box), lambda: origin + inside() @ basis


def _slice_of_polyhedron(generator: Generator) -> tuple[Domain, Inside]:
    dimension = _dimension(generator, 3)
    origin, basis = _embedding(generator, dimension)
    window, cone = _polyhedron(generator, dimension, bounded=True)
    inside = _inside_cone(generator, cone)
    return SliceDomain(origin, basis, window), lambda: origin + inside() @ basis


def _between_points(generator: Generator, count: int) -> tuple[Domain, Inside]:
    ambient = int(generator.integers(count - 1, 5))
    while True:
        points = generator.integers(-8, 9, (count, ambient)) / 4
        if generator.random() < 0.4:
            points = points + generator.normal(size=points.shape)
        if generator.random() < 0.2:
            points = points * 10.0 ** generator.integers(-6, 7)
        if np.linalg.matrix_rank(points[1:] - points[0]) == count - 1:
            break

    def draw() -> np.ndarray:
        weights = generator.integers(1, 5, count)
        return weights @ points / weights.sum()

    return PointsDomain(points, float(generator.choice([0.0, 0.25]))), draw


_DOMAINS: dict[str, Callable[[Generator], tuple[Domain, Inside]]] = {
    "box": _box,
    "polyhedron": _bounded_polyhedron,
    "space": _space,
    "unbounded": _unbounded_polyhedron,
    "slice": _slice_of_box,
    "slice-polyhedron": _slice_of_polyhedron,
    "segment": lambda generator: _between_points(generator, 2),
    "plane": lambda generator: _between_points(generator, 3),
}


KINDS = (*_DOMAINS, "pictures")


def _draw_gates(generator: Generator) -> list[GateModule]:
    depth = int(generator.choice([1, 2, 2, 2, 3]))
    gates = [GateModule("relu")] * depth
    if generator.random() >= 0.5:
        gates = [draw_gate(generator, GATES) for _ in range(depth)]
    among = generator.random()
    if among < 0.25:  # what jumps is refused by much, and what bends often has many regions
        gates[int(generator.integers(0, depth))] = draw_gate(generator, JUMPING if among < 0.15 else SMOOTH)
    return gates


def draw_gate(generator: Generator, kinds: Sequence[str]) -> GateModule:
    """Draw a gate of one of some kinds."""
    kind = str(generator.choice(kinds))
    drawn: tuple = ()
    if kind in ("step", "jumprelu", "threshold"):
        drawn = (float(generator.integers(-2, 3) / 4),)
    if kind == "threshold":
        drawn = (*drawn, float(generator.integers(-2, 3) / 4))
    if kind == "topk":
        drawn = (int(generator.integers(1, 4)),)
    if kind == "leaky":
        drawn = (float(generator.choice([0.01, 0.25, -0.5, 0.0, 1.0, 2.0])),)
    if kind in ("hardtanh", "clamp"):
        low = float(generator.integers(-4, 3) / 2)
        drawn = (low, low + float(generator.integers(1, 5) / 2))
    if kind == "clamp":
        drawn = (drawn, (drawn[0], None), (None, drawn[1]))[int(generator.integers(0, 3))]
    if kind == "softshrink":
        drawn = (float(generator.choice([0.25, 0.5, 1.0])),)
    if kind == "maxout":
        drawn = (int(generator.integers(2, 4)),)
    if kind == "maxpool":
        drawn = ((2, 1, 0), (2, 2, 0), (3, 2, 1), (3, 1, 1))[int(generator.integers(0, 4))]
    return GateModule(kind, drawn)


def draw_layers(
    generator: Generator, inside: Inside, gates: Sequence[GateModule], most: int | None = None
) -> list[Layer]:
    """Draw layers around gates, of at most some units each, with hyperplanes through points."""
    style = str(generator.choice(["dyadic", "dyadic", "integers", "normal", "float32", "scales", "near"]))
    num_inputs = len(inside())
    width = num_inputs
    most = most or min(int(generator.choice([3, 5, 7, 9])), 12 // len(gates) + 1)
    drawn: list[Layer] = []
    for position, gate in enumerate(gates):
        units = int(generator.integers((most + 1) // 2, most + 1))
        if gate.is_max:
            units = max(gate.group * max(1, units // 2), 3 if gate.kind == "maxpool" else 1)
        weight, bias = _draw_dense(generator, style, units, width)
        if position == 0:
            bias = _through_points(generator, weight, bias, inside)
        weight, bias = _degenerate(generator, weight, bias, position, style)
        if style == "float32":
            weight, bias = weight.astype(np.float32).astype(float), bias.astype(np.float32).astype(float)
        drawn.append(DenseLayer(weight, bias))
        if gate.kind == "prelu":
            gate = GateModule("prelu", (generator.choice([0.25, -0.5, 0.0, 1.0, 0.1], units).tolist(),))
        drawn.append(gate)
        width = gate.width(units)
    outputs = int(generator.integers(1, 4))
    drawn.append(DenseLayer(*_draw_dense(generator, "dyadic" if style == "near" else style, outputs, width)))
    return drawn


def _draw_dense(generator: Generator, style: str, units: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    if style in ("dyadic", "near"):
        return generator.integers(-8, 9, (units, width)) / 4, generator.integers(-4, 5, units) / 4
    if style == "integers":
        return generator.integers(-2, 3, (units, width)) / 1.0, generator.integers(-2, 3, units) / 1.0
    weight, bias = generator.normal(size=(units, width)), generator.normal(size=units)
    if style == "scales":
        rows, columns = 10.0 ** generator.uniform(-8, 8, units), 10.0 ** generator.uniform(-2, 2, width)
        if generator.random() < 0.5:
            columns = np.ones(width)
        if generator.random() < 0.3:
            weight = np.sign(weight) * 10.0 ** generator.uniform(-8, 8, weight.shape)
        return weight * rows[:, None] * columns, bias * rows
    return weight, bias


def _through_points(generator: Generator, weight: np.ndarray, bias: np.ndarray, inside: Inside) -> np.ndarray:
    """Return biases with which most units are zero at some point of the domain, sometimes all at one."""
    manner = generator.random()
    if manner < 0.2:
        return bias
    common = inside()
    points = [common if manner < 0.35 else inside() for _ in bias]
    return -np.array([row @ point for row, point in zip(weight, points, strict=True)])


def _degenerate(
    generator: Generator, weight: np.ndarray, bias: np.ndarray, position: int, style: str
) -> tuple[np.ndarray, np.ndarray]:
    """Make a network degenerate in some ways."""
    weight, bias = weight + 0.0, bias + 0.0
    units, width = weight.shape
    for _ in range(int(generator.choice([0, 0, 1, 1, 2]) + (style == "near"))):
        fault = str(generator.choice(_FAULTS if style != "near" else _NEAR))
        i, j = (int(k) for k in generator.integers(0, units, 2))
        if fault == "duplicate":
            weight[i], bias[i] = weight[j], bias[j]
        elif fault == "parallel":
            weight[i], bias[i] = weight[j], bias[j] + generator.integers(-2, 3) / 4
        elif fault == "multiple":
            factor = generator.choice([-1.0, -2.0, 0.5, 3.0])
            weight[i], bias[i] = factor * weight[j], factor * bias[j]
        elif fault == "zero row":
            weight[i] = 0.0
        elif fault == "zero row and bias":
            weight[i], bias[i] = 0.0, 0.0
        elif fault == "dead":
            bias[i] = -1e3 * (1 + np.abs(weight[i]).sum())
        elif fault == "zero biases":
            bias[:] = 0.0
        elif fault == "one of the inputs" and position:
            weight[i], bias[i] = np.eye(width)[generator.integers(0, width)], 0.0
        elif fault == "difference of inputs" and position:
            first, second = generator.integers(0, width, 2)
            weight[i], bias[i] = np.eye(width)[first] - np.eye(width)[second], 0.0
        elif fault == "near":
            size = 10.0 ** -generator.integers(9, 16)
            weight[i], bias[i] = weight[j] * (1 + size * generator.integers(-3, 4)), bias[j] + size
        elif fault == "nearly parallel":
            size = 10.0 ** -generator.integers(9, 16)
            weight[i] = weight[j] + size * generator.integers(-3, 4, width)
            bias[i] = bias[j]
    return weight, bias


_FAULTS = (
    "duplicate",
    "parallel",
    "multiple",
    "zero row",
    "zero row and bias",
    "dead",
    "zero biases",
    "one of the inputs",
    "difference of inputs",
)


_NEAR = ("near", "nearly parallel", "near", "duplicate", "one of the inputs", "difference of inputs")
