"""Every operator with every kind of number that travels through a network, against rational arithmetic."""

import pkgutil
from fractions import Fraction
from functools import cache
from importlib import import_module
from inspect import getmembers, isclass
from typing import Protocol

import numpy as np
import pytest
import torch

from conformance.test_operators import loaded as of_operators
from conformance.torch_cases import CASES
from reluscope.geometry.numbers.norms import LINF
from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.networks import passes
from reluscope.networks.evaluation.enclosures import enclose
from reluscope.networks.evaluation.linearize import identity, point_pieces, weight_of_units
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.passes import maps
from reluscope.networks.passes.box_forms import BoxForms
from reluscope.networks.passes.boxes import FiniteEnds, Intervals
from reluscope.networks.passes.carry import carry, carry_to_output
from reluscope.networks.passes.combinations import COMBINATIONS, Combinations
from reluscope.networks.passes.corner_bounds import CornerBounds
from reluscope.networks.passes.forms import AffineForms, FormCarrier
from reluscope.networks.passes.magnitudes import (
    GradientMagnitudes,
    Magnitude,
    Magnitudes,
    MagnitudesOfAnyPiece,
    gradients_of_inputs,
)
from reluscope.networks.passes.maps import AffineValue, Derivatives, RoundedMaps, candidates_of, flat_entries
from reluscope.networks.passes.numbers import LIVE_NUMBERS, NUMBERS, HeldNumbers, LiveNumbers, Numbers
from reluscope.networks.passes.rounded import HeldRoundedNumbers, NumbersRoundedAlike, Rounded, RoundedNumbers
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.networks.passes.wide_numbers import Wide, WideNumbers, in_doubt, pieces_of

UNIT = 16 * 2.0**-52
TESTED = {
    Numbers,
    HeldNumbers,
    LiveNumbers,
    RoundedNumbers,
    HeldRoundedNumbers,
    NumbersRoundedAlike,
    Magnitudes,
    MagnitudesOfAnyPiece,
    GradientMagnitudes,
    Derivatives,
    RoundedMaps,
    Intervals,
    CornerBounds,
    AffineForms,
    BoxForms,
    Combinations,
    WideNumbers,
}


def test_no_carrier_is_left_out():
    modules = [import_module(f"{passes.__name__}.{one.name}") for one in pkgutil.iter_modules(passes.__path__)]
    classes = {kind for module in modules for _, kind in getmembers(module, isclass)}
    bases = {FormCarrier, *(kind for kind in classes if Protocol in kind.__bases__)}
    assert {kind for kind in classes - bases if hasattr(kind, "affine")} == TESTED


@cache
def loaded(case):
    _, network, x = of_operators(case)
    return network, RationalNetwork(network), x[:2]


def fractions(array):
    return [Fraction(float(entry)) for entry in np.asarray(array).reshape(-1)]


def entries(network, vectors):
    """Return what the gates see, unit by unit as carriers have it and None at padding, and last the output."""
    found = []
    for stage, vector in zip(network.stages, vectors, strict=False):
        if isinstance(stage.gate, Max):
            found.append([None if entry < 0 else vector[entry] for entry in stage.gate.index.flatten().tolist()])
        else:
            found.append([vector[unit] for unit in range(stage.gate.num_units)])
    return [*found, [vectors[-1][entry] for entry in range(network.num_outputs)]]


@cache
def exactly(case):
    """Return for each point what gates see and the output, in fractions."""
    network, exact, x = loaded(case)
    found = []
    for point in x:
        at = fractions(point)
        found.append(entries(network, [*exact.all_preactivations(at), exact.output(at)]))
    return found


def assert_within(values, errors, truths, scale):
    """Compare tables of one point; bounds must not be idle either."""
    pairs = zip(*(np.asarray(table).ravel().tolist() for table in (values, errors)), truths, strict=True)
    for value, error, truth in pairs:
        if truth is not None:
            assert abs(Fraction(value) - truth) <= Fraction(error)
            assert error <= 1e-9 * scale


def numbers_are_within_their_errors(case, kind):
    network, _, x = loaded(case)
    start = Rounded(x, torch.zeros_like(x[:1] if kind is NumbersRoundedAlike else x))
    arrived, plain = list(carry(network, kind(UNIT), start)), list(carry(network, NUMBERS, x))
    scale = 1.0 + max(float(one[one.isfinite()].abs().max()) for one in plain)
    for place, (seen, value) in enumerate(zip(arrived, plain, strict=True)):
        assert torch.equal(seen.value, value)
        errors = seen.error.expand(len(x), *seen.error.shape[1:])
        for row, truth in enumerate(exactly(case)):
            # Where rounding reaches a jump the bound is as large as that.
            assert_within(value[row], errors[row], truth[place], 1e10 if network.jumps else scale)


