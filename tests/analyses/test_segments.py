"""Counts along segments against bisection, and against themselves when the budget runs out."""

import numpy as np
import pytest

import reluscope as rs
from oracles.segment_bisection import num_regions
from reluscope.analyses.counting import count_along_segments
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.errors import DegenerateGeometryError
from reluscope.testing import default_network

DATA = digits("test")
X = DATA.points.reshape(len(DATA), -1)
NET = rs.load(demo_network(), input_shape=(1, 8, 8))


@pytest.fixture(scope="module")
def whole():
    return count_along_segments(NET, X[:30], X[30:60])


@pytest.mark.slow
def test_counts_are_those_of_bisection(whole):
    for row in range(6):
        start, end = X[row], X[30 + row]

        def codes(t, start=start, end=end):
            return NET.codes(start + t[:, None] * (end - start)).to_array()

        assert whole.counts[row] == num_regions(codes, 0.0, 1.0, grid=2000)


def test_lengths_and_claims(whole):
    assert np.allclose(whole.lengths, np.linalg.norm(X[:30] - X[30:60], axis=1))
    assert whole.is_exact.all()
    chosen = np.arange(30) < 5
    median = whole.median(chosen, "median")
    assert float(median) == np.median(whole.counts[:5])
    assert median.claim == "EXACT"


@pytest.mark.parametrize("budget", [1, 100, 400, 900, 1500])
def test_counts_of_a_spent_budget_are_lower_bounds(budget):
    net = rs.load(default_network([64, 40, 40, 2], seed=0))
    whole = count_along_segments(net, 3 * X[:30], 3 * X[30:60])
    part = count_along_segments(net, 3 * X[:30], 3 * X[30:60], budget=rs.Budget(regions=budget))
    assert (part.counts <= whole.counts).all()
    assert (part.counts[part.is_exact] == whole.counts[part.is_exact]).all()
    if not part.is_exact.all():
        assert "budget" in part.stopped
        assert part.median(np.full(30, True), "median").claim == "LOWER"


def test_no_segments():
    assert len(count_along_segments(NET, X[:0], X[:0])) == 0


def test_a_segment_needs_length():
    with pytest.raises(DegenerateGeometryError, match="two different end points"):
        count_along_segments(NET, X[:1], X[:1])


def counts_of(*exact):
    from reluscope.analyses.counting.segments import SegmentCounts
    from reluscope.findings import Claim, Finding

    claims = [Claim.EXACT if one else Claim.LOWER for one in exact]
    findings = tuple(Finding(k + 1, claim, definition="regions", num_undecided=k) for k, claim in enumerate(claims))
    size = len(exact)
    return SegmentCounts(np.arange(1, size + 1), np.ones(size), np.array(exact), findings, "", {"seconds": 1.0})


@pytest.mark.parametrize(
    ("exact", "chosen", "claim"),
    [
        ((True, True, True), (1, 1, 1), "EXACT"),
        ((True, False, True), (1, 1, 1), "LOWER"),
        ((False, False, False), (1, 1, 1), "LOWER"),
        ((True, False, True), (1, 0, 1), "EXACT"),
        ((True, False, True), (0, 1, 0), "LOWER"),
    ],
)
def test_one_count_that_is_not_exact_makes_the_median_a_lower_bound(exact, chosen, claim):
    counts, chosen = counts_of(*exact), np.array(chosen, dtype=bool)
    median = counts.median(chosen, "median")
    assert median.claim == claim
    assert median.value == np.median(counts.counts[chosen])
    assert median.num_undecided == np.arange(len(exact))[chosen].sum()


def test_counts_are_exact_where_their_findings_are(monkeypatch):
    from reluscope.analyses.counting import segments

    proper = segments.partition
    net = rs.load(default_network([4, 5, 2], seed=0))
    starts, ends = np.random.default_rng(0).normal(size=(2, 3, 4))
    found = count_along_segments(net, starts, ends)
    assert found.is_exact.tolist() == [finding.claim == "EXACT" for finding in found.findings] == [True] * 3
    assert found.stopped == ""

    def cut(network, domains, **options):
        parts = proper(network, domains, **options)
        return [parts[0], *proper(network, domains[1:], budget=1)]

    monkeypatch.setattr(segments, "partition", cut)
    found = count_along_segments(net, starts, ends)
    assert found.is_exact.tolist() == [finding.claim == "EXACT" for finding in found.findings]
