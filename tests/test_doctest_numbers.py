"""Examples agree with what other processors print for them, and with nothing else."""

import doctest

import pytest

from doctest_numbers import NUMBER, NumberChecker

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | NUMBER


def passes(want: str, got: str) -> bool:
    return NumberChecker().check_output(want + "\n", got + "\n", FLAGS)


@pytest.mark.parametrize(
    ("want", "got"),
    [
        ("2.0", "2.0000000000000004"),
        ("2.0", "1.9999999999999998"),
        ("0.2857142857142857", "0.28571428571428575"),
        ("volume 2.0 (EXACT)", "volume 2.0000000000000004 (EXACT)"),
        ("array([0.5, 1. ])", "array([0.5       , 1.0000000000000002])"),
        ("array([0., 1.])", "array([-0.,  1.])"),
        ("array([[ 0., -1.]])", "array([[ 2.2e-16, -1.0e+00]])"),
        ("1.234e-05", "1.235e-05"),
        ("0.3333", "0.3334"),
        ("(1.0, ..., 3.0)", "(1.0000000000000002, 2.0, 3.0)"),
    ],
)
def test_rounding_is_no_difference(want, got):
    assert passes(want, got)


@pytest.mark.parametrize(
    ("want", "got"),
    [
        ("0.5", "0.6"),
        ("array([0., 1.])", "array([1., 1.])"),
        ("2.0", "2.0001"),
        ("0.3333", "0.3336"),
        ("1.234e-05", "1.234e-04"),
        ("3", "4"),
        ("1e-12 (EXACT)", "1e-12 (LOWER)"),
        ("[1.0, 2.0]", "[1.0, 2.0, 3.0]"),
        ("1e-09", "2e-09"),
    ],
)
def test_other_numbers_are(want, got):
    assert not passes(want, got)
