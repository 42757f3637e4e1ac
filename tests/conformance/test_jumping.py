"""Every public function refuses a network that jumps, but for those that are known to hold across jumps."""

from dataclasses import replace

import pytest
import torch

from conformance.bad_input import table as table_of_reluscope
from conformance.bad_input.calls import settled
from conformance.bad_input.running import call, namespaces, public
from reluscope.errors import DiscontinuousNetworkError
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.network import Network

# `tests/partitions/test_jumps.py` compares them with an oracle.
HOLDS = {"count", "partition", "partitions", "region", "regions", "stream"}
# What follows from codes and outputs at points alone.
HOLDS |= {"classification.accuracy", "classification.num_classes", "classification.predicted_classes"}
HOLDS |= {"codespace.sample_codes", "codespace.unit_usage"}
# What follows from the half-spaces of one region.
HOLDS |= {"robustness.boundary_distance", "robustness.unit_distances"}
# A counterexample needs no continuity.
HOLDS |= {"verify", "verification.verify_each", "verification.replay"}


def with_a_jump(network):
    """Return the same network with 1 added to what its first gate's units give on their last piece."""
    nodes = list(network.nodes)
    place = next(position for position, node in enumerate(nodes) if isinstance(node, Pointwise))
    step = torch.zeros_like(nodes[place].intercepts)
    step[-1] = 1.0
    nodes[place] = replace(nodes[place], intercepts=nodes[place].intercepts + step)
    return replace(network, nodes=tuple(nodes), trace=None, verification=None)


def asked(namespace, table):
    """Yield what is public and takes networks or what carries one, with its row."""
    rows = table.rows_of(namespace)
    for name, (thing, owner) in public(namespace, table.ROOT).items():
        if name in rows and owner is None and any(map(_carries, _flat(rows[name].arguments.values()))):
            yield name, thing, rows[name]


def _flat(values):
    for value in values:
        value = settled(value)
        yield from _flat(value) if isinstance(value, list | tuple) else [value]


def _carries(value):
    return isinstance(value, Network)


def _jumping(value):
    value = settled(value)
    if isinstance(value, list | tuple):
        return type(value)(map(_jumping, value))
    return with_a_jump(value) if _carries(value) else value


@pytest.mark.parametrize("namespace", namespaces())
def test_networks_that_jump_are_refused(namespace):
    refuse_jumps(namespace, table_of_reluscope, HOLDS)


def refuse_jumps(namespace, table, holds):
    for name, thing, row in asked(namespace, table):
        given = replace(row, arguments={key: _jumping(value) for key, value in row.arguments.items()})
        if name in holds:
            call(thing, None, given, given.arguments)
        else:
            with pytest.raises(DiscontinuousNetworkError, match="rests on a continuous network"):
                call(thing, None, given, given.arguments)
