"""Limits of time within long steps: raised once, where nothing is lost by it."""

import time

import pytest

from reluscope.arguments import read_arguments
from reluscope.budget import Budget, RegionBudget, RegionBudgetForEach, why_ended
from reluscope.errors import BudgetExceededError
from reluscope.interruption import deferred, step_point
from reluscope.stopping import Stop, StopReason
from reluscope.time_limits import (
    OutOfTime,
    driven,
    if_in_time,
    is_overdue,
    look_ahead,
    look_at_clock,
    may_leave,
    seconds_left,
    time_limit,
)

LONG_AGO = 1e9


def test_without_a_limit_nothing_ends():
    look_at_clock()
    step_point()
    assert seconds_left() == float("inf")
    assert not is_overdue()


def test_a_limit_ends_work_once():
    with time_limit(3.0, LONG_AGO):
        assert seconds_left() < 0
        with pytest.raises(OutOfTime, match="3 s"):
            step_point()
        step_point()  # whoever keeps what there is needs some steps of their own
        assert is_overdue()
        assert seconds_left() == float("inf")
    assert not is_overdue()


def test_a_step_has_some_grace():
    with time_limit(0.0):
        step_point()
        assert 0 < seconds_left() <= 0.25
    with time_limit(100.0):
        assert 104 < seconds_left() <= 105


def test_of_nested_limits_the_first_to_come_counts():
    with time_limit(100.0), time_limit(2.0, LONG_AGO), time_limit(50.0):
        with pytest.raises(OutOfTime, match="2 s"):
            step_point()
        assert 50 < seconds_left() < 53


def test_the_clock_ends_work_like_ctrl_c():
    assert why_ended(OutOfTime(2.0)) == Stop(StopReason.SECONDS, 2.0)
    assert if_in_time(lambda: 3, 5) == 3
    with time_limit(0.0, LONG_AGO):
        assert if_in_time(step_point, 5) == 5


def test_what_was_found_is_not_lost():
    """Before a driver has found something leaving loses nothing; afterwards only its steps are left."""
    with time_limit(0.0, LONG_AGO):
        with deferred():
            assert may_leave()
            with driven():
                assert may_leave()
            assert not may_leave()
            step_point()
            with driven(), pytest.raises(OutOfTime):
                step_point()
        assert not may_leave()


def test_of_work_within_other_work_nobody_knows_what_it_would_lose():
    with deferred():
        assert may_leave()
        with deferred():
            assert not may_leave()
            with driven(), deferred():
                assert may_leave()


@read_arguments
def waiting(*, budget: RegionBudget | None = None):
    """Take a step after the time."""
    assert budget is not None
    time.sleep(0.55)
    step_point()
    return "back"


@read_arguments
def waiting_for_each(*, budget: RegionBudgetForEach | None = None):
    """Take a step after the time of one."""
    assert budget is not None
    time.sleep(0.55)
    step_point()
    return "back"


def test_a_budget_of_seconds_limits_all_that_a_function_does():
    assert waiting(budget=Budget(regions=3)) == "back"
    assert waiting(budget=Budget(seconds=60)) == "back"
    with pytest.raises(BudgetExceededError, match=r"waiting found nothing within its budget of 0.01 s: give it more"):
        waiting(budget=Budget(seconds=0.01))
    assert waiting_for_each(budget=Budget(seconds=0.01)) == "back"


@read_arguments
def asking(*, budget: RegionBudget | None = None):
    """Hand a budget to a function within."""
    return waiting(budget=budget)


def test_the_function_that_was_asked_is_named():
    with pytest.raises(BudgetExceededError, match=r"^asking found nothing within its budget of 0.01 s: give it more"):
        asking(budget=Budget(seconds=0.01))


def test_a_step_of_other_work_ends_it():
    with driven(), pytest.raises(OutOfTime):
        waiting(budget=Budget(seconds=0.01))


def test_what_nothing_can_end_is_not_begun_without_the_time():
    with time_limit(1.0):
        look_ahead(1e9)
        with pytest.raises(OutOfTime):
            look_ahead(1e12)
        assert is_overdue()
    look_ahead(1e30)
