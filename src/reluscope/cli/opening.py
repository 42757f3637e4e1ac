"""The model and the data of a command, opened together: the shape of inputs may come from either."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from reluscope.cli.models import declared_outputs, is_factory, open_network
from reluscope.cli.progress import Bar
from reluscope.datasets.dataset import Dataset
from reluscope.datasets.opening import is_named, open_dataset, read_labels
from reluscope.errors import InputError, ShapeError
from reluscope.networks.network import Network


@dataclass(frozen=True)
class ModelArguments:
    """How the command line names a model.

    Parameters
    ----------
    model : str
        A ``.onnx`` or ``.pt2`` file, or ``package.module:factory``.
    input_shape : tuple of int, optional
    weights : Path, optional
    """

    model: str
    input_shape: tuple[int, ...] | None = None
    weights: Path | None = None

    @property
    def name(self) -> str:
        """What a reader calls the model."""
        return Path(self.model).name

    @property
    def stem(self) -> str:
        """The part of the model's name that goes into names of files."""
        return Path(self.model).stem if ":" not in self.model else self.model.rpartition(":")[2]


def check_files(models: Sequence[ModelArguments], data: str, labels: Path | None) -> None:
    """Check, before anything is loaded, that the files of a command are there, and that labels can be read.

    Raises
    ------
    InputError
        If one is not.
    """
    for given in models:
        if not is_factory(given.model) and not Path(given.model).is_file():
            kind = "is a folder" if Path(given.model).is_dir() else "does not exist"
            raise InputError(f"expected a model file, but {given.model} {kind}")
        if given.weights is not None and not given.weights.is_file():
            raise InputError(f"there is no file of weights {given.weights}: check the path")
    if Path(data).suffix and not is_named(data) and not Path(data).is_file():
        raise InputError(f"there is no file {data}: check the path")
    if labels is not None:
        read_labels(labels)


def open_model(given: ModelArguments, device: torch.device, bar: Bar) -> Network:
    """Load a model that comes without data.

    Raises
    ------
    ReluscopeError
        If it cannot be used.
    """
    bar.say("Loading the model")
    return open_network(given.model, weights=given.weights, input_shape=given.input_shape).to(device)


def open_model_and_data(
    given: ModelArguments,
    data: str,
    *,
    labels: Path | None,
    most: int | None,
    device: torch.device,
    bar: Bar,
    check: Callable[[Dataset, int], None] | None = None,
) -> tuple[Network, Dataset]:
    """Load a model and the data of a command.

    Parameters
    ----------
    given : ModelArguments
    data : str
        A file or a named problem.
    labels : Path, optional
    most : int, optional
        Keep only so many samples, the first ones.
    device : torch.device
    bar : Bar
    check : callable, optional
        Told the data and the number of outputs before the model is loaded, where its file says how many there are;
        raises if they do not fit.

    Returns
    -------
    network : Network
        On the device; checked against the model at samples, too.
    dataset : Dataset
        In the network's input shape.

    Raises
    ------
    ReluscopeError
        If either cannot be used, or they do not fit together.
    """
    bar.say("Reading the data")
    dataset = open_dataset(data, labels)
    if most is not None:
        dataset = dataset.limited(most)
    if check is not None and (outputs := declared_outputs(given.model)) is not None:
        check(dataset, outputs)
    bar.say("Loading the model")
    shape = dataset.shape if len(dataset.shape) > 1 else None
    opened = partial(open_network, given.model, weights=given.weights, input_shape=given.input_shape, data_shape=shape)
    try:
        network = opened(data=dataset.points.reshape(len(dataset), -1))
    except ShapeError:
        # The data may be what does not fit, and their sentence names them.
        dataset.reshaped(opened().input_shape)
        raise
    return network.to(device), dataset.reshaped(network.input_shape)


def describe_model(network: Network, name: str) -> dict[str, Any]:
    """Return which model numbers are about, as plain types."""
    return {
        "name": name,
        "fingerprint": network.fingerprint,
        "num_inputs": network.num_inputs,
        "num_outputs": network.num_outputs,
        "num_units": network.num_units,
    }
