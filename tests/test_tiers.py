"""`make test` has a few cases of every test that takes long, and leaves browsers and slow tests to `make test-all`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """\
import pytest

@pytest.fixture
def browser():
    pass

def test_page(browser):
    pass

@pytest.mark.few(2)
@pytest.mark.parametrize("a", range(3))
@pytest.mark.parametrize("b", range(3))
def test_cases(a, b):
    pass

@pytest.mark.slow
def test_long():
    pass

@pytest.mark.nightly
def test_sample():
    pass

@pytest.mark.nightly(2)
@pytest.mark.parametrize("a", range(9))
def test_drawn(a):
    pass
"""
CONFTEST = """\
import pytest
from tiers import mark_slow, of_the_day

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    mark_slow(items)
    items[:] = of_the_day(items, SEED)
"""


@pytest.mark.parametrize(
    ("marks", "numbers"),
    [("not slow and not nightly", [0, 2, 0, 0, 0]), ("not nightly", [1, 9, 1, 0, 0]), ("nightly", [0, 0, 0, 1, 2])],
)
def test_tiers(tmp_path, marks, numbers):
    (tmp_path / "conftest.py").write_text(CONFTEST.replace("SEED", "20270131"), encoding="utf-8")
    (tmp_path / "test_tiers_within.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n  few\n  nightly\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", marks]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert [
        done.stdout.count(name) for name in ("test_page", "test_cases[", "test_long", "test_sample", "test_drawn")
    ] == numbers
