"""NPN classes, orderings, thresholds and swaps values against published counts and dull searches."""

import csv
import itertools
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reluscope.budget import Budget
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Claim
from reluscope_studies.boolean import (
    BooleanFunction,
    all_inputs,
    degree,
    entropy,
    largest_swaps,
    npn_class,
    npn_classes,
    num_changes,
    num_npn_classes,
    search_hardest,
    small_direction,
    strict_orderings,
    swapping,
    swaps,
    threshold_degree,
    threshold_test,
    total_influence,
)
from reluscope_studies.boolean.directions import lattice_lower, search_direction
from reluscope_studies.boolean.symmetries import cube_symmetries

TABLE = Path(__file__).parents[4] / "shared" / "npn4_table.csv"
SWAPS_BY_CLASS = {1: [1, 1], 2: [1, 2, 1], 3: [1, 5, 6, 2], 4: [1, 14, 63, 93, 49, 2]}
SWAPS_BY_FUNCTION = {2: [2, 12, 2], 3: [2, 102, 126, 26], 4: [2, 1880, 14244, 30216, 19002, 192]}
PUBLISHED = (  # class: size, swaps, degree, influence, entropy
    (1, 32, 1, 4, 0.5, 1.7012),
    (27030, 2, 4, 4, 4, 0),
    (1785, 96, 5, 4, 2.5, 2),
    (7140, 96, 5, 3, 2.5, 2),
    (1716, 384, 4, 3, 2.25, 3),
    (5804, 384, 4, 4, 2.5, 3.3254),
    (1641, 96, 3, 4, 3, 2.2169),
    (406, 128, 3, 4, 2.5, 2.8487),
    (278, 32, 2, 4, 2, 3),
    (7128, 24, 4, 2, 2, 2),
)


def parity(n):
    return BooleanFunction.of_values(all_inputs(n).sum(axis=1) % 2)


def by_all_small_weights(function, largest):
    """Return the fewest changes along any direction without ties of whole numbers up to a size, one by one."""
    inputs, values, fewest = all_inputs(function.num_inputs), function.values, function.size
    for weights in product(range(-largest, largest + 1), repeat=function.num_inputs):
        places = inputs @ np.array(weights)
        if len(set(places.tolist())) == len(places):
            along = values[np.argsort(places)]
            fewest = min(fewest, int((along[1:] != along[:-1]).sum()))
    return fewest


@pytest.fixture(scope="module")
def swaps_of_four():
    return {function.number: int(swaps(function)) for function, _ in npn_classes(4)}


def test_numbers_of_classes():
    assert [len(npn_classes(n)) for n in (1, 2, 3, 4)] == [2, 4, 14, 222]
    assert [sum(size for _, size in npn_classes(n)) for n in (1, 2, 3, 4)] == [4, 16, 256, 65536]
    assert [int(num_npn_classes(n)) for n in (1, 2, 3, 4, 5)] == [2, 4, 14, 222, 616126]


@given(st.integers(1, 5).flatmap(lambda n: st.builds(BooleanFunction, st.just(n), st.integers(0, 2 ** (2**n) - 1))))
@settings(max_examples=30, deadline=None)
def test_the_class_of_a_function(function):
    found, n = npn_class(function), function.num_inputs
    inputs = all_inputs(n)
    moved = np.zeros_like(inputs)
    moved[:, found.order] = inputs ^ np.array(found.negated, dtype=int)
    assert ((function(moved) ^ found.output_negated) == found.representative.values).all()
    assert found.representative.number <= function.number
    order, negated = np.random.default_rng(function.number % 1000).permutation(n), function.number % 2
    other = BooleanFunction.of_values(function(inputs[:, order] ^ negated))
    assert npn_class(~other).representative == found.representative
    if n <= 4:
        assert (found.representative, found.size) in npn_classes(n)


def test_orderings():
    assert [len(strict_orderings(n)) for n in (1, 2, 3, 4, 5)] == [1, 1, 2, 14, 516]
    for n in (1, 2, 3, 4, 5):
        found = strict_orderings(n)
        places = found.weights @ all_inputs(n).T
        assert (np.diff(np.take_along_axis(places, found.inputs.astype(int), axis=1), axis=1) > 0).all()
        assert (np.diff(found.weights, axis=1) > 0).all()
        assert (found.weights[:, 0] > 0).all()
        assert len(np.unique(found.inputs, axis=0)) == len(found)


