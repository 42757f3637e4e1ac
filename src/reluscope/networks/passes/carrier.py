"""The interface of a kind of number that travels through a network.

Affine nodes and gates say what they are (`Affine.linear`, its constant and magnitudes; breakpoints, slopes and
candidates); a carrier says what its values become there. A new operator is an `Affine` node, and all carriers pass it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from reluscope.networks.graph.nodes import Affine

if TYPE_CHECKING:
    from reluscope.networks.passes.stages import Stage

V = TypeVar("V")
A = TypeVar("A")
Seen = TypeVar("Seen", covariant=True)


class AffineCarrier(Protocol[V]):
    """How values V pass affine nodes: enough between two gates."""

    def affine(self, node: Affine, inputs: Sequence[V]) -> V:
        """Return the value of an affine node."""
        ...


class GateCarrier(AffineCarrier[V], Protocol[V, Seen]):
    """What Seen of values V arrives at a gate, too: enough where the caller knows what the gate passes on."""

    def arrive(self, stage: "Stage", value: V) -> Seen:
        """Return what the gate of a stage sees."""
        ...


class Carrier(GateCarrier[V, A], Protocol[V, A]):
    """How values V pass gates, too: enough for a whole network.

    Between `arrive` and `leave` the caller of `carry` may choose the pieces of the units.
    """

    def leave(self, stage: "Stage", arrived: A) -> V:
        """Return what the gate of a stage gives."""
        ...
