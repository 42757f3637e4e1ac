"""Settings of all tests, those in docstrings included: checked annotations, how Hypothesis searches, random numbers."""

import datetime
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

import doctest_numbers
from annotations import Calls, check_calls
from fresh_examples import without_module_names
from machines.order import shuffle
from tiers import mark_slow, of_the_day

ROOT = Path(__file__).parent
PACKAGES = (ROOT / "src" / "reluscope", ROOT / "studies" / "src" / "reluscope_studies")


def modules_to_check():
    """Return the modules that declare shapes of arrays, which only a call can check; for all others pyright is enough.

    Not among them: packages (their ``__init__`` only re-exports, and naming one would include everything below it), and
    strategies, in which Hypothesis forbids the random numbers by which beartype picks the list entries it looks at.
    """
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if path.name not in ("__init__.py", "strategies.py") and "jaxtyping" in text:
                yield ".".join(path.relative_to(package.parent).with_suffix("").parts)


doctest_numbers.install()
check_calls(frozenset(modules_to_check()))

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Few examples, the same every time: `make test-nightly` has a hundred, or as many as a test asks for, others each day.
FEW = 6
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, database=None, max_examples=FEW)
# As few, others each time or with `--hypothesis-seed`.
settings.register_profile("random", settings.get_profile("ci"), derandomize=False)
settings.load_profile("default")
# Whatever else was imported: Hypothesis would make some examples of the numbers in modules that are loaded.
providers.is_local_module_file = lambda path: False


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options that repeat the sample of another day, and that take tests in another order."""
    today = int(datetime.date.today().strftime("%Y%m%d"))
    parser.addoption("--seed-of-day", type=int, default=today, help="seed of `nightly` tests (default: today's date)")
    parser.addoption("--shuffle", type=int, metavar="SEED", help="take modules, and tests in each, in random order")


@pytest.fixture(scope="session")
def seed_of_day(pytestconfig: pytest.Config) -> int:
    """Seed of the samples that `nightly` tests draw: the date as YYYYMMDD, or ``--seed-of-day``."""
    return pytestconfig.getoption("--seed-of-day")


def pytest_report_header(config: pytest.Config) -> str:
    """Say the seed, with which a sample of another day can be drawn again."""
    return f"seed of the day: {config.getoption('--seed-of-day')}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Give networks without a seed of their own the same weights, and training its gradients, whatever ran before."""
    Calls.test += 1
    torch.manual_seed(0)
    torch.set_grad_enabled(True)  # some tests strike with Ctrl-C at any moment, also within torch.no_grad's own lines


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests that share the report of the demo first, so that one process builds it, and keep examples few."""
    without_module_names(items)
    items.sort(key=lambda item: "demo_report" not in getattr(item, "fixturenames", ()))
    mark_slow(items)
    items[:] = of_the_day(items, config.getoption("--seed-of-day"))
    if (seed := config.getoption("--shuffle")) is not None:
        shuffle(items, random.Random(seed))
    few = settings().max_examples
    for item in items if few <= FEW else []:
        test: Any = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        if getattr(test, "is_hypothesis_test", False):
            asked = test._hypothesis_internal_use_settings
            test._hypothesis_internal_use_settings = settings(asked, max_examples=min(few, asked.max_examples))
