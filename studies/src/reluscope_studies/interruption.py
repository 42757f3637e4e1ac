"""Ctrl-C in the middle of a study: what was found until then is its outcome."""

from types import TracebackType


class Interruption:
    """Ends a block at Ctrl-C and goes on behind it; ``came`` says whether that happened.

    Examples
    --------
    >>> found = []
    >>> with Interruption() as ctrl_c:
    ...     found.append(1)
    ...     raise KeyboardInterrupt
    >>> found, ctrl_c.came
    ([1], True)
    """

    came = False

    def __enter__(self) -> "Interruption":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.came = kind is not None and issubclass(kind, KeyboardInterrupt)
        return self.came
