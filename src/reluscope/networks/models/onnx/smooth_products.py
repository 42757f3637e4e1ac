"""GELU, SiLU and softplus as exporters write them, node by node: ``x * 0.5 * (1 + erf(x / sqrt(2)))`` and its like.

Nodes that work entry by entry are read as sums of powers of one tensor x, each times at most one erf, tanh, sigmoid
or softplus of a polynomial in x. What comes out as one of the known functions is that function, but for the digits of
its constants, of which the distance is bounded.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import NodeProto

from reluscope.geometry.numbers.resolutions import OUTWARD

# Relative to a constant of a file: what rounding makes of it in double precision.
_ROUNDED = 1e-15
# By how much the constants of a file may be off: they are kept in single precision.
CLOSE = 1e-6
_ERF, _LINEAR, _CUBIC = 1 / math.sqrt(2), math.sqrt(2 / math.pi), math.sqrt(2 / math.pi) * 0.044715
_ATOMS = {"Erf": "erf", "Tanh": "tanh", "Sigmoid": "sigmoid", "Exp": "exp", "Softplus": "softplus"}
_SAME = {"Identity", "Cast"}
_ELEMENTWISE = {"Add", "Sub", "Mul", "Div", "Neg", "Pow", *_ATOMS, *_SAME}

Polynomial = tuple[tuple[int, float], ...]
Atom = tuple[str, Polynomial] | None
# Coefficients by the power of x and what it is multiplied by.
Sum = dict[tuple[int, Atom], float]


@dataclass(frozen=True)
class SmoothProduct:
    """A smooth function of one tensor, spread over several nodes: ``f(scale x) / scale``."""

    function: str  # "gelu", "gelu_by_tanh", "silu" or "softplus"
    source: str  # the tensor that it is a function of
    result: str  # the tensor that it gives
    scale: float
    beyond: float  # largest distance from the function of that name
    inside: frozenset[str]  # the tensors on the way


def smooth_products(
    nodes: Sequence[NodeProto], constants: Mapping[str, np.ndarray], outputs: Collection[str]
) -> list[SmoothProduct]:
    """Return the smooth functions that are written as products of nodes.

    ``outputs`` are tensors that are read from outside.
    """
    makers = {node.output[0]: node for node in nodes if node.output}
    readers: dict[str, set[str]] = {}
    for node in nodes:
        for name in node.input:
            readers.setdefault(name, set()).add(node.output[0] if node.output else "")
    found: list[SmoothProduct] = []
    taken: set[str] = set()
    for node in reversed(nodes):
        if node.op_type not in ("Mul", "Div", "Where") or node.domain or node.output[0] in taken:
            continue
        reading = _Reading(makers, constants)
        for source in reading.sources(node.output[0]):
            product = reading.product(source, node.output[0])
            if product is None:
                continue
            whole = product.inside | {product.result}
            if all(readers.get(name, set()) <= whole and name not in outputs for name in product.inside):
                found.append(product)
                taken |= whole
                break
    return found


@dataclass(frozen=True)
class _Reading:
    """Nodes that work entry by entry, read as sums."""

    makers: Mapping[str, NodeProto]
    constants: Mapping[str, np.ndarray]

    def sources(self, result: str) -> Iterator[str]:
        """Yield the tensors that a result may be a function of, the farthest first."""
        order: list[str] = []
        stack = [result]
        while stack:
            name = stack.pop()
            if name in self.constants or name in order:
                continue
            order.append(name)
            stack += self._inputs(name)
        yield from (name for name in reversed(order) if name != result)

    def product(self, source: str, result: str) -> SmoothProduct | None:
        """Return the smooth function that a result is of a source, None if it is none that is known."""
        known: dict[str, Sum | None] = {source: {(1, None): 1.0}}
        if self.makers[result].op_type == "Where":
            match = self._softplus(self.makers[result], source, known)
        else:
            total = self._sum(result, known)
            match = None if total is None else _known(total)
        if match is None:
            return None
        inside = frozenset(name for name, one in known.items() if one is not None) - {source, result}
        return SmoothProduct(match[0], source, result, match[1], match[2], inside - self.constants.keys())

    def _softplus(self, node: NodeProto, source: str, known: dict[str, Sum | None]) -> tuple[str, float, float] | None:
        """Return softplus where a choice has x itself in its place above a threshold, as PyTorch has it."""
        condition, above, below = node.input
        compared = self.makers.get(condition)
        if compared is None or compared.op_type != "Greater" or above != source:
            return None
        total, value, level = (self._sum(name, known) for name in (below, *compared.input))
        if not total or len(total) != 1 or not value or value.keys() != {(1, None)} or not level:
            return None
        (((power, atom), factor),) = total.items()
        if (
            power
            or atom is None
            or atom[0] != "softplus"
            or [p for p, _ in atom[1]] != [1]
            or level.keys() != {(0, None)}
        ):
            return None
        scale, reach = atom[1][0][1], level[0, None] / value[1, None]
        if not scale > 0 or not value[1, None] > 0 or not reach > 0 or abs(factor * scale - 1) > _ROUNDED:
            return None
        known[condition] = {}
        return "softplus", scale, math.log1p(math.exp(-reach * scale)) * OUTWARD

    def _inputs(self, name: str) -> list[str]:
        """Return what a tensor is made of, entry by entry; nothing if it is made otherwise."""
        node = self.makers.get(name)
        if node is None or node.op_type not in _ELEMENTWISE | {"Where", "Greater"} or node.domain:
            return []
        wide = any(one in self.constants and np.size(self.constants[one]) != 1 for one in node.input)
        return [] if wide else list(node.input)

    def _sum(self, name: str, known: dict[str, Sum | None]) -> Sum | None:
        if name in known:
            return known[name]
        known[name] = None
        inputs = self._inputs(name)
        if name in self.constants and np.size(self.constants[name]) == 1:
            known[name] = {(0, None): float(np.asarray(self.constants[name]).item())}
        elif inputs and self.makers[name].op_type in _ELEMENTWISE:
            parts = [self._sum(one, known) for one in inputs]
            if all(part is not None for part in parts):
                known[name] = _combined(self.makers[name].op_type, parts)  # pyright: ignore[reportArgumentType]
        return known[name]


def _combined(operator: str, parts: Sequence[Sum]) -> Sum | None:
    """Return what an operator makes of sums, None if that is no sum."""
    first, second = parts[0], parts[-1]
    if operator in _SAME:
        return first
    if operator in _ATOMS:
        inner = _polynomial(first)
        return None if inner is None else {(0, (_ATOMS[operator], inner)): 1.0}
    if operator == "Neg":
        return _times(first, {(0, None): -1.0})
    if operator in ("Add", "Sub"):
        return _plus(first, second if operator == "Add" else _times(second, {(0, None): -1.0}) or {})
    if operator == "Mul":
        return _times(first, second)
    number = second.get((0, None)) if len(second) == 1 else None
    if operator == "Div":
        if number:
            return {key: value / number for key, value in first.items()}
        return _over_one_plus_exp(first, second)
    if number not in (1.0, 2.0, 3.0):
        return None
    power: Sum | None = first
    for _ in range(int(number) - 1):
        power = None if power is None else _times(power, first)
    return power


def _over_one_plus_exp(first: Sum, second: Sum) -> Sum | None:
    """Return ``first / (1 + exp(q))``, which is ``first`` times the sigmoid of -q."""
    atoms = [atom for _, atom in second if atom is not None]
    if len(atoms) != 1 or atoms[0][0] != "exp" or second != {(0, None): 1.0, (0, atoms[0]): 1.0}:
        return None
    turned = tuple((power, -value) for power, value in atoms[0][1])
    return _times(first, {(0, ("sigmoid", turned)): 1.0})


def _plus(first: Sum, second: Sum) -> Sum:
    total = dict(first)
    for key, value in second.items():
        total[key] = total.get(key, 0.0) + value
    return {key: value for key, value in total.items() if value}


def _times(first: Sum, second: Sum) -> Sum | None:
    """Return a product, None where both have more than powers."""
    total: Sum = {}
    for (power, atom), value in first.items():
        for (other, factor), number in second.items():
            if atom is not None and factor is not None:
                return None
            total = _plus(total, {(power + other, atom or factor): value * number})
    return total


def _polynomial(one: Sum) -> Polynomial | None:
    if any(atom is not None for _, atom in one):
        return None
    return tuple(sorted((power, value) for (power, _), value in one.items()))


def _known(total: Sum) -> tuple[str, float, float] | None:
    """Return a function's name, its scale and how far it is from the function of that name, at most."""
    atoms = {atom for _, atom in total if atom is not None}
    if len(atoms) != 1:
        return None
    ((name, inner),) = atoms  # pyright: ignore[reportGeneralTypeIssues]
    values = dict(inner)
    halves: Sum = {(1, None): 0.5, (1, (name, inner)): 0.5}
    if name == "sigmoid" and total == {(1, (name, inner)): 1.0} and values.keys() == {1} and values[1] > 0:
        return "silu", values[1], 0.0
    if total != halves:
        return None
    if name == "tanh" and values.keys() == {1} and values[1] > 0:
        return "silu", 2 * values[1], 0.0
    forms: dict[str, Callable[[dict[int, float]], float | None]] = {"erf": _erf_beyond, "tanh": _tanh_beyond}
    beyond = forms[name](values) if name in forms else None
    return None if beyond is None else ({"erf": "gelu", "tanh": "gelu_by_tanh"}[name], 1.0, beyond)


