"""Where an operator stands in a model, and the handlers of a front end by the names of its operators."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from reluscope.errors import NotPiecewiseLinearError, UnsupportedOperatorError
from reluscope.networks.building.builder import GraphBuilder

_H = TypeVar("_H", bound=Callable[..., Any])


@dataclass(frozen=True)
class OperatorSite:
    """An operator of a model on its way into the builder; errors name the operator and its place."""

    builder: GraphBuilder  # which names nodes as the gate that the operator may become
    operator: str  # as the front end calls it: ``"conv2d"``, ``"Conv"``
    place: str  # where it stands, for people

    def not_piecewise_linear(self, expected: str, reason: str) -> NotPiecewiseLinearError:
        """Return the error for an operator that no gates and affine maps can be, with what it does."""
        return NotPiecewiseLinearError(f"expected {expected}, but {self.operator} at {self.place} {reason}")

    def product(self, more: str = "") -> NotPiecewiseLinearError:
        """Return the error for a product of two values that depend on the input, with more to say about it."""
        reason = "multiplies two values that depend on the input, which is not piecewise linear"
        return self.not_piecewise_linear("products with constants", f"{reason}{more}")

    def own_statistics(self, hint: str) -> NotPiecewiseLinearError:
        """Return the error for a normalisation by statistics of what is normalised, with what to do."""
        reason = "uses the statistics of its own input, which is not piecewise linear"
        return self.not_piecewise_linear("normalisation by constants", f"{reason}: {hint}")

    def discontinuous(self, reason: str) -> NotPiecewiseLinearError:
        """Return the error for an operator that jumps where no gate can follow."""
        return self.not_piecewise_linear("continuous operators", reason)

    def unsupported(self, reason: str) -> UnsupportedOperatorError:
        """Return the error for a form of an operator that is not supported."""
        return UnsupportedOperatorError(f"{self.operator} at {self.place} is not supported {reason}")


class Handlers(dict[str, _H]):
    """The functions that lower the operators of a front end, by their names there."""

    def __init__(self) -> None:
        super().__init__()
        self.entrywise: set[str] = set()  # those that work on every entry of their first operand alone

    def lowers(self, *operators: str, entrywise: bool = False) -> Callable[[_H], _H]:
        """Return a decorator that enters a handler under names, each of which is free."""

        def register(handler: _H) -> _H:
            for operator in operators:
                if operator in self:
                    raise ValueError(f"{operator} is lowered twice")
                self[operator] = handler
            if entrywise:
                self.entrywise |= {*operators}
            return handler

        return register
