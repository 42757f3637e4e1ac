"""Functions on networks of every kind end by their budget, and by Ctrl-C: a sample of `benchmarks.limits` by date."""

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.large_networks import NETWORKS
from benchmarks.limits import QUESTIONS, fits, is_kept, run_one

# So many of all pairs in a night; each takes up to its budget and the time to load the network.
SAMPLE = 120
PAIRS = [(name, question) for name in NETWORKS for question in QUESTIONS if fits(name, question)]


def pytest_generate_tests(metafunc):
    """Draw the sample of the day."""
    drawn = random.Random(metafunc.config.getoption("--seed-of-day")).sample(PAIRS, min(SAMPLE, len(PAIRS)))
    cases = [(*pair, (1.0, 5.0)[place % 2], place % 3 == 0) for place, pair in enumerate(drawn)]
    metafunc.parametrize(("name", "question", "seconds", "by_ctrl_c"), cases)


@pytest.mark.nightly
def test_ends_when_told(name, question, seconds, by_ctrl_c):
    asked = run_one(name, question, None if by_ctrl_c else seconds, seconds if by_ctrl_c else None)
    assert is_kept(asked, seconds), asked
