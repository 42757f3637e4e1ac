"""MODEL on the command line: a file, or the name of a Python function that makes a module, with a file of weights.

A factory is code of the user's own, named by the user; files are never unpickled.
"""

import importlib
import json
import pickle
import re
import sys
import zipfile
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from reluscope.cli.reading.model_arguments import ModelArguments, is_factory
from reluscope.errors import InputError, ShapeError
from reluscope.files.numpy_files import open_member
from reluscope.networks.models.load import load
from reluscope.networks.network import Network

ADVICE = "save the weights alone with safetensors.torch.save_file(model.state_dict(), 'weights.safetensors')"

# Of one input, or of several that are joined, by name.
Shape = tuple[int, ...] | dict[str, tuple[int, ...]]
SHAPE_ADVICE = "; --input-shape says the shape of one input, as in --input-shape 1,28,28"


def open_network(
    given: ModelArguments,
    *,
    data_shape: tuple[int, ...] | None = None,
    data: Any = None,
    check: Callable[[int], None] | None = None,
) -> Network:
    """Load MODEL.

    `data_shape` stands in for an input shape that the model does not say; at `data` network and model are compared.
    `check` gets the number of outputs before loading, where known by then, and raises on a misfit.
    """
    given.check()
    if not is_factory(given.model):
        if check is not None and (outputs := _declared_outputs(Path(given.model))) is not None:
            check(outputs)
        return _load(Path(given.model), given, given.input_shape, data)
    module = open_module(given)
    advice = "" if given.input_shape else SHAPE_ADVICE
    shape = given.input_shape or data_shape
    if check is not None and (outputs := _outputs_at(module.eval(), data, shape)) is not None:
        check(outputs)
    return _load(module.eval(), given, shape, data, advice=advice)


def open_module(given: ModelArguments) -> nn.Module:
    """Make the module of package.module:factory, and give it its weights."""
    module = _make(given.model)
    if given.weights is not None:
        _fill(module, read_weights(given.weights), given.weights)
    return module


def _declared_outputs(path: Path) -> int | None:
    """Return how many outputs a file says it has, without loading it; None where it does not say."""
    if path.suffix.lower() == ".pt2":
        return _outputs_of_program(path)
    if path.suffix.lower() != ".onnx" or find_spec("onnx") is None:
        return None
    from reluscope.networks.models.onnx.onnx_files import declared_outputs

    return declared_outputs(path)


def _outputs_of_program(path: Path) -> int | None:
    """Return how many outputs an exported program has, from its text: its graph would ask for PyTorch's compiler."""
    try:
        with zipfile.ZipFile(path) as archive:
            (name,) = (one for one in archive.namelist() if re.search(r"(^|/)models/[^/]*\.json$", one))
            with open_member(archive, name) as member:
                graph = json.load(member)["graph_module"]["graph"]
        (output,) = graph["outputs"]  # one tensor, or loading says what to choose
        sizes = graph["tensor_values"][output["as_tensor"]["name"]]["sizes"]
        return prod(int(size["as_int"]) for size in sizes[1:]) if len(sizes) > 1 else None
    except (OSError, zipfile.BadZipFile, zlib.error, ValueError, LookupError, TypeError, RuntimeError):
        return None  # loading says what is wrong, if anything is


def _outputs_at(module: nn.Module, data: Any, shape: Shape | None) -> int | None:
    """Return how many outputs a module has at the first sample; None where it has none, or not one tensor."""
    if data is None or isinstance(shape, dict):
        return None
    first = next(module.parameters(), torch.zeros(0))
    try:
        with torch.no_grad():
            sample = torch.as_tensor(np.array(data[:1]), dtype=first.dtype).reshape(1, *(shape or np.shape(data)[1:]))
            found = module(sample.to(first.device))
    except Exception:  # whatever a user's code raises: loading says what is wrong
        return None
    return found[0].numel() if isinstance(found, torch.Tensor) and found.ndim > 1 else None


def _load(model: Path | nn.Module, given: ModelArguments, shape: Shape | None, data: Any, advice: str = "") -> Network:
    try:
        return load(
            model,
            input_shape=shape,
            data=data,
            decision="largest" if given.decision is None else given.decision,
            output=given.model_output,
            inputs=given.fixed_inputs(),
            approximate=dict(given.approximate),
        )
    except ShapeError as error:
        raise ShapeError(f"{error}{advice}") from error


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Read a state dict from a safetensors file, or a PyTorch file that holds nothing but tensors.

    A file that would have to be unpickled is refused, as is a missing or damaged one.
    """
    if not path.is_file():
        raise InputError(f"there is no file of weights {path}: check the path")
    if path.suffix.lower() == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return load_file(path)
        except (SafetensorError, OSError, ValueError) as error:
            raise InputError(f"{path} is damaged or not a safetensors file ({error}): {ADVICE}") from error
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{path} holds more than tensors and is not unpickled, because a pickle can run any code: {ADVICE}"
        ) from error
    except Exception as error:  # the reader believes what a file says, and fails wherever that leads
        raise InputError(f"{path} is damaged or not a file of weights ({_first_line(error)}): {ADVICE}") from error
    for key in ("state_dict", "model_state_dict", "model"):
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
    if not isinstance(state, dict) or not all(isinstance(entry, torch.Tensor) for entry in state.values()):
        raise InputError(f"{path} must hold a state dict, names with tensors: {ADVICE}")
    return state


def _make(name: str) -> nn.Module:
    module_name, _, function = name.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise InputError(
            f"{module_name} could not be imported ({error}): name a module that Python finds from this folder"
        ) from error
    except Exception as error:
        raise InputError(f"importing {module_name} failed with {type(error).__name__}: {_first_line(error)}") from error
    for part in function.split("."):
        if not hasattr(found, part):
            raise InputError(f"{module_name} has no {function}: check the name after the colon")
        found = getattr(found, part)
    if isinstance(found, nn.Module):
        return found
    if not callable(found):
        raise InputError(f"{name} must be a function or class without required arguments, got {type(found).__name__}")
    try:
        made = found()
    except Exception as error:
        raise InputError(f"calling {name}() failed with {type(error).__name__}: {_first_line(error)}") from error
    if not isinstance(made, nn.Module):
        raise InputError(f"{name}() must return a torch.nn.Module, got {type(made).__name__}")
    return made


def _fill(module: nn.Module, state: dict[str, torch.Tensor], path: Path) -> None:
    try:
        missing, unexpected = module.load_state_dict(state, strict=False)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1].strip().rstrip(".")
        raise InputError(f"the weights in {path} do not fit the model: {reason}") from error
    if missing or unexpected:
        lacks = f"lacks {', '.join(missing[:3])}{', ...' * (len(missing) > 3)}" if missing else ""
        has = f"has {', '.join(unexpected[:3])}{', ...' * (len(unexpected) > 3)} besides" if unexpected else ""
        reason = " and ".join(filter(None, (lacks, has)))
        raise InputError(f"the weights in {path} do not fit the model: the file {reason}")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].split(". ")[0].rstrip(".")
