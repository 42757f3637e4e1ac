"""Values in whole multiples of a scale, as networks of few bits have them."""

from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.models.operators.operator_site import OperatorSite


def whole(site: OperatorSite, x: Value, step: Tensor, zero: Tensor, ends: tuple[int, int]) -> Value:
    """Give the nearest whole number of steps, halves to even ones, plus a number, between two ends."""
    if not bool((step > 0).all()):
        raise site.unsupported("with a scale that is not positive")
    return site.builder.quantized(x, step, zero, *ends)


def back(site: OperatorSite, x: Value, step: Tensor, zero: Tensor) -> Value:
    """Give ``step (x - zero)``."""
    return site.builder.multiply(site.builder.subtract(x, zero), step)
