"""Plant faults in the modules that trust rests on, one at a time, and see whether their tests notice.

``make mutants`` runs this on a random sample. Faults are planted in a copy of the source tree. The test runs are forked
off one process that has torch and the like imported already, one after the other. What was found is kept in a file,
and a run that was stopped goes on from there; faults of modules or tests that changed since are tried again.
"""

import argparse
import hashlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from mutants.explained import EXPLAINED
from mutants.modules import TESTS
from mutants.operators import Mutant, all_mutants

ROOT = Path(__file__).parents[2]
PREPARED = (
    "torch._dynamo",
    "torch.export._trace",
    "scipy.optimize",
    "scipy.spatial",
    "scipy.stats",
    "scipy.cluster.hierarchy",
)
PREPARED += ("highspy", "sklearn.cluster", "pyarrow.parquet", "sympy", "networkx", "jaxtyping", "jinja2", "mpmath")
COPIED = ("src", "studies", "tests", "conftest.py", "pyproject.toml", "README.md")
MAX_MEMORY = 6 * 2**30
# How a run of tests ends that would try the package as it is.
NOT_THE_COPY = 71
# Without conftest.py, whose checks of annotations would take most of the time of a short run.
OPTIONS = (
    "-x",
    "-q",
    "--noconftest",  # but for fixtures
    "-p",
    "conftest",
    "-m",
    "not nightly",
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try a sample of faults and return 0 if enough of them were noticed."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=200, help="how many faults, at random; 0 for all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--modules", nargs="*", default=list(TESTS), help="parts of their names; all by default")
    parser.add_argument("--lines", type=int, nargs="*", help="only faults in these lines")
    parser.add_argument("--kept", type=Path, default=ROOT / "build" / "mutants.jsonl", help="where results are kept")
    parser.add_argument(
        "--limit", type=float, default=300.0, help="seconds for the tests of a fault: longer is noticed"
    )
    parser.add_argument("--least", type=float, default=0.9, help="share that has to be noticed, of those not explained")
    asked = parser.parse_args(arguments)
    modules = [module for module in TESTS if any(part in module for part in asked.modules)]
    sources = {module: _file(module).read_text(encoding="utf-8") for module in modules}
    chosen = [one for one in all_mutants(sources) if not asked.lines or one.line in asked.lines]
    number = len(chosen)
    if asked.sample and asked.sample < number:
        chosen = random.Random(asked.seed).sample(chosen, asked.sample)
    _say(f"{len(chosen)} of {number:,} faults in {len(modules)} modules")
    found = _try_all(chosen, sources, asked.kept, asked.limit)
    alive = [one for one, result in found.items() if result == "survived"]
    survivors = [one for one in alive if (one.module, one.faulty_line(sources[one.module])) not in EXPLAINED]
    explained = len(alive) - len(survivors)
    for one in survivors:
        _say(f"\n{one.module}.py, line {one.line}, {one.kind}:\n{one.diff(sources[one.module])}")
    noticed, counted = len(found) - len(alive), max(1, len(found) - explained)
    share = noticed / counted
    _say(
        f"\nnoticed: {noticed} of {len(found)}; explained: {explained}; not noticed: {len(survivors)}; "
        f"{share:.0%} without those explained"
    )
    return int(share < asked.least)


def _try_all(chosen: list[Mutant], sources: dict[str, str], kept: Path, limit: float) -> dict[Mutant, str]:
    """Return what became of every fault, asking the tests only for those that are not in the file of results.

    Faults are tried in the order of the sample, so that what a stopped run has tried is a sample, too.
    """
    kept.parent.mkdir(parents=True, exist_ok=True)
    known = dict(json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()) if kept.exists() else {}

    def ask(fault: str, module: str, source: str) -> str:
        """Return how the tests of a module end with some source, from the file of results if they were asked before."""
        # What was noticed stays so when tests are added; what was not is tried again when they change.
        of_module = f"{fault} {_stamp(_file(module))}"
        key = f"{of_module} {_stamp(*(ROOT / test.split('::')[0] for test in TESTS[module]))}"
        if known.get(of_module) == "noticed":
            return "noticed"
        if key not in known:
            began = time.perf_counter()
            path = tree / _file(module).relative_to(ROOT)
            before = path.stat()
            path.write_text(source, encoding="utf-8")
            code = _run(tree, module, limit)
            if code == NOT_THE_COPY:
                sys.exit("expected tests to import the copy in which faults are planted, and they import another")
            result = "survived" if code == 0 else "noticed"
            key = of_module if result == "noticed" else key
            known[key] = result
            path.write_text(sources[module], encoding="utf-8")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            _say(f"{result:8} {time.perf_counter() - began:5.1f} s  {fault}")
            with kept.open("a") as file:
                file.write(json.dumps([key, result]) + "\n")
        return known[key]

    _import_first()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder)
        for name in COPIED:  # with their times: compiled files beside them stay good
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, tree / name)
        found = {one: ask(one.key, one.module, one.apply(sources[one.module])) for one in chosen}
        # Tests that fail anyhow notice everything.
        passing = {one.module for one, result in found.items() if result == "survived"}
        for module in sorted({one.module for one in chosen} - passing):
            if ask(f"{module} as it is", module, sources[module]) != "survived":
                sys.exit(f"expected the tests of {module} to pass without a fault: mend them first")
    return found


def _run(tree: Path, module: str, limit: float) -> int:
    """Return how the tests of a module end in a copy of the project: 0 if all pass; too much time is no pass."""
    child = os.fork()
    if child == 0:
        # Of the processor, because other work may slow it down; what waits for ever is ended by the clock.
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))  # blocks of a faulty size fill the machine
        _child(tree, module)
    end = time.monotonic() + 20 * limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def _child(tree: Path, module: str) -> None:
    os.setpgid(0, 0)
    code = 70
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        os.chdir(tree)
        _leave_installed()
        sys.path[:0] = [str(tree / one) for one in ("src", "studies/src", "tests", "studies/tests")]
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:4])
        sys.dont_write_bytecode = True
        if not Path(str(importlib.import_module("reluscope").__file__)).is_relative_to(tree):
            os._exit(NOT_THE_COPY)
        # Before pytest does, which would put the module in the place of a function of its name.
        name = module.replace("/", ".")
        importlib.import_module(name if name.startswith("reluscope_studies.") else f"reluscope.{name}")
        code = int(pytest.main([*OPTIONS, *TESTS[module], str(_file(module).relative_to(ROOT))]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _leave_installed() -> None:
    """Let imports find the copy: finders of packages that are installed for editing would come first."""
    sys.meta_path[:] = [one for one in sys.meta_path if not type(one).__module__.startswith("_editable_")]


def _import_first() -> None:
    """Import what takes long and is not ours, once for all test runs, and say how Hypothesis searches."""
    for name in PREPARED:
        importlib.import_module(name)
    quick = {"derandomize": True, "database": None, "max_examples": 6}
    settings.register_profile("mutants", deadline=None, suppress_health_check=list(HealthCheck), **quick)
    settings.load_profile("mutants")


def _file(module: str) -> Path:
    if module.startswith("reluscope_studies/"):
        return ROOT / "studies" / "src" / f"{module}.py"
    return ROOT / "src" / "reluscope" / f"{module}.py"


def _stamp(*paths: Path) -> str:
    """Return what changes with the text of files."""
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.read_bytes())
    return whole.hexdigest()[:16]


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
