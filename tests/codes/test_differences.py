import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from codes.plain import codes
from reluscope.codes.differences import differences


@given(codes(), st.data())
def test_units_that_differ_are_listed_in_order(packed_and_plain, data):
    packed, plain = packed_and_plain
    rows = st.lists(st.integers(0, len(packed) - 1), max_size=6) if len(packed) else st.just([])
    first = np.array(data.draw(rows), dtype=int)
    second = np.array(data.draw(st.permutations(first.tolist())), dtype=int)
    offsets, units = differences(packed, first, second)
    assert len(offsets) == len(first) + 1
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        np.testing.assert_array_equal(units[offsets[i] : offsets[i + 1]], np.flatnonzero(plain[a] != plain[b]))
