"""Run the tests on machines that this one can play; ``make test-machines`` plays all of them."""

import argparse
import datetime
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from machines.variations import COMBINED, READ_ONLY_HOME, Variation, together, variations

ROOT = Path(__file__).parents[2]
# Where numbers come out of BLAS, LAPACK, FFT, torch and NumPy's loops, at small size: what .ci/run runs.
SHORT = (
    "tests/analyses/test_stability.py",
    "tests/analyses/test_volumes.py",
    "tests/codes",
    "tests/geometry",
    "tests/networks/test_network.py",
    "tests/networks/test_enclosures.py",
    "tests/partitions/test_known_counts.py",
    "tests/regions",
    "src/reluscope/analyses/similarity",
    "src/reluscope/geometry",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play machines one after the other, and return 0 if all tests passed on all of them."""
    today = int(datetime.date.today().strftime("%Y%m%d"))
    parser = argparse.ArgumentParser(prog="python -m machines", description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the machines")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="machines to play; all by default")
    parser.add_argument("--together", action="store_true", help="play one machine that has all that is set for them")
    parser.add_argument(
        "--combined", action="store_true", help="play few machines that have all variations, several each"
    )
    parser.add_argument("--short", action="store_true", help="run a short selection of tests")
    parser.add_argument("--seed", type=int, default=today, help="of the order of tests (default: today's date)")
    parser.add_argument("tests", nargs="*", help="tests to run, after --; all of make test by default")
    asked = parser.parse_args(arguments)
    known = variations(asked.seed)
    unknown = set(asked.only or ()) - {one.name for one in known}
    if unknown:
        parser.error(f"expected names that --list prints, got {', '.join(sorted(unknown))}")
    chosen = tuple(one for one in known if asked.only is None or one.name in asked.only)
    if asked.list:
        for one in chosen:
            print(f"{one.name:20s} {one.what}")
        return 0
    if asked.together:
        chosen = (together(chosen),)
    if asked.combined:
        chosen = tuple(combined(chosen))
    failed = [one.name for one in chosen if not play(one, asked.tests or (SHORT if asked.short else ()))]
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return int(bool(failed))


def combined(chosen: Sequence[Variation]) -> Iterator[Variation]:
    """Yield machines that have, of the chosen variations, all that this machine can play."""
    able = {}
    for one in chosen:
        if obstacle := one.obstacle(one):
            print(f"== {one.name}: {one.what} (not played: {obstacle})", flush=True)
        else:
            able[one.name] = one
    for names in COMBINED:
        if parts := [able[name] for name in names if name in able]:
            yield together(parts)


def play(variation: Variation, tests: Sequence[str]) -> bool:
    """Run tests; return False if one failed."""
    obstacle = variation.obstacle(variation)
    print(f"== {variation.name}: {variation.what}{f' (not played: {obstacle})' if obstacle else ''}", flush=True)
    if obstacle:
        return True
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="machines-") as folder:
        environment = {"OMP_NUM_THREADS": "1", **os.environ, **variation.environment}
        if environment.get("HOME") == READ_ONLY_HOME:
            environment["HOME"] = str(Path(folder) / READ_ONLY_HOME)
            os.mkdir(environment["HOME"], mode=0o500)
        command = [*variation.command, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["--hypothesis-profile", "ci", "-n", str(variation.workers or 2), "--dist", "worksteal"]
        command += ["--basetemp", str(Path(folder) / "tests"), *variation.options, *tests]
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    print(f"== {variation.name}: {'passed' if done.returncode == 0 else 'FAILED'}, {time.perf_counter() - began:.0f} s")
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
