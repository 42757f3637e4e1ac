"""Operators that are not piecewise linear, each with what to use instead."""

from reluscope.errors import NotPiecewiseLinearError, UnsupportedOperatorError

_SMOOTH = "use ReLU, leaky ReLU, PReLU, ReLU6, hard-tanh or another piecewise-linear activation"
_STEP = "use relu, clamp, abs, maximum, minimum or a comparison, which have few pieces"
_NORM = "use batch normalisation in evaluation mode, which divides by constants"
_POWER = "powers and roots have no linear pieces; abs, sums and maxima do"
_LAST = "is left off only where it is the very last step"
_ATTENTION = "attention multiplies values that depend on the input"

_INSTEAD: dict[str, str] = {
    **dict.fromkeys(("gelu", "silu", "mish", "elu", "celu", "selu", "softplus", "log_sigmoid", "tanhshrink"), _SMOOTH),
    **dict.fromkeys(("hardswish", "glu", "softsign", "logit", "erf", "exp", "expm1", "log", "log1p", "log2"), _SMOOTH),
    **dict.fromkeys(("sin", "cos", "tan", "atan", "asin", "acos", "sinh", "cosh", "erfinv", "log10", "exp2"), _SMOOTH),
    "sigmoid": f"use hard-sigmoid; a sigmoid {_LAST}",
    "tanh": f"use hard-tanh; a tanh {_LAST}",
    **dict.fromkeys(("softmax", "_softmax", "log_softmax", "_log_softmax", "softmin", "logsumexp"), ""),
    **dict.fromkeys(("layer_norm", "native_layer_norm", "group_norm", "native_group_norm", "rms_norm"), _NORM),
    **dict.fromkeys(("_fused_rms_norm", "local_response_norm", "renorm"), _NORM),
    **dict.fromkeys(("pow", "square", "sqrt", "rsqrt", "reciprocal", "norm", "linalg_vector_norm", "prod"), _POWER),
    **dict.fromkeys(("var", "std", "var_mean", "std_mean", "cumprod", "dist", "cdist", "hypot", "linalg_norm"), _POWER),
    **dict.fromkeys(("scaled_dot_product_attention", "baddbmm", "bilinear", "atan2"), _ATTENTION),
    **dict.fromkeys(("round", "floor", "ceil", "trunc", "frac"), _STEP),
    **dict.fromkeys(("argmax", "argmin", "floor_divide", "fmod", "remainder", "bucketize", "bernoulli"), _STEP),
    **dict.fromkeys(("isnan", "isinf", "isfinite", "nonzero", "argsort", "nan_to_num"), _STEP),
}
_PIECES = ("gelu", "silu", "softplus", "sigmoid", "tanh")
_INSTEAD |= {name: f"{_INSTEAD[name]}, or pieces in its place: approximate={{{name!r}: 32}}" for name in _PIECES}
_INSTEAD |= dict.fromkeys(("softmax", "_softmax", "log_softmax", "_log_softmax"), f"a softmax {_LAST}")

_UNSUPPORTED: dict[str, str] = {
    **dict.fromkeys(("sort", "median", "kthvalue", "nanmedian", "cummax", "cummin"), "use amax over an axis"),
    **dict.fromkeys(("lstm", "gru", "rnn_tanh", "rnn_relu"), "unroll it into linear layers and activations"),
    "embedding": "start from the embedded vectors",
}


def refusal(operator: str, place: str) -> UnsupportedOperatorError:
    """Return the error for an operator that is not lowered.

    ``operator`` is its name without namespace and overload.
    """
    if operator in _INSTEAD:
        return NotPiecewiseLinearError(
            f"expected piecewise-linear operators, but {operator} at {place} is not piecewise linear: "
            f"{_INSTEAD[operator] or _SMOOTH}"
        )
    hint = _UNSUPPORTED.get(operator, "write it with linear layers, convolutions, pooling and the usual activations")
    return UnsupportedOperatorError(
        f"expected operators that reluscope knows, but {operator} at {place} is not among them: {hint}"
    )


def is_refused(operator: str) -> bool:
    """Return whether an operator is known not to be supported, so that taking it apart would only hide its name."""
    return operator in _INSTEAD or operator in _UNSUPPORTED
