"""Ctrl-C at random moments of every long call: what was found, with a true claim, or KeyboardInterrupt; never else."""

import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
import torch

import reluscope as rs
from partitions.layered import network_of
from reluscope import interruption
from reluscope.analyses.bodies.inscribed_balls import inscribed_balls
from reluscope.analyses.coefficients.jacobian_norms import local_norms
from reluscope.analyses.counting.by_mip import count_by_mip
from reluscope.analyses.counting.by_tree import count_by_tree
from reluscope.analyses.local.classes_of_regions import region_classes
from reluscope.analyses.local.sizes_of_regions import region_sizes
from reluscope.findings import Claim, Finding, Findings
from reluscope.interruption import deferred, has_struck, held, safe_point
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.testing import default_network
from reluscope_studies.stacked import initialize, train

PACKAGE = Path(rs.__file__).parent
MAIN = threading.main_thread()
FEW, MANY = 4, 150


@contextmanager
def listening():
    """Let Ctrl-C raise KeyboardInterrupt within, also where the tests themselves are to be deaf to it."""

    def struck(signum, frame):
        del signum, frame
        if not is_over:
            raise KeyboardInterrupt

    is_over = False
    before = signal.signal(signal.SIGINT, struck)
    try:
        yield struck
    finally:
        is_over = True
        signal.signal(signal.SIGINT, before)


def outcome(call, wait):
    """Press Ctrl-C after a while; return what the call gives, None for KeyboardInterrupt."""
    if threading.current_thread() is not MAIN:
        pytest.skip("signals arrive in the main thread only")
    timer = threading.Timer(wait, signal.pthread_kill, (MAIN.ident, signal.SIGINT))
    found = None
    with listening() as before:
        try:
            timer.start()
            found = call()
            # One that comes after the call is none of its business.
            timer.cancel()
            timer.join()
            time.sleep(0)
        except KeyboardInterrupt:
            pass
        timer.cancel()
        timer.join()
        assert signal.getsignal(signal.SIGINT) is before
    assert interruption._Deferred.before is None
    return found


def wide(*widths, seed=3, **options):
    return from_arrays(default_network(list(widths), seed=seed, **options))


@cache
def network(*widths):
    return wide(*widths)


@cache
def maxima():
    draw = np.random.default_rng(0).normal
    groups = np.arange(24).reshape(8, 3).tolist()
    layers = [
        ("affine", draw(size=(24, 2)), draw(size=24)),
        ("max", groups),
        ("affine", draw(size=(10, 8)), draw(size=10)),
    ]
    return network_of([*layers, ("pointwise", [0.0], [0.0, 1.0], [0.0, 0.0])], 2)


def threads(call):
    with ThreadPoolExecutor(2) as executor:
        return call(executor=executor)


def partitions():
    """Return calls that give a partition, by name."""
    plane, space = rs.Box(-1, 1, 2), rs.Box(-1, 1, 3)
    flat, deep, solid = network(2, 16, 16, 1), network(4, 8, 6, 1), network(3, 10, 8, 1)
    segments = [rs.Segment(*ends) for ends in np.random.default_rng(0).normal(size=(40, 3, 3))[:, :2]]
    return {
        "incidence in the plane": partial(rs.partition, flat, plane),
        "incidence of max gates": partial(rs.partition, maxima(), plane),
        "incidence in space": partial(rs.partition, solid, space, method="incidence"),
        "incidence on segments": partial(rs.partitions, solid, segments),
        "incidence with threads": partial(threads, partial(rs.partition, flat, plane)),
        "cell by cell": partial(rs.partition, deep, rs.Box(-1, 1, 4), method="cellwise"),
        "cell by cell everywhere": partial(rs.partition, solid, rs.Space(3), method="cellwise"),
        "cell by cell with threads": partial(threads, partial(rs.partition, deep, rs.Box(-1, 1, 4))),
        "tree": partial(rs.partition, network(3, 6, 5, 1), space, method="tree"),
        "tree everywhere": partial(rs.partition, network(3, 6, 5, 1), rs.Space(3), method="tree"),
        "tree of max gates": partial(rs.partition, maxima(), plane, method="tree"),
        "tree with threads": partial(threads, partial(rs.partition, network(3, 6, 5, 1), space, method="tree")),
        "certified in the plane": partial(rs.certify, rs.partition(network(2, 5, 4, 1), plane)),
        "certified in space": partial(rs.certify, rs.partition(network(3, 5, 4, 1), space)),
    }


@cache
def truth(name):
    """Return what a partition has to hold, and the seconds that it takes."""
    call = partitions()[name]
    call()
    began = time.perf_counter()
    found = call()
    seconds = time.perf_counter() - began
    parts = found if isinstance(found, list) else [found]
    return [{words.tobytes() for words in part.codes.words} for part in parts], seconds


