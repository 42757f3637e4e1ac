"""The loop that fills a table of findings: blocks of samples within a budget, and what Ctrl-C leaves.

An analysis says what it measures of one block. What was found is kept block by block, in a folder if there is one; rows
whose turn did not come are in the table too, and say so.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np

from reluscope.analyses.samples.kept_rows import KeptRows, key_of
from reluscope.analyses.samples.measured import Measured, ragged
from reluscope.analyses.samples.pacing import Pace, until_interrupted
from reluscope.arguments import Range, read_whole
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Column, Findings
from reluscope.progress import share_done

__all__ = ["KeptRows", "Measured", "key_of", "measure", "ragged"]

# What stands in details of rows that were not reached, by the kind of array.
NOTHING = {"f": np.nan, "i": -1, "u": 0, "b": False, "U": ""}
# Samples in a block, and bytes that they may take together, if nothing else is said.
MOST, MEMORY = 4096, 2**28


def measure(
    number: int,
    ask: Callable[[slice], Measured],
    effort: Effort | None = None,
    *,
    keys: Mapping[str, Sequence[int] | Sequence[str]] | None = None,
    domain: str = "input space",
    population: int | None = None,
    most: int = MOST,
    bytes_per_sample: int = 0,
    memory: int = MEMORY,
    checkpoint: KeptRows | None = None,
) -> Findings:
    """Return what was found at so many samples: a row for each sample, or for each sample and key.

    ``ask`` must not depend on how samples are cut into blocks. Rows go over samples first. The first block ignores the
    budget's seconds, one sample its memory. Ctrl-C before the end of the first block raises.
    """
    began = time.perf_counter()
    if population is not None:
        population = read_whole(population, "population", Range(least=number))
    effort = effort or Effort()
    inner = {name: np.array(values) for name, values in (keys or {}).items()}
    each = prod(len(values) for values in inner.values())
    parts = [] if checkpoint is None else checkpoint.parts(number, each)
    with share_done("samples", effort.progress) as tell:
        pace = Pace(
            number,
            seconds=effort.budget.seconds_allowed,
            most=max(1, min(most, effort.budget.memory_or(memory) // max(bytes_per_sample, 1))),
            done=sum(len(part.columns[0]) for part in parts) // each,
            progress=tell,
        )

        def work() -> None:
            for block in pace.blocks():
                parts.append(ask(block))
                if parts[-1].stop:
                    return
                if checkpoint is not None:
                    checkpoint.keep(block, parts[-1])

        stopped = until_interrupted(work, parts) or (parts[-1].stop or pace.stop)
    if len({part.form for part in parts}) > 1:
        raise InputError("expected a checkpoint of what is measured here, got other quantities in it: remove it")
    done = sum(len(part.columns[0]) for part in parts)
    places = np.unravel_index(np.arange(number * each), (number, *(len(values) for values in inner.values())))
    missing = number * each - done
    return Findings.of(
        *(Column.joined(same, missing) for same in zip(*(part.columns for part in parts), strict=True)),
        keys={"sample": places[0]}
        | {name: values[at] for (name, values), at in zip(inner.items(), places[1:], strict=True)},
        reached=done,
        domain=domain,
        details={name: _with_nothing([part.details[name] for part in parts], missing) for name in parts[0].details},
        population=population,
        stop=stopped,
        seconds=time.perf_counter() - began,
    )


def _with_nothing(parts: list[np.ndarray], missing: int) -> np.ndarray:
    table = np.concatenate(parts)
    fill = np.full((missing, *table.shape[1:]), NOTHING.get(table.dtype.kind), dtype=table.dtype)
    table = np.concatenate([table, fill])
    table.setflags(write=False)
    return table
