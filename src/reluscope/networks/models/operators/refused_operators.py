"""Operators that are refused, by their names in ATen and in ONNX, each with what to use instead."""

from reluscope.errors import NotPiecewiseLinearError, UnsupportedOperatorError

_LAST = "is left off only where it is the very last step"
_SMOOTH = "use ReLU, leaky ReLU, PReLU, ReLU6, hard-tanh or another piecewise-linear activation"
_PIECES = "{}, or pieces in its place: approximate={{{!r}: 32}}"
_NORM = "use batch normalisation in evaluation mode, which divides by constants"
_POWER = "powers and roots have no linear pieces; abs, sums and maxima do"
_PRODUCT = "it multiplies values that depend on the input; use linear layers and convolutions with constant weights"
_RECURRENT = "its gates multiply values that depend on the input; use linear layers and ReLU"
_ROUNDING = "it rounds, which is not continuous; load the model before it was quantised"
_POSITIONS = (
    "positions jump from point to point, and the scores that it compares do not: return these, or load the part "
)
_POSITIONS += "before it with submodule="
_STEP = "use ReLU, clamp, abs, maxima, minima or a comparison, which have few pieces"

# What to use in place of operators that are not piecewise linear.
_CURVED = {
    _SMOOTH: "elu celu selu log_sigmoid tanhshrink glu softsign logit exp expm1 log log1p log2 log10 "
    "exp2 erf erfinv sin cos tan asin acos atan atan2 sinh cosh softmin logsumexp "
    "Elu Celu Selu Softsign Exp Log Erf Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh",
    _PIECES.format(_SMOOTH, "gelu"): "gelu Gelu",
    _PIECES.format(_SMOOTH, "silu"): "silu Swish",
    _PIECES.format(_SMOOTH, "mish"): "mish Mish",
    _PIECES.format(_SMOOTH, "hardswish"): "hardswish HardSwish",
    _PIECES.format(_SMOOTH, "softplus"): "softplus Softplus",
    _PIECES.format(f"use hard-sigmoid; a sigmoid {_LAST}", "sigmoid"): "sigmoid Sigmoid",
    _PIECES.format(f"use hard-tanh; a tanh {_LAST}", "tanh"): "tanh Tanh",
    f"a softmax {_LAST}": "softmax _softmax log_softmax _log_softmax Softmax LogSoftmax",
    _NORM: "layer_norm native_layer_norm group_norm "
    "native_group_norm rms_norm _fused_rms_norm local_response_norm renorm LayerNormalization GroupNormalization "
    "InstanceNormalization LpNormalization MeanVarianceNormalization RMSNormalization LRN",
    _POWER: "pow square sqrt rsqrt reciprocal norm "
    "linalg_vector_norm linalg_norm prod var std var_mean std_mean cumprod dist cdist hypot Pow Sqrt Reciprocal "
    "ReduceL2 ReduceProd ReduceSumSquare ReduceLogSum ReduceLogSumExp LpPool GlobalLpPool CumProd Det",
    _PRODUCT: "scaled_dot_product_attention baddbmm bilinear Attention DeformConv",
    _RECURRENT: "LSTM GRU",
    _ROUNDING: "DynamicQuantizeLinear QLinearConv QLinearMatMul ConvInteger MatMulInteger",
    _POSITIONS: "argmax argmin ArgMax ArgMin",
    _STEP: "bucketize bernoulli nonzero argsort NonZero OneHot Bernoulli TfIdfVectorizer BitShift",
}

# What to use in place of operators that are not lowered, though they may be piecewise linear.
_UNKNOWN = {
    "use amax over an axis": "sort median kthvalue nanmedian cummax cummin",
    "unroll it into linear layers and activations": "lstm gru rnn_tanh",
    "start from the embedded vectors": "embedding",
    "export the model with the loop unrolled": "Loop Scan",
    "use MaxPool": "MaxRoiPool",
}


def _by_operator(table: dict[str, str]) -> dict[str, str]:
    return {operator: instead for instead, operators in table.items() for operator in operators.split()}


_NOT_PIECEWISE_LINEAR, _UNSUPPORTED = _by_operator(_CURVED), _by_operator(_UNKNOWN)


def refusal(operator: str, place: str) -> UnsupportedOperatorError:
    """Return the error for an operator that is not lowered, by its name in ATen or ONNX."""
    if operator in _NOT_PIECEWISE_LINEAR:
        return NotPiecewiseLinearError(
            f"expected piecewise-linear operators, but {operator} at {place} is not piecewise linear: "
            f"{_NOT_PIECEWISE_LINEAR[operator]}"
        )
    hint = _UNSUPPORTED.get(operator, "write it with linear layers, convolutions, pooling and the usual activations")
    return UnsupportedOperatorError(
        f"expected operators that reluscope knows, but {operator} at {place} is not among them: {hint}"
    )


def is_refused(operator: str) -> bool:
    """Return whether an operator is known not to be supported, so that taking it apart would only hide its name."""
    return operator in _NOT_PIECEWISE_LINEAR or operator in _UNSUPPORTED
