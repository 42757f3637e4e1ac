"""Every public callable with every bad value: run as a program, it prints what went wrong as JSON.

``python -m conformance.bad_input.running conformance.bad_input.table local codespace`` runs two namespaces of a table.
It is a program of its own because the tests check annotations at every call, which users do not.
"""

import contextlib
import inspect
import io
import json
import os
import signal
import subprocess
import sys
import types
import warnings
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import reluscope as rs
from conformance.bad_input.calls import BY_NAME, settled
from conformance.bad_input.values import bad_values, is_one_sentence
from public_names import returned_types
from reluscope.errors import ReluscopeError

TESTS = Path(__file__).parents[2]
LONGEST = 30  # seconds of the processor that a bad call may take, however busy the machine is


@dataclass
class Report:
    """What was tried, and what failed: one line each."""

    tried: int = 0
    failed: list[str] = field(default_factory=list)


def namespaces():
    """Return the public namespaces, also those within others; the names of the package itself are one."""
    found = [name for name in rs.__all__ if isinstance(getattr(rs, name), types.ModuleType) and name != "errors"]
    within = [f"{name}.{one}" for name in found for one, held in vars(getattr(rs, name)).items()
              if one in getattr(getattr(rs, name), "__all__", ()) and isinstance(held, types.ModuleType)]  # fmt: skip
    return ["", *found, *within]


def _members(thing):
    """What a class has, with what it has from classes of ours."""
    ours = [one for one in reversed(thing.__mro__) if one.__module__.startswith("reluscope")]
    return {name: held for one in ours for name, held in vars(one).items()}


def public(namespace, root=rs):
    """Return (name, callable, class it is a method of) of everything a user can call in a namespace of a package."""
    home = attrgetter(namespace)(root) if namespace else root
    names = getattr(home, "__all__", None) or [name for name in vars(home) if not name.startswith("_")]
    things = {name: getattr(home, name) for name in names} | (returned_types(namespace) if root is rs else {})
    found = {}
    for name, thing in things.items():
        if namespace and name in rs.__all__ and thing is getattr(rs, name):
            continue  # a name of the package itself, which has its own row
        called = f"{namespace}.{name}" if namespace else name
        module = getattr(thing, "__module__", "")
        if isinstance(thing, types.ModuleType | types.GenericAlias) or not str(module).startswith("reluscope"):
            continue
        if inspect.isclass(thing):
            found[called] = (thing, None)
            for method, held in _members(thing).items():
                if method.startswith("_") and method not in ("__call__", "__getitem__"):
                    continue
                bare = held.__func__ if isinstance(held, classmethod | staticmethod) else held
                if not inspect.isfunction(bare):
                    continue
                bound = [one for one in inspect.signature(bare).parameters if one not in ("self", "cls")]
                if bound:
                    found[f"{called}.{method}"] = (bare, thing)
        elif callable(thing) and inspect.isroutine(thing) and inspect.signature(thing).parameters:
            found[called] = (thing, None)
    return found


def call(thing, owner, row, arguments):
    """Call with these arguments, as a method of the row's object if it is one."""
    unnamed = settled(row.unnamed)
    if owner is None:
        return thing(*unnamed, **arguments)
    method = thing.__name__
    return getattr(settled(row.on) if row.on is not None else owner, method)(*unnamed, **arguments)


def run(namespace, table):
    """Try every row of a namespace."""
    report, rows = Report(), table.rows_of(namespace)
    things = public(namespace, table.ROOT)
    for name in sorted(set(rows) - set(things)):
        report.failed.append(f"{name}: a row for what is not public")
    for name, (thing, owner) in things.items():
        if name in table.BUILT_BY_US:
            continue
        if name not in rows:
            report.failed.append(f"{name}: no row in the table")
            continue
        _try_row(name, thing, owner, rows[name], report)
    return report


def _try_row(name, thing, owner, row, report):
    try:
        arguments = settled(row.arguments)
        with quiet():
            call(thing, owner, row, arguments)
    except Exception as error:
        report.failed.append(f"{name}: the valid call fails with {type(error).__name__}: {str(error)[:200]}")
        return
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name in ("self", "cls") or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if row.unnamed and parameter.name not in arguments and parameter.default is parameter.empty:
            continue
        kind = row.kinds.get(parameter.name) or BY_NAME.get(parameter.name)
        if kind is None:
            report.failed.append(f"{name}: no kind for {parameter.name}")
            continue
        valid = arguments.get(parameter.name, parameter.default)
        for label, value in bad_values(kind, valid):
            if value is None and (parameter.default is None or valid is None):
                continue
            report.tried += 1
            _try_value(
                f"{name}({parameter.name}={label})", thing, owner, row, {**arguments, parameter.name: value}, report
            )


def _try_value(said, thing, owner, row, arguments, report):
    try:
        with quiet(), _limited():
            call(thing, owner, row, arguments)
    except ReluscopeError as error:
        if not is_one_sentence(str(error)):
            report.failed.append(f"{said}: no sentence: {str(error)[:300]!r}")
    except Exception as error:
        report.failed.append(f"{said}: {type(error).__name__}: {str(error)[:120]}")
    else:
        report.failed.append(f"{said}: accepted")


@contextlib.contextmanager
def _limited():
    """Stop a call that takes bad input and works on it without end."""

    def stop(number, frame):
        raise TimeoutError(f"not done after {LONGEST} s of work")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def reports_of(table, namespaces, *paths):
    """Return reports of namespaces from a process of its own that finds modules at these paths too."""
    paths = [*map(str, paths), str(TESTS.parent / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "conformance.bad_input.running", table, *namespaces],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def main(table, wanted):
    reports = {name: run(name, import_module(table)) for name in wanted}
    sys.stdout.write(json.dumps({name: {"tried": one.tried, "failed": one.failed} for name, one in reports.items()}))


if __name__ == "__main__":
    main(sys.argv[1], ["" if name == "reluscope" else name for name in sys.argv[2:]])
    sys.stdout.flush()
    # Threads of libraries that were called with nonsense may abort a process that ends; ours end with their calls.
    os._exit(0)
