"""Annotations are checked at calls: the same verdicts as jaxtyping's own, and in modules of the library."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from jaxtyping import Bool, Float, Int, Integer, Num, Shaped, TypeCheckError, UInt64

from annotations import Calls, _read_anew, check
from reluscope.geometry.programs.half_spaces import HalfSpaces

VALUES = [
    *(
        np.zeros(shape, dtype)
        for shape in ((), (2,), (3,), (2, 2), (2, 3), (2, 3, 2))
        for dtype in (float, np.float32, int)
    ),
    np.zeros((2, 3), bool),
    np.zeros(2, np.uint64),
    np.zeros(3, np.dtype([("one", float)])),
    torch.zeros(2, 3),
    torch.zeros(2, dtype=torch.int64),
    2.0,
    None,
]
KINDS = [
    kind[array, axes]
    for kind in (Float, Int, Integer, Bool, Num, UInt64, Shaped)
    for array in (np.ndarray, torch.Tensor)
    for axes in ("", "n", "2", "n n", "n d", "n _", "_n 3", "2 d", "n d n", "...", "n ...", "*n", "n #d")
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_arrays_fit_as_jaxtyping_says(kind):
    for value in VALUES:
        assert isinstance(value, kind) == _read_anew(kind, value)


@check
def rows_of(matrix: Float[np.ndarray, "n d"], rows: Int[np.ndarray, " k"], like=None) -> Float[np.ndarray, "k d"]:
    return matrix[rows] if like is None else like


def test_letters_stand_for_one_number_each_from_parameters_to_the_result():
    matrix, rows = np.zeros((4, 2)), np.arange(3)
    assert rows_of(matrix, rows).shape == (3, 2)
    assert rows_of(matrix, rows=rows[:1]).shape == (1, 2)  # and for others in the next call
    for wrong in (
        (matrix[0], rows),
        (matrix, matrix),
        (matrix.astype(int), rows),
        (matrix, rows, matrix),
        (matrix, [0]),
    ):
        with pytest.raises(TypeCheckError):
            rows_of(*wrong)
    with pytest.raises(TypeCheckError) as caught:
        rows_of(matrix, rows, matrix[:2])
    assert "n=4\nd=2\nk=3" in caught.value.__notes__[0]


def test_calls_within_calls_have_letters_of_their_own():
    @check
    def outer(x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "d n"]) -> Float[np.ndarray, "n n"]:
        return x @ rows_of(y, np.arange(len(y)))

    assert outer(np.zeros((4, 2)), np.zeros((2, 4))).shape == (4, 4)
    with pytest.raises(TypeCheckError):
        outer(np.zeros((4, 2)), np.zeros((4, 4)))


def test_dataclasses_generators_and_names_for_static_checkers_alone():
    @check
    @dataclass(frozen=True)
    class Pair:
        first: Float[np.ndarray, " n"]
        second: Float[np.ndarray, " n"]

    @check
    @dataclass(frozen=True)
    class Named(Pair):
        name: str

    assert Named(np.zeros(2), np.ones(2), "two").name == "two"
    for wrong in ((np.zeros(2), np.zeros(3), "x"), (np.zeros(2), np.zeros(2), 3)):
        with pytest.raises(TypeCheckError):
            Named(*wrong)

    @check
    def chunks(x: Float[np.ndarray, "n d"], size: int = 2, *, like: "Unknown" = None) -> Iterator[np.ndarray]:  # noqa: F821
        yield from np.split(x, size)

    assert len(list(chunks(np.zeros((4, 1)), like=3))) == 2
    with pytest.raises(TypeCheckError):
        chunks(np.zeros(4))
    assert list(inspect.signature(chunks).parameters) == ["x", "size", "like"]


def test_functions_that_are_made_anew_at_each_call_are_checked_now_and_then():
    def length(x: Float[np.ndarray, " n"]) -> int:
        return len(x)

    def refused():
        try:
            check(length)(np.zeros((2, 2)))
        except TypeCheckError:
            return True
        return False

    told = [number for number in range(1, 100) if refused()]
    assert told == [*range(1, Calls.first + 1), *range(Calls.each, 100, Calls.each)]


def test_the_library_is_checked():
    with pytest.raises(TypeCheckError, match="offsets"):
        HalfSpaces(np.zeros((2, 3)), np.zeros(3))
