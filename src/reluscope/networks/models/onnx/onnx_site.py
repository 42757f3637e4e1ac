"""One ONNX node on its way into the builder: its operands, its settings, and where it stands.

ONNX tensors keep all their axes here, the batch axis among them with length 1: a graph is the function that it is of
one point, wherever it moves that axis. The builder's values leave a leading axis of length 1 out, so that ordinary
models become the same graph as from PyTorch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor

from reluscope.errors import InputError
from reluscope.networks.building.builder import Value
from reluscope.networks.models.operators.operator_site import Handlers, OperatorSite

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Activation:
    """A tensor that depends on the input."""

    value: Value  # in the graph, of shape `stored_shape` of ``shape``
    shape: Shape  # its shape in ONNX


Operand = Activation | np.ndarray | None
Result = Activation | np.ndarray | None | Sequence[Activation | np.ndarray | None]


def stored_shape(shape: Shape) -> Shape:
    """Return the shape without a leading axis of length 1, unless it is the only axis."""
    return shape[1:] if len(shape) > 1 and shape[0] == 1 else shape


@dataclass(frozen=True)
class NodeSite(OperatorSite):
    """A node with its operands; its operator is its type, such as ``"Conv"``."""

    node: onnx.NodeProto
    operands: Sequence[Operand]  # activations, constants, None where left out
    opset: int  # version of the standard operators
    fixed_batch: int  # batch length in the file; in the lowering it is 1

    def setting(self, name: str, default: Any = None) -> Any:
        """Return an attribute: a number, a string, a list of numbers, or an array.

        ONNX keeps numbers in single precision, defaults too.
        """
        for attribute in self.node.attribute:
            if attribute.name == name:
                found = onnx.helper.get_attribute_value(attribute)
                if isinstance(found, bytes):
                    return found.decode()
                many = attribute.type in {onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS}
                return list(found) if many else found
        return float(np.float32(default)) if isinstance(default, float) else default

    def operand(self, position: int) -> Operand:
        """Return an input, None where it is left out."""
        return self.operands[position] if position < len(self.operands) else None

    def activation(self, position: int = 0) -> Activation:
        """Return an input that has to depend on the network's input."""
        operand = self.operand(position)
        if not isinstance(operand, Activation):
            raise self.unsupported(f"on a constant as input {position}")
        return operand

    def given(self, position: int, name: str | None = None, default: Any = None) -> Any:
        """Return a constant that newer opsets give as an input and older ones as an attribute."""
        operand = self.operand(position)
        if operand is None:
            return default if name is None else self.setting(name, default)
        if isinstance(operand, Activation):
            raise self.unsupported(f"with {name or f'input {position}'} that depends on the input")
        return operand

    def integers(self, position: int, name: str) -> list[int] | None:
        """Return `given` integers as a list."""
        found = self.given(position, name)
        return None if found is None else [int(entry) for entry in np.asarray(found).reshape(-1)]

    def weight(self, position: int) -> Tensor | None:
        """Return a constant factor in float64, None where it is left out.

        Raises NotPiecewiseLinearError if it depends on the network's input, InputError for NaN or infinite entries.
        """
        operand = self.operand(position)
        if operand is None:
            return None
        if isinstance(operand, Activation):
            raise self.product()
        array = np.asarray(operand, dtype=np.float64)
        if not np.isfinite(array).all():
            count = int((~np.isfinite(array)).sum())
            raise InputError(
                f"expected finite weights, but {self.node.input[position]!r} of {self.operator} at {self.place} holds "
                f"{count} NaN or infinite entries: retrain or repair it"
            )
        return torch.from_numpy(np.array(array))

    def whole(self, activation: Activation) -> Value:
        """Return an activation's value in its full ONNX shape."""
        return self.builder.reshape(activation.value, activation.shape)

    def close(self, value: Value, shape: Sequence[int]) -> Activation:
        """Return a value as the activation of an ONNX shape."""
        full = tuple(int(length) for length in shape)
        return Activation(self.builder.reshape(value, stored_shape(full)), full)

    def point(self, value: Value) -> Activation:
        """Return a value without batch axis as an activation with one."""
        return self.close(value, (1, *value.shape))


Handler = Callable[[NodeSite], Result]
# By ONNX names.
HANDLERS = Handlers[Handler]()
lowers = HANDLERS.lowers
