"""Builds a network node by node; every front end calls it, and it alone knows the operators.

Shapes and axes leave the batch axis out: axis 0 is the first axis of one point. Constants are float64 tensors.
"""

from reluscope.networks.building.core import Operand, Value
from reluscope.networks.building.largest import Picked
from reluscope.networks.building.rounded_values import RoundedValues

__all__ = ["GraphBuilder", "Operand", "Picked", "Value"]


class GraphBuilder(RoundedValues):
    """A graph under construction."""
