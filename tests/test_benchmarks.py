"""The benchmarks run: their figures are for people, this only keeps them from rotting."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["plane_mlp", "plane_conv"])
def test_runs_quickly_and_writes_nothing(name):
    results = ROOT / "benchmarks" / "RESULTS.md"
    before = results.read_bytes() if results.exists() else None
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", name], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "EXACT" in done.stdout
    assert (results.read_bytes() if results.exists() else None) == before


def test_names_what_there_is():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "nothing"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "plane_mlp" in done.stderr
