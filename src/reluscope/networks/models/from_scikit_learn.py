"""A network from a multilayer perceptron of scikit-learn, with the scalers before it.

It is read by its fitted attributes; scikit-learn itself is not imported. The class of a classifier is the position in
its ``classes_``; with two classes there is one output, above 0 for the second one.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from reluscope.errors import InputError, NotPiecewiseLinearError
from reluscope.networks.building.builder import GraphBuilder, Value
from reluscope.networks.building.parameters import as_constant
from reluscope.networks.building.verification import verify
from reluscope.networks.graph.left_off import LeftOff
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network

_PERCEPTRONS = ("MLPClassifier", "MLPRegressor")
# Of each scaler, what is subtracted and then what is divided by; MinMaxScaler multiplies and then adds.
_SCALERS = {
    "StandardScaler": ("mean_", "scale_"),
    "RobustScaler": ("center_", "scale_"),
    "MaxAbsScaler": ("", "scale_"),
}
_TAKEN = "an MLPClassifier or MLPRegressor, or a Pipeline of StandardScaler, MinMaxScaler, MaxAbsScaler or RobustScaler"
# Attributes of fitted estimators that hold another one, and what smooth activations are called elsewhere.
_HOLDERS = ("best_estimator_", "regressor_", "estimator_")
_SMOOTH = {"logistic": "sigmoid"}
_LEFT_OFF = {"softmax": "softmax", "logistic": "sigmoid", "identity": None}


def is_estimator(model: Any) -> bool:
    """Tell whether a model is one of scikit-learn's."""
    return type(model).__module__.partition(".")[0] == "sklearn"


def from_scikit_learn(model: Any, *, data: Points | None = None) -> Network:
    """Build the network of a fitted perceptron, and check it against what the model predicts.

    The model is an ``MLPClassifier`` or ``MLPRegressor``, alone or at the end of a ``Pipeline`` of scalers. Raises
    InputError for others or unfitted ones, NotPiecewiseLinearError for other activations.
    """
    scalers, perceptron = _parts(model)
    builder = GraphBuilder()
    value = builder.input((int(perceptron.n_features_in_),))
    for name, scaler in scalers:
        value = _scaled(builder, value, name, scaler)
    depth = len(perceptron.coefs_)
    for layer in range(depth):
        weight = as_constant(np.asarray(perceptron.coefs_[layer]).T, f"coefs_[{layer}]")
        value = builder.linear(value, weight, as_constant(perceptron.intercepts_[layer], f"intercepts_[{layer}]"))
        if layer + 1 < depth and perceptron.activation == "relu":
            value = builder.named(f"relu {layer}").relu(value)
    left_off = _left_off(perceptron, value.shape)
    if left_off is not None:
        builder.note(left_off.note)
    if hasattr(perceptron, "classes_"):
        names = _listed(perceptron.classes_)
        if perceptron.out_activation_ == "logistic" and perceptron.n_outputs_ > 1:
            builder.note(
                f"Each output is a label of its own, which a point has where it is above 0: {names}. A class is read "
                "as the largest of them: it is the likeliest label, and not all that a point has."
            )
        else:
            builder.note(f"Classes are positions in classes_: {names}.")
    network = replace(builder.build(value), left_off=left_off)
    name = f"the {type(model).__name__} of scikit-learn"
    check = verify(network, _reference(model, perceptron), tail=_tail(perceptron), data=data, name=name)
    return replace(network, verification=check)


