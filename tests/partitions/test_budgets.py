"""Budgets: kept to within a chunk, whatever the engine; bounds from below that are true; always a first region."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

import numpy as np
import pytest

import reluscope as rs
from partitions.layered import network_of
from reluscope import time_limits
from reluscope.analyses.counting.by_tree import count_by_tree
from reluscope.effort import Effort
from reluscope.findings import Claim
from reluscope.interruption import step_point
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.complexes import certification
from reluscope.testing import default_network
from reluscope.time_limits import LEAST_GRACE

# Regions that may be finished beyond those asked for.
FEW = 64


def threads(call, **options):
    with ThreadPoolExecutor(2) as executor:
        return call(executor=executor, **options)


@cache
def dense(*widths):
    return from_arrays(default_network(list(widths), seed=3))


@cache
def maxima(dim):
    """Return groups of four candidates, and units after them: regions come in pieces before these are joined."""
    draw = np.random.default_rng(dim).normal
    groups = np.arange(24).reshape(6, 4).tolist()
    first, second = ("affine", draw(size=(24, dim)), draw(size=24)), ("affine", draw(size=(8, 6)), draw(size=8))
    return network_of([first, ("max", groups), second, ("pointwise", [0.0], [0.0, 1.0], [0.0, 0.0])], dim)


def calls():
    plane, space = rs.Box(-1, 1, 2), rs.Box(-1, 1, 3)
    return {
        "plane": partial(rs.partition, dense(2, 24, 24, 1), plane),
        "plane with threads": partial(threads, partial(rs.partition, dense(2, 24, 24, 1), plane)),
        "plane of max gates": partial(rs.partition, maxima(2), plane),
        "plane of max gates with threads": partial(threads, partial(rs.partition, maxima(2), plane)),
        "space": partial(rs.partition, dense(3, 14, 10, 1), space, method="incidence"),
        "space with threads": partial(threads, partial(rs.partition, dense(3, 14, 10, 1), space, method="incidence")),
        "space of max gates": partial(rs.partition, maxima(3), space),
        "cell by cell": partial(rs.partition, dense(4, 10, 8, 1), rs.Box(-1, 1, 4), method="cellwise"),
        "cell by cell everywhere": partial(rs.partition, dense(3, 10, 8, 1), rs.Space(3), method="cellwise"),
        "cell by cell with threads": partial(threads, partial(rs.partition, dense(4, 10, 8, 1), rs.Box(-1, 1, 4))),
        "tree": partial(rs.partition, dense(3, 8, 6, 1), space, method="tree"),
        "tree of max gates": partial(rs.partition, maxima(2), plane, method="tree"),
        "tree with threads": partial(threads, partial(rs.partition, dense(3, 8, 6, 1), space, method="tree")),
    }


NAMES = list(calls())


@cache
def whole(name):
    return {words.tobytes() for words in calls()[name]().codes.words}


def check(part, truth, regions):
    found = [words.tobytes() for words in part.codes.words]
    assert len(set(found)) == len(found)  # no region twice
    assert set(found) <= truth
    finding = part.finding()
    assert len(found) <= int(finding) <= len(truth)
    _, most = finding.interval or (int(finding), int(finding))
    assert most >= len(truth)
    if part.claim is Claim.EXACT:
        assert set(found) == truth
    else:
        assert part.note
    if regions is not None:
        assert len(found) <= regions + FEW


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMES)
def test_budgets_of_regions(name):
    truth = whole(name)
    for regions in sorted({0, 1, 2, 17, len(truth) // 3, len(truth) * 2 // 3, len(truth) - 1, len(truth), 10**6}):
        part = calls()[name](budget=rs.Budget(regions=regions))
        check(part, truth, regions)
        if regions > len(truth):
            assert part.claim is Claim.EXACT
        elif regions > 0:
            assert len(part) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_budget_of_regions(name):
    truth = whole(name)
    for regions in range(0, len(truth), max(1, len(truth) // 100)):
        check(calls()[name](budget=rs.Budget(regions=regions)), truth, regions)


def has_been_slow(began):
    """Whether a machine was too busy for a first region within the grace that a budget of time has."""
    return time.perf_counter() - began >= LEAST_GRACE


@pytest.mark.few(14)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seconds", [0.0, 0.01])
def test_budgets_of_time_give_the_first_region(name, seconds):
    began = time.perf_counter()
    part = calls()[name](budget=rs.Budget(seconds=seconds))
    assert len(part) > 0 or has_been_slow(began)
    check(part, whole(name), None)
    if not seconds:
        assert len(part) <= FEW
        assert "0 s" in part.note


@pytest.mark.parametrize("seconds", [0.0, 0.01])
def test_counts_are_of_one_region_at_least(seconds):
    net, space, budget = dense(3, 8, 6, 1), rs.Box(-1, 1, 3), rs.Budget(seconds=seconds)
    truth = len(whole("tree"))
    assert 1 <= int(count_by_tree(net, space, Effort(budget)).finding) <= truth
    with ThreadPoolExecutor(2) as executor:
        found = count_by_tree(net, space, Effort(budget, executor))
    assert 1 <= int(found.finding) <= truth
    assert found.finding.claim is Claim.LOWER or int(found.finding) == truth


def test_a_hundred_thousand_regions_are_not_begun_for_a_few():
    net = dense(5, 24, 24, 24, 1)
    for regions in (1, 100, 691):
        part = rs.partition(net, rs.Box(-1, 1, 5), budget=rs.Budget(regions=regions))
        assert regions <= len(part) <= regions + FEW
    began = time.perf_counter()
    assert len(rs.partition(net, rs.Box(-1, 1, 5), budget=rs.Budget(seconds=0.05))) > 0 or has_been_slow(began)


def test_work_without_a_limit_is_that_of_a_limit_far_away():
    plane = rs.Box(-1, 1, 2)
    free, limited = (rs.partition(dense(2, 24, 24, 2), plane, budget=budget) for budget in (None, rs.Budget(10**9)))
    assert free.work["chunks"] == limited.work["chunks"]  # thousands, if infinity is read as few
    assert (free.codes.words == limited.codes.words).all()


def test_a_certified_plane_is_left_to_floats_when_the_time_is_over(monkeypatch):
    """Seen red where all cells, one chunk, went to the end whatever the time."""
    network, plane = dense(2, 8, 6, 1), rs.Box(-1, 1, 2)
    whole = rs.certify(rs.partition(network, plane), budget=rs.Budget(seconds=1e6))
    assert whole.certified
    assert whole.claim is Claim.EXACT
    found = rs.partition(network, plane)

    def late():
        monkeypatch.setattr(time_limits, "time", lambda: 1e18)
        step_point()

    monkeypatch.setattr(certification, "step_point", late)
    part = rs.certify(found, budget=rs.Budget(seconds=1e6))
    assert not part.certified
    assert part.certificate is None
    assert part.note == "budget of 1e+06 s"
    assert part.claim is Claim.LOWER
    assert {words.tobytes() for words in part.codes.words} <= {words.tobytes() for words in whole.codes.words}
    assert len(part) > 1


def test_ctrl_c_ends_the_walks_of_all_segments(monkeypatch):
    from reluscope.partitions.complexes import incidence
    from reluscope.partitions.engines import few_dimensions

    monkeypatch.setattr(few_dimensions, "max_exact", lambda network: 0)  # as of large networks: each by itself
    faithful, opened = incidence.open_stage, []

    def striking(*arguments):
        opened.append(arguments)
        if len(opened) == 2:
            raise KeyboardInterrupt
        return faithful(*arguments)

    monkeypatch.setattr(incidence, "open_stage", striking)
    net = rs.load(default_network([2, 8, 8, 1], seed=2))
    ways = [rs.Segment([-1.0, height], [1.0, height]) for height in (-0.5, 0.0, 0.5)]
    with pytest.warns(UserWarning, match="interrupted"):
        parts = rs.partitions(net, ways)
    assert len(opened) == 2
    assert [str(part.claim) for part in parts] == ["LOWER"] * 3


def test_ctrl_c_while_rounding_is_measured_ends_all_walks(monkeypatch):
    from reluscope.partitions.doubts import walk_rounding
    from reluscope.partitions.engines import few_dimensions

    measured = []

    def struck(*arguments):
        measured.append(arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(walk_rounding, "measured_rounding", struck)
    for module in (walk_rounding, few_dimensions):
        monkeypatch.setattr(module, "max_exact", lambda network: 0)
    ways = [rs.Segment([-1.0, height], [1.0, height]) for height in (-0.5, 0.0, 0.5)]
    with pytest.warns(UserWarning, match="interrupted"):
        parts = rs.partitions(rs.load(default_network([2, 8, 8, 1], seed=2)), ways)
    assert len(measured) == 1
    assert [(str(part.claim), part.note) for part in parts] == [("LOWER", "interrupted")] * 3


def test_ctrl_c_while_corners_are_sought_keeps_the_regions(monkeypatch):
    from reluscope.partitions.ask import region_search

    def struck(part, network):
        raise KeyboardInterrupt

    net = rs.load(default_network([2, 6, 1], seed=2))
    part = rs.partition(net, rs.Box(-1, 1, 2), method="tree")
    monkeypatch.setattr(region_search, "with_corners", struck)
    found = region_search._with_corners_in_time(part, net)
    assert len(found) == len(part)
    assert found.note == "interrupted"
