"""Kernels compute the same on every processor, are named by their stubs, and give arrays as NumPy makes them."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from reluscope import _kernels

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
STUBS = SOURCE / "reluscope" / "_kernels.pyi"


def test_no_kernel_may_reorder_sums():
    """With fused multiplications or sums in any order, results would hang on the processor."""
    options = (ROOT / "native" / "CMakeLists.txt").read_text(encoding="utf-8")
    assert "-ffp-contract=off" in options
    assert not re.search(r"fast-math|associative-math|-march|-mfma", options)
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "native").rglob("*.[ch]pp"))
    assert not re.search(r"fast-math|pragma omp|target_clones\([^)]*fma|std::reduce|std::fma\b", sources)


def test_inner_products_are_summed_in_one_order():
    generator = np.random.default_rng(0)
    for size in range(40):
        a, b = generator.normal(size=(2, size)) * 10.0 ** generator.integers(-8, 9, (2, size))
        products = [float(one) for one in a * b]
        total = 0.0
        while len(products) >= 8:
            p = products[:8]
            total += ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]))
            products = products[8:]
        for one in products:  # not `sum`, which compensates for rounding
            total += one
        assert _kernels.dot(a, b) == total


def test_stubs_name_every_kernel():
    body = ast.parse(STUBS.read_text(encoding="utf-8")).body
    named = [(_kernels, node) for node in body if isinstance(node, ast.FunctionDef)]
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    names = {node.name for _, node in named} | {one.name for one in classes}
    assert names == {name for name in dir(_kernels) if not name.startswith("_")}
    for one in classes:
        kernel = getattr(_kernels, one.name)
        methods = [node for node in one.body if isinstance(node, ast.FunctionDef)]
        attributes = [ast.unparse(node.target) for node in one.body if isinstance(node, ast.AnnAssign)]
        public = {name for name in [*(node.name for node in methods), *attributes] if not name.startswith("_")}
        assert public == {name for name in dir(kernel) if not name.startswith("_")}
        named += [(kernel, node) for node in methods if node.name != "__init__"]
    for owner, node in named:
        arguments = [one.arg for one in node.args.args if one.arg != "self"]
        assert all(f"{one}:" in getattr(owner, node.name).__doc__ for one in arguments), node.name


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
