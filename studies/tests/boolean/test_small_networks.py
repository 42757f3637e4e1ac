"""Constructions on every input, exactly, and by the modules themselves; nothing smaller than is possible."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.errors import InputError
from reluscope.findings import Claim
from reluscope_studies.boolean import (
    BooleanFunction,
    all_inputs,
    by_depth,
    by_search,
    by_width,
    npn_classes,
    parity_network,
    small_direction,
    smallest_known,
    swaps,
    wrong_inputs,
)
from reluscope_studies.boolean.constructions import _through

SOME = [*[function for function, _ in npn_classes(4)][5::20], BooleanFunction(4, 1785), BooleanFunction(4, 7140)]
HARD = BooleanFunction(5, 1431987862)


def assert_right(function, construction):
    """Evaluate the module in float64, at inputs and shortly beside them, where the sign may not change."""
    x = torch.tensor(all_inputs(function.num_inputs), dtype=torch.float64)
    with torch.no_grad():
        output = construction.module(x)[:, 0].numpy()
    assert ((output > 0) == (function.values == 1)).all()
    assert np.abs(output).min() > 1e-9
    hidden = [layer for layer in construction.module if isinstance(layer, nn.Linear)][:-1]
    assert tuple(layer.out_features for layer in hidden) == construction.widths


@pytest.mark.parametrize("leak", [0.0, 0.1, 0.5])
def test_as_many_units_as_changes(leak):
    for function in (*SOME, HARD):
        found = swaps(function)
        made = by_width(function, found.direction, leak=leak)
        assert made.num_units == int(found)
        assert_right(function, made)


def test_every_class_of_three_inputs_and_its_negation():
    for function, _ in npn_classes(3):
        for one in (function, ~function):
            assert_right(one, by_width(one, swaps(one).direction))
            assert_right(one, by_depth(one, swaps(one).direction))


def test_two_units_per_layer():
    for function in (*SOME, HARD):
        found = swaps(function)
        made = by_depth(function, found.direction)
        assert made.widths == (2,) * (int(found) - 1) if int(found) > 1 else (1,) * int(found)
        assert_right(function, made)


@pytest.mark.few(8)
@pytest.mark.parametrize("leak", [0.0, 0.1])
@pytest.mark.parametrize(("n", "width", "depth"), [(1, 1, 1), (4, 2, 2), (8, 2, 3), (9, 3, 2), (5, 5, 1), (3, 2, 2)])
def test_parity_by_width_and_depth(n, width, depth, leak):
    function = BooleanFunction.of_values(all_inputs(n).sum(axis=1) % 2)
    for one, negated in ((function, False), (~function, True)):
        made = parity_network(n, width=width, depth=depth, leak=leak, negated=negated)
        assert made.widths == (width,) * depth
        assert_right(one, made)


def test_the_networks_are_right_by_the_loaded_module_too():
    function = BooleanFunction(4, 1785)
    made = by_width(function, swaps(function).direction, leak=0.1)
    loaded = rs.load(made.module)
    assert wrong_inputs(function, loaded) == []
    assert wrong_inputs(~function, loaded) == [tuple(row) for row in all_inputs(4).tolist()]


def test_lemma_a_2_1():
    """Row 1 of the inverse: 1 / (1 - a) and, in the last column, a / (a - 1); then 1 / (a - 1) below the diagonal."""
    a = Fraction(1, 10)
    unit = [[Fraction(i == j) for j in range(4)] for i in range(4)]
    bends = [Fraction(i) for i in range(4)]
    inverse = np.array([_through(bends, row, Fraction(0), a)[0][0] for row in unit]).T
    assert [inverse[0, 0], inverse[1, 0], inverse[0, 3]] == [1 / (1 - a), 1 / (a - 1), a / (a - 1)]
    matrix = np.array([[1 if i <= j else a for i in range(4)] for j in range(4)], dtype=object)
    assert (matrix @ inverse == np.array(unit)).all()


def test_one_unit_less_than_changes():
    for function in SOME:
        found = swaps(function)
        leaky, plain = (by_search(function, found.direction, leak=leak) for leak in (0.1, 0.0))
        assert (leaky is None) == (int(found) < 3)
        assert plain is None or int(found) > 3
        for made in (leaky, plain):
            if made is not None:
                assert made.num_units == int(found) - 1
                assert_right(function, made)


@pytest.mark.slow
def test_the_smallest_network_known():
    for function in SOME:
        for leak in (0.0, 0.1):
            known = smallest_known(function, leak=leak)
            assert_right(function, known.construction)
            assert int(known.num_units) <= int(swaps(function))
            assert (int(known.num_units) == 0) == (int(swaps(function)) <= 1)
            assert known.num_units.claim is (Claim.EXACT if int(known.num_units) in (0, 2) else Claim.UPPER)
            if known.num_units.claim is Claim.UPPER:
                assert known.num_units.interval == (2, int(known.num_units))


@pytest.mark.parametrize(
    ("n", "leak", "widths"), [(3, 0.0, (3,)), (3, 0.1, (2,)), (4, 0.0, (3,)), (7, 0.0, (3, 3)), (7, 0.1, (3, 3))]
)
def test_the_smallest_network_known_for_parity(n, leak, widths):
    function = BooleanFunction.of_values(all_inputs(n).sum(axis=1) % 2)
    known = smallest_known(function, leak=leak)
    assert known.construction.widths == widths
    assert_right(function, known.construction)


def test_constants():
    for number in (0, 15):
        known = smallest_known(BooleanFunction(2, number))
        assert (known.construction.widths, str(known.num_units)) == ((), "0 (EXACT)")
        assert by_width(BooleanFunction(2, number), [1, 2]).widths == ()


def test_what_is_refused():
    xor = BooleanFunction.of_formula("x1 ^ x2")
    with pytest.raises(InputError, match="same place"):
        by_width(BooleanFunction.of_formula("x1 & ~x2"), [1, 1])
    with pytest.raises(InputError, match="from 0 to less than 1"):
        by_width(xor, [1, 1], leak=1.0)
    with pytest.raises(InputError, match="width \\*\\* depth = 4"):
        parity_network(5, width=2, depth=2)
    with pytest.raises(InputError, match="0 to 10 inputs, got 11"):
        smallest_known(BooleanFunction(11, 0))
    with pytest.raises(InputError, match="a network of 2 inputs"):
        wrong_inputs(xor, rs.load(nn.Linear(3, 1)))
    assert small_direction(BooleanFunction(4, 1785), 4) is None