def test_orderings_of_four_by_brute_force():
    seen = set()
    for weights in product(range(1, 12), repeat=4):
        places = all_inputs(4) @ np.array(weights)
        if list(weights) == sorted(set(weights)) and len(set(places.tolist())) == 16:
            seen.add(tuple(np.argsort(places).tolist()))
    assert seen == {tuple(row) for row in strict_orderings(4).inputs.tolist()}
    # With all symmetries, as published.
    orderings = np.array(sorted(seen))
    everything = {tuple(row) for moved in cube_symmetries(4) for row in moved[orderings].tolist()}
    assert len(everything) == 5376


@pytest.mark.slow
def test_orderings_of_six():
    assert len(strict_orderings(6)) == 124187


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_swaps_of_all_classes(n, swaps_of_four):
    found = [(swaps_of_four[f.number] if n == 4 else int(swaps(f)), size) for f, size in npn_classes(n)]
    assert np.bincount([value for value, _ in found]).tolist() == SWAPS_BY_CLASS[n]
    if n in SWAPS_BY_FUNCTION:
        assert np.bincount(*np.array(found).T).astype(int).tolist() == SWAPS_BY_FUNCTION[n]


def test_the_hardest_classes(swaps_of_four):
    assert {number for number, value in swaps_of_four.items() if value == 5} == {1785, 7140}
    assert {f.number for f, _ in npn_classes(3) if int(swaps(f)) == 3} == {27, 105}


@pytest.mark.parametrize("row", PUBLISHED, ids=str)
def test_published_rows(row):
    number, size, value, top, influence, bits = row
    function = BooleanFunction(4, number)
    assert dict(npn_classes(4))[function] == size
    assert int(swaps(function)) == value
    assert int(degree(function)) == top
    assert float(total_influence(function)) == influence
    assert float(entropy(function)) == pytest.approx(bits, abs=5e-5)


@pytest.mark.shared
def test_the_whole_table(swaps_of_four):
    if not TABLE.exists():
        pytest.skip(f"the table of all classes is not at {TABLE}")
    with TABLE.open() as file:
        rows = list(csv.DictReader(file))
    sizes = {function.number: size for function, size in npn_classes(4)}
    assert {int(row["rep"]): int(row["size"]) for row in rows} == sizes
    assert {int(row["rep"]): int(row["swaps"]) for row in rows} == swaps_of_four
    for row in rows:
        function = BooleanFunction(4, int(row["rep"]))
        assert int(degree(function)) == int(row["degree"])
        assert float(total_influence(function)) == pytest.approx(float(row["influence"]), abs=1e-6)
        assert float(entropy(function)) == pytest.approx(float(row["entropy"]), abs=1e-6)


def test_swaps_against_all_small_weights():
    for function, _ in npn_classes(3):
        assert int(swaps(function)) == by_all_small_weights(function, 4)


@given(st.integers(1, 5).flatmap(lambda n: st.builds(BooleanFunction, st.just(n), st.integers(0, 2 ** (2**n) - 1))))
@settings(max_examples=25, deadline=None)
def test_a_direction_shows_the_value(function):
    found = swaps(function)
    assert found.value.claim is Claim.EXACT
    assert num_changes(function, found.direction) == int(found)
    assert lattice_lower(function) <= int(found)
    searched = num_changes(function, search_direction(function, rounds=5))
    assert searched is not None
    assert searched >= int(found)
    assert int(swaps(npn_class(function).representative)) == int(found)
    small = small_direction(function, int(found), largest=2)
    assert small is None or num_changes(function, small) == int(found)


def test_parity_takes_n():
    assert [int(swaps(parity(n))) for n in (1, 2, 3, 4, 5, 6)] == [1, 2, 3, 4, 5, 6]
    found = swaps(parity(8))  # both bounds meet
    assert (int(found), found.value.claim) == (8, Claim.EXACT)


def test_a_function_of_five_inputs_with_nine():
    found = swaps(BooleanFunction(5, 1431987862))
    assert (int(found), found.value.claim) == (9, Claim.EXACT)
    assert search_hardest(4, steps=150, seed=0).value.claim is Claim.LOWER


def test_the_largest_values():
    for n, value in ((1, 1), (2, 2), (3, 3), (4, 5)):
        found = largest_swaps(n)
        assert (int(found.value), found.value.claim) == (value, Claim.EXACT)
        assert int(swaps(found.function)) == value


