"""TopK, as autoencoders use it: the largest entries are scattered into zeros where they were."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.building.builder import Picked, Value
from reluscope.networks.models.onnx.onnx_site import HANDLERS, Activation, NodeSite, Operand, Result, Shape, lowers
from reluscope.networks.models.operators import kept_largest


@dataclass(frozen=True)
class PickedActivation(Activation):
    """The largest entries of a tensor, or their positions, before they are put back in their places."""

    picked: Picked
    whole: Shape  # the tensor's ONNX shape


@lowers("TopK")
def top_k(site: NodeSite) -> list[Activation]:
    """Take the largest or smallest entries along an axis; their order is lost."""
    x = site.activation()
    given = site.given(1, "k")
    k = int(np.asarray(given).item()) if given is not None else 0
    axis = site.setting("axis", -1) % len(x.shape)
    inner = axis - (len(x.shape) - len(x.value.shape))
    if inner < 0:
        raise site.unsupported("along the batch axis")
    both = kept_largest.pick(site, x.value, k, inner, largest=bool(site.setting("largest", 1)))
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return [PickedActivation(one.top, shape, one, x.shape) for one in both]


@lowers("Hardmax")
def hardmax(site: NodeSite) -> Activation:
    """Give 1 to the first of the largest entries along an axis, and 0 to the others."""
    x, shape = site.whole(site.activation()), site.activation().shape
    axis = site.setting("axis", 1 if site.opset < 13 else -1) % len(shape)
    inner = axis - (len(shape) - len(x.shape))
    if inner < 0:
        raise site.unsupported("along the batch axis")
    if site.opset < 13 and axis < len(shape) - 1:
        raise site.unsupported("over several axes, as before opset 13")
    return site.close(site.builder.top_k(x, 1, inner, keeps=False), shape)


@lowers("ArgMax", "ArgMin")
def position(site: NodeSite) -> Result:
    """Refuse positions, with the scores that can be loaded in their place."""
    reason = f"gives positions, which jump from point to point: output={site.node.input[0]!r} loads what it compares"
    raise site.not_piecewise_linear("scores", reason)


def with_picked(site: NodeSite) -> Result:
    """Lower an operator on entries that were picked, or on their positions."""
    if site.operator in ("Shape", "Size"):
        return HANDLERS[site.operator](site)
    if site.operator == "ScatterElements":
        return _scatter(site)
    parts = [_part(operand) for operand in site.operands]
    picked = kept_largest.the_picked(site, parts, HANDLERS.entrywise)
    (one,) = [operand for operand in site.operands if isinstance(operand, PickedActivation)]
    held = [Activation(picked.value, one.whole) if operand is one else operand for operand in site.operands]
    found = HANDLERS[site.operator](replace(site, operands=held))
    (found,) = found[:1] if isinstance(found, list) else [found]
    assert isinstance(found, Activation)
    return replace(one, picked=replace(picked, value=found.value))


def _part(operand: Operand) -> Picked | Value | Tensor | None:
    if isinstance(operand, PickedActivation):
        return operand.picked
    if isinstance(operand, Activation):
        return operand.value
    return None if operand is None else torch.from_numpy(np.array(operand, dtype=np.float64))


def _scatter(site: NodeSite) -> Activation:
    data, places, updates = (site.operand(position) for position in range(3))
    if not isinstance(data, np.ndarray) or not isinstance(places, PickedActivation):
        raise kept_largest.taken_in_order(site)
    is_zero = data.shape == places.whole and not np.any(data) and site.setting("reduction", "none") == "none"
    axis = site.setting("axis", 0) % len(places.whole) - (len(places.whole) - len(places.picked.source.shape))
    found = kept_largest.scatter(
        site, places.picked, _part(updates), axis=axis, shape=places.picked.value.shape, in_zeros=is_zero
    )
    return Activation(found, places.whole)
