"""Boolean functions: every way in, and the spectrum against sums over all inputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reluscope.errors import InputError, ShapeError
from reluscope_studies.boolean import (
    BooleanFunction,
    all_inputs,
    degree,
    entropy,
    influences,
    noise_sensitivity,
    npn_classes,
    spectrum,
    total_influence,
)

functions = st.integers(0, 6).flatmap(lambda n: st.builds(BooleanFunction, st.just(n), st.integers(0, 2 ** (2**n) - 1)))


def characters(n):
    """Return chi_S(x) for all x and S by multiplying signs, one by one."""
    signs = 2 * all_inputs(n) - 1
    return np.array([[np.prod(x[chosen == 1]) for chosen in all_inputs(n)] for x in signs])


def test_the_convention():
    parity = BooleanFunction(4, 27030)
    assert parity == BooleanFunction.of_formula("x1 ^ x2 ^ x3 ^ x4")
    assert parity == BooleanFunction.of_callable(lambda *x: sum(x) % 2, 4)
    assert BooleanFunction.of_formula("x1", num_inputs=2).values.tolist() == [0, 0, 1, 1]
    # Index of 5 inputs = 2 * index of the first four + x5.
    lifted = BooleanFunction.of_values(np.repeat(BooleanFunction(4, 857).values, 2))
    assert (lifted ^ BooleanFunction.of_formula("x5")).number == 1431987862


@given(functions)
@settings(max_examples=60, deadline=None)
def test_ways_in_agree(function):
    values = function.values
    assert BooleanFunction.of_values(values) == function
    assert BooleanFunction.of_values(values.astype(bool)) == function
    assert BooleanFunction.of_values(2 * values.astype(int) - 1) == function
    assert BooleanFunction.of_values("".join(map(str, values))) == function
    assert BooleanFunction.of_callable(lambda *x: function(x), function.num_inputs) == function
    assert function(all_inputs(function.num_inputs)).tolist() == values.tolist()
    assert (~function).values.tolist() == (1 - values).tolist()
    assert hash(~~function) == hash(function)


@given(st.recursive(
    st.sampled_from(["x1", "x2", "x3", "x4", "0", "1"]),
    lambda inner: st.one_of(
        st.tuples(st.just("~"), inner).map(lambda parts: f"~({parts[1]})"),
        st.tuples(inner, st.sampled_from("&|^"), inner).map(lambda parts: f"({parts[0]}) {parts[1]} {parts[2]}"),
    ),
    max_leaves=12,
))  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_formulas_against_python(text):
    """Python's own operators have the same precedence; `1 - x` would do for `not`, and `~x & 1` is it."""
    expected = [eval(text, {}, {f"x{i + 1}": int(bit) for i, bit in enumerate(x)}) & 1 for x in all_inputs(4)]
    assert BooleanFunction.of_formula(text, num_inputs=4).values.tolist() == expected


def test_words_and_precedence():
    same = "x1 or x2 and not x3 xor TRUE", "x1 | ((x2 & (~x3)) ^ 1)", " X1|x2&!x3^1 "
    assert len({BooleanFunction.of_formula(text) for text in same}) == 1
    assert BooleanFunction.of_formula("x1 & ~x1").is_constant
    assert BooleanFunction.of_formula("(" * 5000 + "x1" + ")" * 5000).number == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "ends where"),
        ("x1 &", "ends where"),
        ("x1 x2", "out of place"),
        ("(x1", "leaves one open"),
        ("x1)", "one too many"),
        ("()", "out of place"),
        ("x1 + x2", "none of these"),
        ("x0", "none of these"),
        ("x17", "up to x16"),
        ("__import__('os')", "none of these"),
        ("x1 nand x2", "none of these"),
    ],
)
def test_what_is_no_formula(text, words):
    with pytest.raises(InputError, match=words):
        BooleanFunction.of_formula(text)


