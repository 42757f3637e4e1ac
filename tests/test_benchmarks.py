"""The benchmarks run: their figures are for people, this only keeps them from rotting."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

ROOT = Path(__file__).parents[1]


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("plane_conv", "rays", "scaling", "workers")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plane_mlp", *SLOW])
def test_runs_quickly_and_writes_nothing(name):
    results = ROOT / "benchmarks" / "RESULTS.md"
    before = results.read_bytes() if results.exists() else None
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", name], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "EXACT" in done.stdout
    assert (results.read_bytes() if results.exists() else None) == before


def test_draws_how_time_grows(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    scaling = importlib.import_module("benchmarks.scaling")
    curves = {"slope 1.00": (np.array([10.0, 100.0]), np.array([1.0, 10.0]))}
    scaling._draw(curves, tmp_path / "growth.png")
    assert imread(tmp_path / "growth.png").shape[1] > 600


@pytest.mark.slow
def test_names_what_there_is():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "nothing"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "plane_mlp" in done.stderr
