"""Answers as bytes: what the browser's side relies on, read here without the code that wrote it."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.exchange.wire import KINDS, carried, pack, unpack

ARRAYS = st.sampled_from(KINDS).flatmap(
    lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4))
)


@given(st.dictionaries(st.text(max_size=5), ARRAYS, max_size=4), st.text(max_size=20))
def test_arrays_lie_where_the_header_says(arrays, note):
    packed = pack(Answer({"answer": "x", "note": note}, arrays))
    length, zero = struct.unpack("<II", packed[:8])
    assert (zero, length % 8, len(packed) % 8) == (0, 0, 0)
    header = json.loads(packed[8 : 8 + length].decode())
    assert header["note"] == note
    assert [listed["name"] for listed in header["arrays"]] == list(arrays)
    for listed, array in zip(header["arrays"], arrays.values(), strict=True):
        start = 8 + length + listed["offset"]
        assert start % 8 == 0
        assert listed["shape"] == list(array.shape)
        assert packed[start : start + array.nbytes] == array.astype(array.dtype.newbyteorder("<")).tobytes()


@given(st.dictionaries(st.text(max_size=5), ARRAYS, max_size=4))
def test_answers_come_back(arrays):
    back = unpack(pack(Answer({"answer": "x"}, arrays)))
    assert back.header == {"answer": "x"}
    assert list(back.arrays) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(back.arrays[name], array)
        assert back.arrays[name].dtype == array.dtype


def test_headers_have_no_infinities():
    text = pack(Answer({"a": float("nan"), "b": [np.float64("inf"), 1.5], "c": {"d": np.int64(3)}}, {}))[8:]
    assert json.loads(text) == {"a": None, "b": [None, 1.5], "c": {"d": 3}, "arrays": []}


def test_other_byte_orders_and_gaps_are_straightened():
    array = np.arange(12, dtype=">i4").reshape(3, 4)[:, ::2]
    assert unpack(pack(Answer({}, {"a": array}))).arrays["a"].tolist() == array.tolist()
    assert carried(np.array([True])).dtype == np.uint8


@pytest.mark.parametrize("kind", ["int64", "complex128", "U3"])
def test_kinds_that_browsers_lack_are_refused(kind):
    with pytest.raises(TypeError, match="expected an array of one of"):
        pack(Answer({}, {"a": np.zeros(2, dtype=kind)}))
