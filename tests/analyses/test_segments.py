"""Counts along segments against bisection, and against themselves when the budget runs out."""

import numpy as np
import pytest

import reluscope as rs
from oracles.segment_bisection import num_regions
from reluscope.analyses.counting import count_along_segments
from reluscope.analyses.counting.segment_counts import NUM_REGIONS_ON_SEGMENT
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.errors import DegenerateGeometryError
from reluscope.testing import default_network

DATA = digits("test")
X = DATA.points.reshape(len(DATA), -1)
NET = rs.load(demo_network(), input_shape=(1, 8, 8))


def counts(found):
    return found[NUM_REGIONS_ON_SEGMENT].value


@pytest.fixture(scope="module")
def whole():
    return count_along_segments(NET, X[:30], X[30:60])


@pytest.mark.slow
def test_counts_are_those_of_bisection(whole):
    for row in range(6):
        start, end = X[row], X[30 + row]

        def codes(t, start=start, end=end):
            return NET.codes(start + t[:, None] * (end - start)).to_array()

        assert counts(whole)[row] == num_regions(codes, 0.0, 1.0, grid=2000)


def test_lengths_and_claims(whole):
    assert np.allclose(whole.details["length"], np.linalg.norm(X[:30] - X[30:60], axis=1))
    assert whole[NUM_REGIONS_ON_SEGMENT].is_exact.all()
    median = whole.rows(np.arange(30) < 5).median(NUM_REGIONS_ON_SEGMENT)
    assert float(median) == np.median(counts(whole)[:5])
    assert median.claim == "EXACT"


@pytest.mark.few(1)
@pytest.mark.parametrize("budget", [1, 100, 400, 900, 1500])
def test_counts_of_a_spent_budget_are_lower_bounds(budget):
    net = rs.load(default_network([64, 40, 40, 2], seed=0))
    whole = count_along_segments(net, 3 * X[:30], 3 * X[30:60])
    part = count_along_segments(net, 3 * X[:30], 3 * X[30:60], budget=rs.Budget(regions=budget))
    is_exact = part[NUM_REGIONS_ON_SEGMENT].is_exact
    assert (counts(part) <= counts(whole)).all()
    assert (counts(part)[is_exact] == counts(whole)[is_exact]).all()
    if not is_exact.all():
        assert "budget" in part.stopped
        assert part.median(NUM_REGIONS_ON_SEGMENT).claim == "LOWER"


def test_no_segments():
    assert len(count_along_segments(NET, X[:0], X[:0])) == 0


def test_a_segment_needs_length():
    with pytest.raises(DegenerateGeometryError, match="two different end points"):
        count_along_segments(NET, X[:1], X[:1])


def test_counts_are_exact_where_their_findings_are(monkeypatch):
    from reluscope.analyses.counting import segment_counts as segments

    proper = segments.partitions
    net = rs.load(default_network([4, 5, 2], seed=0))
    starts, ends = np.random.default_rng(0).normal(size=(2, 3, 4))
    found = count_along_segments(net, starts, ends)
    assert found[NUM_REGIONS_ON_SEGMENT].is_exact.all()
    assert found.stopped == ""

    def cut(network, domains, **options):
        parts = proper(network, domains, **options)
        return [parts[0], *proper(network, domains[1:], budget=rs.Budget(regions=1))]

    monkeypatch.setattr(segments, "partitions", cut)
    found = count_along_segments(net, starts, ends)
    assert found[NUM_REGIONS_ON_SEGMENT].is_exact.tolist() == [
        found.finding(NUM_REGIONS_ON_SEGMENT, row).claim == "EXACT" for row in range(3)
    ]
