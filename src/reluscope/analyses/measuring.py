"""The loop that fills a table of findings: blocks of samples, for as long as there is time, and what Ctrl-C leaves.

An analysis says what it measures of one block. What was found is kept block by block; rows whose turn did not come are
in the table too, and say so.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from reluscope.analyses.pacing import Pace, until_interrupted
from reluscope.findings import Column, Findings, Status

# What stands in details of rows that were not reached, by the kind of array.
NOTHING = {"f": np.nan, "i": -1, "u": 0, "b": False, "U": ""}


class Measured(NamedTuple):
    """What an analysis found in a block of samples: columns of its rows' cells, and details whose first axis is rows.

    A row without any value is one that has no such quantity. What ``stopped`` says ended work in this block, and no
    other one begins.
    """

    columns: tuple[Column, ...]
    details: Mapping[str, np.ndarray] = {}
    stopped: str = ""


def measure(
    number: int,
    ask: Callable[[slice], Measured],
    *,
    keys: Mapping[str, Sequence[int] | Sequence[str]] | None = None,
    domain: str = "input space",
    seconds: float = np.inf,
    most: int = 4096,
    population: int | None = None,
    tell: Callable[[float], None] | None = None,
) -> Findings:
    """Return what was found at so many samples.

    Parameters
    ----------
    number : int
        Samples, at least one.
    ask : callable
        Measures a block of samples.
    keys : mapping of str to sequences, optional
        What is asked of every sample, as ``{"label": range(10)}``: rows go over samples first, then over each of these.
    domain : str
        Where.
    seconds : float
        No block begins after this time, except the first.
    most : int
        Samples in a block.
    population : int, optional
        How many samples these were drawn from.
    tell : callable, optional
        Told the share of the work that is done, from 0 to 1.

    Returns
    -------
    Findings
        A row for each sample, with the key ``sample``, or for each sample and what is asked of it.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C before the first block is done; later it ends the work.

    Examples
    --------
    >>> from reluscope.findings import Column, declare
    >>> twice = declare("example_double", "twice the position of a sample")
    >>> found = measure(3, lambda block: Measured((Column.of(twice, 2.0 * np.arange(3)[block]),)))
    >>> print(found.median("example_double"))
    2 (EXACT)
    """
    began = time.perf_counter()
    pace = Pace(number, seconds=seconds, most=most, tell=tell)
    parts: list[Measured] = []

    def work() -> None:
        for block in pace.blocks():
            parts.append(ask(block))
            if parts[-1].stopped:
                return

    stopped = until_interrupted(work, parts) or parts[-1].stopped or pace.stopped
    done = sum(len(part.columns[0]) for part in parts)
    inner = {name: np.array(values) for name, values in (keys or {}).items()}
    each = prod(len(values) for values in inner.values())
    places = np.unravel_index(np.arange(number * each), (number, *(len(values) for values in inner.values())))
    missing = number * each - done
    columns = tuple(Column.joined(same, missing) for same in zip(*(part.columns for part in parts), strict=True))
    has_value = ~np.all([np.isnan(column.value) for column in columns], axis=0)
    status = [
        Status.NOT_REACHED if row >= done else Status.DONE if has_value[row] else Status.UNDEFINED
        for row in range(number * each)
    ]
    return Findings(
        {column.quantity.name: column for column in columns},
        {"sample": places[0]}
        | {name: values[at] for (name, values), at in zip(inner.items(), places[1:], strict=True)},
        tuple(status),
        domain=domain,
        details={name: _with_nothing([part.details[name] for part in parts], missing) for name in parts[0].details},
        population=population,
        stopped=stopped,
        seconds=time.perf_counter() - began,
    )


def _with_nothing(parts: list[np.ndarray], missing: int) -> np.ndarray:
    table = np.concatenate(parts)
    fill = np.full((missing, *table.shape[1:]), NOTHING.get(table.dtype.kind), dtype=table.dtype)
    table = np.concatenate([table, fill])
    table.setflags(write=False)
    return table


def ragged(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return arrays of different lengths as a detail: an array of arrays, one for each row.

    Examples
    --------
    >>> ragged([np.zeros(2), np.zeros(3)]).shape
    (2,)
    """
    found = np.empty(len(parts), dtype=object)
    for row, part in enumerate(parts):
        found[row] = part
    return found
