"""Options: strings from a fixed set."""

from collections.abc import Iterable
from typing import Any

from reluscope.arguments.argument_sentences import describe, listed
from reluscope.errors import InputError


def read_option(value: Any, name: str, choices: Iterable[str]) -> str:
    """Return the option if it is one of the choices; otherwise raise InputError, which lists them."""
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name} must be {listed([repr(one) for one in known])}, got {describe(value)}")
    return value
