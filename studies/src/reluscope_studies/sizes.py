"""How much a study does: its plan for a size, with what the user changes in it.

Medium is full where a study has no plan of its own for it: there the paper's size takes less than two hours.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from reluscope.studies import Change, Setting, Size

Plan = TypeVar("Plan")


class ToTrainOn(str):
    """A field of a plan that says on how many images networks are trained: those of fewer decide no statement."""


def planned(
    setting: Setting, plans: Mapping[Size, Plan] | Mapping[str, Plan], changes: Mapping[Change, str] | None = None
) -> Plan:
    """Return the plan of a size, with the numbers of replicates, points and epochs that the setting asks for.

    Parameters
    ----------
    setting : Setting
    plans : mapping of sizes to frozen dataclasses
    changes : mapping
        Which field of a plan is the number of replicates, of points or of epochs; a field of a field behind a dot.

    Examples
    --------
    >>> from reluscope_studies.serra2018.splits import CHANGES, PLANS
    >>> plan = planned(Setting("medium", replicates=2, epochs=1), PLANS, CHANGES)
    >>> plan.units, plan.replicates, plan.training.epochs
    (22, 2, 1)
    """
    plan = plans[setting.size] if setting.size in plans else plans["full"]
    for change, place in (changes or {}).items():
        number = getattr(setting, change)
        if number is not None:
            plan = _with(plan, place.split("."), number)
    return plan


def _with(plan: Any, place: list[str], number: int) -> Any:
    first, *rest = place
    assert first in {one.name for one in fields(plan)}, f"a plan without {first}"
    return replace(plan, **{first: _with(getattr(plan, first), rest, number) if rest else number})


def number_of(setting: Setting, numbers: Mapping[Size, int] | Mapping[str, int], change: Change | None = None) -> int:
    """Return the number for a size, or the one that the setting has in its place.

    Examples
    --------
    >>> numbers = {"small": 5, "full": 100}
    >>> number_of(Setting("medium"), numbers), number_of(Setting("small", replicates=7), numbers, "replicates")
    (100, 7)
    """
    given = None if change is None else getattr(setting, change)
    if given is not None:
        return given
    return numbers[setting.size] if setting.size in numbers else numbers["full"]
