"""The network up to a gate: the function from inputs to the features that the gate gives."""

from dataclasses import replace

from reluscope.networks.evaluation.choices import read_gate
from reluscope.networks.network import Network


def up_to_gate(network: Network, gate: str | int | None) -> Network:
    """Return the network whose outputs are those of one of its gates.

    Parameters
    ----------
    network : Network
    gate : str or int, optional
        Name or position of a gate; without one the network itself.

    Returns
    -------
    Network
        Of the nodes that the gate depends on, with their constants shared. Its regions are those of the gates up to
        this one.

    Raises
    ------
    InputError
        If there is no such gate.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((3, 2)), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> features = up_to_gate(net, 0)
    >>> features.num_units, features([[1.0, -2.0]]).tolist()
    (2, [[1.0, 0.0]])
    """
    if gate is None:
        return network
    position = read_gate(gate, [one.name for one in network.gates])
    target = network.stages[position].position
    needed, stack = {0, target}, [target]
    while stack:
        sources = set(network.nodes[stack.pop()].inputs) - needed
        needed |= sources
        stack.extend(sources)
    kept = sorted(needed)
    places = {old: new for new, old in enumerate(kept)}
    nodes = (replace(network.nodes[old], inputs=tuple(places[i] for i in network.nodes[old].inputs)) for old in kept)
    return Network(tuple(nodes), places[target])
