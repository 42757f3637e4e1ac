"""Run the third tier of tests, part after part, and say how long each took; ``make test-nightly``.

What samples look at changes with the date; ``python tests/nightly.py --seed 20270131`` repeats those of a day, and
``--only examples fuzzer`` runs some parts.
"""

import argparse
import datetime
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent


def parts(seed: int, workers: int) -> dict[str, tuple[int, list[str]]]:
    """Return of every part how many minutes it may take on two idle cores, and what it runs."""
    pytest = ["-m", "pytest", "-q", "-n", str(workers), "--dist", "worksteal"]
    return {
        "newest": (5, ["tests/versions.py", "newest", "-n", str(workers)]),
        "oldest": (5, ["tests/versions.py", "oldest", "-n", str(workers)]),
        "samples": (30, [*pytest, "-m", "nightly", "--seed-of-day", str(seed)]),
        "examples": (15, [*pytest, "-m", "hypothesis and not nightly", "--hypothesis-seed", str(seed)]),
        "sanitizers": (20, ["tests/sanitized.py"]),
        "fuzzer": (
            12,
            ["-m", "fuzzer", "--seconds", "600", "--jobs", str(workers), "--seed", str(seed)],
        ),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all parts, whatever fails; return 0 if nothing did."""
    parser = argparse.ArgumentParser(prog="python tests/nightly.py", description=__doc__)
    today = int(datetime.date.today().strftime("%Y%m%d"))
    parser.add_argument("--seed", type=int, default=today, help="of samples (default: today's date)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", nargs="+", metavar="PART", choices=list(parts(0, 1)))
    asked = parser.parse_args(arguments)
    told, environment = [], {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    for name, (minutes, command) in parts(asked.seed, asked.workers).items():
        if asked.only and name not in asked.only:
            continue
        print(f"== {name}, at most {minutes} minutes", flush=True)
        began = time.monotonic()
        code = subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, check=False).returncode
        took = (time.monotonic() - began) / 60
        told.append((code, f"{name:12s} {took:5.1f} of {minutes:2d} minutes  {'passed' if code == 0 else 'FAILED'}"))
        print(f"== {told[-1][1]}", flush=True)
    print(f"seed {asked.seed}", *(line for _, line in told), sep="\n")
    return int(any(code for code, _ in told))


if __name__ == "__main__":
    sys.exit(main())
