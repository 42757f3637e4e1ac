"""Shrinking cases: fewer layers, units, rows and dimensions, and rounder numbers."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fuzzer.cases import (
    BoxDomain,
    Domain,
    FuzzCase,
    PointsDomain,
    PolyhedronDomain,
    SliceDomain,
    SpaceDomain,
)
from fuzzer.layers import DenseLayer, GateModule, Layer
from fuzzer.wild_scales import evened


def smaller(case: FuzzCase) -> Iterator[FuzzCase]:
    """Yield cases that are smaller than a case by one step, the largest steps first."""
    yield from _without_layers(case)
    if case.question is not None:
        for question in case.question.simpler():
            yield replace(case, question=question)
    else:  # a question has as many numbers as there are inputs or outputs
        yield from _without_dimension(case)
        yield from _without_outputs(case)
    yield from _without_units(case)
    yield from _simpler_gates(case)
    for layers in evened(case.layers):
        yield replace(case, layers=layers)
    for domain in _smaller_domains(case.domain):
        yield replace(case, domain=domain)
    yield from _rounder(case)


def _without_layers(case: FuzzCase) -> Iterator[FuzzCase]:
    layers = case.layers
    for position in range(1, len(layers) - 1, 2):
        before, gate, after = layers[position - 1], layers[position], layers[position + 1]
        assert isinstance(before, DenseLayer)
        assert isinstance(gate, GateModule)
        assert isinstance(after, DenseLayer)
        if not gate.is_max and len(layers) > 3:
            merged = DenseLayer(after.weight @ before.weight, after.weight @ before.bias + after.bias)
            yield replace(case, layers=(*layers[: position - 1], merged, *layers[position + 2 :]))


def _without_units(case: FuzzCase) -> Iterator[FuzzCase]:
    layers = case.layers
    for position in range(1, len(layers) - 1, 2):
        before, gate, after = layers[position - 1], layers[position], layers[position + 1]
        assert isinstance(before, DenseLayer)
        assert isinstance(gate, GateModule)
        assert isinstance(after, DenseLayer)
        units = len(before.bias)
        if gate.kind in ("maxpool", "pooling") or units == gate.group:
            continue
        for unit in range(gate.width(units)):
            # The values that the unit reads: itself, k neighbours, or one in each half.
            group = gate.group
            step = gate.width(units) if gate.kind == "maximum" else 1
            start = unit if gate.kind == "maximum" else unit * group
            gone = [start + step * k for k in range(group)]
            shorter = DenseLayer(np.delete(before.weight, gone, 0), np.delete(before.bias, gone))
            rest = gate
            if gate.kind == "prelu":
                rest = GateModule("prelu", ([slope for k, slope in enumerate(gate.parameters[0]) if k != unit],))
            onward = DenseLayer(np.delete(after.weight, unit, 1), after.bias)
            yield replace(case, layers=(*layers[: position - 1], shorter, rest, onward, *layers[position + 2 :]))


def _without_outputs(case: FuzzCase) -> Iterator[FuzzCase]:
    last = case.layers[-1]
    assert isinstance(last, DenseLayer)
    if len(last.bias) > 1:
        for output in range(len(last.bias)):
            shorter = DenseLayer(np.delete(last.weight, output, 0), np.delete(last.bias, output))
            yield replace(case, layers=(*case.layers[:-1], shorter))


def _without_dimension(case: FuzzCase) -> Iterator[FuzzCase]:
    """Leave out an input, or a coordinate of a slice."""
    first, domain = case.layers[0], case.domain
    assert isinstance(first, DenseLayer)
    n = case.num_inputs
    for axis in range(n):
        onto: Domain | None = None
        if isinstance(domain, SpaceDomain | BoxDomain | PolyhedronDomain) and n > 1:
            onto = _without_axis(domain, axis)
        elif isinstance(domain, SliceDomain) and n > domain.dimension:
            basis = np.delete(domain.basis, axis, 1)
            if np.linalg.matrix_rank(basis) == len(basis):
                onto = SliceDomain(np.delete(domain.origin, axis), basis, domain.window)
        elif isinstance(domain, PointsDomain) and n > domain.dimension:
            points = np.delete(domain.points, axis, 1)
            if np.linalg.matrix_rank(points[1:] - points[0]) == domain.dimension:
                onto = PointsDomain(points, domain.margin)
        if onto is not None:
            shorter = DenseLayer(np.delete(first.weight, axis, 1), first.bias)
            yield replace(case, layers=(shorter, *case.layers[1:]), domain=onto)
    if isinstance(domain, SliceDomain) and domain.dimension > 1:
        for axis in range(domain.dimension):
            window = _without_axis(domain.window, axis)
            if window is not None:
                assert isinstance(window, BoxDomain | PolyhedronDomain)
                yield replace(case, domain=SliceDomain(domain.origin, np.delete(domain.basis, axis, 0), window))


def _without_axis(domain: SpaceDomain | BoxDomain | PolyhedronDomain, axis: int) -> Domain | None:
    if isinstance(domain, SpaceDomain):
        return SpaceDomain(domain.dimension - 1)
    if isinstance(domain, BoxDomain):
        return BoxDomain(np.delete(domain.low, axis), np.delete(domain.high, axis))
    normals = np.delete(domain.normals, axis, 1)
    keep = normals.any(1)
    return PolyhedronDomain(normals[keep], domain.offsets[keep]) if keep.any() else None


def _simpler_gates(case: FuzzCase) -> Iterator[FuzzCase]:
    for position, gate in enumerate(case.layers):
        if isinstance(gate, GateModule) and gate.kind != "relu" and not gate.is_max:
            yield replace(case, layers=_replaced(case.layers, position, GateModule("relu")))


def _smaller_domains(domain: Domain) -> Iterator[Domain]:
    if isinstance(domain, PolyhedronDomain):
        for row in range(len(domain.offsets)):
            if len(domain.offsets) > 1:
                yield PolyhedronDomain(np.delete(domain.normals, row, 0), np.delete(domain.offsets, row))
        for normals in _rounded(domain.normals):
            yield PolyhedronDomain(normals, domain.offsets)
        for offsets in _rounded(domain.offsets):
            yield PolyhedronDomain(domain.normals, offsets)
    elif isinstance(domain, BoxDomain):
        if not np.isin([domain.low, domain.high], (-1.0, 0.0, 1.0)).all():
            yield BoxDomain(-np.ones(domain.dimension), np.ones(domain.dimension))
        for low in _rounded(domain.low):
            if (low < domain.high).all():
                yield BoxDomain(low, domain.high)
        for high in _rounded(domain.high):
            if (domain.low < high).all():
                yield BoxDomain(domain.low, high)
    elif isinstance(domain, SliceDomain):
        for window in _smaller_domains(domain.window):
            assert isinstance(window, BoxDomain | PolyhedronDomain)
            yield replace(domain, window=window)
        for origin in _rounded(domain.origin):
            yield replace(domain, origin=origin)
        for basis in _rounded(domain.basis):
            if np.linalg.matrix_rank(basis) == len(basis):
                yield replace(domain, basis=basis)
    elif isinstance(domain, PointsDomain):
        if domain.margin:
            yield replace(domain, margin=0.0)
        for points in _rounded(domain.points):
            if np.linalg.matrix_rank(points[1:] - points[0]) == domain.dimension:
                yield replace(domain, points=points)


def _rounder(case: FuzzCase) -> Iterator[FuzzCase]:
    for position, layer in enumerate(case.layers):
        if not isinstance(layer, DenseLayer):
            continue
        for weight in _rounded(layer.weight):
            yield replace(case, layers=_replaced(case.layers, position, DenseLayer(weight, layer.bias)))
        for bias in _rounded(layer.bias):
            yield replace(case, layers=_replaced(case.layers, position, DenseLayer(layer.weight, bias)))


def _rounded(values: np.ndarray) -> Iterator[np.ndarray]:
    """Yield arrays with rounder numbers: all of them, then one entry at a time."""
    for rounding in (np.round, _quarters, _three_digits):
        rounder = rounding(values)
        if (rounder != values).any():
            yield rounder
    for index in np.ndindex(values.shape):
        for value in (0.0, 1.0, -1.0, float(np.round(values[index])), float(_three_digits(values[index]))):
            if value == values[index]:
                break
            changed = values.copy()
            changed[index] = value
            yield changed


def _quarters(values: np.ndarray) -> np.ndarray:
    return np.round(values * 4) / 4


def _three_digits(values: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda value: float(f"{value:.3g}"), otypes=[float])(values)


def _replaced(layers: tuple[Layer, ...], position: int, layer: Layer) -> tuple[Layer, ...]:
    return (*layers[:position], layer, *layers[position + 1 :])
