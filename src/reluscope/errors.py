"""Everything reluscope raises, sorted by what the reader can do about it.

Every message is one sentence that says what was expected, what came, and what to do next.
"""

from typing import Any

# A message may quote names from a stranger's file, which can be of any length.
_LONGEST = 2_000


class ReluscopeError(Exception):
    """Root of all errors raised on purpose by reluscope."""

    def __str__(self) -> str:
        text = super().__str__()
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"


class InputError(ReluscopeError, ValueError):
    """An argument or a file is unusable: missing, truncated, empty, not finite, of the wrong kind."""


class ShapeError(InputError):
    """An array has the wrong shape."""


class PositionError(InputError, IndexError):
    """A position names nothing that is there."""


class NotApplicableError(InputError):
    """A bound's condition is not met by the architecture; ``condition`` says in a few words what it needs."""

    def __init__(self, message: str, condition: str = "") -> None:
        super().__init__(message)
        self.condition = condition


class UnsupportedOperatorError(ReluscopeError):
    """The model uses an operator that reluscope does not know; it may well be piecewise linear."""


class NotPiecewiseLinearError(UnsupportedOperatorError):
    """The model uses an operator that is not piecewise linear, so it has no linear regions."""


class ConversionMismatchError(ReluscopeError):
    """The network built from a model disagrees with that model on some point."""


class DiscontinuousNetworkError(NotApplicableError):
    """A question rests on a continuous network, and a gate of this one jumps."""


class DegenerateGeometryError(ReluscopeError):
    """A geometric object has no interior or no dimension where one is needed."""


class IncompletePartitionError(ReluscopeError):
    """A question needs every region of a domain, and the partition holds only some; ``stop`` says why, if known."""

    def __init__(self, message: str, stop: Any = None) -> None:
        super().__init__(message)
        self.stop = stop


class BudgetExceededError(ReluscopeError):
    """Work stopped at its budget; ``partial`` carries what was finished."""

    def __init__(self, message: str, partial: Any = None) -> None:
        super().__init__(message)
        self.partial = partial


class SolverError(ReluscopeError):
    """A numerical solver returned neither an answer nor a proof that there is none."""


class CertificateError(ReluscopeError):
    """A certificate does not prove what it says."""


__all__ = [
    "BudgetExceededError",
    "CertificateError",
    "ConversionMismatchError",
    "DegenerateGeometryError",
    "DiscontinuousNetworkError",
    "IncompletePartitionError",
    "InputError",
    "NotApplicableError",
    "NotPiecewiseLinearError",
    "PositionError",
    "ReluscopeError",
    "ShapeError",
    "SolverError",
    "UnsupportedOperatorError",
]
