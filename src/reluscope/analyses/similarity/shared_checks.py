"""Checks that networks can be compared, and shared samples in the shape that they take."""

from collections.abc import Sequence

import torch
from jaxtyping import Float

from reluscope.errors import InputError, ShapeError
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network


def check_networks(networks: Sequence[Network], names: Sequence[str] | None = None) -> None:
    """Raise unless there are two or more networks with equal inputs and equally many outputs.

    InputError if there are fewer than two, or others than networks; ShapeError if numbers of inputs or of outputs
    differ. Shapes may differ: inputs are flattened, row-major.
    """
    if len(networks) < 2:
        raise InputError(f"expected two or more networks to compare, got {len(networks)}")
    called = [f"network {place}" for place in range(len(networks))] if names is None else names
    for name, network in zip(called, networks, strict=True):
        if not isinstance(network, Network):
            raise InputError(f"expected networks, got {type(network).__name__} for {name}: open it with rs.load")
    for name, network in zip(called[1:], networks[1:], strict=True):
        if network.num_inputs != networks[0].num_inputs:
            raise ShapeError(
                f"expected networks with equal inputs, got {networks[0].num_inputs:,} of {called[0]} and "
                f"{network.num_inputs:,} of {name}: compare networks of the same data"
            )
        if network.num_outputs != networks[0].num_outputs:
            raise ShapeError(
                f"expected networks with equally many outputs, got {networks[0].num_outputs:,} of {called[0]} and "
                f"{network.num_outputs:,} of {name}: compare networks of the same task"
            )


def common_points(networks: Sequence[Network], x: Points) -> Float[torch.Tensor, "s n"]:
    """Return samples flattened, in whichever shape one of the networks takes them.

    ShapeError or InputError if none does, or they are not finite.
    """
    problem: ShapeError | None = None
    for network in networks:
        try:
            points = network.points(x)
        except ShapeError as error:
            problem = problem or error
        else:
            return points.reshape(len(points), -1)
    assert problem is not None
    raise problem
