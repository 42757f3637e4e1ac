"""The one evaluation of a network, for every kind of number."""

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

from reluscope.networks.passes.carrier import Carrier

if TYPE_CHECKING:
    from reluscope.networks.passes.network_graph import NetworkGraph

V = TypeVar("V")
A = TypeVar("A")


def carry(network: "NetworkGraph", carrier: Carrier[V, A], start: V) -> Iterator[A | V]:
    """Yield what arrives at each gate, in order of evaluation, then the value of the output.

    A gate is applied only when the next value is asked for: until then the caller may set the units' pieces in the
    carrier.
    """
    values = {0: start}
    del start
    for stage in network.stages:
        arrived, values = stage.advance(values, carrier)
        yield arrived
        values = stage.close(values, arrived, carrier)
        del arrived
    yield network.finish(values, carrier)


def carry_to_output(network: "NetworkGraph", carrier: Carrier[V, A], start: V) -> V:
    """Return the value of the output alone; see `carry`."""
    return deque(carry(network, carrier, start), maxlen=1)[0]  # pyright: ignore[reportReturnType]