def sizes_bound_values_and_errors(case):
    network, _, x = loaded(case)
    carrier = Magnitudes(UNIT)
    values, known = {0: x}, {0: Magnitude(x.abs().amax(0, keepdim=True), torch.zeros_like(x[:1]))}
    for place, stage in enumerate(network.stages):
        pre, values = stage.advance(values)
        (size, error), known = stage.advance(known, carrier)
        for row, truth in enumerate(exactly(case)):
            assert_within(pre[row], error[0], truth[place], 1.0 + float(size.max()))
            sizes = zip(size.flatten().tolist(), truth[place], strict=True)
            assert all(one is None or abs(one) <= Fraction(most) * (1 + Fraction(1, 10**9)) for most, one in sizes)
        values = stage.close(values, pre)
        passed = stage.pass_errors(size[0].numpy(), error[0].numpy(), stage.gate.pieces(pre).numpy(), UNIT)
        largest = values[stage.position].abs().amax(0, keepdim=True)
        known[stage.position] = Magnitude(largest, passed.expand_as(largest))


def sizes_on_any_piece_bound_values_and_errors(case):
    network, _, x = loaded(case)
    start = Magnitude(x.abs(), torch.zeros_like(x))
    bounds, plain = carry(network, MagnitudesOfAnyPiece(UNIT), start), carry(network, NUMBERS, x)
    for place, (seen, values) in enumerate(zip(bounds, plain, strict=True)):
        for row, truth in enumerate(exactly(case)):
            pairs = zip(*(part[row].flatten().tolist() for part in (*seen, values)), truth[place], strict=True)
            for size, error, value, true in pairs:
                if true is not None:
                    assert abs(true) <= Fraction(size) * (1 + Fraction(1, 10**9))
                    assert abs(Fraction(value) - true) <= Fraction(error)


def maps_are_within_their_errors(case):
    network, exact, x = loaded(case)
    generator = np.random.default_rng(0)
    directions = generator.normal(size=(2, network.num_inputs))
    pieces = point_pieces(network, x[:1])
    held = [piece[0].tolist() for piece in pieces]
    zero = np.zeros(network.num_inputs)
    origin, *ends = (entries(network, exact.held(held, fractions(at))) for at in (zero, *directions))
    carrier = RoundedMaps(UNIT, has_constant=True)
    start = torch.tensor(np.concatenate([directions, zero[None]])).reshape(1, 3, *network.input_shape)
    walk = carry(network, carrier, AffineValue(start, torch.zeros_like(start)))
    plain = carry(network, Derivatives(pieces), start[:, :2])
    constants = carry(network, HeldNumbers(pieces), torch.zeros_like(x[:1]))
    for place in range(len(network.stages) + 1):
        arrived, derivatives, constant = next(walk), next(plain), next(constants)
        if place < len(network.stages):
            gate = network.stages[place].gate
            tables = [candidates_of(gate, part)[0] for part in arrived]
            derivatives = candidates_of(gate, derivatives)
            carrier.hold(pieces[place])
        else:
            tables = [flat_entries(part)[0] for part in arrived]
            derivatives = flat_entries(derivatives)
        scale = 1.0 + float(tables[0].abs().max())
        torch.testing.assert_close(tables[0][:2], derivatives[0], rtol=1e-11, atol=1e-11 * scale)
        is_real = constant[0].isfinite()
        torch.testing.assert_close(
            tables[0][2].reshape(constant[0].shape)[is_real], constant[0][is_real], rtol=1e-11, atol=1e-11 * scale
        )
        for row, end in enumerate(ends):
            truths = [None if a is None or b is None else b - a for a, b in zip(origin[place], end[place], strict=True)]
            assert_within(tables[0][row], tables[1][row], truths, scale)
        assert_within(tables[0][2], tables[1][2], origin[place], scale)


def gradients_are_within_the_errors_of_their_largest_entries(case):
    network, exact, x = loaded(case)
    pieces, every = point_pieces(network, x[:1]), slice(0, network.num_inputs)
    held = [piece[0].tolist() for piece in pieces]
    carrier = GradientMagnitudes(UNIT)
    walk = carry(network, carrier, gradients_of_inputs(1, network.input_shape, network.device))
    derivatives = carry(network, Derivatives(pieces), identity(network, every))
    inputs = np.unique(np.linspace(0, network.num_inputs - 1, 3).astype(int)).tolist()
    units = np.eye(network.num_inputs)
    origin, *ends = (
        entries(network, exact.held(held, fractions(at))) for at in (0 * units[0], *(units[i] for i in inputs))
    )
    for place, stage in enumerate([*network.stages, None]):
        arrived, flat = next(walk), next(derivatives)
        weight = flat_entries(flat).mT if stage is None else weight_of_units(stage.gate, flat, 1)
        largest = weight.abs().amax(-1)
        if stage is not None:
            carrier.hold(pieces[place], largest)
        for column, end in zip(inputs, ends, strict=True):
            truths = [None if a is None or b is None else b - a for a, b in zip(origin[place], end[place], strict=True)]
            assert_within(weight[0, ..., column], arrived.error[0], truths, 1.0 + float(largest.max()))


