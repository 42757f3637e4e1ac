"""A partition as a graph of networkx: what is next to what."""

from typing import TYPE_CHECKING, Any

from reluscope.errors import ReluscopeError

if TYPE_CHECKING:
    import networkx as nx

    from reluscope.partitions.partition_in_memory import Partition


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
