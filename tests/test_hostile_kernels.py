"""No kernel can be broken by its arguments: whatever they are, a call ends in a result or an exception, and soon.

`hostile_kernels.rows` has a valid call of each kernel, `hostile_kernels.spoiling` makes it invalid. All calls are made
in a process of its own, which a kernel that reads outside its arrays may take down; `make sanitize` runs the same on
kernels that check every access.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hostile_kernels.rows import ROWS

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent
STUBS = TESTS.parent / "src" / "reluscope" / "_kernels.pyi"


def test_every_kernel_has_a_row():
    body = ast.parse(STUBS.read_text(encoding="utf-8")).body
    names = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    for one in body:
        if isinstance(one, ast.ClassDef):
            names |= {f"{one.name}.{node.name}" for node in one.body if isinstance(node, ast.FunctionDef)}
    assert names == set(ROWS)


def call_all(cases, seed, tmp_path, *more):
    """Call every kernel so often; return what went wrong."""
    import reluscope._kernels

    journal = tmp_path / "journal"
    sources = [str(Path(reluscope._kernels.__file__).parents[1]), str(TESTS)]
    options = ["--cases", str(cases), "--seed", str(seed), "--journal", str(journal), *more]
    done = subprocess.run(
        [sys.executable, "-m", "hostile_kernels.running", *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sources)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"ended in {journal.read_text().strip()}: {done.stderr[-3000:]}"
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["tried"] == cases * len(ROWS)
    return report["failed"]


def test_every_call_ends_in_a_result_or_an_exception(tmp_path):
    assert call_all(60, 0, tmp_path) == []


@pytest.mark.slow
def test_many_calls_end_in_a_result_or_an_exception(tmp_path):
    assert call_all(500, 1, tmp_path) == []


@pytest.mark.nightly
def test_thousands_of_calls_end_in_a_result_or_an_exception(tmp_path, seed_of_day):
    assert call_all(3000, seed_of_day, tmp_path) == []


def test_arrays_that_another_thread_writes_to_lead_nowhere(tmp_path):
    assert call_all(2, 0, tmp_path, "--company") == []


@pytest.mark.slow
def test_many_arrays_that_another_thread_writes_to_lead_nowhere(tmp_path):
    assert call_all(30, 1, tmp_path, "--company") == []
