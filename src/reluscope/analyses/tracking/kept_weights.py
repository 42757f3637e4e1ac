"""The weights of a record in a file of their own, and the network that had them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from reluscope.errors import InputError
from reluscope.files.named_arrays import load_arrays, save_arrays
from reluscope.networks.network import Network

KIND = "weights"


def arrays_of(state: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """Return weights as arrays of their own; kinds of numbers that NumPy lacks become float64."""
    arrays = {}
    for name, value in state.items():
        is_known = value.dtype in (torch.float32, torch.float64) or not value.is_floating_point()
        arrays[name] = (value if is_known else value.double()).detach().cpu().numpy().copy()
    return arrays


def save_weights(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write weights, whole or not at all.

    InputError if the file cannot be written.
    """
    save_arrays(path, arrays, {"kind": KIND})


def network_with_weights(network: Network, path: Path, fingerprint: str) -> Network:
    """Return a network with the weights in a file.

    ``fingerprint`` is that of the network that had them. InputError if the file is missing or damaged, or the weights
    make another network.
    """
    arrays, _ = load_arrays(path, KIND)
    advice = "give the model that was tracked"
    try:
        found = network.with_parameters(arrays)
    except InputError as error:
        raise InputError(f"the weights in {path.name} are not those of this network ({error}): {advice}") from error
    if found.fingerprint != fingerprint:
        raise InputError(f"the weights in {path.name} make another network than the one that had them: {advice}")
    return found
