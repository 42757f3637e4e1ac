"""Whether a value is a network, asked without importing what makes networks, and PyTorch with it."""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from reluscope.networks.network import Network


def is_network(value: Any) -> "TypeIs[Network]":
    """Tell whether a value is a network: nobody has one who has not imported the module that makes them."""
    module = sys.modules.get("reluscope.networks.network")
    return module is not None and isinstance(value, module.Network)