def intervals_hold_rational_values(case):
    network, exact, x = loaded(case)
    low, high = x[:1] - 0.25, x[:1] + 0.25
    arrived = list(carry(network, Intervals(ANY_ORDER), FiniteEnds(low, high)))
    inside = low + (high - low) * torch.rand(
        x[:1].shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1)
    )
    for point in (low, inside.clamp(low, high)):
        at = fractions(point)
        truth = entries(network, [*exact.all_preactivations(at), exact.output(at)])
        for ends, values in zip(arrived, truth, strict=True):
            for least, value, most in zip(
                *(ends.low.flatten().tolist(), values, ends.high.flatten().tolist()), strict=True
            ):
                assert value is None or Fraction(least) <= value <= Fraction(most)


def bounds_at_corners_hold_rational_values(case):
    network, exact, x = loaded(case)
    generator = torch.Generator().manual_seed(2)
    corners = x[:1] + 0.5 * torch.rand((6, *x.shape[1:]), dtype=torch.float64, generator=generator) - 0.25
    carrier = CornerBounds(np.array([0, 3, 6]), ANY_ORDER)
    arrived = list(carry(network, carrier, carrier.start(corners, torch.zeros_like(corners))))
    shares = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    for cell in (0, 1):
        rows = [3 * cell + corner for corner in range(3)]
        points = [fractions(corners[row]) for row in rows]
        at = [sum(share * entry for share, entry in zip(shares, one, strict=True)) for one in zip(*points, strict=True)]
        truth = entries(network, [*exact.all_preactivations(at), exact.output(at)])
        for bound, values in zip(arrived, truth, strict=True):
            middle, half = (part[rows].reshape(3, -1).T.tolist() for part in (bound.center, bound.radius))
            ends = zip(*(end[cell].flatten().tolist() for end in bound.ends), strict=True)
            for value, center, radius, (least, most) in zip(values, middle, half, ends, strict=True):
                if value is None:
                    continue
                assert Fraction(least) <= value <= Fraction(most)
                away = value - sum(share * Fraction(one) for share, one in zip(shares, center, strict=True))
                assert abs(away) <= sum(share * Fraction(one) for share, one in zip(shares, radius, strict=True))


def affine_forms_hold_rational_values(case):
    network, exact, x = loaded(case)
    dim = network.num_inputs
    endless = np.full(dim, np.inf)
    steps = CutBall(0.05, LINF, -endless, endless)
    ranges = [(np.zeros(one.num_units, dtype=int), np.full(one.num_units, one.num_pieces - 1)) for one in network.gates]
    point = x[0].reshape(-1).numpy()
    found = enclose(network, point, steps, *zip(*ranges, strict=True) if ranges else ((), ()), rounding=UNIT)
    assert not found.is_empty
    assert found.outputs is not None
    forms = found.outputs
    reach = np.abs(forms.weights).sum(axis=1) * 0.05 + forms.spread + forms.errors
    for seed in range(2):
        step = 0.05 * np.random.default_rng(seed).uniform(-1, 1, dim)
        moved = point + step
        truth = [exact.output(fractions(moved))[entry] for entry in range(network.num_outputs)]
        middle = forms.centers + forms.weights @ (moved - point)
        slack = forms.spread + forms.errors + 1e-13 * (np.abs(forms.centers) + np.abs(forms.weights).sum(axis=1))
        for value, low, high, all_low, all_high in zip(
            truth, middle - slack, middle + slack, forms.centers - reach, forms.centers + reach, strict=True
        ):
            assert Fraction(low) <= value <= Fraction(high)
            assert Fraction(all_low) - Fraction(1, 10**12) <= value <= Fraction(all_high) + Fraction(1, 10**12)


def forms_over_boxes_hold_rational_values(case):
    network, exact, x = loaded(case)
    if any(isinstance(stage.gate, Max) for stage in network.stages):
        return
    dim = network.num_inputs
    carrier = BoxForms(x, torch.full((len(x), dim), 0.05, dtype=torch.float64), UNIT)
    value = carry_to_output(network, carrier, carrier.start)
    columns = carrier.widened(value.columns).reshape(len(x), carrier.count, -1).numpy()
    for row, point in enumerate(x.reshape(len(x), -1).numpy()):
        moved = point + 0.05 * np.random.default_rng(row).uniform(-0.99, 0.99, dim)
        truth = [exact.output(fractions(moved))[entry] for entry in range(network.num_outputs)]
        center, table = value.center[row].reshape(-1).numpy(), columns[row]
        middle = center + (moved - point) @ table[:dim]
        spread = np.abs(table[dim:]).sum(axis=0) + value.error[row].reshape(-1).numpy()
        slack = spread + 1e-13 * (np.abs(center) + np.abs(table[:dim]).sum(axis=0))
        for one, low, high in zip(truth, middle - slack, middle + slack, strict=True):
            assert Fraction(low) <= one <= Fraction(high)