@pytest.mark.nightly
def test_the_largest_value_of_five_inputs():
    found = largest_swaps(5)
    assert (int(found.value), found.value.claim) == (9, Claim.EXACT)


@pytest.mark.slow
def test_swaps_between_bounds():
    function = BooleanFunction.of_values(np.random.default_rng(1).integers(2, size=64))
    early = swaps(function, budget=Budget(seconds=0.0))
    assert early.value.interval is not None
    low, high = early.value.interval
    assert early.value.claim is Claim.UPPER
    assert 0 < low < high == int(early) == num_changes(function, early.direction)
    larger = swaps(BooleanFunction.of_values(np.random.default_rng(1).integers(2, size=128)))
    assert larger.value.claim is Claim.UPPER
    assert larger.value.interval[0] >= 4


@pytest.mark.slow
def test_an_interruption_leaves_both_ends(monkeypatch):
    function = BooleanFunction.of_values(np.random.default_rng(1).integers(2, size=64))
    calls, features_above = itertools.count(), swapping._features_above

    def interrupted(num_inputs, parent):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return features_above(num_inputs, parent)

    monkeypatch.setattr(swapping, "_features_above", interrupted)
    found = swaps(function)
    assert found.value.interval is not None
    low, high = found.value.interval
    assert found.value.claim is Claim.UPPER
    assert 0 < low < high == num_changes(function, found.direction)


def test_six_inputs_exactly():
    easy = swaps(BooleanFunction.of_formula("x1 & x2 | x3 & x4 | x5 & x6"))
    assert easy.value.claim is Claim.EXACT


@pytest.mark.slow
def test_six_inputs_against_the_full_list():
    orderings = strict_orderings(6)
    function = BooleanFunction.of_values(np.random.default_rng(2).integers(2, size=64))
    found = swaps(function)
    assert found.value.claim is Claim.EXACT
    inputs, fewest = all_inputs(6), 64
    generator = np.random.default_rng(0)
    for _ in range(60):  # some symmetries, all orderings
        moved = inputs[:, generator.permutation(6)] ^ generator.integers(2, size=6)
        along = function(moved)[orderings.inputs]
        fewest = min(fewest, int((along[:, 1:] != along[:, :-1]).sum(axis=1).min()))
    assert int(found) <= fewest


@pytest.mark.slow
def test_thresholds(swaps_of_four):
    counts = []
    for n in (1, 2, 3, 4):
        total = 0
        for function, size in npn_classes(n):
            test = threshold_test(function)
            total += size * test.is_threshold
            check_threshold(function, test)
            if n == 4:
                assert test.is_threshold == (swaps_of_four[function.number] <= 1)
        counts.append(total)
    assert counts == [4, 14, 104, 1882]


def check_threshold(function, test):
    inputs = all_inputs(function.num_inputs)
    if test.is_threshold:
        sums = inputs @ np.array(test.weights) + test.constant
        assert ((sums > 0) == (function.values == 1)).all()
        assert (sums != 0).all()
    else:
        sides = Counter(), Counter()
        for point, number in test.conflict:
            assert number > 0
            for place, bit in enumerate((*point, 1)):
                sides[int(function(point))][place] += bit * number
        assert sides[0] == sides[1]


def test_threshold_degrees(swaps_of_four):
    some = [function for function, _ in npn_classes(4)][::12]
    assert all(int(threshold_degree(function)) <= swaps_of_four[function.number] for function in some)
    assert [int(threshold_degree(parity(n))) for n in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert int(threshold_degree(BooleanFunction(2, 0))) == 0


def test_what_is_too_large():
    big = BooleanFunction(11, 3)
    for ask in (npn_class, threshold_test, threshold_degree):
        with pytest.raises(InputError, match=r"0 to \d+ inputs, got 11"):
            ask(big)
    with pytest.raises(InputError, match="0 to 4 inputs, got 5"):
        npn_classes(5)
    with pytest.raises(InputError, match="0 to 6 inputs, got 7"):
        strict_orderings(7)
    with pytest.raises(InputError, match="leave out regions"):
        swaps(parity(2), budget=Budget(regions=1))
    with pytest.raises(ShapeError, match="3 entries"):
        num_changes(parity(3), [1, 2])
    with pytest.raises(InputError, match="whole numbers"):
        num_changes(parity(2), np.array([0.5, 1.0]))
    assert swaps(BooleanFunction(13, 0)).value.claim is Claim.EXACT