def _erf_beyond(values: dict[int, float]) -> float | None:
    """Bound ``|x| / 2 |erf(a x) - erf(x / sqrt(2))|``: the derivative in a is ``2 x exp(-(a x)^2) / sqrt(pi)``."""
    if values.keys() != {1} or abs(values[1] / _ERF - 1) > CLOSE:
        return None
    least = min(values[1], _ERF)
    # x^2 exp(-(a x)^2) is at most 1 / (e a^2); the last terms are what the constants here are rounded by.
    return (abs(values[1] - _ERF) + _ROUNDED) / (math.sqrt(math.pi) * math.e * least**2) * OUTWARD


def _tanh_beyond(values: dict[int, float]) -> float | None:
    """Bound ``|x| / 2 |tanh(p(x)) - tanh(q(x))|`` for polynomials whose coefficients differ by a share of them."""
    if values.keys() != {1, 3}:
        return None
    share = max(abs(values[1] / _LINEAR - 1), abs(values[3] / _CUBIC - 1)) + _ROUNDED
    # |p - q| <= share q, sech^2 falls, t^2 sech^2(t) is at most 0.44, and |x| <= q / sqrt(2 / pi).
    return 0.5 * share * 0.44 / (_LINEAR * (1 - share) ** 2) if share <= CLOSE else None
