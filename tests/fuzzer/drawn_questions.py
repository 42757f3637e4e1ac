"""Cases with a question: networks on boxes of any size and place, mostly with what rounding makes difficult.

Networks are those of the other cases, or built for a difficulty: tents much narrower than the domain, slopes that
cancel, a change of class just beside a kink, outputs that are constant. Questions begin at an output that the network
has at some point, moved by nothing, by one unit in the last place, or by more.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.random import Generator

from fuzzer import true_answers as answers
from fuzzer.cases import BoxDomain, FuzzCase
from fuzzer.drawn_cases import Inside, draw_gate, draw_layers
from fuzzer.layers import DenseLayer, GateModule, Layer, exact_layers
from fuzzer.questions import Direction, Level, Loop, Point, Target, WholePartition
from fuzzer.truth import TrueDomain, Truth

CONTINUOUS = ("leaky", "abs", "hardtanh", "relu6", "clamp", "maxout", "maximum", "prelu")
LEAST_LEVEL = 1e-100  # networks with smaller constants are refused
ENDS = ("", "", "", "Sigmoid", "Tanh", "Softmax")


def draw_asked(kind: str, generator: Generator) -> FuzzCase:
    """Draw a case of a kind of question."""
    dimension = int(generator.choice(_DIMENSIONS[kind]))
    box = _draw_box(generator, dimension)
    layers = _draw_network(generator, box, small=kind in ("loops", "levels"))
    return _QUESTIONS[kind](generator, kind, layers, box)


_DIMENSIONS = {
    "properties": (1, 1, 2, 2, 3),
    "distances": (1, 1, 1, 2, 2, 3),
    "images": (1, 1, 2, 2),
    "loops": (1, 1, 2),
    "preimages": (1, 1, 2, 2, 3),
    "merges": (1, 1, 2),
    "levels": (1, 2, 2, 3),
    "boundaries": (1, 2, 2),
}


def _draw_box(generator: Generator, dimension: int) -> BoxDomain:
    """Draw a box of half-width 1e-8 to 1e12, anywhere up to 1e12 from zero, or an ordinary one."""
    style = str(generator.choice(["unit", "unit", "dyadic", "size", "offset", "offset", "lengths"]))
    if style == "unit":
        return BoxDomain(-np.ones(dimension), np.ones(dimension))
    low = generator.integers(-8, 4, dimension) / 4
    high = low + generator.integers(1, 13, dimension) / 4
    if style == "dyadic":
        return BoxDomain(low, high)
    if style == "size":
        half = 10.0 ** generator.uniform(-8, 12)
        return BoxDomain(low * half, high * half)
    if style == "lengths":
        sizes = 10.0 ** generator.uniform(-6, 6, dimension)
        return BoxDomain(low * sizes, high * sizes)
    middle = np.round(10.0 ** generator.uniform(0, 12) * generator.choice([-1.0, 1.0], dimension), 1)
    half = np.abs(middle).max() * 10.0 ** generator.uniform(-12, 0)
    box = BoxDomain(middle + low * half, middle + high * half)
    return box if (box.low < box.high).all() else BoxDomain(middle - 1.0, middle + 1.0)


def _inside(generator: Generator, box: BoxDomain) -> Inside:
    return lambda: box.low + (box.high - box.low) * generator.integers(0, 9, box.dimension) / 8


# -- networks --------------------------------------------------------------------------------------------------------


def _draw_network(generator: Generator, box: BoxDomain, *, small: bool) -> tuple[Layer, ...]:
    manner = str(generator.choice(_MANNERS))
    if manner in _BUILT:
        return _BUILT[manner](generator, box)
    depth = int(generator.choice([1, 1, 2]))
    gates = [GateModule("relu")] * depth
    if generator.random() < 0.3:
        gates = [draw_gate(generator, CONTINUOUS) for _ in range(depth)]
    inside = _inside(generator, box)
    layers = draw_layers(generator, inside, gates, most=int(generator.choice([2, 3, 4] if small else [2, 4, 5])))
    if manner == "scaled":
        layers[0] = _in_units_of(layers[0], box, inside())
    return tuple(layers)


def _in_units_of(layer: Layer, box: BoxDomain, point: np.ndarray) -> DenseLayer:
    """Return a first layer whose values are of ordinary size on a box."""
    assert isinstance(layer, DenseLayer)
    weight = layer.weight / ((box.high - box.low) / 2)
    return DenseLayer(
        weight, np.round(layer.bias * 4) / 4 - weight @ point if np.abs(layer.bias).max() < 1e6 else layer.bias
    )


def _coordinate(generator: Generator, box: BoxDomain) -> tuple[np.ndarray, float]:
    """Return a row and a bias: a coordinate, or a direction, that is about from -1 to 1 on a box."""
    middle, half = (box.low + box.high) / 2, (box.high - box.low) / 2
    row = np.zeros(box.dimension)
    row[int(generator.integers(0, box.dimension))] = 1.0
    if generator.random() < 0.4:
        row = row + generator.integers(0, 3, box.dimension) / 2
    if generator.random() < 0.7:
        row = row / half
    return row, float(-(row @ middle))


def _tents(generator: Generator, box: BoxDomain) -> tuple[Layer, ...]:
    """Return tents of height 1 over a coordinate, as narrow as 1e-12 of the domain, less a level."""
    row, bias = _coordinate(generator, box)
    extent = float(np.abs(row) @ (box.high - box.low) / 2)
    number = int(generator.choice([1, 1, 2, 5]))
    width = 10.0 ** generator.uniform(-12, -0.5) * extent
    places = generator.uniform(-0.9, 0.9, number) * extent
    kinks = np.concatenate([[place - width, place, place + width] for place in places])
    first = DenseLayer(np.tile(row, (3 * number, 1)), bias - kinks)
    steep = np.tile([1 / width, -2 / width, 1 / width], number)
    level = float(generator.choice([0.5, 0.25, 0.0, 1.0, 1.0 - 1e-9]))
    return (first, GateModule("relu"), DenseLayer(steep[None], np.array([-level])))


def _beside_a_kink(generator: Generator, box: BoxDomain) -> tuple[Layer, ...]:
    """Return ``relu(h) - t``: the class changes within t of the kink, and what is beyond is constant."""
    row, bias = _coordinate(generator, box)
    extent = float(np.abs(row) @ (box.high - box.low) / 2)
    gap = 10.0 ** generator.uniform(-14, -1) * extent
    return (
        DenseLayer(row[None], np.array([bias - generator.uniform(-0.8, 0.8) * extent])),
        GateModule("relu"),
        DenseLayer(np.ones((1, 1)), np.array([-gap])),
    )


def _cancelling(generator: Generator, box: BoxDomain) -> tuple[Layer, ...]:
    """Return ``relu(s h - s h' + e h - e t) / e + h``, with two copies h, h' and e far below the rounding of s h."""
    row, bias = _coordinate(generator, box)
    extent = float(np.abs(row) @ (box.high - box.low) / 2)
    large = float(generator.choice([1.0, 1.0, 1e8]))
    small = float(generator.choice([1e-17, 1e-15, 1e-14, 1e-9])) * large
    lift = float(generator.choice([2.0, 0.0]) * extent)
    kink = lift + float(generator.uniform(-0.5, 0.9)) * extent
    second = np.array([[large, -large, small], [0.0, 0.0, 1.0]])
    return (
        DenseLayer(np.tile(row, (3, 1)), np.full(3, bias + lift)),
        GateModule("relu"),
        DenseLayer(second, np.array([-small * kink, 0.0])),
        GateModule("relu"),
        DenseLayer(np.array([[1 / small, float(generator.integers(0, 2))]]), np.array([-0.25 * extent])),
    )


def _tied_slopes(generator: Generator, box: BoxDomain) -> tuple[Layer, ...]:
    """Return two outputs ``s h + e h'`` and ``s h + e t``, of which rounding makes one."""
    row, bias = _coordinate(generator, box)
    extent = float(np.abs(row) @ (box.high - box.low) / 2)
    large, small = float(generator.choice([1.0, 1e8])), 10.0 ** float(generator.uniform(-17, -3))
    bound = float(extent)
    last = np.array([[large, small], [large, 0.0]])
    return (
        DenseLayer(np.tile(row, (2, 1)), np.full(2, bias)),
        GateModule("clamp", (-bound, bound)),
        DenseLayer(last, np.array([0.0, small * float(generator.uniform(-0.9, 0.9)) * extent])),
    )


def _constant(generator: Generator, box: BoxDomain) -> tuple[Layer, ...]:
    """Return outputs that do not depend on the input, or a ReLU behind a large offset."""
    row, bias = _coordinate(generator, box)
    outputs = int(generator.integers(1, 3))
    weight = np.zeros((outputs, 1)) if generator.random() < 0.6 else np.ones((outputs, 1))
    offset = generator.choice([2.0, -2.0, 1e9, 0.1, 5e-10], outputs)
    return (DenseLayer(row[None], np.array([bias])), GateModule("relu"), DenseLayer(weight, offset))


_BUILT: dict[str, Callable[[Generator, BoxDomain], tuple[Layer, ...]]] = {
    "tents": _tents,
    "beside": _beside_a_kink,
    "cancelling": _cancelling,
    "tied": _tied_slopes,
    "constant": _constant,
}
_MANNERS = ("drawn", "drawn", "drawn", "scaled", "scaled", "scaled", *_BUILT)


# -- questions -------------------------------------------------------------------------------------------------------


def _values(layers: Sequence[Layer], point: np.ndarray) -> np.ndarray:
    """Return the outputs at a point, rounded once."""
    exact = [Fraction(float(entry)) for entry in point]
    embedding = tuple((Fraction(0), entry) for entry in exact)
    interval = TrueDomain(1, ((Fraction(1), Fraction(0)), (Fraction(-1), Fraction(1))), embedding)
    truth = Truth(exact_layers(layers, len(point)), interval)
    return np.array([float(value) for value in answers.value_at(truth, [Fraction(0)])])


def _moved(generator: Generator, value: float, scale: float) -> float:
    """Return a number at or near another one: equal, one unit in the last place off, or more."""
    sign = float(generator.choice([-1.0, 1.0]))
    manner = str(generator.choice(["equal", "ulp", "tiny", "small", "large", "large"]))
    return {
        "equal": value,
        "ulp": float(np.nextafter(value, sign * np.inf)),
        "tiny": value + sign * 10.0 ** generator.uniform(-15, -9) * (abs(value) or scale),
        "small": value + sign * 10.0 ** generator.uniform(-8, -3) * scale,
        "large": value + sign * float(generator.uniform(0, 0.5)) * scale,
    }[manner]


def _spread(generator: Generator, layers: Sequence[Layer], box: BoxDomain) -> tuple[np.ndarray, np.ndarray]:
    """Return outputs (3, m) at random points, and how much each output ranges over them."""
    inside = _inside(generator, box)
    values = np.array([_values(layers, inside()) for _ in range(3)])
    ranges = np.ptp(values, axis=0)
    return values, np.where(ranges > 0, ranges, np.maximum(np.abs(values).max(0), 1e-12))


def _regions(generator: Generator) -> int | None:
    return int(generator.integers(1, 5)) if generator.random() < 0.15 else None


def _target(generator: Generator, kind: str, layers: tuple[Layer, ...], box: BoxDomain) -> FuzzCase:
    values, ranges = _spread(generator, layers, box)
    outputs = values.shape[1]
    end = str(generator.choice(ENDS)) if kind == "properties" and generator.random() < 0.3 else ""
    rows, offsets = [], []
    for _ in range(int(generator.choice([1, 1, 2]))):
        row = np.zeros(outputs)
        row[int(generator.integers(0, outputs))] = float(generator.choice([-1.0, 1.0]))
        if generator.random() < 0.3 and outputs > 1:
            first, second = generator.permutation(outputs)[:2]
            row[:] = 0.0
            row[first], row[second] = 1.0, -1.0
        value = float(row @ values[int(generator.integers(0, 3))])
        rows.append(row)
        offsets.append(_moved(generator, value, float(np.abs(row) @ ranges)))
    if end:
        return FuzzCase(kind, layers, box, _ended_target(generator, end, values), end)
    return FuzzCase(kind, layers, box, Target(np.array(rows) + 0.0, np.array(offsets) + 0.0, _regions(generator)))


def _ended_target(generator: Generator, end: str, values: np.ndarray) -> Target:
    """Return a threshold on one output behind a sigmoid or tanh, or the order of two behind a softmax."""
    outputs = values.shape[1]
    row, sign = np.zeros(outputs), float(generator.choice([-1.0, 1.0]))
    chosen = int(generator.integers(0, outputs))
    if end == "Softmax":
        row[chosen] = sign
        if outputs > 1:
            row[(chosen + 1) % outputs] = -sign
        return Target(
            row[None], np.zeros(1) if outputs > 1 else np.array([sign * float(generator.choice([0.5, 1.0, 1.5]))])
        )
    row[chosen] = sign
    value = float(values[int(generator.integers(0, 3)), chosen])
    bent = float(np.tanh(value)) if end == "Tanh" else float(0.5 + 0.5 * np.tanh(value / 2))
    level = float(generator.choice([bent, 0.5, 0.95, bent + 0.01, 0.0, 1.0, 1.5]))
    return Target(row[None], np.array([sign * level]))


def _point(generator: Generator, kind: str, layers: tuple[Layer, ...], box: BoxDomain) -> FuzzCase:
    share = generator.uniform(0.05, 0.95, box.dimension) if generator.random() < 0.8 else generator.integers(1, 8) / 8
    point = box.low + (box.high - box.low) * share
    norm = str(generator.choice(["l1", "l2", "linf"]))
    return FuzzCase(kind, layers, box, Point(point, norm, bool(generator.random() < 0.6)))


def _direction(generator: Generator, kind: str, layers: tuple[Layer, ...], box: BoxDomain) -> FuzzCase:
    last = layers[-1]
    assert isinstance(last, DenseLayer)
    direction = generator.integers(-2, 3, len(last.bias)).astype(float)
    if not direction.any():
        direction[0] = 1.0
    return FuzzCase(kind, layers, box, Direction(direction, _regions(generator)))


def _loop(generator: Generator, kind: str, layers: tuple[Layer, ...], box: BoxDomain) -> FuzzCase:
    last = layers[-1]
    assert isinstance(last, DenseLayer)
    n, outputs = box.dimension, len(last.bias)
    matrix = generator.integers(-4, 5, (n, n)) / 4
    control = generator.integers(-2, 3, (n, outputs)) / 4
    shift = generator.integers(-2, 3, n) / 2 * float(generator.integers(0, 2))
    direction = np.eye(n)[int(generator.integers(0, n))] * float(generator.choice([-1.0, 1.0])) + 0.0
    point = _inside(generator, box)()
    state = matrix @ point + control @ _values(layers, point) + shift
    end = _moved(generator, float(direction @ state), float(np.abs(state).max()) or 1.0)
    return FuzzCase(
        kind, layers, box, Loop(matrix, control, shift, int(generator.choice([1, 1, 2, 3])), direction, end)
    )


def _level(generator: Generator, kind: str, layers: tuple[Layer, ...], box: BoxDomain) -> FuzzCase:
    values, ranges = _spread(generator, layers, box)
    output = int(generator.integers(0, values.shape[1]))
    level = float(generator.choice([0.0, _moved(generator, float(values[0, output]), float(ranges[output]))]))
    level = level if abs(level) > LEAST_LEVEL else 0.0
    return FuzzCase(kind, layers, box, Level(output, level, _regions(generator)))


def _whole(generator: Generator, kind: str, layers: tuple[Layer, ...], box: BoxDomain) -> FuzzCase:
    error = 0.0 if generator.random() < 0.7 else 10.0 ** float(generator.uniform(-3, 0))
    return FuzzCase(kind, layers, box, WholePartition(_regions(generator), error))


_QUESTIONS: dict[str, Callable[[Generator, str, tuple[Layer, ...], BoxDomain], FuzzCase]] = {
    "properties": _target,
    "distances": _point,
    "images": _direction,
    "loops": _loop,
    "preimages": _target,
    "merges": _whole,
    "levels": _level,
    "boundaries": _whole,
}
ASKED = tuple(_QUESTIONS)
