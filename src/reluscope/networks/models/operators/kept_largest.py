"""The k largest entries, as autoencoders take them out and scatter them into zeros where they were."""

from collections.abc import Collection, Iterable
from typing import Any

from torch import Tensor

from reluscope.errors import UnsupportedOperatorError
from reluscope.networks.building.builder import Picked, Value
from reluscope.networks.models.operators.operator_site import OperatorSite


def pick(site: OperatorSite, x: Value, k: Any, axis: int, *, largest: bool) -> tuple[Picked, Picked]:
    """Return the largest or smallest entries along an axis, whose order is lost, and their positions."""
    if not isinstance(k, int) or not 0 < k <= x.shape[axis]:
        raise site.unsupported(f"with k of {k} on {x.shape[axis]} entries")
    return site.builder.pick(x, k, axis, largest=largest)


def the_picked(site: OperatorSite, operands: Iterable[Any], entrywise: Collection[str]) -> Picked:
    """Return the picked entries among operands of an entrywise operator with single numbers beside them."""
    operands = list(operands)
    picked = [operand for operand in operands if isinstance(operand, Picked)]
    is_plain = not any(isinstance(one, Value) or (isinstance(one, Tensor) and one.numel() != 1) for one in operands)
    if site.operator not in entrywise or len(picked) != 1 or picked[0].is_positions or not is_plain:
        raise taken_in_order(site)
    return picked[0]


def scatter(
    site: OperatorSite, places: Picked, values: Any, *, axis: int, shape: tuple[int, ...], in_zeros: bool
) -> Value:
    """Return picked entries, or one number for all of them, at their places in a tensor of a shape, else zeros."""
    if isinstance(values, Tensor) and values.numel() and bool((values == values.flatten()[0]).all()):
        values = float(values.flatten()[0])
    is_whole = shape == places.value.shape and axis == places.axis
    if not in_zeros or not is_whole or not isinstance(values, Picked | float | int):
        raise taken_in_order(site)
    return site.builder.put_back(values, places)


def taken_in_order(site: OperatorSite) -> UnsupportedOperatorError:
    """Return the error for picked entries that go anywhere but where they were."""
    return UnsupportedOperatorError(
        f"expected the k largest entries to be scattered into zeros where they were, but {site.operator} at "
        f"{site.place} takes them in order: scatter the values by their indices, as zeros_like(x).scatter(-1, indices, "
        "values) or ONNX's ScatterElements does, take the maximum for the largest alone, or load the part before it"
    )