def test_bad_tables():
    with pytest.raises(ShapeError, match="2\\^n values in one row, got 3"):
        BooleanFunction.of_values([0, 1, 1])
    with pytest.raises(ShapeError, match="shape"):
        BooleanFunction.of_values(np.zeros((2, 2)))
    with pytest.raises(ShapeError, match="got 0"):
        BooleanFunction.of_values([])
    for wrong in ([0, 2], [0, -1, 1, 1], [0.5, 1], ["a", "b"], "01a1", [np.nan, 1]):
        with pytest.raises(InputError, match="truth values"):
            BooleanFunction.of_values(wrong)
    with pytest.raises(InputError, match="0 to 2\\^4 - 1"):
        BooleanFunction(2, 16)
    with pytest.raises(InputError, match="0 to 16 inputs, got 17"):
        BooleanFunction(17, 0)
    with pytest.raises(InputError, match="up to x3"):
        BooleanFunction.of_formula("x4", num_inputs=3)
    with pytest.raises(InputError, match="whole number"):
        BooleanFunction(2, True)
    with pytest.raises(ShapeError, match="as many inputs"):
        assert BooleanFunction(2, 6) ^ BooleanFunction(3, 6)
    with pytest.raises(InputError, match="zeros and ones"):
        BooleanFunction(2, 6)([[-1, 1]])


@given(functions)
@settings(max_examples=40, deadline=None)
def test_the_spectrum_by_its_definition(function):
    n, coefficients = function.num_inputs, spectrum(function)
    assert coefficients.tolist() == (function.signs @ characters(n) / function.size).tolist()
    assert (coefficients**2).sum() == 1.0  # Parseval
    sizes = all_inputs(n).sum(axis=1)
    assert int(degree(function)) == sizes[coefficients != 0].max()
    assert float(total_influence(function)) == (sizes * coefficients**2).sum()
    flipped = [function.values != function.values[np.arange(function.size) ^ (1 << (n - 1 - i))] for i in range(n)]
    assert influences(function).tolist() == [float(one.mean()) for one in flipped]
    squares = coefficients[coefficients != 0] ** 2
    by_definition = sum(square * np.log2(1 / square) for square in squares)
    found = entropy(function)
    assert abs(float(found) - by_definition) <= 2 * found.tolerance


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 1.0])
def test_noise_sensitivity_by_its_definition(rate):
    function = BooleanFunction(3, 0b00101101)
    table, total = function.values, 0.0
    for x in range(8):
        for flips in range(8):
            number = flips.bit_count()
            total += rate**number * (1 - rate) ** (3 - number) * (table[x] != table[x ^ flips]) / 8
    assert float(noise_sensitivity(function, rate)) == pytest.approx(total, abs=1e-14)
    with pytest.raises(InputError, match="from 0 to 1"):
        noise_sensitivity(function, 1.5)


def test_sums_over_the_classes_of_four_inputs():
    classes = [function for function, _ in npn_classes(4)]
    degrees = [int(degree(function)) for function in classes]
    assert np.bincount(degrees).tolist() == [1, 1, 5, 51, 164]
    assert sum(degrees) == 820
    assert sum(float(total_influence(function)) for function in classes) == 444
    entropies = [float(entropy(function)) for function in classes]
    assert sum(entropies) == pytest.approx(608.88255, abs=5e-6)
    assert {round(value, 4) for value in entropies} == {0, 1.7012, 2, 2.2169, 2.8487, 3, 3.3254, 4}
    # The largest entropy is that of bent functions, not of OR.
    assert [function.number for function in classes if float(entropy(function)) == 4] == [854, 857, 874, 6014]


@pytest.mark.parametrize(("n", "value"), [(2, 2), (3, 2.2169), (4, 1.7012), (5, 1.1324), (6, 0.7012), (8, 0.2402)])
def test_the_entropy_of_or(n, value):
    function = BooleanFunction(n, 2 ** (2**n - 1) - 1)
    assert float(entropy(function)) == pytest.approx(value, abs=5e-5)
