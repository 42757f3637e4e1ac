"""Provenance of a network: the trace it was lowered from, and the model it was checked against."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from reluscope.networks.passes.network_graph import NetworkGraph


@dataclass(frozen=True)
class Verification:
    """Result of checking a loaded network against its model.

    Parameters
    ----------
    num_points : int
        Points at which the network and the model were compared.
    largest_deviation : float
        Largest absolute difference of an output.
    reference : str
        What computed the other side.
    """

    num_points: int
    largest_deviation: float
    reference: str


class Trace(Protocol):
    """A captured model that can be lowered again with other weights."""

    def lower(self, state: Mapping[str, Any] | None = None) -> "NetworkGraph":
        """Return the network of the trace, with the constants in ``state`` in place of its own.

        The network carries a trace with those constants.
        """
        ...
