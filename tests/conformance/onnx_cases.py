"""One small ONNX graph per operator and per way of writing it down, in every opset in which that way exists.

To add an operator, add its case here: the conformance tests then compare it with onnxruntime and with ONNX's reference
evaluator.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OLDEST, NEWEST = 6, onnx.defs.onnx_opset_version()


@dataclass(frozen=True)
class Case:
    """A graph from ``x`` to ``y``.

    Parameters
    ----------
    name : str
        What is special about it.
    nodes : callable
        From an opset to its nodes.
    shape : tuple of int
        Shape of the input, the batch axis of length 1 included.
    constants : dict from str to array
        Initializers.
    opsets : range
        In which opsets the nodes are valid.
    """

    name: str
    nodes: Callable[[int], list[onnx.NodeProto]]
    shape: tuple[int, ...]
    constants: dict[str, np.ndarray]
    opsets: range

    def __str__(self):
        return self.name

    def model(self, opset, batch=1):
        return make_model(self.nodes(opset), (batch, *self.shape[1:]), self.constants, opset)

    def versions(self):
        """Every opset in which one of the operators changed, and the first and the last."""
        found = {self.opsets[0], self.opsets[-1]}
        for opset in self.opsets[1:]:
            types = {node.op_type for node in self.nodes(opset)}
            if any(onnx.defs.get_schema(kind, opset).since_version == opset for kind in types):
                found.add(opset)
        return sorted(found)


def make_model(nodes, shape, constants, opset, outputs=("y",), inputs=None):
    """Return a model whose input is declared with a shape (None or a name where open) and whose outputs are not."""
    named = {"x": shape} if inputs is None else inputs
    graph = helper.make_graph(
        nodes,
        "case",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in named.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    ir_version = helper.find_min_ir_version_for([helper.make_opsetid("", opset)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=max(4, ir_version))


def _numbers(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


def _positive(*shape):
    return np.abs(_numbers(*shape)) + np.float32(0.1)


def _ints(*entries):
    return np.array(entries, dtype=np.int64)


def _node(operator, inputs="x", outputs="y", **settings):
    return helper.make_node(operator, inputs.split(" "), outputs.split(" "), **settings)


_RELU = _node("Relu", "x", "r")
_ROW = _node("Squeeze", "x", "v", axes=[0])
_CASES: list[Case] = []


def _case(name, nodes, shape, opsets: Sequence[int] = (OLDEST, NEWEST), **constants):
    make = nodes if callable(nodes) else lambda opset: nodes if isinstance(nodes, list) else [nodes]
    _CASES.append(Case(name, make, shape, constants, range(opsets[0], opsets[1] + 1)))


def _axes(operator, boundary, inputs, axes, **settings):
    """A node whose axes became an input at some opset."""

    def nodes(opset):
        if opset < boundary:
            return [_node(operator, inputs, axes=axes, **settings)]
        names = [*inputs.split(" "), "axes"]
        return [
            helper.make_node("Constant", [], ["axes"], value=numpy_helper.from_array(_ints(*axes))),
            helper.make_node(operator, names, ["y"], **settings),
        ]

    return nodes


# Arithmetic -----------------------------------------------------------------------------------------------------------

_MODERN = (7, NEWEST)
for _operator in ("Add", "Sub", "Mul", "Div"):
    _case(f"{_operator} constant", _node(_operator, "x c"), (1, 3), c=_positive(1, 3))
    _case(f"{_operator} broadcast", _node(_operator, "x c"), (1, 3, 2, 4), _MODERN, c=_positive(3, 1, 1))
    _case(f"{_operator} scalar", _node(_operator, "x c"), (1, 3, 2), _MODERN, c=_positive())
    _case(f"{_operator} larger constant", _node(_operator, "x c"), (1, 3), _MODERN, c=_positive(1, 2, 1, 3))
    _case(f"{_operator} along the batch", _node(_operator, "x c"), (1, 3), _MODERN, c=_positive(4, 3))
    _case(f"{_operator} at an axis", _node(_operator, "x c", broadcast=1, axis=1), (1, 3, 2, 4), (6, 6), c=_positive(3))
    _case(f"{_operator} at the end", _node(_operator, "x c", broadcast=1), (1, 3, 2, 4), (6, 6), c=_positive(2, 4))
_case("Sub from a constant", _node("Sub", "c x"), (1, 3), c=_numbers(1, 3))
_case("Add branches", [_RELU, _node("Add", "x r")], (1, 3))
_case("Add branches of two ranks", [_node("ReduceMax", "x", "r", keepdims=0), _node("Add", "x r")], (1, 3, 2), _MODERN)
_case("Neg", _node("Neg"), (1, 3))
_case("Sum", [_RELU, _node("Sum", "x c r x")], (1, 3), c=_numbers(1, 3))
_case(
    "Sum broadcast",
    [_RELU, _node("Sum", "c x d r")],
    (1, 3),
    (8, NEWEST),
    c=_numbers(3),
    d=_numbers(2, 3),
)
_case("Mean", [_RELU, _node("Mean", "x c r")], (1, 3), c=_numbers(1, 3))
_case("Identity", _node("Identity"), (1, 3))
_case("Cast", _node("Cast", to=TensorProto.FLOAT), (1, 3))
_case("CastLike", _node("CastLike", "x c"), (1, 3), (15, NEWEST), c=_numbers(1))
_case("Dropout", _node("Dropout"), (1, 3))
_case("Dropout with ratio", _node("Dropout", "x ratio"), (1, 3), (12, NEWEST), ratio=np.float32(0.3))
_case("Where", _node("Where", "m x c"), (1, 3), (9, NEWEST), m=np.array([True, False, True]), c=_numbers(2, 1))
_case(
    "Where both",
    [_RELU, _node("Where", "m x r")],
    (1, 3),
    (9, NEWEST),
    m=np.array([True, False, True]),
)
_case(
    "Where infinite",
    [_node("Where", "m x c", "w"), _node("Relu", "w")],
    (1, 3),
    (9, NEWEST),
    m=np.array([True, True, True]),
    c=np.array([-np.inf], dtype=np.float32),
)
for _operator in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1"):
    _boundary = 13 if _operator == "ReduceSum" else 18
    _case(f"{_operator} axes", _axes(_operator, _boundary, "x", [2, 3], keepdims=0), (1, 3, 2, 4))
    _case(f"{_operator} kept", _axes(_operator, _boundary, "x", [1], keepdims=1), (1, 3, 2, 4))
    _case(f"{_operator} negative", _axes(_operator, _boundary, "x", [-1]), (1, 3, 2), (11, NEWEST))
    _case(f"{_operator} with the batch", _axes(_operator, _boundary, "x", [0, 2], keepdims=0), (1, 3, 2))
    _case(f"{_operator} of all", _node(_operator, keepdims=0), (1, 3, 2))
    _case(f"{_operator} of nothing", _node(_operator, noop_with_empty_axes=1), (1, 3, 2), (_boundary, NEWEST))
_case("CumSum", _node("CumSum", "x axis"), (1, 3, 2), (11, NEWEST), axis=np.int64(1))
_case("CumSum backwards", _node("CumSum", "x axis", reverse=1, exclusive=1), (1, 3), (11, NEWEST), axis=np.int64(1))
_case("Trilu", _node("Trilu"), (1, 3, 3), (14, NEWEST))

# Layers ---------------------------------------------------------------------------------------------------------------

_case("Gemm", _node("Gemm", "x w b", transB=1, broadcast=1), (1, 3), (6, 6), w=_numbers(4, 3), b=_numbers(4))
_case("Gemm transposed", _node("Gemm", "x w b", transB=1), (1, 3), _MODERN, w=_numbers(4, 3), b=_numbers(4))
_case("Gemm plain", _node("Gemm", "x w b"), (1, 3), _MODERN, w=_numbers(3, 4), b=_numbers(1, 4))
_case("Gemm scaled", _node("Gemm", "x w b", alpha=0.3, beta=-2.0), (1, 3), _MODERN, w=_numbers(3, 4), b=_numbers())
_case("Gemm without summand", _node("Gemm", "x w"), (1, 3), (11, NEWEST), w=_numbers(3, 4))
_case("Gemm of branches", [_RELU, _node("Gemm", "x w r")], (1, 3), _MODERN, w=_numbers(3, 3))
_case("Gemm from the left", _node("Gemm", "w x b", transB=1), (1, 3), _MODERN, w=_numbers(4, 3), b=_numbers(4, 1))
_case("Gemm both transposed", _node("Gemm", "w x", transA=1, transB=1), (1, 3), (11, NEWEST), w=_numbers(3, 4))
_case("Gemm of a column", _node("Gemm", "x w", transA=1), (1, 3), (11, NEWEST), w=_numbers(1, 4))
_case("MatMul", _node("MatMul", "x w"), (1, 3), w=_numbers(3, 4))
_case("MatMul vector", _node("MatMul", "x w"), (1, 3), w=_numbers(3))
_case("MatMul rows", _node("MatMul", "x w"), (1, 2, 3), w=_numbers(3, 4))
_case("MatMul stack", _node("MatMul", "x w"), (1, 2, 3), w=_numbers(5, 3, 4))
_case("MatMul stack of one", _node("MatMul", "x w"), (1, 2, 3), w=_numbers(1, 1, 3, 4))
_case("MatMul from the left", _node("MatMul", "w x"), (1, 3, 2), w=_numbers(4, 3))
_case("MatMul stack from the left", _node("MatMul", "w x"), (1, 5, 3, 2), w=_numbers(5, 4, 3))
_case(
    "MatMul of a vector",
    [_ROW, _node("MatMul", "v w")],
    (1, 3),
    (6, 12),
    w=_numbers(3, 4),
)
_case(
    "MatMul to a vector",
    [_ROW, _node("MatMul", "w v")],
    (1, 3),
    (6, 12),
    w=_numbers(4, 3),
)
_case(
    "MatMul vector and stack",
    [_ROW, _node("MatMul", "v w")],
    (1, 3),
    (6, 12),
    w=_numbers(2, 3, 4),
)
_case(
    "MatMul stack and vector",
    [_ROW, _node("MatMul", "w v")],
    (1, 3),
    (6, 12),
    w=_numbers(2, 4, 3),
)
_case("Einsum", _node("Einsum", "x w", equation="bij,kj->bki"), (1, 2, 3), (12, NEWEST), w=_numbers(4, 3))

_case("Conv 1-d", _node("Conv", "x w b", strides=[2], pads=[1, 2]), (1, 2, 6), w=_numbers(3, 2, 3), b=_numbers(3))
_case("Conv 2-d", _node("Conv", "x w", pads=[0, 1, 2, 1]), (1, 2, 5, 4), w=_numbers(3, 2, 3, 2))
_case("Conv 3-d", _node("Conv", "x w b"), (1, 2, 3, 3, 3), w=_numbers(2, 2, 2, 2, 2), b=_numbers(2))
_case("Conv dilated in groups", _node("Conv", "x w", dilations=[2, 1], group=2), (1, 4, 5, 4), w=_numbers(6, 2, 2, 3))
_case("Conv depthwise", _node("Conv", "x w", group=3, kernel_shape=[2, 2]), (1, 3, 4, 4), w=_numbers(3, 1, 2, 2))
for _automatic in ("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"):
    _case(
        f"Conv {_automatic}",
        _node("Conv", "x w", auto_pad=_automatic, strides=[2, 1]),
        (1, 2, 5, 4),
        w=_numbers(3, 2, 2, 2),
    )
    _case(
        f"ConvTranspose {_automatic}",
        _node("ConvTranspose", "x w", auto_pad=_automatic, strides=[2, 1]),
        (1, 2, 3, 4),
        w=_numbers(2, 3, 3, 2),
    )
    _case(
        f"MaxPool {_automatic}",
        _node("MaxPool", auto_pad=_automatic, kernel_shape=[2, 3], strides=[2, 1]),
        (1, 2, 5, 4),
    )
    _case(
        f"AveragePool {_automatic}",
        _node("AveragePool", auto_pad=_automatic, kernel_shape=[2, 3], strides=[2, 1]),
        (1, 2, 5, 4),
    )
_case(
    "ConvTranspose 1-d",
    _node("ConvTranspose", "x w b", strides=[2], pads=[1, 0]),
    (1, 2, 4),
    w=_numbers(2, 3, 3),
    b=_numbers(3),
)
_case(
    "ConvTranspose in groups",
    _node("ConvTranspose", "x w b", strides=[2, 1], group=2, dilations=[1, 2]),
    (1, 4, 3, 3),
    w=_numbers(4, 2, 2, 2),
    b=_numbers(4),
)
_case(
    "ConvTranspose output padding",
    _node("ConvTranspose", "x w b", strides=[2, 2], output_padding=[1, 0], pads=[1, 1, 1, 1]),
    (1, 2, 3, 3),
    w=_numbers(2, 3, 3, 3),
    b=_numbers(3),
)
_case(
    "ConvTranspose output shape",
    _node("ConvTranspose", "x w b", strides=[2, 2], output_shape=[6, 7]),
    (1, 2, 3, 3),
    w=_numbers(2, 3, 3, 3),
    b=_numbers(3),
)
_case("ConvTranspose 3-d", _node("ConvTranspose", "x w", strides=[2, 1, 1]), (1, 2, 2, 2, 2), w=_numbers(2, 1, 2, 2, 2))

_STATISTICS = {"s": _numbers(3), "b": _numbers(3, seed=1), "m": _numbers(3, seed=2), "v": _positive(3)}
_case("BatchNormalization", _node("BatchNormalization", "x s b m v"), (1, 3, 2, 2), _MODERN, **_STATISTICS)
_case(
    "BatchNormalization testing", _node("BatchNormalization", "x s b m v", is_test=1), (1, 3, 2), (6, 6), **_STATISTICS
)
_case(
    "BatchNormalization of rows", _node("BatchNormalization", "x s b m v", epsilon=0.1), (1, 3), _MODERN, **_STATISTICS
)

_case("AveragePool 1-d", _node("AveragePool", kernel_shape=[3], strides=[2]), (1, 2, 6))
_case("AveragePool padded", _node("AveragePool", kernel_shape=[2, 2], pads=[1, 0, 1, 1]), (1, 2, 4, 4))
_case(
    "AveragePool with padding counted",
    _node("AveragePool", kernel_shape=[2, 2], pads=[1, 0, 1, 1], strides=[2, 1], count_include_pad=1),
    (1, 2, 4, 4),
    _MODERN,
)
_case(
    "AveragePool ceil",
    _node("AveragePool", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
    (1, 2, 5, 5),
    (10, NEWEST),
)
_case("AveragePool dilated", _node("AveragePool", kernel_shape=[2, 2], dilations=[2, 1]), (1, 2, 4, 4), (19, NEWEST))
_case("AveragePool 3-d", _node("AveragePool", kernel_shape=[2, 2, 2]), (1, 2, 3, 3, 3))
_case("GlobalAveragePool", _node("GlobalAveragePool"), (1, 3, 2, 4))

# Gates ----------------------------------------------------------------------------------------------------------------

_case("Relu", _node("Relu"), (1, 3))
_case("LeakyRelu", _node("LeakyRelu"), (1, 3))
_case("LeakyRelu steep", _node("LeakyRelu", alpha=1.5), (1, 3))
_case("PRelu", _node("PRelu", "x s"), (1, 3, 2, 2), _MODERN, s=_numbers(3, 1, 1))
_case("PRelu whole", _node("PRelu", "x s"), (1, 3, 2), _MODERN, s=_numbers(1, 3, 2))
_case("PRelu shared", _node("PRelu", "x s"), (1, 3), s=_numbers(1))
_case("PRelu per channel", _node("PRelu", "x s"), (1, 3, 2, 2), (6, 6), s=_numbers(3))
_case("Clip attributes", _node("Clip", min=-0.5, max=1.0), (1, 4), (6, 10))
_case("Clip one attribute", _node("Clip", min=0.0), (1, 4), (6, 10))
_case("Clip to six", _node("Clip", min=0.0, max=6.0), (1, 4), (6, 10))
_case("Clip", _node("Clip", "x l h"), (1, 4), (11, NEWEST), l=np.float32(-0.5), h=np.float32(1.0))
_case("Clip above", helper.make_node("Clip", ["x", "", "h"], ["y"]), (1, 4), (11, NEWEST), h=np.float32(0.5))
_case("Clip by nothing", _node("Clip"), (1, 4), (11, NEWEST))
_case(
    "Clip far out",
    _node("Clip", "x l h"),
    (1, 4),
    (11, NEWEST),
    l=np.array(-np.finfo(np.float32).max),
    h=np.array(np.inf, dtype=np.float32),
)
_case("HardSigmoid", _node("HardSigmoid"), (1, 4))
_case("HardSigmoid settings", _node("HardSigmoid", alpha=0.7, beta=0.1), (1, 4))
_case("Abs", _node("Abs"), (1, 3))
_case("Shrink", _node("Shrink", lambd=0.75, bias=0.75), (1, 4), (9, NEWEST))
_case("Shrink that jumps", _node("Shrink", lambd=0.75, bias=0.25), (1, 4), (9, NEWEST))
_case("Sign", [_RELU, _node("Sign", "r")], (1, 4), (9, NEWEST))
_case("ThresholdedRelu", _node("ThresholdedRelu", alpha=0.25), (1, 4), (10, NEWEST))
for _name, _first in (("Greater", 9), ("Less", 9), ("GreaterOrEqual", 12), ("LessOrEqual", 12)):
    _case(
        f"{_name} and Where",
        [_node(_name, "x c", "m"), _node("Where", "m x c")],
        (1, 4),
        (_first, NEWEST),
        c=np.array([0.5, -0.25, 0.0, 0.5], np.float32),
    )
    _case(
        f"{_name}, Cast and Mul",
        [_RELU, _node(_name, "r c", "m"), _node("Cast", "m", "f", to=TensorProto.FLOAT), _node("Mul", "f r")],
        (1, 4),
        (_first, NEWEST),
        c=np.array([0.5, -0.25, 0.0, 0.5], np.float32),
    )
_case(
    "And, Or, Xor, Not",
    [
        *(_node("Greater", "x c", "a"), _node("Less", "x d", "b"), _node("And", "a b", "e"), _node("Not", "e", "n")),
        *(_node("Xor", "a n", "o"), _node("Or", "o k", "p"), _node("Cast", "p", "y", to=TensorProto.FLOAT)),
    ],
    (1, 4),
    (9, NEWEST),
    c=np.array([0.5, -0.25, 0.0, 0.5], np.float32),
    d=np.array([1.5, 1.25, 1.0, 0.25], np.float32),
    k=np.array([True, False, False, False]),
)
for _operator in ("Max", "Min"):
    _case(f"{_operator} of one", _node(_operator), (1, 3))
    _case(f"{_operator} of two", [_node("Neg", "x", "n"), _node(_operator, "x n")], (1, 3))
    _case(
        f"{_operator} of many",
        [_node("Neg", "x", "n"), _node("Add", "x c", "a"), _node(_operator, "x n c a d")],
        (1, 3),
        c=_numbers(1, 3),
        d=_numbers(1, 3, seed=1),
    )
    _case(
        f"{_operator} broadcast",
        [_node("ReduceMean", "x", "r", keepdims=1), _node("Neg", "x", "n"), _node(_operator, "x r n c")],
        (1, 3, 2),
        (8, NEWEST),
        c=_numbers(3, 1),
    )
    _case(f"{_operator} with a constant", _node(_operator, "c x"), (1, 3), (8, NEWEST), c=_numbers(2, 3))
_case("MaxPool 1-d", _node("MaxPool", kernel_shape=[3], strides=[2], pads=[1, 1]), (1, 2, 6))
_case("MaxPool overlapping", _node("MaxPool", kernel_shape=[3, 2], pads=[1, 0, 1, 1]), (1, 2, 4, 4))
_case("MaxPool ceil", _node("MaxPool", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1), (1, 2, 5, 5), (10, NEWEST))
_case("MaxPool dilated", _node("MaxPool", kernel_shape=[2, 2], dilations=[2, 1]), (1, 2, 4, 4), (10, NEWEST))
_case("MaxPool stored by columns", _node("MaxPool", kernel_shape=[2, 2], storage_order=1), (1, 2, 4, 4), (8, NEWEST))
_case("MaxPool 3-d", _node("MaxPool", kernel_shape=[2, 2, 2]), (1, 1, 3, 3, 3))
_case("GlobalMaxPool", _node("GlobalMaxPool"), (1, 3, 2, 4))

# Moves ----------------------------------------------------------------------------------------------------------------

_case("Reshape", _node("Reshape", "x s"), (1, 3, 4), s=_ints(1, 2, 6))
_case("Reshape with signs", _node("Reshape", "x s"), (1, 3, 4), s=_ints(0, -1, 2))
_case("Reshape to rows", _node("Reshape", "x s"), (1, 3, 4), s=_ints(-1, 2))
_case("Flatten", _node("Flatten"), (1, 3, 4))
_case("Flatten all", _node("Flatten", axis=0), (1, 3, 4), (9, NEWEST))
_case("Flatten late", _node("Flatten", axis=2), (1, 3, 4))
_case("Squeeze", _axes("Squeeze", 13, "x", [2]), (1, 3, 1))
_case("Squeeze the batch", _axes("Squeeze", 13, "x", [0]), (1, 3, 2))
_case("Squeeze everything", _node("Squeeze"), (1, 3, 1))
_case("Unsqueeze", _axes("Unsqueeze", 13, "x", [1, 3]), (1, 3))
_case("Transpose", _node("Transpose", perm=[0, 2, 1]), (1, 3, 4))
_case("Transpose the batch", _node("Transpose"), (1, 3, 4))
_case("Slice attributes", _node("Slice", starts=[1, 0], ends=[3, -1], axes=[1, 2]), (1, 4, 3), (6, 9))
_case(
    "Slice",
    _node("Slice", "x b e a s"),
    (1, 4, 5),
    (10, NEWEST),
    b=_ints(3, 0),
    e=_ints(0, 9),
    a=_ints(1, -1),
    s=_ints(-1, 2),
)
_case("Gather", _node("Gather", "x i", axis=1), (1, 4, 2), i=_ints(2, 0, 2))
_case("Gather one", _node("Gather", "x i", axis=1), (1, 4, 2), i=np.int64(2))
_case("Gather backwards", _node("Gather", "x i", axis=-1), (1, 4, 2), (11, NEWEST), i=_ints(-1, 0).reshape(2, 1))
_case("GatherElements", _node("GatherElements", "x i", axis=1), (1, 4), (11, NEWEST), i=_ints(2, 0).reshape(1, 2))
_case("GatherND", _node("GatherND", "x i"), (1, 4, 2), (11, NEWEST), i=_ints(0, 3, 0, 1).reshape(2, 2))
_case(
    "ScatterND",
    [_RELU, _node("ScatterND", "x i u", "y")],
    (1, 4),
    (11, NEWEST),
    i=_ints(0, 3).reshape(1, 2),
    u=_numbers(1),
)
_case(
    "ScatterElements into a constant",
    _node("ScatterElements", "c i x", axis=1),
    (1, 2),
    (11, NEWEST),
    c=_numbers(1, 4),
    i=_ints(3, 1).reshape(1, 2),
)
for _reduction in ("add", "max", "min", "mul"):
    _updates = "x i u" if _reduction == "mul" else "r i x"
    _case(
        f"ScatterElements {_reduction}",
        [_RELU, _node("ScatterElements", _updates, axis=1, reduction=_reduction)],
        (1, 4),
        (18, NEWEST),
        i=_ints(2, 0, 2, -1).reshape(1, 4),
        u=_numbers(1, 4),
    )
    _case(
        f"ScatterND {_reduction}",
        [_RELU, _node("ScatterND", "r i u", reduction=_reduction)],
        (1, 4),
        (18, NEWEST),
        i=_ints(0, 3, 0, 1).reshape(2, 2),
        u=_positive(2),
    )
_case("Scatter", _node("Scatter", "c i x", axis=1), (1, 2), (9, 10), c=_numbers(1, 4), i=_ints(3, 1).reshape(1, 2))
_case("CenterCropPad", _node("CenterCropPad", "x n", axes=[1, 2]), (1, 3, 4), (18, NEWEST), n=_ints(5, 2))
_case("MaxUnpool", _node("MaxUnpool", "x i", kernel_shape=[2]), (1, 1, 2), (11, NEWEST), i=_ints(1, 2).reshape(1, 1, 2))
_case("IsNaN", [_node("IsNaN", "x", "n"), _node("Where", "n c x")], (1, 3), (16, NEWEST), c=np.zeros(3, np.float32))
_case(
    "CastLike of a constant",
    [_node("CastLike", "c x", "k"), _node("Add", "k x")],
    (1, 3),
    (15, NEWEST),
    c=_ints(1, 2, 3),
)
_case("before what it reads", [_node("Add", "x k"), _node("Neg", "c", "k")], (1, 3), c=_numbers(3))
_case("TopK in order", helper.make_node("TopK", ["x", "k"], ["y", "i"], axis=1), (1, 5), (11, NEWEST), k=_ints(3))
_case(
    "the smallest in order",
    helper.make_node("TopK", ["x", "k"], ["y", "i"], axis=1, largest=0),
    (1, 2, 4),
    (11, NEWEST),
    k=_ints(2),
)
_RNN = {"w": _numbers(2, 3, 4), "r": _numbers(2, 3, 3), "b": _numbers(2, 6), "h": _numbers(2, 1, 3)}
_case(
    "RNN",
    helper.make_node("RNN", ["x", "w", "r", "b"], ["y", ""], hidden_size=3, activations=["Relu"]),
    (2, 1, 4),
    (14, NEWEST),
    **{name: table[:1] for name, table in _RNN.items() if name != "h"},
)
_case(
    "RNN both ways",
    helper.make_node(
        "RNN",
        ["x", "w", "r", "b", "", "h"],
        ["", "y"],
        hidden_size=3,
        direction="bidirectional",
        activations=["Relu", "Relu"],
    ),
    (3, 1, 4),
    (14, NEWEST),
    **_RNN,
)
for _mode in ("linear", "nearest", "cubic"):
    for _padding in ("zeros", "border", "reflection"):
        for _aligned in (0, 1):
            _case(
                f"GridSample {_mode} {_padding} {_aligned}",
                _node("GridSample", "x g", mode=_mode, padding_mode=_padding, align_corners=_aligned),
                (1, 2, 3, 4),
                (20, NEWEST),
                g=_numbers(1, 2, 3, 2),
            )
_case("Expand", _node("Expand", "x s"), (1, 3, 1), (8, NEWEST), s=_ints(2, 1, 2))
_case("Tile", _node("Tile", "x r"), (1, 3), r=_ints(1, 2))
_case("DepthToSpace", _node("DepthToSpace", blocksize=2), (1, 8, 2, 3))
_case("SpaceToDepth", _node("SpaceToDepth", blocksize=2), (1, 2, 4, 6))
_case(
    "Split attributes",
    [_node("Split", "x", "p q", axis=1, split=[1, 2]), _node("Concat", "q p", axis=1)],
    (1, 3),
    (6, 12),
)
_case(
    "Split", [_node("Split", "x l", "p q", axis=1), _node("Concat", "q p", axis=1)], (1, 3), (13, NEWEST), l=_ints(1, 2)
)
_case("Split evenly", [_node("Split", "x", "p q", axis=1), _node("Sub", "p q")], (1, 4), (7, 17))
_case("Split by number", [_node("Split", "x", "p q", axis=1, num_outputs=2), _node("Neg", "p")], (1, 5), (18, NEWEST))
_case("Concat", [_RELU, _node("Concat", "c x r c", axis=1)], (1, 3, 2), c=_numbers(1, 1, 2))
_case("Concat along the batch", [_RELU, _node("Concat", "x r", axis=0)], (1, 3))
_case("Pad attributes", _node("Pad", mode="constant", pads=[0, 0, 1, 0, 2, 0], value=1.5), (1, 3, 4), (6, 10))
_case("Pad", _node("Pad", "x p v"), (1, 3, 4), (11, NEWEST), p=_ints(0, 1, 1, 0, 0, 2), v=np.float32(0.5))
_case("Pad that cuts", _node("Pad", "x p"), (1, 3, 4), (11, NEWEST), p=_ints(0, -1, 1, 0, 0, -2))
_case(
    "Pad axes", helper.make_node("Pad", ["x", "p", "", "a"], ["y"]), (1, 3, 4), (18, NEWEST), p=_ints(1, 2), a=_ints(-1)
)
for _mode in ("reflect", "edge"):
    _case(f"Pad {_mode} attributes", _node("Pad", mode=_mode, pads=[0, 0, 1, 0, 0, 2]), (1, 2, 4), (6, 10))
    _case(f"Pad {_mode}", _node("Pad", "x p", mode=_mode), (1, 2, 4), (11, NEWEST), p=_ints(0, 0, 1, 0, 0, 2))
_case("Pad wrap", _node("Pad", "x p", mode="wrap"), (1, 2, 4), (19, NEWEST), p=_ints(0, 0, 1, 0, 0, 2))
_case("Col2Im", _node("Col2Im", "x i k"), (1, 4, 4), (18, NEWEST), i=_ints(3, 3), k=_ints(2, 2))

# Resizing -------------------------------------------------------------------------------------------------------------

_SCALES = np.array([1, 1, 2, 1.5], dtype=np.float32)
for _mode in ("nearest", "linear"):
    _case(
        f"Upsample attributes {_mode}", _node("Upsample", mode=_mode, scales=[1.0, 1.0, 2.0, 1.5]), (1, 2, 3, 4), (7, 8)
    )
    _case(f"Upsample {_mode}", _node("Upsample", "x s", mode=_mode), (1, 2, 3, 4), (9, 9), s=_SCALES)
    _case(f"Resize 10 {_mode}", _node("Resize", "x s", mode=_mode), (1, 2, 3, 4), (10, 10), s=_SCALES)
    for _coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
        _case(
            f"Resize {_mode} {_coordinates}",
            helper.make_node(
                "Resize", ["x", "roi", "s"], ["y"], mode=_mode, coordinate_transformation_mode=_coordinates
            ),
            (1, 1, 3, 4),
            (11, NEWEST),
            roi=np.zeros(0, dtype=np.float32),
            s=_SCALES,
        )
for _rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
    _case(
        f"Resize {_rounding}",
        helper.make_node(
            "Resize", ["x", "", "", "n"], ["y"], nearest_mode=_rounding, coordinate_transformation_mode="asymmetric"
        ),
        (1, 1, 4, 4),
        (13, NEWEST),
        n=_ints(1, 1, 6, 2),
    )
for _settings in ({}, {"exclude_outside": 1}, {"cubic_coeff_a": -0.5}):
    _case(
        f"Resize cubic {_settings}",
        helper.make_node("Resize", ["x", "", "s"], ["y"], mode="cubic", **_settings),
        (1, 1, 4, 3),
        (13, NEWEST),
        s=_SCALES,
    )
for _settings in (
    {"mode": "linear", "antialias": 1},
    {"mode": "cubic", "antialias": 1},
    {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"},
    {"mode": "nearest", "keep_aspect_ratio_policy": "not_larger"},
    {"mode": "linear", "keep_aspect_ratio_policy": "not_smaller"},
):
    _case(
        f"Resize {_settings}",
        helper.make_node("Resize", ["x", "", "", "n"], ["y"], axes=[2, 3], **_settings),
        (1, 1, 5, 6),
        (19, NEWEST),
        n=_ints(3, 4),
    )
for _mode in ("nearest", "linear"):
    _case(
        f"Resize a part {_mode}",
        helper.make_node(
            "Resize",
            ["x", "roi", "", "n"],
            ["y"],
            mode=_mode,
            coordinate_transformation_mode="tf_crop_and_resize",
            extrapolation_value=7.0,
        ),
        (1, 1, 4, 5),
        (13, NEWEST),
        n=_ints(1, 1, 3, 4),
        roi=np.array([0, 0, 0.2, -0.1, 1, 1, 0.9, 1.3], np.float32),
    )
_case(
    "Resize some axes",
    helper.make_node("Resize", ["x", "", "", "n"], ["y"], mode="linear", axes=[2, 3]),
    (1, 1, 4, 3),
    (18, NEWEST),
    n=_ints(2, 5),
)

# Chains of shapes -----------------------------------------------------------------------------------------------------

_case(
    "Reshape by a computed shape",
    [
        _node("Shape", "x", "shape"),
        _node("Gather", "shape zero", "batch", axis=0),
        _node("Concat", "batch rest", "target", axis=0),
        _node("Reshape", "x target"),
    ],
    (1, 3, 4),
    zero=_ints(0),
    rest=_ints(-1),
)
_case(
    "Add zeros of a computed shape",
    [
        _node("Shape", "x", "shape"),
        _node("ConstantOfShape", "shape", "zeros"),
        _node("Sub", "zeros x"),
    ],
    (1, 3),
    (9, NEWEST),
)
_case(
    "constants made of constants",
    [
        _node("Exp", "c", "e"),
        _node("Transpose", "e", "t", perm=[1, 0]),
        _node("MatMul", "x t"),
    ],
    (1, 3),
    c=_numbers(4, 3),
)
_case(
    "a constant node",
    [helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(_numbers(1, 3))), _node("Add", "x c")],
    (1, 3),
)
_case(
    "a constant list",
    [helper.make_node("Constant", [], ["c"], value_floats=[1.0, -2.0, 0.1]), _node("Add", "x c")],
    (1, 3),
    (12, NEWEST),
)

CASES = tuple(_CASES)
