"""Networks that jump at breakpoints, and the functions that hold for them.

Much rests on continuity, so that a public function refuses a network that jumps unless it is declared to hold across
jumps. What carries a network says so by ``jumps``: the names of the gates that jump.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from reluscope.errors import DiscontinuousNetworkError

Public = TypeVar("Public", bound=Callable[..., Any])

_MARK = "holds_across_jumps"


def holds_across_jumps(public: Public) -> Public:
    """Declare that a function, written below `read_arguments`, is right for networks with gates that jump."""
    setattr(public, _MARK, True)
    return public


def refuses_jumps(public: Callable[..., Any]) -> bool:
    """Return whether a function is not declared to hold across jumps."""
    return not getattr(public, _MARK, False)


def refuse_jumps(asked: str, carrier: Any) -> None:
    """Raise `DiscontinuousNetworkError` if a network, or what carries one, has gates that jump.

    `asked` says in words what rests on continuity; the carrier may lack ``jumps``, or be a sequence of carriers.
    """
    if isinstance(carrier, list | tuple):
        for one in carrier:
            if not hasattr(one, "jumps"):
                return
            refuse_jumps(asked, one)
    elif jumps := getattr(carrier, "jumps", ()):
        names = ", ".join(map(repr, jumps[:3])) + (", ..." if len(jumps) > 3 else "")
        one = len(jumps) == 1
        raise DiscontinuousNetworkError(
            f"{asked} rests on a continuous network, and {names} {'jumps at its' if one else 'jump at their'} "
            "breakpoints: ask for codes, linear maps, regions, partitions and counts, which hold across jumps",
            "a continuous network",
        )
