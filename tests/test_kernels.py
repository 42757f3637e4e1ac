"""Compiled kernels compute the same on every processor: sums in the order in which they are written, by one thread."""

import re
from pathlib import Path

import numpy as np

from reluscope.geometry.forms_on_boxes import dot

SOURCE = Path(__file__).parent.parent / "src"


def test_no_kernel_may_reorder_sums():
    """``fastmath`` and ``parallel`` let the compiler choose an order by the processor's registers and cores."""
    reordering = re.compile(r"fastmath\s*=|parallel\s*=|prange\(")
    found = [
        path.name for path in SOURCE.rglob("*.py") if "njit" in (text := path.read_text()) and reordering.search(text)
    ]
    assert found == []


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
        assert dot(a, b) == total
