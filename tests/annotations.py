"""The type checker that the tests put on every function of reluscope (see conftest)."""

from typing import Any, Self

from beartype import BeartypeConf, FrozenDict, beartype

check = beartype(
    conf=BeartypeConf(
        # An int is a float and a complex number, as for static type checkers; numpy's ArrayLike relies on it.
        is_pep484_tower=True,
        # Methods are decorated one by one, where beartype cannot know which class `Self` stands for.
        hint_overrides=FrozenDict({Self: Any}),
    )
)
