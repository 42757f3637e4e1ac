"""Networks with known answers, Hypothesis strategies for networks and domains, and a checker of certificates.

The checker and the reference networks need nothing; the strategies need ``hypothesis``: ``pip install
"reluscope[testing]"``.
"""

from typing import TYPE_CHECKING, Any

from reluscope.checking.certificate_checks import check_certificate
from reluscope.checking.property_proofs import check_proof
from reluscope.moved_names import refuse
from reluscope.testing.references import (
    default_network,
    pseudo_random_network,
    reference_networks,
    sawtooth_network,
    zigzag_network,
)

if TYPE_CHECKING:
    from reluscope.testing.strategies import (
        boxes,
        degenerate_networks,
        dyadics,
        generic_networks,
        networks,
        planes,
        segments,
        slices,
    )

_STRATEGIES = (
    "boxes",
    "degenerate_networks",
    "dyadics",
    "generic_networks",
    "networks",
    "planes",
    "segments",
    "slices",
)

__all__ = [
    "boxes",
    "check_certificate",
    "check_proof",
    "default_network",
    "degenerate_networks",
    "dyadics",
    "generic_networks",
    "networks",
    "planes",
    "pseudo_random_network",
    "reference_networks",
    "sawtooth_network",
    "segments",
    "slices",
    "zigzag_network",
]


def __getattr__(name: str) -> Any:
    if name not in _STRATEGIES:
        raise refuse(__name__, name)
    try:
        from reluscope.testing import strategies
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        raise ImportError(
            f"reluscope.testing.{name} is a Hypothesis strategy and hypothesis is not installed: "
            'run pip install "reluscope[testing]"'
        ) from error
    return getattr(strategies, name)


def __dir__() -> list[str]:
    return __all__
