"""One operator of a traced graph on its way into the builder: where it stands, and how it treats the batch axis.

Traced values carry a batch axis in front; the builder's do not. An operator that moves the batch axis, or mixes the
points of a batch, is no function of one point and is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from reluscope.errors import UnsupportedOperatorError
from reluscope.networks.building.builder import GraphBuilder, Picked, Value
from reluscope.networks.building.core import constant


class BatchAxisError(UnsupportedOperatorError):
    """An operator moves the batch axis or mixes points; with a batch of one it may not."""


@dataclass(frozen=True)
class OperatorSite:
    """An operator in its graph."""

    builder: GraphBuilder
    batch: int  # length of the batch axis in the trace
    operator: str  # without namespace and overload, as ``"conv2d"``
    target: Callable[..., Any]  # the PyTorch operator itself
    place: str  # where it stands, for people
    name: str  # name for the gate it may become

    def axis(self, x: Value, axis: int) -> int:
        """Return an axis without the batch axis; the batch axis itself is refused."""
        axis = axis % (len(x.shape) + 1)
        if axis == 0:
            raise self.batch_error("works along the batch axis")
        return axis - 1

    def axes(self, x: Value, axes: int | list[int] | None) -> list[int]:
        """Return axes without the batch axis; none given means all, which takes in the batch and is refused."""
        given = list(range(len(x.shape) + 1)) if axes in (None, []) else [axes] if isinstance(axes, int) else axes
        assert isinstance(given, list)
        return [self.axis(x, axis) for axis in given]

    def beside(self, x: Value, other: Any) -> Any:
        """Return a constant operand without its batch axis, as it broadcasts against x; values pass unchanged."""
        if isinstance(other, Value):
            if len(other.shape) != len(x.shape) and self.batch != 1:
                raise self.batch_error(f"broadcasts values of shapes {x.shape} and {other.shape} across the batch")
            return other
        tensor = constant(other)
        if tensor.ndim <= len(x.shape):
            return tensor
        if tensor.ndim == len(x.shape) + 1:
            return self.one_row(tensor)
        raise self.batch_error(f"broadcasts a constant of shape {tuple(tensor.shape)} over the batch")

    def one_row(self, tensor: Tensor) -> Tensor:
        """Return the row that a constant with a batch axis repeats for every point."""
        if not bool((tensor == tensor[:1]).all()):
            raise self.batch_error("treats the points of a batch differently")
        return tensor[0]

    def batch_error(self, reason: str) -> BatchAxisError:
        """Return the error for an operator that is no function of one point."""
        return BatchAxisError(
            f"expected operators that treat every point of a batch alike with the batch axis first, but "
            f"{self.operator} at {self.place} {reason}"
        )

    def unsupported(self, reason: str) -> UnsupportedOperatorError:
        """Return the error for a form of an operator that is not supported."""
        return UnsupportedOperatorError(f"{self.operator} at {self.place} is not supported {reason}")


Handler = Callable[[OperatorSite, SimpleNamespace], Any]
HANDLERS: dict[str, Handler] = {}


def lowers(*operators: str) -> Callable[[Handler], Handler]:
    """Register how operators are lowered, by their ATen names; arguments come by their names in the schema."""

    def register(handler: Handler) -> Handler:
        for operator in operators:
            if operator in HANDLERS:
                raise ValueError(f"{operator} is lowered twice")
            HANDLERS[operator] = handler
        return handler

    return register


def is_value(argument: Any) -> bool:
    """Return whether an argument depends on the input."""
    if isinstance(argument, list | tuple):
        return any(is_value(entry) for entry in argument)
    return isinstance(argument, Value | Picked)


def as_double(result: Any) -> Any:
    """Return a result with its floating-point tensors in float64."""
    if isinstance(result, list | tuple):
        return (
            type(result)(as_double(entry) for entry in result)
            if type(result) in (list, tuple)
            else tuple(as_double(entry) for entry in result)
        )
    if isinstance(result, Tensor) and result.is_floating_point() and result.dtype != torch.float64:
        return result.double()
    return result
