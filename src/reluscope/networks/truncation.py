"""The network up to a gate: the function from inputs to the features that the gate gives."""

from dataclasses import replace

from reluscope.networks.evaluation.choices import read_gate
from reluscope.networks.network import Network


def up_to_gate(network: Network, gate: str | int | None) -> Network:
    """Return the network whose outputs are those of one of its gates; without a gate the network itself.

    Constants are shared. Its regions are those of the gates up to this one. Raises InputError if there is no such gate.
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