def check(part, codes):
    """An interrupted partition is part of the whole one, each region once, and says so."""
    found = [words.tobytes() for words in part.codes.words]
    assert len(set(found)) == len(found)
    assert set(found) <= codes
    finding = part.finding()
    assert len(found) <= int(finding) <= len(codes)
    assert finding.claim is Claim.EXACT or finding.interval[1] >= len(codes)
    if part.claim is Claim.EXACT:
        assert set(found) == codes
    else:
        assert part.claim is Claim.LOWER
    if len(found) < len(codes):
        assert part.note == "interrupted"
        assert part.num_open


NAMES = list(partitions())


def strikes(number, seconds, seed=0):
    return np.random.default_rng(seed).uniform(0, seconds, size=number)


@pytest.mark.few(5)
@pytest.mark.parametrize("name", NAMES)
def test_partitions(name):
    strike_partitions(name, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_partitions_many_times(name):
    strike_partitions(name, MANY)


def strike_partitions(name, number):
    codes, seconds = truth(name)
    kinds = dict.fromkeys(("partial", "whole", "exception"), 0)
    for wait in strikes(number, seconds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = outcome(partitions()[name], wait)
        if found is None:
            kinds["exception"] += 1
            continue
        parts = found if isinstance(found, list) else [found]
        for part, whole in zip(parts, codes, strict=True):
            check(part, whole)
        kinds["partial" if any(part.claim is Claim.LOWER for part in parts) else "whole"] += 1
    if number == MANY:
        assert kinds["partial"] > 0


def other_calls():
    """Return calls that give something else, and what to ask of it."""
    flat, plane = network(2, 16, 16, 1), rs.Box(-1, 1, 2)
    small = network(2, 5, 4, 1)
    many = network(8, 32, 32, 3)
    points = np.random.default_rng(0).normal(size=(60, 8))
    ball = rs.Box(-4, 4, 8)
    cloud = np.random.default_rng(0).normal(size=(3000, 8))
    return {
        "count": partial(rs.count, flat, plane),
        "count of maps": partial(rs.count, small, plane, definition="affine"),
        "count of convex": partial(rs.count, small, plane, definition="convex"),
        "count by tree": partial(_number, count_by_tree, network(3, 6, 5, 1), rs.Box(-1, 1, 3)),
        "count by programs": partial(_number, count_by_mip, network(2, 4, 3, 1), plane),
        "norms": partial(local_norms, many, points),
        "balls": partial(inscribed_balls, many, points, domain=ball),
        "sizes": partial(region_sizes, network(3, 8, 8, 2), points[:12, :3], domain=rs.Box(-4, 4, 3)),
        "classes": partial(region_classes, network(4, 8, 8, 3), points[:8, :4], domain=rs.Box(-4, 4, 4)),
        "nearest change": partial(rs.robustness.decision_distance, network(3, 8, 8, 2), points[:3, :3], norm="linf"),
        "violations": partial(rs.violations, flat, unsafe_in(plane, flat)),
        "distances of codes": lambda: many.codes(cloud).distance(),
        "distinct codes": lambda: many.codes(cloud).unique(),
        "facets of the tree": lambda: tree_partition().adjacency(),
        "training": partial(_trained, 12),
    }


def unsafe_in(box, network):
    """Return a property that half the box or so violates."""
    level = float(np.median(network(np.random.default_rng(0).uniform(box.lo, box.hi, (101, box.dim))).numpy()[:, 0]))
    return rs.verification.Property([rs.verification.Case(box.lo, box.hi, [rs.Polyhedron([[1.0]], [level])])])


def _number(function, *arguments):
    return function(*arguments).finding


def _trained(number):
    stack = initialize((6,), num_inputs=2, seeds=range(number), scheme="he", leak=0.1)
    square, labels = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.0, 1.0, 0.0]
    return train(stack, square, labels, loss="bce", optimizer=partial(torch.optim.Adam, lr=0.025), epochs=100)


def tree_partition():
    part = rs.partition(network(3, 6, 5, 1), rs.Box(-1, 1, 3), method="tree")
    if part.note:
        raise KeyboardInterrupt
    return part


@cache
def finished(name):
    call = other_calls()[name]
    call()
    began = time.perf_counter()
    found = call()
    return found, time.perf_counter() - began


OTHERS = list(other_calls())


@pytest.mark.few(4)
@pytest.mark.parametrize("name", OTHERS)
def test_other_calls(name):
    strike_others(name, FEW)


@pytest.mark.nightly(4)
@pytest.mark.parametrize("name", OTHERS)
def test_other_calls_many_times(name):
    strike_others(name, MANY)


def strike_others(name, number):
    whole, seconds = finished(name)
    for wait in strikes(number, seconds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = outcome(other_calls()[name], wait)
        if isinstance(found, Finding):
            low, high = found.interval or (int(found), int(found))
            assert low <= int(whole) <= high
            assert found.claim in (Claim.EXACT, Claim.LOWER)
        elif isinstance(found, Findings):
            assert len(found) == len(whole)
            for quantity, column in found.columns.items():
                apart = (column.lower > whole[quantity].upper) | (column.upper < whole[quantity].lower)
                assert not apart[found.is_done].any()
        elif isinstance(found, rs.verification.Violations):
            low, high = found.volume().interval or (found.volume().value,) * 2
            assert low <= whole.volume().value <= high
        elif getattr(found, "stopped", "") == "interrupted" and hasattr(found, "rows"):
            assert np.isin(found.rows, whole.rows).all()
    # Nothing is left behind.
    again = other_calls()[name]()
    if isinstance(again, Finding):
        assert (again.value, again.claim) == (whole.value, whole.claim)


def press():
    signal.raise_signal(signal.SIGINT)


def is_interrupted(work):
    try:
        work()
    except KeyboardInterrupt:
        return True
    return False


def test_a_strike_waits_for_a_safe_point():
    done = []

    @held
    def work():
        press()
        done.append("went on")
        safe_point()
        done.append("never")

    with listening():
        assert is_interrupted(work)
    assert done == ["went on"]


def test_a_strike_that_nobody_asks_for_comes_at_the_end():
    done = []

    @held
    def work():
        with deferred():
            press()
        done.append("still within")

    with listening():
        assert is_interrupted(work)
        safe_point()
    assert done == ["still within"]


def test_a_second_strike_is_answered_too():
    @held
    def work():
        for _ in range(2):
            press()
            assert is_interrupted(safe_point)
            assert not is_interrupted(safe_point)

    with listening():
        assert not is_interrupted(work)


def test_after_a_while_without_an_answer_it_strikes_at_once(monkeypatch):
    monkeypatch.setattr(interruption, "PATIENCE", -1.0)
    done = []

    @held
    def work():
        press()
        done.append("first")
        press()
        done.append("never")

    with listening() as before:
        assert is_interrupted(work)
        assert signal.getsignal(signal.SIGINT) is before
        assert interruption._Deferred.before is None
    assert done == ["first"]


def test_work_that_ends_may_take_note():
    with listening(), deferred():
        press()
        assert has_struck()
        assert not has_struck()


def test_what_was_there_before_decides():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append("heard"))
    try:
        with deferred():
            press()
            assert heard == []
            safe_point()
            assert heard == ["heard"]
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("kind", [signal.SIG_IGN, signal.SIG_DFL])
def test_where_it_is_ignored_nothing_changes(kind):
    before = signal.signal(signal.SIGINT, kind)
    try:
        with deferred():
            assert signal.getsignal(signal.SIGINT) is kind
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_hear_nothing():
    def within():
        with deferred():
            safe_point()
            return signal.getsignal(signal.SIGINT)

    with listening() as before, ThreadPoolExecutor(1) as executor:
        assert executor.submit(within).result() is before


def test_what_struck_within_strikes_what_it_is_part_of():
    done = []

    @held
    def part():
        press()
        assert has_struck()
        assert interruption.is_part()
        interruption.pass_on()

    @held
    def work():
        assert not interruption.is_part()
        part()
        done.append("went on")
        safe_point()
        done.append("never")

    with listening():
        assert is_interrupted(work)
    assert done == ["went on"]
    interruption.pass_on()  # where nothing is deferred nobody is to hear of it
    assert interruption._Deferred.struck is None


def test_a_partition_within_other_work_leaves_the_word_to_it(monkeypatch):
    """Ctrl-C in the partition of one box ends the search for violations, which says so."""
    calls = []

    def struck(*given, **named):
        calls.append(None)
        if len(calls) == 1:
            press()
        return rs.partition(*given, **named)

    monkeypatch.setattr("reluscope.analyses.verification.unsafe_regions.partition", struck)
    square = rs.Box(-1, 1, 2)
    call = partial(rs.violations, network(2, 16, 16, 1), unsafe_in(square, network(2, 16, 16, 1)))
    with listening(), warnings.catch_warnings():
        warnings.simplefilter("error")
        found = call()
    assert (found.stopped, len(calls)) == ("interrupted", 1)
    assert len(found.open_boxes)
    assert found.volume().claim is Claim.LOWER
    whole = call()
    assert found.volume().value <= whole.volume().value <= found.volume().interval[1]
