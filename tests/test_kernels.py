"""The kernels' stubs name what is compiled, and arrays come back as NumPy makes them."""

import ast
from pathlib import Path

import numpy as np
import pytest

import reluscope
from reluscope import _kernels

STUBS = Path(reluscope.__file__).parent / "_kernels.pyi"


def test_stubs_name_every_kernel():
    stubs = {node.name: node for node in ast.parse(STUBS.read_text()).body if isinstance(node, ast.FunctionDef)}
    assert set(stubs) == {name for name in dir(_kernels) if not name.startswith("_")}
    for name, node in stubs.items():
        arguments = [one.arg for one in node.args.args]
        assert all(f"{one}:" in getattr(_kernels, name).__doc__ for one in arguments), name


def test_whole_numbers_are_those_of_numpy():
    first, inverse, counts = _kernels.group_equal_rows(np.zeros((3, 1), dtype=np.uint64))
    assert {one.dtype.char for one in (first, inverse, counts)} == {np.dtype(np.int64).char}
    one = np.array([[3]], dtype=np.uint64)
    assert _kernels.long_distances(one, one[:, ::-1]).dtype.char == np.dtype(np.uint64).char


def test_arrays_to_write_are_never_copied():
    rows = np.zeros((2, 2), dtype=np.float32)
    none = np.zeros(0)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _kernels.interpolate(rows, none, none, none)
