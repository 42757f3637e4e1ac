"""Budgets: when they are spent, and what they say then."""

import time
from math import inf

import pytest

from reluscope.arguments import read_arguments
from reluscope.budget import BlockBudget, Budget, Interrupted, Remainder, end_again, is_lack_of_memory, why_ended
from reluscope.errors import InputError
from reluscope.stopping import INTERRUPTED, OUT_OF_MEMORY, Stop, StopReason
from reluscope.time_limits import OutOfTime


def test_regions():
    now = time.time()
    assert Budget(regions=10).spent(9, now) is None
    assert str(Budget(regions=10).spent(10, now)) == "budget of 10 regions"
    assert str(Budget(regions=0).spent(0, now)) == "budget of 0 regions"
    assert str(Budget(regions=1_000).spent(1_001, now)) == "budget of 1,000 regions"


def test_seconds(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 100.0)
    assert Budget(seconds=60.0).spent(10**9, 40.5) is None
    assert str(Budget(seconds=60.0).spent(0, 40.0)) == "budget of 60 s"
    assert str(Budget(seconds=60.0).spent(0, 39.0)) == "budget of 60 s"
    assert Budget(seconds=float("inf")).spent(0, 0.0) is None


def test_neither_and_both(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 100.0)
    assert Budget().spent(10**12, 0.0) is None
    assert Budget(regions=5, seconds=60.0).spent(4, 99.0) is None
    assert str(Budget(regions=5, seconds=60.0).spent(5, 99.0)) == "budget of 5 regions"
    assert str(Budget(regions=5, seconds=60.0).spent(4, 0.0)) == "budget of 60 s"
    assert Budget().foresee() is None


def test_memory():
    assert Budget().memory_or(100) == 100
    assert Budget(memory=7).memory_or(100) == 7
    assert repr(Budget(seconds=2.0, memory=7)) == "Budget(seconds=2.0, memory=7)"


def test_a_limit_that_means_nothing_is_refused():
    @read_arguments
    def balls(budget: BlockBudget | None = None) -> Budget:
        return budget or Budget()

    assert balls() == Budget()
    assert balls(Budget(seconds=1.0, memory=5)) == Budget(seconds=1.0, memory=5)
    with pytest.raises(InputError, match=r"budget must limit seconds or memory only.*leave out regions"):
        balls(budget=Budget(regions=5, seconds=1.0))
    with pytest.raises(InputError, match=r"budget must be a Budget, got 5.*Budget\(seconds=60\)"):
        balls(5)


def test_what_is_left():
    assert Budget(regions=10, seconds=1.0).after(4) == Budget(regions=6, seconds=1.0)
    assert Budget(regions=10).after(12) == Budget(regions=0)
    assert Budget(seconds=1.0).after(5) == Budget(seconds=1.0)
    assert [Budget(regions=10).room(number) for number in (4, 10, 12)] == [6, 0, 0]
    assert Budget(seconds=1.0).room(5) == inf
    assert (Budget(seconds=2.0).seconds_allowed, Budget().seconds_allowed) == (2.0, inf)


def test_the_share_that_is_spent(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 100.0)
    assert Budget(regions=10).share_spent(4, 0.0) == 0.4
    assert Budget(seconds=50.0).share_spent(10**9, 80.0) == 0.4
    # Of two limits that which is nearer; never more than all.
    assert Budget(regions=10, seconds=50.0).share_spent(4, 70.0) == 0.6
    assert Budget(regions=10, seconds=50.0).share_spent(8, 90.0) == 0.8
    assert [Budget(regions=10).share_spent(20, 100.0), Budget(seconds=1.0).share_spent(0, 0.0)] == [1.0, 1.0]
    assert Budget(regions=0).share_spent(0, 100.0) == 0.0
    assert Budget(seconds=0.0).share_spent(0, 100.0) == 0.0
    assert Budget(seconds=0.0).share_spent(0, 99.0) == 1.0
    # A clock that was set back.
    assert Budget(seconds=1.0).share_spent(0, 101.0) == 0.0


def test_what_is_left_for_a_part_of_the_work_names_the_whole(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 100.0)
    part = Remainder.of(Budget(regions=5, seconds=60.0, memory=7), until=110.0)
    assert (part.regions, part.seconds, part.memory, part.whole) == (5, 10.0, 7, 60.0)
    assert part.spent(4, 91.0) is None
    assert str(part.spent(4, 90.0)) == "budget of 60 s"
    assert str(part.spent(5, 100.0)) == "budget of 5 regions"
    assert Remainder.of(Budget(), until=90.0).seconds == 0.0
    assert Remainder.of(Budget(), until=90.0).whole == inf


def test_work_whose_time_is_over_by_another_clock(monkeypatch):
    monkeypatch.setattr("reluscope.budget.is_overdue", lambda: True)
    assert Budget(seconds=60.0).spent(0, time.time()).reason is StopReason.SECONDS
    assert Budget(regions=5).spent(5, time.time()).reason is StopReason.REGIONS
    assert not Budget().first_is_due(0, LATE)
    late = why_ended(OutOfTime(3.0))
    assert (late.reason, late.limit) == (StopReason.SECONDS, 3.0)


LATE = Stop(StopReason.SECONDS, 1.0)


@pytest.mark.parametrize(
    ("number", "stopped", "is_due"),
    [(0, LATE, True), (1, LATE, False), (0, None, False), (0, INTERRUPTED, False)],
)
def test_whether_a_first_region_is_due(number, stopped, is_due):
    for budget in (Budget(), Budget(regions=5), Budget(seconds=1.0)):
        assert budget.first_is_due(number, stopped) == is_due
    assert not Budget(regions=0).first_is_due(number, stopped)


def test_why_work_ended():
    assert why_ended(KeyboardInterrupt()) == INTERRUPTED
    unset = SystemError("error return without exception set")
    for lack in (MemoryError(), RuntimeError("can't allocate memory"), RuntimeError("CUDA out of memory"), unset):
        assert why_ended(lack) == OUT_OF_MEMORY
    with pytest.raises(RuntimeError, match="something else"):
        why_ended(RuntimeError("something else"))
    assert Interrupted().spent(0, time.time()) == INTERRUPTED


@pytest.mark.parametrize("length", [4, 15, 25, 40, 75, None])
def test_a_message_that_memory_did_not_suffice_for(length):
    whole = "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried"
    assert is_lack_of_memory(RuntimeError(whole[:length]))


@pytest.mark.parametrize(
    "error",
    [
        *(RuntimeError(""), RuntimeError("[en"), RuntimeError("[enforce fail at inline_container.cc:1] ")),
        *(ValueError("[enf"), SystemError("bad argument to internal function")),
    ],
)
def test_other_errors_are_no_lack_of_memory(error):
    assert not is_lack_of_memory(error)


@pytest.mark.parametrize(
    ("stop", "kind"),
    [
        (None, KeyboardInterrupt),
        (INTERRUPTED, KeyboardInterrupt),
        (OUT_OF_MEMORY, MemoryError),
        (Stop(StopReason.SECONDS, 3.0), OutOfTime),
    ],
)
def test_work_ends_again_as_its_part_did(stop, kind):
    ended = end_again(stop)
    assert type(ended) is kind
    assert getattr(ended, "seconds", 3.0) == 3.0
