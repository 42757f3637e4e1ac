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
from reluscope.networks.building.builder import Picked, Value
from reluscope.networks.building.core import constant
from reluscope.networks.models.operators.operator_site import Handlers, OperatorSite


class BatchAxisError(UnsupportedOperatorError):
    """An operator moves the batch axis or mixes points; with a batch of one it may not."""


@dataclass(frozen=True)
class AtenSite(OperatorSite):
    """An operator in a traced graph; its name comes without namespace and overload, as ``"conv2d"``."""

    batch: int  # length of the batch axis in the trace
    target: Callable[..., Any]  # the PyTorch operator itself

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

    def sides(self, *operands: Any) -> list[Any]:
        """Return operands without the batch axis, as they broadcast against the first value among them."""
        x = next(operand for operand in operands if isinstance(operand, Value))
        return [operand if operand is x else self.beside(x, operand) for operand in operands]

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


Handler = Callable[[AtenSite, SimpleNamespace], Any]
# By ATen names; arguments come by their names in the schema.
HANDLERS = Handlers[Handler]()
lowers = HANDLERS.lowers


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
