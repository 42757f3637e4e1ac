"""TopK, as autoencoders use it: the largest entries are scattered into zeros where they were."""

from dataclasses import dataclass, replace

import numpy as np

from reluscope.errors import UnsupportedOperatorError
from reluscope.networks.building.builder import Picked
from reluscope.networks.models.onnx.onnx_site import HANDLERS, Activation, NodeSite, Result, Shape, lowers

# What may be done to entries one by one.
_POINTWISE = {"Relu", "LeakyRelu", "Clip", "Abs", "Neg", "Mul", "Div", "Identity", "Cast", "ThresholdedRelu", "Shrink"}


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
    if not 0 < k <= x.shape[axis]:
        raise site.unsupported(f"with k of {k} on {x.shape[axis]} entries")
    inner = axis - (len(x.shape) - len(x.value.shape))
    if inner < 0:
        raise site.unsupported("along the batch axis")
    both = site.builder.pick(x.value, k, inner, largest=bool(site.setting("largest", 1)), name=site.name)
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return [PickedActivation(one.top, shape, one, x.shape) for one in both]


def with_picked(site: NodeSite) -> Result:
    """Lower an operator on entries that were picked, or on their positions."""
    if site.operator in ("Shape", "Size"):
        return HANDLERS[site.operator](site)
    if site.operator == "ScatterElements":
        return _scatter(site)
    picked = [one for one in site.operands if isinstance(one, PickedActivation)]
    others = [one for one in site.operands if one is not None and not isinstance(one, PickedActivation)]
    is_plain = all(not isinstance(one, Activation) and np.size(one) == 1 for one in others)
    if site.operator not in _POINTWISE or len(picked) != 1 or picked[0].picked.is_positions or not is_plain:
        raise _refusal(site)
    (one,) = picked
    held = [Activation(one.picked.value, one.whole) if part is one else part for part in site.operands]
    found = HANDLERS[site.operator](replace(site, operands=held))
    (found,) = found[:1] if isinstance(found, list) else [found]
    assert isinstance(found, Activation)
    return replace(one, picked=replace(one.picked, value=found.value))


def _scatter(site: NodeSite) -> Activation:
    data, places, updates = (site.operand(position) for position in range(3))
    if isinstance(data, Activation) or not isinstance(places, PickedActivation) or data is None or np.any(data):
        raise _refusal(site)
    gone = len(places.whole) - len(places.picked.source.shape)
    axis = site.setting("axis", 0) % len(places.whole) - gone
    if tuple(data.shape) != places.whole or axis != places.picked.axis or site.setting("reduction", "none") != "none":
        raise _refusal(site)
    if isinstance(updates, PickedActivation):
        found = site.builder.put_back(updates.picked, places.picked, name=site.name)
    elif isinstance(updates, np.ndarray) and updates.size and (updates == updates.flat[0]).all():
        found = site.builder.put_back(float(updates.flat[0]), places.picked, name=site.name)
    else:
        raise _refusal(site)
    return Activation(found, places.whole)


def _refusal(site: NodeSite) -> UnsupportedOperatorError:
    return UnsupportedOperatorError(
        f"expected the k largest entries to be scattered into zeros where they were, but {site.operator} at "
        f"{site.place} takes them in order: export the model with ScatterElements behind TopK, or take ReduceMax for "
        "the largest alone"
    )