def _parts(model: Any) -> tuple[list[tuple[str, Any]], Any]:
    """Return the scalers by their names, and the perceptron."""
    steps = list(model.steps) if type(model).__name__ == "Pipeline" else [("", model)]
    *scalers, (_, perceptron) = steps
    kind = type(perceptron).__name__
    if kind not in _PERCEPTRONS:
        inner = next((name for name in _HOLDERS if hasattr(perceptron, name)), None)
        advice = "convert it to ONNX with skl2onnx" if inner is None else f"give what it holds, model.{inner}"
        raise InputError(f"expected {_TAKEN} that ends in one, got {kind}: {advice}")
    if not hasattr(perceptron, "coefs_"):
        raise InputError(f"expected a fitted {kind}, but it has no weights yet: call fit first")
    if perceptron.activation not in ("relu", "identity"):
        raise NotPiecewiseLinearError(
            f"expected activation='relu' or 'identity', but {kind} has {perceptron.activation!r}, which is not "
            "piecewise linear: train it with relu, or convert it to ONNX with skl2onnx and load that with "
            f"approximate={{{_SMOOTH.get(perceptron.activation, perceptron.activation)!r}: 32}}"
        )
    if perceptron.out_activation_ not in _LEFT_OFF:
        raise NotPiecewiseLinearError(
            f"expected outputs without an activation, but {kind} ends in {perceptron.out_activation_!r}: train it with "
            "loss='squared_error'"
        )
    return [(name, one) for name, one in scalers if one is not None and not isinstance(one, str)], perceptron


def _scaled(builder: GraphBuilder, value: Value, name: str, scaler: Any) -> Value:
    builder, kind = builder.named(name), type(scaler).__name__
    if kind == "MinMaxScaler" and not scaler.clip:
        scaled = builder.multiply(value, as_constant(_fitted(scaler, "scale_", name), "scale_"))
        return builder.add(scaled, as_constant(scaler.min_, "min_"))
    if kind not in _SCALERS or getattr(scaler, "clip", False):
        clipping = " with clip=True" if kind == "MinMaxScaler" else ""
        raise InputError(
            f"expected {_TAKEN} before it, but the step {name!r} is {kind}{clipping}: load "
            "the perceptron alone and give it what the step returns, or convert the whole to ONNX with skl2onnx"
        )
    center, scale = (_fitted(scaler, attribute, name) if attribute else None for attribute in _SCALERS[kind])
    if center is not None and getattr(scaler, "with_mean", True):  # the mean is kept where it is not subtracted
        value = builder.subtract(value, as_constant(center, _SCALERS[kind][0]))
    return value if scale is None else builder.divide(value, as_constant(scale, "scale_"))


def _fitted(scaler: Any, attribute: str, name: str) -> Any:
    """Return an attribute of a fitted scaler; None where it does nothing."""
    if not hasattr(scaler, attribute):
        raise InputError(f"expected a fitted {type(scaler).__name__} in step {name!r}: call fit first")
    return getattr(scaler, attribute)


def _reference(model: Any, perceptron: Any) -> Callable[[Tensor], Tensor]:
    predict = model.predict_proba if hasattr(perceptron, "classes_") else model.predict

    def reference(x: Tensor) -> Tensor:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*feature names.*")
            return torch.from_numpy(np.asarray(predict(x.numpy()), dtype=np.float64))

    return reference


def _left_off(perceptron: Any, shape: tuple[int, ...]) -> LeftOff | None:
    """Return what the perceptron does behind its last layer; of two classes it gives both probabilities."""
    name = _LEFT_OFF[perceptron.out_activation_]
    if name is None:
        return None
    if name == "sigmoid" and hasattr(perceptron, "classes_") and perceptron.n_outputs_ == 1:
        return LeftOff("softmax", shape, of_two=True)
    return LeftOff(name, shape, (0,) if name == "softmax" else ())


def _tail(perceptron: Any) -> Callable[[Tensor], Tensor] | None:
    """Return what the perceptron does behind its last layer; of two classes it gives both probabilities."""
    if perceptron.out_activation_ == "softmax":
        return lambda y: y.softmax(1)
    if perceptron.out_activation_ == "logistic":
        if perceptron.n_outputs_ > 1:
            return torch.sigmoid
        return lambda y: torch.cat([1 - y.sigmoid(), y.sigmoid()], 1)
    return None


def _listed(classes: Any) -> str:
    names = [str(one) for one in classes]
    return ", ".join(names if len(names) <= 12 else [*names[:11], "..."])
