"""The dull oracle of codes: rows of pieces, never packed; and Hypothesis strategies for both forms at once."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reluscope.codes import CodeLayout, Codes, GateLayout

# Around the borders of bytes and words, where packing goes wrong first.
WIDTHS = st.sampled_from([0, 1, 2, 7, 8, 9, 63, 64, 65, 130])
NUM_PIECES = st.sampled_from([1, 2, 2, 2, 3, 4, 5, 9, 256, 257, 1000])


@st.composite
def layouts(draw, max_gates=3):
    sizes = draw(st.lists(st.tuples(WIDTHS, NUM_PIECES), max_size=max_gates))
    return CodeLayout(tuple(GateLayout(f"gate{i}", *size) for i, size in enumerate(sizes)))


@st.composite
def pieces(draw, layout, num_codes):
    """One array (s, u) for each gate; rows are drawn from a few, so that codes repeat and lie close together."""
    arrays = []
    for gate in layout:
        dtype = np.uint8 if gate.num_pieces <= 256 else np.uint16
        pool = draw(hnp.arrays(dtype, (3, gate.num_units), elements=st.integers(0, gate.num_pieces - 1)))
        rows = draw(st.lists(st.integers(0, 2), min_size=num_codes, max_size=num_codes))
        arrays.append(pool[np.array(rows, dtype=int)])
    return arrays


@st.composite
def codes(draw, layout=None, max_codes=9):
    """Return (Codes, pieces of all units side by side)."""
    if layout is None:
        layout = draw(layouts())
    num_codes = draw(st.integers(0, max_codes))
    arrays = draw(pieces(layout, num_codes))
    plain = np.concatenate([np.zeros((num_codes, 0), dtype=int), *arrays], axis=1).astype(int)
    return Codes.from_pieces(arrays, layout, num_codes=num_codes), plain


def plain_distances(first, second):
    return (first[:, None, :] != second[None, :, :]).sum(axis=2)


def random_codes(layout, num_codes, seed=0):
    """Return (Codes, plain pieces) of uniformly random pieces."""
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(0, gate.num_pieces, (num_codes, gate.num_units)) for gate in layout]
    return Codes.from_pieces(arrays, layout), np.concatenate(arrays, axis=1)
