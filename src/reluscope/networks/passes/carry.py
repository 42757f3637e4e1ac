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
    """Take a value of the input through the network.

    Parameters
    ----------
    network : NetworkGraph
    carrier : Carrier
    start : V
        The input.

    Yields
    ------
    A
        What arrives at each gate, in order of evaluation. The gate is applied when the next is asked for: until then
        the carrier may be told on which pieces the units are.
    V
        Last, the value of the output.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.networks.passes.numbers import NUMBERS
    >>> net = rs.load([(np.array([[1.0, -1.0]]), np.zeros(1)), (np.array([[2.0]]), np.ones(1))])
    >>> [value.tolist() for value in carry(net, NUMBERS, net.points([1.0, 3.0]))]
    [[[-2.0]], [[1.0]]]
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
