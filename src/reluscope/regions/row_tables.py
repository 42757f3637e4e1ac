"""Tables of half-spaces, put together without a second copy."""

from contextlib import suppress

import numpy as np

from reluscope.interruption import step_point
from reluscope.networks.evaluation.unit_half_spaces import TOGETHER, Rows
from reluscope.networks.graph.points import steps


def put_together(tables: list[Rows], kept: list[np.ndarray]) -> np.ndarray:
    """Return the normals that are kept of all tables, which are let go of on the way: there may be gigabytes."""
    counts = [int(which.sum()) for which in kept]
    (most, place), total = max((count, place) for place, count in enumerate(counts)), sum(counts)
    whole = tables[place].normals
    if most == total == len(whole):
        (whole if whole.base is None else whole.base).setflags(write=False)  # so that it need not be copied
        return whole
    if (owner := _in_one_block([rows.normals for rows in tables])) is not None:
        del whole
        tables.clear()
        number = _move_up(owner, np.concatenate(kept))
        with suppress(ValueError):  # somebody else holds on to rows
            owner.resize((number, owner.shape[1]))
        owner.setflags(write=False)
        return owner[:number]
    normals, stop = np.empty((total, whole.shape[1])), 0
    for which, count in zip(kept, counts, strict=True):
        step_point()
        start, stop = stop, stop + count
        # Into place without a copy between, as which they are is sure.
        np.take(tables[0].normals, np.flatnonzero(which), axis=0, out=normals[start:stop], mode="clip")
        del tables[0]
    return normals


def _in_one_block(tables: list[np.ndarray]) -> np.ndarray | None:
    """Return the array that tables are all of, one after the other, else None."""
    tables = [table for table in tables if len(table)]
    owner = tables[0].base if tables else None
    if owner is None or len(owner) != sum(map(len, tables)) or not owner.flags.c_contiguous:
        return None
    places = np.cumsum([owner.ctypes.data, *(table.nbytes for table in tables[:-1])])
    follow = (table.base is owner and table.ctypes.data == at for table, at in zip(tables, places, strict=True))
    return owner if all(follow) else None


def _move_up(table: np.ndarray, kept: np.ndarray) -> int:
    """Move the rows of a table that are kept to its beginning; return how many there are."""
    rows = np.flatnonzero(kept)
    for some in steps(len(rows), table[:1].nbytes, TOGETHER):
        table[some] = table[rows[some]]  # never from behind its own place
    return len(rows)
