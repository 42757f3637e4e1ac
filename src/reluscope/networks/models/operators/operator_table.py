"""What operators mean, and how PyTorch and ONNX write them: those that work entry by entry, and those along axes.

A meaning is a function of the operator's site, its operands and its settings. Both front ends read these tables.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from reluscope.networks.building.builder import GraphBuilder, Value
from reluscope.networks.models.operators import entrywise, sums_and_products
from reluscope.networks.models.operators.operator_site import OperatorSite

Meaning = Callable[..., Value]


class NamedSetting(NamedTuple):
    """A number or a word beside the operands, by its names in both front ends, None where one does not have it."""

    aten: str | None
    onnx: str | None
    default: float | str | None = None  # of ONNX, where a file leaves it out


@dataclass(frozen=True)
class OperatorRow:
    """An operator with its names in both front ends; there are several where a meaning has settings of its own."""

    meaning: Meaning
    aten: tuple[str, ...]
    onnx: tuple[str, ...]
    operands: tuple[str, ...]  # names of the operands in ATen's schema, as far as an operator has them
    settings: Mapping[str, Any]  # a `NamedSetting`, or what is fixed by the operator's name

    def settings_by(self, read: Callable[[NamedSetting], float | str | None]) -> dict[str, Any]:
        """Return the settings with what is read in place of `NamedSetting`, without what is read as None."""
        found = {name: read(one) if isinstance(one, NamedSetting) else one for name, one in self.settings.items()}
        return {name: one for name, one in found.items() if one is not None}


def _row(meaning: Meaning, aten: str, onnx: str = "", *, operands: str = "self other", **settings: Any) -> OperatorRow:
    return OperatorRow(meaning, tuple(aten.split()), tuple(onnx.split()), tuple(operands.split()), settings)


def _by(method: Callable[..., Value]) -> Meaning:
    """Return a method of the builder as a meaning."""

    def meaning(site: OperatorSite, *operands: Any, **settings: Any) -> Value:
        return method(site.builder, *operands, **settings)

    return meaning


_REACH = NamedSetting("lambd", "lambd", 0.5)

ENTRYWISE = (
    # Gates
    _row(_by(GraphBuilder.relu), "relu", "Relu"),
    _row(_by(GraphBuilder.leaky_relu), "leaky_relu", "LeakyRelu", slope=NamedSetting("negative_slope", "alpha", 0.01)),
    _row(_by(GraphBuilder.relu6), "relu6"),
    _row(_by(GraphBuilder.absolute), "abs absolute", "Abs"),
    _row(
        _by(GraphBuilder.hardsigmoid),
        *("hardsigmoid", "HardSigmoid"),
        alpha=NamedSetting(None, "alpha", 0.2),
        beta=NamedSetting(None, "beta", 0.5),
    ),
    _row(_by(GraphBuilder.softshrink), "softshrink", threshold=_REACH),
    # Comparisons and what jumps
    _row(_by(GraphBuilder.compare), "gt greater", "Greater", relation=">"),
    _row(_by(GraphBuilder.compare), "ge greater_equal", "GreaterOrEqual", relation=">="),
    _row(_by(GraphBuilder.compare), "lt less", "Less", relation="<"),
    _row(_by(GraphBuilder.compare), "le less_equal", "LessOrEqual", relation="<="),
    _row(_by(GraphBuilder.compare), "eq", "Equal", relation="=="),
    _row(_by(GraphBuilder.compare), "ne not_equal", relation="!="),
    _row(_by(GraphBuilder.sign), "sign sgn", "Sign"),
    _row(entrywise.heaviside, "heaviside", operands="self values"),
    _row(entrywise.hardshrink, "hardshrink", reach=_REACH),
    _row(entrywise.shrink, "", "Shrink", reach=_REACH, step=NamedSetting(None, "bias", 0.0)),
    _row(entrywise.threshold, "threshold", level=NamedSetting("threshold", None), value=NamedSetting("value", None)),
    _row(entrywise.threshold, "", "ThresholdedRelu", level=NamedSetting(None, "alpha", 1.0), value=0.0),
    _row(entrywise.both, "logical_and bitwise_and __and__", "And"),
    _row(entrywise.either, "logical_or bitwise_or __or__", "Or"),
    _row(entrywise.different, "logical_xor bitwise_xor", "Xor"),
    _row(entrywise.negated, "logical_not bitwise_not", "Not"),
    # Rounding
    _row(_by(GraphBuilder.rounded), "floor", "Floor", way="floor"),
    _row(_by(GraphBuilder.rounded), "ceil", "Ceil", way="ceil"),
    _row(_by(GraphBuilder.rounded), "trunc fix", way="trunc"),
    _row(_by(GraphBuilder.rounded), "", "Round", way="round"),
    _row(entrywise.fraction, "frac"),
    _row(entrywise.divided, "floor_divide", way="floor"),
    _row(entrywise.remainder, "remainder", way="floor"),
    _row(entrywise.remainder, "fmod", way="trunc"),
    _row(entrywise.modulo, "", "Mod", fmod=NamedSetting(None, "fmod", 0)),
    # Smooth functions, where pieces replace them
    _row(entrywise.gelu, "gelu", "Gelu", approximate=NamedSetting("approximate", "approximate", "none")),
    _row(entrywise.softplus, "softplus", beta=NamedSetting("beta", None), threshold=NamedSetting("threshold", None)),
    _row(entrywise.softplus, "", "Softplus"),
    _row(entrywise.smooth, "silu", "Swish", function="silu", scale=NamedSetting(None, "alpha", 1.0)),
    _row(entrywise.smooth, "mish", "Mish", function="mish"),
    _row(entrywise.smooth, "hardswish", "HardSwish", function="hardswish"),
    _row(entrywise.smooth, "sigmoid", "Sigmoid", function="sigmoid"),
    _row(entrywise.smooth, "tanh", "Tanh", function="tanh"),
    # Sums, products and extremes of several operands
    _row(_by(GraphBuilder.add), "", "Add Sum"),
    _row(_by(GraphBuilder.subtract), "", "Sub"),
    _row(sums_and_products.mean, "", "Mean"),
    _row(_by(GraphBuilder.negate), "neg negative", "Neg"),
    _row(sums_and_products.multiply, "mul multiply", "Mul"),
    _row(sums_and_products.lerp, "lerp", operands="self end weight"),
    _row(_by(GraphBuilder.maximum), "maximum fmax", "Max"),
    _row(_by(GraphBuilder.minimum), "minimum fmin", "Min"),
)

# The operand comes with axes and keepdims; rows have no settings of their own.
OVER_AXES = (
    _row(_by(GraphBuilder.sum), "sum", "ReduceSum"),
    _row(_by(GraphBuilder.mean), "mean", "ReduceMean"),
    _row(_by(GraphBuilder.amax), "amax", "ReduceMax"),
    _row(_by(GraphBuilder.amin), "amin", "ReduceMin"),
    _row(sums_and_products.sum_of_absolutes, "", "ReduceL1"),
)
