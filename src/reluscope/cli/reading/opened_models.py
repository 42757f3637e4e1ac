"""The model and the data of a command, opened together: the shape of inputs may come from either."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from reluscope.cli.reading.model_arguments import ModelArguments
from reluscope.cli.reading.models import open_network
from reluscope.cli.terminal.progress_bar import Bar
from reluscope.datasets.dataset import Dataset
from reluscope.datasets.opened_data import open_dataset, read_labels
from reluscope.errors import InputError, ShapeError
from reluscope.networks.network import Network


def check_file_of_labels(labels: Path | None) -> None:
    """Check, before anything is loaded, that labels can be read."""
    if labels is not None:
        read_labels(labels)


def open_model(given: ModelArguments, device: torch.device, bar: Bar) -> Network:
    """Load a model that comes without data."""
    bar.say("Loading the model")
    return open_network(given).to(device)


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
    """Load a model and data; return the network on the device, and the data in its input shape.

    The network is checked against the model at samples, too. `most` keeps the first samples only. `check` gets the data
    and the number of outputs before loading, where that is known by then, and raises on a misfit.
    """
    bar.say("Reading the data")
    dataset = open_dataset(data, labels)
    if most is not None:
        dataset = dataset.limited(most)
    bar.say("Loading the model")
    shape = dataset.shape if len(dataset.shape) > 1 else None
    fits = None if check is None or given.model_output is not None else partial(check, dataset)
    opened = partial(open_network, given, data_shape=shape, check=fits)
    try:
        network = opened(data=dataset.points.reshape(len(dataset), -1))
    except ShapeError:
        # The data may be what does not fit, and their sentence names them.
        dataset.reshaped(opened().input_shape)
        raise
    return network.to(device), dataset.reshaped(network.input_shape)


def check_sample(sample: int, dataset: Dataset) -> None:
    """Raise InputError unless data have a sample with this number."""
    if sample >= len(dataset):
        raise InputError(
            f"--sample {sample} is not there: {dataset.name} has {len(dataset):,} samples, 0 to {len(dataset) - 1:,}"
        )


def describe_model(network: Network, name: str) -> dict[str, Any]:
    """Return which model numbers are about, as plain types."""
    return {
        "name": name,
        "fingerprint": network.fingerprint,
        "num_inputs": network.num_inputs,
        "num_outputs": network.num_outputs,
        "num_units": network.num_units,
    }
