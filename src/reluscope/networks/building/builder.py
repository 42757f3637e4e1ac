"""Builds a network node by node; every front end calls it, and it alone knows the operators.

Shapes and axes leave the batch axis out: axis 0 is the first axis of one point. Constants are float64 tensors.
"""

from reluscope.networks.building.core import Operand, Value
from reluscope.networks.building.largest import ComparedEntries, Picked

__all__ = ["GraphBuilder", "Operand", "Picked", "Value"]


class GraphBuilder(ComparedEntries):
    """A graph under construction.

    Examples
    --------
    >>> builder = GraphBuilder()
    >>> x = builder.input((3,))
    >>> net = builder.build(builder.amax(builder.absolute(x), keepdims=True))
    >>> net([[1.0, -4.0, 2.0]])
    tensor([[4.]], dtype=torch.float64)
    """
