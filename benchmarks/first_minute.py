"""The first minute of a newcomer: ``make demo`` in a fresh clone, nothing installed, no caches; and the second run."""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Measurement

TARGET = "make demo in a fresh clone at most 25 s after installation, the second run at most 12 s by the clock"
ROOT = Path(__file__).parents[1]
# What each step is called here, and the command.
STEPS = (
    ("installation and kernels", "make .venv/.installed .venv/.kernels"),
    ("make demo, the first", "make demo"),
    ("make demo, the second", "make demo"),
)


def run(quick: bool) -> list[Measurement]:
    """Time the steps in a clone of what is committed; all caches are in a folder that is empty at first."""
    with tempfile.TemporaryDirectory() as folder:
        clone, caches = Path(folder) / "clone", Path(folder) / "caches"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        left_out = ("PYTHONPATH", "PYTHONPYCACHEPREFIX", "MAKEFLAGS", "MAKELEVEL", "VIRTUAL_ENV")
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        environment |= {name: str(caches) for name in ("XDG_CACHE_HOME", "PIP_CACHE_DIR", "MPLCONFIGDIR")}
        environment["PYTHON"] = sys.executable
        return [_timed(case, command, clone, environment) for case, command in STEPS[: 1 if quick else None]]


def _timed(case: str, command: str, clone: Path, environment: dict[str, str]) -> Measurement:
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(command.split(), cwd=clone, env=environment, capture_output=True, text=True, check=True)
    seconds, after = time.perf_counter() - began, os.times()
    work = sum(getattr(after, name) - getattr(before, name) for name in ("children_user", "children_system"))
    said = re.search(r"^([\d.]+ s); the report is in", done.stdout, re.MULTILINE)
    detail = f"{work:.1f} s of processor time" + (f"; it says {said[1]}" if said else "")
    return Measurement(case, seconds, detail=detail)
