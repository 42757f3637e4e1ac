"""The type checker that the tests put on every function of reluscope (see conftest)."""

from typing import Any, Self, TypeVar

from beartype import BeartypeConf, FrozenDict, beartype
from beartype.roar import BeartypeDecorHintException

Checked = TypeVar("Checked")

_decorate = beartype(
    conf=BeartypeConf(
        # An int is a float and a complex number, as for static type checkers; numpy's ArrayLike relies on it.
        is_pep484_tower=True,
        # Methods are decorated one by one, where beartype cannot know which class `Self` stands for.
        hint_overrides=FrozenDict({Self: Any}),
    )
)


def check(function: Checked) -> Checked:
    """Check the annotations of a function or class at every call, unless one is for static checkers alone."""
    try:
        return _decorate(function)
    except BeartypeDecorHintException:  # for instance a Protocol that is not runtime_checkable
        return function