def held_numbers_are_those_of_the_points_on_their_own_pieces(case):
    network, _, x = loaded(case)
    pieces = point_pieces(network, x)
    assert torch.equal(carry_to_output(network, HeldNumbers(pieces), x), network(x))
    for stage, piece in zip(network.stages, pieces, strict=True):
        assert isinstance(stage.gate, Pointwise | Max)
        assert piece.shape == (2, stage.gate.num_units)


def live_numbers_are_those_of_the_points(case):
    network, _, x = loaded(case)
    for seen, plain in zip(carry(network, LIVE_NUMBERS, x), carry(network, NUMBERS, x), strict=True):
        torch.testing.assert_close(seen, plain, rtol=1e-12, atol=1e-12)


def combinations_of_rows_are_within_the_errors_of_points(case):
    """Row 0 is one point, row 1 what leads to the other; behind a gate rows are made again."""
    network, _, x = loaded(case)
    shares = torch.tensor([[1.0, 0.0], [1.0, 1.0]]).double()
    sums, rows = {0: x}, {0: torch.stack([x[0], x[1] - x[0]])}
    for place, stage in enumerate(network.stages):
        pre, sums = stage.advance(sums)
        arrived, rows = stage.advance(rows, COMBINATIONS)
        seen = candidates_of(stage.gate, shares @ arrived)
        for row, truth in enumerate(exactly(case)):
            assert_within(seen[row], torch.full_like(seen[row], 1e-10 * scale_of(seen)), truth[place], scale_of(seen))
        sums = stage.close(sums, pre)
        given = sums[stage.position]
        rows[stage.position] = torch.stack([given[0], given[1] - given[0]])
    output = shares @ network.finish(rows, COMBINATIONS).reshape(2, -1)
    for row, truth in enumerate(exactly(case)):
        assert_within(output[row], torch.full_like(output[row], 1e-10 * scale_of(output)), truth[-1], scale_of(output))


def scale_of(values):
    return 1.0 + float(values.abs().max())


def wide_numbers_are_within_their_small_errors(case):
    network, _, x = loaded(case)
    arrived, plain = list(carry(network, WideNumbers(), Wide.exactly(x))), list(carry(network, NUMBERS, x))
    scale = 1.0 + max(float(one[one.isfinite()].abs().max()) for one in plain)
    for place, seen in enumerate(arrived):
        for row, truth in enumerate(exactly(case)):
            for high, low, error, true in zip(
                *(part[row].flatten().tolist() for part in seen), truth[place], strict=True
            ):
                if true is not None:
                    assert abs(Fraction(high) + Fraction(low) - true) <= Fraction(error)
                    assert error <= (1e10 if network.jumps else 1e-27 * scale)
    for stage, seen, value in zip(network.stages, arrived, plain, strict=False):
        gate = stage.gate
        same = (pieces_of(gate, seen) == gate.pieces(value)).all(1)
        assert bool((same | in_doubt(gate, seen) | ((value - seen.high).abs() > 0).flatten(1).any(1)).all())


@pytest.mark.few(50)
@pytest.mark.few(12)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_maps_that_are_computed_row_after_row_are_within_their_errors_too(case, monkeypatch):
    monkeypatch.setattr(maps, "ROWS_TOGETHER", 1)
    maps_are_within_their_errors(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_carrier_passes_every_operator(case):
    for kind in (RoundedNumbers, HeldRoundedNumbers, NumbersRoundedAlike):
        numbers_are_within_their_errors(case, kind)
    sizes_bound_values_and_errors(case)
    maps_are_within_their_errors(case)
    gradients_are_within_the_errors_of_their_largest_entries(case)
    intervals_hold_rational_values(case)
    if not loaded(case)[0].jumps:  # their callers refuse networks that jump
        sizes_on_any_piece_bound_values_and_errors(case)
        bounds_at_corners_hold_rational_values(case)
        affine_forms_hold_rational_values(case)
        forms_over_boxes_hold_rational_values(case)
    held_numbers_are_those_of_the_points_on_their_own_pieces(case)
    live_numbers_are_those_of_the_points(case)
    combinations_of_rows_are_within_the_errors_of_points(case)
    wide_numbers_are_within_their_small_errors(case)
