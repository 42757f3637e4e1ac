"""Loading of models of all supported forms, each checked against its source."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import torch
from torch import Tensor, nn

from reluscope.arguments import read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.networks.building.interfaces import Interface
from reluscope.networks.building.verification import verify
from reluscope.networks.graph.input_shapes import read_joined, read_shape
from reluscope.networks.graph.points import Points
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.networks.models.from_scikit_learn import from_scikit_learn, is_estimator
from reluscope.networks.network import Network

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from reluscope.networks.models.torch.torch_source import TorchSource

# What traces modules brings PyTorch's compiler along, seconds that files and arrays do not need: it is imported where
# it is used.
_PICKLES = {".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".bin", ".joblib"}
_INSTEAD = (
    "if it holds a state dict, fill the model with it and give the model (on the command line: package.module:factory "
    "--weights FILE); else save the weights alone with safetensors, or export the model with "
    "torch.export.save(..., 'model.pt2') or to ONNX"
)


@read_arguments
def load(
    model: Any,
    input_shape: int | Sequence[int] | Mapping[str, int | Sequence[int]] | None = None,
    data: Points | None = None,
    *,
    submodule: str | None = None,
    at: Any = None,
    output: str | int | None = None,
    inputs: Mapping[str, Any] | None = None,
    decision: Any = "largest",
    approximate: Mapping[str, Any] | None = None,
) -> Network:
    """Load a piecewise-linear model as a network, and check the network against the model.

    Parameters
    ----------
    model : nn.Module, ExportedProgram, path, list of (W, b), or estimator
        A module is captured by its forward pass, in evaluation mode and float64, and not changed. Paths end in
        ``.onnx`` or ``.pt2``. A list of weights ``(out, in)`` and biases has ReLU between its layers. Estimators of
        scikit-learn are ``MLPClassifier`` and ``MLPRegressor``, alone or after scalers in a ``Pipeline``.
    input_shape : int or tuple of int, optional
        Shape of one point, without the batch axis. Required for modules, unless the data or a first linear layer
        determine it, and for files that leave it open. A mapping such as ``{"state": 3, "action": (2, 2)}`` joins
        several inputs of a module or an ONNX file: points are vectors of all their numbers, in this order.
    data : (s, *input_shape), optional
        Points at which the network is compared with the model, in addition to random points.
    submodule : str, optional
        Path of the part of a module to load alone, such as ``"encoder.layer.0.mlp"``.
    at : (s, ...), or a mapping from names of inputs to such arrays, optional
        Inputs of the whole model. They determine the part's input shape, the fixed values of its other inputs, and
        points for the comparison; see `activations_at`. If ``input_shape`` is the end of the activations' shape,
        such as ``(d,)`` of ``(s, tokens, d)``, the network is the part on one such entry.
    output : str or int, optional
        The output to load if there are several: a key of a dictionary, a field or a position (``"1"``, or 1) of a
        tuple, joined by dots if nested (``"aux.0"``), or the name of any tensor of an ONNX file, such as an output.
    inputs : mapping from str to value, optional
        Fixed values of all inputs but one, for every point: ``{"mask": value}``. An array with a leading axis of
        length 1 is repeated for every point if the model requires that.
    decision : {"largest", "smallest"} or float
        The class: the largest output, the smallest (costs), or, for a single output, 1 where the model's is above a
        number; see `Network.with_decision`. Classes, decision boundaries, robustness and pictures follow it.
    approximate : mapping from str to int, optional
        Smooth activations (``gelu``, ``silu``, ``mish``, ``hardswish``, ``tanh``, ``sigmoid``, ``softplus``) to replace
        by continuous piecewise-linear functions, with the number of pieces: ``{"gelu": 32}``. A note gives a proved
        upper bound on their error; `Network.approximation_error` bounds that of the outputs. Another note names
        activations that the network does not have.

    Returns
    -------
    Network
        Its ``verification`` records the checks against the model; its ``notes`` contain remarks for the user.

    Raises
    ------
    NotPiecewiseLinearError
        If an operator is not piecewise linear; with its name, its place, and a replacement.
    UnsupportedOperatorError
        If an operator is not known.
    ConversionMismatchError
        If the network disagrees with the model: this is a bug, and the message has the point.
    InputError, ShapeError
        If the model, its weights or the shape cannot be used.

    Notes
    -----
    Capturing a module takes 0.05 to 2 s. For other weights of the same model use ``Network.with_parameters``.

    Examples
    --------
    >>> import reluscope as rs
    >>> from torch import nn
    >>> net = rs.load(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)))
    >>> net.input_shape, [gate.name for gate in net.gates], net.verification.largest_deviation < 1e-12
    ((2,), ['1'], True)
    """
    interface = Interface(output, dict(inputs or {}), dict(approximate or {}))
    if isinstance(input_shape, Mapping):
        interface = replace(interface, joined=read_joined(input_shape, interface.inputs))
        shape = (sum(map(prod, interface.joined.values())),)
    else:
        shape = None if input_shape is None else read_shape(input_shape)
    if interface.joined and submodule is not None:
        raise InputError("a part of a model is loaded with one input: leave submodule out, or give one input_shape")
    if submodule is not None:
        network = _load_part(model, submodule, at, shape, data, interface)
    elif at is not None:
        raise InputError("at says what a whole model is given whose part is loaded: name the part with submodule=")
    else:
        network = _load(model, shape, data, interface)
    network = _with_note_of_unused(network, interface)
    if interface.joined:
        note = f"The input joins several, in this order: {_listed(interface.joined)}."
        network = replace(network, notes=(*network.notes, note))
    return network if decision == "largest" else network.with_decision(decision)


def _with_note_of_unused(network: Network, interface: Interface) -> Network:
    """Return the network with a note of what was to be replaced and is not there."""
    replaced = {gate.replaces.removesuffix("_by_tanh") for gate in network.approximations}
    unused = [name for name in interface.approximate if name not in replaced]
    if not unused:
        return network
    note = f"The network has no {' and no '.join(unused)} that pieces could take the place of."
    return replace(network, notes=(*network.notes, note))


def _load(model: Any, shape: tuple[int, ...] | None, data: Points | None, interface: Interface) -> Network:
    if interface.joined and not (isinstance(model, nn.Module) or _is_onnx(model)):
        raise InputError("several inputs are joined of modules and .onnx files: give one of these")
    if isinstance(model, nn.Module):
        if shape is None:
            shape = _shape_from(model, data)
        return _verified(_source_of(model, shape, interface), data, "the module in float64")
    if _is_program(model):
        from reluscope.networks.models.torch.from_torch import from_program

        return _verified(from_program(model, shape, interface), data, "the exported program in float64")
    if isinstance(model, str | os.PathLike):
        return _load_file(Path(model), shape, data, interface)
    if is_estimator(model):
        return _load_estimator(model, shape, data, interface)
    if isinstance(model, list | tuple):
        if interface.output is not None or interface.inputs:
            raise InputError("a list of (W, b) has one input and one output: leave output and inputs out")
        return _load_arrays(model, shape, data)
    if isinstance(model, Mapping) and any(isinstance(entry, Tensor) for entry in model.values()):
        raise InputError(
            "expected a model, got a state dict, which holds weights alone: fill the model with "
            "model.load_state_dict(state) and give that"
        )
    raise InputError(
        f"expected a module, an exported program, a path to .onnx or .pt2, a list of (W, b), or an "
        f"MLPClassifier or MLPRegressor, got a "
        f"{type(model).__name__}"
    )


def _listed(joined: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {shape}" for name, shape in joined.items())


def _is_onnx(model: Any) -> bool:
    return isinstance(model, str | os.PathLike) and Path(model).suffix.lower() == ".onnx"


def _source_of(model: nn.Module, shape: tuple[int, ...], interface: Interface) -> "TorchSource":
    if interface.joined:
        from reluscope.networks.models.torch.joint_inputs import jointly

        try:
            return _source_of(jointly(model, interface.joined), shape, replace(interface, joined={}))
        except ShapeError as error:
            raise ShapeError(f"{error}; its inputs are given as {_listed(interface.joined)}") from error
    if interface.output is None and not interface.inputs and not interface.approximate:
        from reluscope.networks.models.torch.plain_trace import plain_source

        source = plain_source(model, shape)
        if source is not None:
            return source
    from reluscope.networks.models.torch.from_torch import from_module

    return from_module(model, shape, interface)


def _load_part(
    model: Any, submodule: str, at: Any, shape: tuple[int, ...] | None, data: Points | None, interface: Interface
) -> Network:
    from reluscope.networks.models.torch.parts import find_submodule, part_input

    if not isinstance(model, nn.Module):
        raise InputError(f"expected a module, of which submodule names a part, got a {type(model).__name__}")
    part = find_submodule(model, submodule)
    if at is None:
        return _load(part, shape, data, interface)
    given = part_input(model, submodule, at)
    values, own = given.values, tuple(given.values.shape[1:])
    if shape is not None and shape != own:
        if not shape or own[-len(shape) :] != shape:
            raise ShapeError(f"expected input_shape {own}, or the end of it, as {submodule} is given it, got {shape}")
        values, own = values.reshape(-1, *shape), shape
    inputs = {**{name: _of_rank(value, len(own) + 1) for name, value in given.fixed.items()}, **interface.inputs}
    network = _load(
        part, own, values if data is None else data, Interface(interface.output, inputs, interface.approximate)
    )
    if given.calls == 1:
        return network
    called = f"The model calls {submodule} {given.calls} times; the points are those of the first call."
    return replace(network, notes=(*network.notes, called))


def _of_rank(value: Any, rank: int) -> Any:
    """Return a tensor without leading axes of length 1 beyond a rank."""
    while isinstance(value, Tensor) and value.ndim > rank and len(value) == 1:
        value = value[0]
    return value


def _is_program(model: Any) -> "TypeGuard[ExportedProgram]":
    # Nobody has an exported program who has not imported the module that makes them.
    export = sys.modules.get("torch.export")
    return export is not None and isinstance(model, export.ExportedProgram)


def _load_file(path: Path, shape: tuple[int, ...] | None, data: Points | None, interface: Interface) -> Network:
    suffix = path.suffix.lower()
    if suffix in _PICKLES:
        raise InputError(
            f"expected an .onnx or .pt2 file, got {path.name}, a pickle, which can run any code: {_INSTEAD}"
        )
    if not path.is_file():
        raise InputError(f"expected a model file, but {path} {'is a folder' if path.is_dir() else 'does not exist'}")
    if suffix == ".onnx":
        from reluscope.networks.models.onnx.from_onnx import from_onnx

        return from_onnx(path, input_shape=shape, data=data, interface=interface)
    if suffix == ".pt2":
        from reluscope.networks.models.torch.archive import read_program
        from reluscope.networks.models.torch.from_torch import from_program

        return _verified(from_program(read_program(path), shape, interface), data, f"{path.name} in float64")
    raise InputError(f"expected a model file that ends in .onnx or .pt2, got {path.name}: {_INSTEAD}")


def _load_estimator(model: Any, shape: tuple[int, ...] | None, data: Points | None, interface: Interface) -> Network:
    if interface.output is not None or interface.inputs:
        raise InputError("an estimator has one input and one output: leave output and inputs out")
    network = from_scikit_learn(model, data=data)
    if shape is not None and shape != network.input_shape:
        raise ShapeError(f"expected input_shape {network.input_shape} as the model was fitted, got {shape}")
    return network


def _load_arrays(layers: Sequence[Any], shape: tuple[int, ...] | None, data: Points | None) -> Network:
    network = from_arrays(layers)
    if shape is not None and shape != network.input_shape:
        raise ShapeError(f"expected input_shape {network.input_shape} as the first weight has it, got {shape}")

    def reference(x: Tensor) -> Tensor:
        values = x.numpy()
        for position, (weight, bias) in enumerate(layers):
            values = np.maximum(values, 0.0) if position else values
            # What overflows is refused in what follows.
            with np.errstate(over="ignore", invalid="ignore"):
                values = values @ np.asarray(weight, dtype=np.float64).T
                values = values if bias is None else values + np.asarray(bias, dtype=np.float64)
        return torch.from_numpy(values)

    return replace(network, verification=verify(network, reference, data=data, name="the layers in NumPy"))


def _verified(source: "TorchSource", data: Points | None, name: str) -> Network:
    check = verify(source.network, source.reference, batch=source.batch, tail=source.tail, data=data, name=name)
    if source.logits is not None:
        below = verify(source.network, source.logits, batch=source.trace_batch, data=data, name=name)
        check = replace(check, largest_deviation=max(check.largest_deviation, below.largest_deviation))
    return replace(source.network, verification=check)


def _shape_from(model: nn.Module, data: Points | None) -> tuple[int, ...]:
    """Infer the shape of a point from data, or from a model that starts with a linear layer."""
    if data is not None:
        shape = tuple(np.shape(data) if not isinstance(data, Tensor) else data.shape)
        if len(shape) > 1:
            return shape[1:]
    first = next(
        (module for module in model.modules() if next(module.parameters(recurse=False), None) is not None), None
    )
    if isinstance(first, nn.Linear):
        return (first.in_features,)
    raise ShapeError(
        "expected input_shape, the shape of one point without the batch axis, such as input_shape=(1, 28, 28): this "
        "model does not say it"
    )
