"""Medians from samples: the interval covers the truth as often as it says, whatever the distribution."""

import numpy as np
import pytest

from reluscope.analyses.medians import median_finding
from reluscope.analyses.pacing import Pace


@pytest.mark.parametrize("draw", ["normal", "exponential", "standard_cauchy"])
@pytest.mark.parametrize("number", [6, 20, 101])
def test_intervals_cover(draw, number):
    generator = np.random.default_rng(number)
    population = getattr(generator, draw)(size=20_001)
    truth, hits = np.median(population), 0
    for _ in range(400):
        found = median_finding(generator.choice(population, number), 20_001, what="x", tolerance=0.0)
        hits += found.interval[0] <= truth <= found.interval[1]
    assert hits / 400 > 0.93


def test_few_values_have_no_interval_and_all_are_exact():
    assert median_finding(np.arange(5.0), 100, what="x", tolerance=0.0).interval is None
    found = median_finding(np.arange(5.0), 5, what="x", tolerance=1e-9, name="middle")
    assert (found.value, found.claim, found.tolerance, found.name) == (2.0, "EXACT", 1e-9, "middle")


@pytest.mark.parametrize("number", [0, 1, 2, 100])
def test_blocks_are_all_samples_in_order(number):
    blocks = list(Pace(number, seconds=np.inf, most=8).blocks())
    assert [row for block in blocks for row in range(block.start, block.stop)] == list(range(number))
    assert max((block.stop - block.start for block in blocks), default=0) <= 8
