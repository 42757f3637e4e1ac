"""Every public callable with its valid call, on two clocks: what comes back is the same on both.

``python -m conformance.clocks conformance.bad_input.table local codespace`` runs two namespaces of a table, and prints
the callables whose results differ as JSON. On the first clock no work takes any time, on the second each look at it
comes a quarter of a second after the one before: so every place where a clock decides a number is found without any
load, and by the same steps in each run.
"""

import dataclasses
import itertools
import json
import os
import re
import sys
import time
from fractions import Fraction
from importlib import import_module

import numpy as np
import torch

from conformance.bad_input.calls import settled
from conformance.bad_input.running import call, public, quiet

SLOW = 0.25  # seconds between two looks at the clock
# What holds a file open from the first call on.
OPEN = ("Tracker",)
# Names of parts that say how long something took.
OF_TIME = ("seconds", "time", "work", "date", "memory", "rate")


class Clock:
    """All of Python's clocks, each look so many seconds after the one before."""

    def __init__(self, tick):
        self.ticks, self._tick, self._began = itertools.count(), tick, time.time()

    def now(self):
        """Return the time."""
        return self._began + self._tick * next(self.ticks)

    def __enter__(self):
        self._proper = {name: getattr(time, name) for name in ("time", "perf_counter", "monotonic", "process_time")}
        for name in self._proper:
            setattr(time, name, self.now)
        return self

    def __exit__(self, *_):
        for name, proper in self._proper.items():
            setattr(time, name, proper)


def leaves(value, path="", seen=()):
    """Yield (path, number or words) of all that a result consists of, but for what says how long it took."""
    if any(one is value for one in seen):
        return
    seen = (*seen, value)
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield path + "#shape", str(value.shape)
        yield from ((f"{path}[{place}]", one) for place, one in enumerate(value.ravel().tolist()))
    elif isinstance(value, bool | int | float | complex | str | bytes | Fraction | type(None)):
        yield path, value
    elif isinstance(value, dict):
        for key, one in value.items():
            if not any(word in str(key) for word in OF_TIME):
                yield from leaves(one, f"{path}[{key!r}]", seen)
    elif isinstance(value, list | tuple | set | frozenset | np.ndarray):
        for place, one in enumerate(sorted(value, key=repr) if isinstance(value, set | frozenset) else value):
            yield from leaves(one, f"{path}[{place}]", seen)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            if not any(word in field.name for word in OF_TIME):
                yield from leaves(getattr(value, field.name), f"{path}.{field.name}", seen)
    elif type(value).__module__.startswith("reluscope"):
        yield path, re.sub(r" at 0x[0-9a-f]+", "", repr(value))  # where in memory it is, is no result


def is_same(one, other):
    """Whether two leaves are equal, reals to 1e-9; of numbers that are rounding alone nothing is promised."""
    if isinstance(one, float) and isinstance(other, float):
        return (
            one == other
            or (one != one and other != other)
            or abs(one - other) <= 1e-9 * max(abs(one), abs(other), 1e-6)
        )
    return one == other


def differences(one, other):
    """Return the paths at which two results differ."""
    first, second = dict(leaves(one)), dict(leaves(other))
    return [path for path in first | second if not is_same(first.get(path), second.get(path, first))]


def compare(name, thing, owner, row):
    """Return what differs of one callable on the two clocks, and how often it looked."""
    found, looks = [], 0
    for tick in (0.0, SLOW):
        # Without limits of seconds: who gives them has them kept.
        arguments = {key: one for key, one in settled(row.arguments).items() if key != "seconds"}
        given = arguments.get("budget")
        if given is not None and given.seconds is not None:
            del arguments["budget"]
        with quiet(), Clock(tick) as clock:
            try:
                found.append(call(thing, owner, row, arguments))
            except Exception as error:
                found.append(repr(error))
        looks = max(looks, next(clock.ticks))
        if not looks:
            return [], 0
    return differences(*found), looks


def main(table, wanted):
    """Compare the callables of some namespaces."""
    table = import_module(table)
    failed, looked = {}, {}
    for namespace in wanted:
        rows = table.rows_of(namespace)
        for name, (thing, owner) in public(namespace, table.ROOT).items():
            if name in rows and name not in table.BUILT_BY_US and name not in OPEN:
                began = time.perf_counter()
                different, looks = compare(name, thing, owner, rows[name])
                looked[name] = looks, round(time.perf_counter() - began, 2)
                if different:
                    failed[name] = different[:5]
    sys.stdout.write(json.dumps({"failed": failed, "looked": looked}))


if __name__ == "__main__":
    main(sys.argv[1], ["" if name == "reluscope" else name for name in sys.argv[2:]])
    sys.stdout.flush()
    os._exit(0)
