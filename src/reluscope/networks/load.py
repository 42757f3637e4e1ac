"""One way in: a network from whatever form the model has."""

from typing import Any

from reluscope.errors import InputError
from reluscope.networks.from_arrays import from_arrays
from reluscope.networks.network import Network


def load(model: Any, input_shape: tuple[int, ...] | None = None, data: Any = None) -> Network:
    """Load a piecewise-linear model as a network."""
    if isinstance(model, list | tuple):
        return from_arrays(model)
    raise InputError(f"expected a model, got {type(model).__name__}")
