"""ONNX operators that are not piecewise linear, each with what to use instead."""

from reluscope.errors import NotPiecewiseLinearError, UnsupportedOperatorError

_SMOOTH = "use Relu, LeakyRelu, PRelu, Clip, HardSigmoid, Abs, Max or Min"
_STEP = "use Relu, Clip, Abs, Max or Min, which are continuous"
_NORM = "use BatchNormalization, which divides by constants"
_POWER = "powers and roots have no linear pieces; Abs, sums and maxima do"
_PRODUCT = "it multiplies values that depend on the input; use Gemm, MatMul or Conv with constant weights"
_LAST = "is left off only where it is the very last step"
_RECURRENT = "its gates multiply values that depend on the input; use linear layers and Relu"
_ROUNDING = "it rounds, which is not continuous; load the model before it was quantised"

_INSTEAD: dict[str, str] = {
    **dict.fromkeys(("Gelu", "Elu", "Celu", "Selu", "Softplus", "Softsign", "Mish", "Swish", "HardSwish"), _SMOOTH),
    **dict.fromkeys(("Exp", "Log", "Erf", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh"), _SMOOTH),
    **dict.fromkeys(("Asinh", "Acosh", "Atanh"), _SMOOTH),
    "Sigmoid": f"use HardSigmoid; a sigmoid {_LAST}",
    "Tanh": f"use Clip from -1 to 1; a tanh {_LAST}",
    **dict.fromkeys(("Softmax", "LogSoftmax"), f"a softmax {_LAST}"),
    **dict.fromkeys(("LayerNormalization", "GroupNormalization", "InstanceNormalization", "LpNormalization"), _NORM),
    **dict.fromkeys(("MeanVarianceNormalization", "RMSNormalization", "LRN"), _NORM),
    **dict.fromkeys(("Pow", "Sqrt", "Reciprocal", "ReduceL2", "ReduceProd", "ReduceSumSquare", "LpPool"), _POWER),
    **dict.fromkeys(("GlobalLpPool", "ReduceLogSum", "ReduceLogSumExp", "CumProd", "Det"), _POWER),
    **dict.fromkeys(("Attention", "RotaryEmbedding", "DeformConv"), _PRODUCT),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _RECURRENT),
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv"), _ROUNDING),
    **dict.fromkeys(("QLinearMatMul", "ConvInteger", "MatMulInteger"), _ROUNDING),
    **dict.fromkeys(("Floor", "Ceil", "Round", "Mod", "ArgMax", "ArgMin", "Hardmax", "NonZero"), _STEP),
    **dict.fromkeys(("IsNaN", "IsInf", "OneHot", "Bernoulli", "TfIdfVectorizer", "BitShift"), _STEP),
}
_PIECES = {"Gelu": "gelu", "Swish": "silu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Softplus": "softplus"}
_INSTEAD |= {
    name: f"{_INSTEAD[name]}, or pieces in its place: approximate={{{function!r}: 32}}"
    for name, function in _PIECES.items()
}

_UNSUPPORTED: dict[str, str] = {
    "Loop": "export the model with the loop unrolled",
    "Scan": "export the model with the loop unrolled",
    "MaxRoiPool": "use MaxPool",
    "MaxUnpool": "use Resize",
}


def refusal(operator: str, domain: str, place: str) -> UnsupportedOperatorError:
    """Return the error for an operator that is not lowered.

    ``domain`` is where the operator is defined, empty for the standard operators.
    """
    if domain:
        return UnsupportedOperatorError(
            f"expected standard ONNX operators, but {operator} at {place} belongs to {domain!r}: export the model "
            "without operators of one runtime"
        )
    if operator in _INSTEAD:
        return NotPiecewiseLinearError(
            f"expected piecewise-linear operators, but {operator} at {place} is not piecewise linear: "
            f"{_INSTEAD[operator]}"
        )
    hint = _UNSUPPORTED.get(operator, "use Gemm, MatMul, Conv, pooling and the usual activations")
    return UnsupportedOperatorError(
        f"expected operators that reluscope knows, but {operator} at {place} is not among them: {hint}"
    )
