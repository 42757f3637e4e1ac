"""Whether networks can be compared at all."""

from collections.abc import Sequence

from reluscope.errors import InputError, ShapeError
from reluscope.networks.network import Network


def check_networks(networks: Sequence[Network], names: Sequence[str] | None = None) -> None:
    """Raise unless there are two or more networks with equal inputs and equally many outputs.

    Raises
    ------
    InputError
        If there are fewer than two networks.
    ShapeError
        If they differ in the shape of inputs or the number of outputs.
    """
    if len(networks) < 2:
        raise InputError(f"expected two or more networks to compare, got {len(networks)}")
    called = [f"network {place}" for place in range(len(networks))] if names is None else names
    for name, network in zip(called[1:], networks[1:], strict=True):
        if network.num_inputs != networks[0].num_inputs:
            raise ShapeError(
                f"expected networks with equal inputs, got {networks[0].num_inputs:,} of {called[0]} and "
                f"{network.num_inputs:,} of {name}: compare networks of the same data"
            )
        if network.input_shape != networks[0].input_shape:
            raise ShapeError(
                f"expected networks with equal inputs, got shapes {networks[0].input_shape} of {called[0]} and "
                f"{network.input_shape} of {name}: let both take the same shape, for instance after a Flatten"
            )
        if network.num_outputs != networks[0].num_outputs:
            raise ShapeError(
                f"expected networks with equally many outputs, got {networks[0].num_outputs:,} of {called[0]} and "
                f"{network.num_outputs:,} of {name}: compare networks of the same task"
            )
