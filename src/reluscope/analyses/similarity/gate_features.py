"""Features of samples: the outputs of a gate."""

from itertools import islice

import numpy as np
import torch
from jaxtyping import Float

from reluscope.arguments import read_arguments
from reluscope.budget import Budget, MemoryBudget
from reluscope.errors import BudgetExceededError
from reluscope.networks.evaluation.choices import read_gate
from reluscope.networks.evaluation.linearize import gate_values_in_turn
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.network import Network
from reluscope.networks.passes.network_graph import BUDGET
from reluscope.networks.passes.numbers import NUMBERS

MEMORY = 2**30


@read_arguments
@torch.no_grad()
def features(
    network: Network, x: Points, *, gate: str | int | None = None, budget: MemoryBudget | None = None
) -> Float[np.ndarray, "s u"]:
    """Return the outputs of one gate, or of the whole network, at samples.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    gate : str or int, optional
        Name or position of a gate; by default the network's outputs.
    budget : Budget, optional
        Memory for the result, 1 GB by default.

    Returns
    -------
    (s, u) float64

    Raises
    ------
    InputError
        If the gate does not exist.
    BudgetExceededError
        If the outputs do not fit into memory.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> rs.similarity.features(net, [[1.0, -1.0]], gate=0), rs.similarity.features(net, [[1.0, -1.0]])
    (array([[1., 0.]]), array([[1.]]))
    """
    points, memory = network.points(x), (budget or Budget()).memory_or(MEMORY)
    if gate is None:
        return network(points).reshape(len(points), -1).cpu().numpy()
    index = read_gate(gate, [one.name for one in network.gates])
    needed = 8 * len(points) * network.gates[index].num_units
    if needed > memory:
        raise BudgetExceededError(
            f"expected at most {memory / 2**20:,.0f} MB, but the outputs of gate {network.gates[index].name} at "
            f"{len(points):,} samples take {needed / 2**20:,.0f} MB: give fewer samples, more memory or another gate"
        )
    found = []
    for rows in chunks(len(points), network.bytes_per_point, BUDGET):
        stage, pre = next(islice(gate_values_in_turn(network, NUMBERS, points[rows]), index, None))
        found.append(stage.gate.apply(pre).flatten(1).cpu().numpy())
    return np.concatenate(found)
