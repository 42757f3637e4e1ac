"""A partition as a graph of networkx, which shows what is next to what, and as a data frame to read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int

from reluscope.codes.packed import Codes
from reluscope.errors import ReluscopeError
from reluscope.findings.data_frames import as_pandas
from reluscope.networks.evaluation.decisions import scores
from reluscope.partitions.region_numbers import MAP_NORM, NUM_ACTIVE
from reluscope.partitions.region_quantities import region_quantity

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from reluscope.partitions.partition_in_memory import Partition

# Pieces that one digit names.
DIGITS = 10


def as_frame(part: "Partition", quantities: str | Sequence[str] | None) -> "pd.DataFrame":
    """Return a data frame of regions with codes as text; by default also their classes, active units and norms."""
    frame = as_pandas(part.to_table(quantities))
    frame["code"] = written_codes(part.codes)
    if quantities is None:
        if (classes := _classes(part)) is not None:
            frame.insert(1, "class", classes)
        for entry in map(region_quantity, (NUM_ACTIVE.name, MAP_NORM.name)):
            if not entry.why_not(part):
                frame[entry.name] = entry.of(part)
    return frame


def written_codes(codes: Codes) -> list[str]:
    """Return codes as text: a digit for the piece of each unit, gates apart by a space.

    Pieces of gates with more than ten have commas between.
    """
    pieces, gates = codes.to_array(), list[list[str]]()
    for index, gate in enumerate(codes.layout):
        table = pieces[:, codes.layout.units(index)]
        if gate.num_pieces <= DIGITS:
            digits = np.ascontiguousarray(table.astype(np.uint8) + ord("0"))
            gates.append([row.tobytes().decode("ascii") for row in digits])
        else:
            gates.append([",".join(map(str, row)) for row in table.tolist()])
    return [" ".join(parts) for parts in zip(*gates, strict=True)] if gates else [""] * len(codes)


def _classes(part: "Partition") -> Int[np.ndarray, " r"] | None:
    """Return the classes at the witnesses, None unless the network is known and may be a classifier."""
    if part.network is None:
        return None
    network = part.network_on_domain
    if network.num_outputs == 1 and network.left_off is None and isinstance(network.decision, str):
        return None
    outputs = network(part.witnesses).reshape(len(part), -1).cpu().numpy()
    table = scores(outputs, network.decision)
    return (table[:, 0] > 0).astype(np.int64) if table.shape[1] == 1 else table.argmax(axis=1)


def as_graph(part: "Partition") -> "nx.Graph":
    """Return a graph of regions as nodes and facets as edges, with the units that change at each facet.

    Raises ReluscopeError if networkx is not installed.
    """
    try:
        import networkx as nx
    except ImportError as error:
        raise ReluscopeError(
            "expected networkx, and it is not installed: run pip install networkx, or take Partition.adjacency"
        ) from error
    graph = nx.Graph(dimension=part.dim, claim=str(part.claim))
    nodes: list[dict[str, Any]] = [{"witness": tuple(row)} for row in part.witnesses.tolist()]
    if part.has_vertices:
        for node, volume in zip(nodes, part.volumes().tolist(), strict=True):
            node["volume"] = volume
    graph.add_nodes_from(enumerate(nodes))
    facets = part.facets
    for facet, (left, right) in enumerate(zip(facets.left.tolist(), facets.right.tolist(), strict=True)):
        units = tuple(map(tuple, facets.flips_at(facet).tolist()))
        if graph.has_edge(left, right):  # two regions may share several facets, where bounding units coincide in part
            units = tuple(dict.fromkeys((*graph.edges[left, right]["units"], *units)))
        graph.add_edge(left, right, units=units)
    return graph
