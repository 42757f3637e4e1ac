"""A trained signed distance function: eight layers of 32 ReLU units, zero on a ring with a ball on one side.

Trained by ``scripts/train_demo_surface.py``.
"""

from pathlib import Path

from torch import nn

from reluscope.networks.models.load import load
from reluscope.networks.network import Network

WEIGHTS = "demo_surface.safetensors"


def surface_module() -> nn.Sequential:
    """Return the network as a module, not trained."""
    layers: list[nn.Module] = [nn.Linear(3, 32), nn.ReLU()]
    for _ in range(7):
        layers += [nn.Linear(32, 32), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(32, 1))


def surface_network() -> Network:
    """Return the trained network, negative inside.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.datasets.surface_network()
    >>> net([[0.45, 0.0, 0.25], [0.0, 0.0, 0.0]])[:, 0] < 0  # inside the ball, and in the hole of the ring
    tensor([ True, False])
    """
    from safetensors.torch import load_file

    module = surface_module()
    module.load_state_dict(load_file(Path(__file__).with_name(WEIGHTS)))
    return load(module, input_shape=(3,))
