"""MODEL on the command line: a file, or the name of a Python function that makes a module, with a file of weights.

A factory is code of the user's own, named by the user; files are never unpickled.
"""

import importlib
import pickle
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import nn

from reluscope.cli.model_arguments import ModelArguments, is_factory
from reluscope.errors import InputError, ShapeError
from reluscope.networks.load import load
from reluscope.networks.network import Network

ADVICE = "save the weights alone with safetensors.torch.save_file(model.state_dict(), 'weights.safetensors')"

SHAPE_ADVICE = "; --input-shape says the shape of one input, as in --input-shape 1,28,28"


def open_network(given: ModelArguments, *, data_shape: tuple[int, ...] | None = None, data: Any = None) -> Network:
    """Load MODEL.

    Parameters
    ----------
    given : ModelArguments
    data_shape : tuple of int, optional
        Stands in for the input shape where the model does not say it: files do.
    data : array, optional
        Samples at which the network is compared with the model.

    Raises
    ------
    InputError
        If the model or its weights cannot be used; other errors as `reluscope.load` has them.
    """
    given.check()
    if not is_factory(given.model):
        return _load(Path(given.model), given, given.input_shape, data)
    module = _make(given.model)
    if given.weights is not None:
        _fill(module, read_weights(given.weights), given.weights)
    advice = "" if given.input_shape else SHAPE_ADVICE
    return _load(module.eval(), given, given.input_shape or data_shape, data, advice=advice)


def declared_outputs(model: str) -> int | None:
    """Return how many outputs MODEL says it has, without loading it; None where it does not say."""
    if is_factory(model) or Path(model).suffix.lower() != ".onnx" or find_spec("onnx") is None:
        return None
    from reluscope.networks.onnx.reading import declared_outputs as read

    return read(Path(model))


def _load(
    model: Path | nn.Module, given: ModelArguments, shape: tuple[int, ...] | None, data: Any, advice: str = ""
) -> Network:
    try:
        return load(
            model,
            input_shape=shape,
            data=data,
            decision=given.decision,
            output=given.output,
            inputs=given.fixed_inputs(),
        )
    except ShapeError as error:
        raise ShapeError(f"{error}{advice}") from error


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Read a state dict from a safetensors file, or from one of PyTorch's that holds nothing but tensors.

    Raises
    ------
    InputError
        If the file is missing, damaged, or would have to be unpickled.
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
    except (RuntimeError, EOFError, OSError, ValueError, zipfile.BadZipFile) as error:
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
