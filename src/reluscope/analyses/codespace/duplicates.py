"""Units whose pieces are equal, or opposite, to those of another unit at all samples.

Two units are duplicates on samples if their pieces are equal at all of them, and mirrored if each (of two pieces) is on
its upper piece exactly where the other is on its lower one. Elsewhere in input space they may well differ.
"""

import time
from itertools import pairwise

import numpy as np

from reluscope.analyses.codespace.by_gate import by_gate, doubts_by_gate
from reluscope.analyses.codespace.sampled import METHOD, SampleCodes
from reluscope.analyses.samples.measuring import ragged
from reluscope.arguments import read_arguments
from reluscope.codes.distinct import group_equal_rows
from reluscope.codes.packed import Codes
from reluscope.findings import Column, Findings, Kind, declare

BLOCK_BYTES = 2**24
NUM_DUPLICATES = declare(
    "num_duplicate_units",
    "units that change their piece over the samples, always together with a unit before them (or, at two pieces, "
    "always the other way)",
    kind=Kind.COUNT,
)


@read_arguments
def duplicate_units(sampled: SampleCodes) -> Findings:
    """Return the units that agree with another unit on all samples.

    Parameters
    ----------
    sampled : SampleCodes

    Returns
    -------
    Findings
        ``num_duplicate_units`` of each ``gate``, and as the summary of all gates together; unknown for gates in
        which rounding could change pieces. The detail ``first`` gives the first unit that agrees with each unit,
        numbered through all gates: itself if no earlier one does, -1 if the unit never changes its piece. Units of
        more than two pieces are duplicates only of each other, and never mirrored.

    Notes
    -----
    Takes the memory of the codes once more.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0], [2.0], [1.0]]), np.array([0.0, 0.0, 0.0, 5.0])),
    ...                (np.ones((1, 4)), np.zeros(1))])
    >>> found = rs.codespace.duplicate_units(rs.codespace.sample_codes(net, [[1.0], [-1.0], [3.0]]))
    >>> found.details["first"][0].tolist(), int(found.summary.finding("num_duplicate_units"))
    ([0, 0, 0, -1], 2)
    """
    began = time.perf_counter()
    rows, changing = _rows_by_unit(sampled.codes)
    layout = sampled.codes.layout
    units = np.flatnonzero(changing)
    _, group_of, _ = group_equal_rows(rows[units])
    starts = np.cumsum([0, *(gate.num_units for gate in layout)])
    spans = [(0, layout.num_units), *pairwise(starts.tolist())]
    firsts = []
    for start, stop in spans:
        inside = (units >= start) & (units < stop)
        _, leaders, members = np.unique(group_of[inside], return_index=True, return_inverse=True)
        first = np.full(stop - start, -1, dtype=np.int64)
        first[units[inside] - start] = units[inside][leaders][members.reshape(-1)]
        firsts.append(first)
    value = np.array(
        [int(((one >= 0) & (one != np.arange(*span))).sum()) for one, span in zip(firsts, spans, strict=True)]
    )
    # Nothing is known where rounding could change a piece: of u units at most u - 1 have a unit before them.
    is_open = doubts_by_gate(sampled) > 0
    most = np.array([max(0, stop - start - 1) for start, stop in spans])
    lower, upper = np.where(is_open, 0, value), np.where(is_open, most, value)
    return by_gate(
        sampled,
        (Column.of(NUM_DUPLICATES, value, lower, upper, method=METHOD),),
        seconds=sampled.seconds + time.perf_counter() - began,
        details={"first": ragged(firsts)},
    )


def _rows_by_unit(codes: Codes) -> tuple[np.ndarray, np.ndarray]:
    """Return one row of words per unit, turned so that its first piece is 0 where there are two, and which change."""
    layout = codes.layout
    planes = max((gate.num_planes for gate in layout), default=1)
    width = -(-len(codes) // 64) * 8
    rows = np.zeros((layout.num_units, planes, width), dtype=np.uint8)
    # Whole bytes of samples at a time.
    block = max(8, BLOCK_BYTES // max(1, layout.num_units) // 8 * 8)
    for start in range(0, len(codes), block):
        pieces = codes[start : start + block].to_array()
        for plane in range(planes):
            bits = np.packbits(pieces.T >> plane & 1, axis=1, bitorder="little")
            rows[:, plane, start // 8 : start // 8 + bits.shape[1]] = bits
    first = codes[:1].to_array()[0] if len(codes) else np.zeros(layout.num_units, dtype=np.uint8)
    two = np.concatenate([np.zeros(0, dtype=bool), *(np.full(gate.num_units, gate.num_pieces <= 2) for gate in layout)])
    mirrored = two & (first == 1)
    full = np.packbits(np.arange(width * 8) < len(codes), bitorder="little")
    rows[mirrored, 0] ^= full
    # With its first piece subtracted, a unit of many pieces is still if all its bits are those of its first piece.
    start_bits = np.where((first[:, None] >> np.arange(planes) & 1 == 1) & ~mirrored[:, None], 255, 0).astype(np.uint8)
    changing = ((rows ^ (start_bits[:, :, None] & full)) != 0).any(axis=(1, 2))
    # Turned ones are compared among themselves.
    words = np.ascontiguousarray(rows.reshape(layout.num_units, planes * width)).view(np.uint64)
    return np.column_stack([two.astype(np.uint64), words]), changing
