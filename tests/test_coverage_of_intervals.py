"""How often intervals of estimates hold the truth, with 1,000 seeds each, in rare and in crowded cases.

Those of forecasts are tested beside them (`partitions/test_forecasting.py`), and those of shares of classes and of
distances (`analyses/local/test_shares.py`). Every finding of the library with an interval of a stated probability is
in one of these three.
"""

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.bodies.volumes import region_volumes
from reluscope.findings import Column, Findings, Kind, declare
from reluscope.testing import pseudo_random_network
from reluscope_studies.annulus.cosines import expected_cosine, random_orthogonality
from reluscope_studies.bounds import count_lower_by_parity

pytestmark = pytest.mark.nightly

SEEDS = 1000
LENGTH = declare("test_drawn_length", "length of what is drawn", unit="input")
PART = declare("test_drawn_part", "part of what is drawn", kind=Kind.SHARE)
TRUTH = declare("test_drawn_truth", "whether what is drawn is long", kind=Kind.TRUTH)


def enough(promised: float, number: int = SEEDS) -> float:
    """Return the number of hits that fewer than one in 700 honest tests miss."""
    return number * promised - 3 * (number * promised * (1 - promised)) ** 0.5


@pytest.mark.parametrize("number", [12, 60, 300])
@pytest.mark.parametrize(("level", "tail", "share"), [(0.1, 0.5, 0.5), (0.5, 1.0, 0.05), (0.9, 3.0, 0.005)])
def test_of_drawn_rows(number, level, tail, share, seed_of_day):
    """Quantiles, means and shares of some rows of a table that holds a sample of a population."""
    generator = np.random.default_rng(seed_of_day)
    everyone = np.exp(tail * generator.standard_normal(5_000))
    limit = np.quantile(everyone, 1 - share)
    truths = {
        "quantile": float(np.quantile(everyone, level)),
        "mean": everyone.mean(),
        "mean of parts": everyone.mean() / everyone.max(),
        "share": (everyone > limit).mean(),
    }
    hits = dict.fromkeys(truths, 0)
    for _ in range(SEEDS):
        drawn = generator.choice(everyone, number, replace=False)
        columns = Column.of(LENGTH, drawn), Column.of(PART, drawn / everyone.max()), Column.of(TRUTH, drawn > limit)
        found = Findings.of(*columns, keys={"sample": np.arange(number)}, population=len(everyone))
        for name, finding in (
            ("quantile", found.quantile(LENGTH, level)),
            ("mean", found.mean(LENGTH)),
            ("mean of parts", found.mean(PART)),
            ("share", found.share(TRUTH)),
        ):
            low, high = finding.interval
            hits[name] += low <= truths[name] <= high
    assert min(hits.values()) >= enough(0.95), hits


@pytest.mark.parametrize("num_samples", [30, 400, 4000])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_of_volumes(num_samples, confidence, seed_of_day):
    """Of regions of every size, the smallest a thousandth of the box."""
    part = rs.partition(rs.load(pseudo_random_network(2, (5, 4))), rs.Box(-1, 1, 2))
    truth = part.volumes()
    assert truth.min() < 4e-3 * truth.sum()
    hits = np.zeros(len(part))
    for seed in range(seed_of_day, seed_of_day + SEEDS):
        found = region_volumes(part, method="sampling", num_samples=num_samples, confidence=confidence, seed=seed)[
            "region_volume"
        ]
        hits += (found.lower <= truth) & (truth <= found.upper)
    # Of so many regions, one may be a little further off.
    assert hits.min() >= enough(confidence) - 0.01 * SEEDS, hits


@pytest.mark.parametrize(("num_parities", "confidence"), [(2, 0.9), (4, 0.8), (5, 0.8)])
def test_of_counts_by_parity(num_parities, confidence, seed_of_day):
    net, box = rs.load(pseudo_random_network(2, [3, 3])), rs.Box(-1, 1, 2)
    truth = len(rs.partition(net, box))
    options = {"num_parities": num_parities, "num_trials": 4, "confidence": confidence}
    seeds = range(seed_of_day, seed_of_day + SEEDS)
    right = sum(int(count_lower_by_parity(net, box, **options, seed=seed).finding) <= truth for seed in seeds)
    assert right >= enough(confidence)


@pytest.mark.parametrize("dim", [2, 8, 40])
@pytest.mark.parametrize("trials", [10, 40])
def test_of_random_cosines(dim, trials, seed_of_day):
    largest = random_orthogonality(dim, trials=20_000, seed=seed_of_day).largest
    truths = expected_cosine(dim).value, largest.value
    hits = np.zeros(2)
    for seed in range(seed_of_day + 1, seed_of_day + 1 + SEEDS):
        found = random_orthogonality(dim, trials=trials, seed=seed)
        for place, (finding, truth) in enumerate(zip((found.mean, found.largest), truths, strict=True)):
            low, high = finding.interval
            hits[place] += low <= truth <= high
    assert hits.min() >= enough(0.95), hits
