"""Units that agree on all samples: each tells no more about a sample's code than another does.

Two units are duplicates on samples if their pieces are equal at all of them, and mirrored if each (of two pieces) is on
its upper piece exactly where the other is on its lower one. Elsewhere in input space they may well differ.
"""

from dataclasses import dataclass

import numpy as np

from reluscope.analyses.codespace.sampled import SampleCodes
from reluscope.arguments import read_arguments
from reluscope.codes.distinct import group_equal_rows
from reluscope.codes.packed import Codes
from reluscope.findings import Finding

BLOCK_BYTES = 2**24


@dataclass(frozen=True)
class DuplicateUnits:
    """Groups of units that agree.

    Parameters
    ----------
    groups : tuple of (k,) int64 arrays
        Units, numbered through all gates, that are duplicates or mirrored, ascending; units that never change their
        piece are in none.
    by_gate : tuple of Finding
        In each gate, changing units to which another of the same gate agrees that comes before.
    total : Finding
        The same over all gates.
    """

    groups: tuple[np.ndarray, ...]
    by_gate: tuple[Finding, ...]
    total: Finding


@read_arguments
def duplicate_units(sampled: SampleCodes) -> DuplicateUnits:
    """Find the units that agree with another one on all samples.

    Parameters
    ----------
    sampled : SampleCodes

    Returns
    -------
    DuplicateUnits
        EXACT for these samples; an ESTIMATE where rounding could change pieces. Units of more than two pieces are
        duplicates only of each other, and never mirrored.

    Notes
    -----
    Transposes the codes into one row of bits per unit, which takes the memory of the codes once more, and groups equal
    rows.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0], [2.0], [1.0]]), np.array([0.0, 0.0, 0.0, 5.0])),
    ...                (np.ones((1, 4)), np.zeros(1))])
    >>> found = duplicate_units(rs.codespace.sample_codes(net, [[1.0], [-1.0], [3.0]]))
    >>> [group.tolist() for group in found.groups], int(found.total)
    ([[0, 1, 2]], 2)
    """
    rows, changing = _rows_by_unit(sampled.codes)
    layout = sampled.codes.layout
    units = np.flatnonzero(changing)
    _, group_of, sizes = group_equal_rows(rows[units])
    order = np.argsort(group_of, kind="stable")
    ends = np.cumsum(sizes)
    groups = tuple(units[order[end - size : end]] for end, size in zip(ends, sizes, strict=True) if size > 1)
    gate_of, _ = layout.locate_units(units)
    doubts = sampled.doubtful.sum(axis=0)

    def finding(number: int, unclear: int, name: str) -> Finding:
        return sampled.finding(
            number,
            unclear,
            None,
            name=f"duplicate units of {name}",
            definition="number of units that change their piece over the samples, always together with a unit before "
            "them (or, at two pieces, always the other way)",
        )

    by_gate = []
    for index, gate in enumerate(layout):
        own = group_of[gate_of == index]
        by_gate.append(finding(len(own) - len(np.unique(own)), int(doubts[index]), gate.name))
    total = finding(len(units) - len(sizes), int(sampled.in_doubt.sum()), "all gates")
    return DuplicateUnits(groups, tuple(by_gate), total)


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
