"""The k largest entries, as autoencoders take them out and scatter them into zeros."""

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node as FxNode

from reluscope.errors import UnsupportedOperatorError
from reluscope.networks.building.builder import Picked, Value
from reluscope.networks.models.torch.aten_site import HANDLERS, AtenSite, is_value, lowers

# What may be done to entries one by one.
_POINTWISE = {"relu", "clamp", "clamp_min", "clip", "abs", "neg", "mul", "div", "leaky_relu", "threshold", "hardshrink"}
_POINTWISE |= {
    "to",
    "_to_copy",
    "type_as",
    "clone",
    "detach",
    "contiguous",
    "alias",
    "lift_fresh",
    "_assert_tensor_metadata",
}


@lowers("topk")
def top_k(site: AtenSite, a: SimpleNamespace) -> list[Picked]:
    """Take the largest or smallest entries along an axis; their order is lost."""
    axis = site.axis(a.self, a.dim)
    if not isinstance(a.k, int) or not 0 < a.k <= a.self.shape[axis]:
        raise site.unsupported(f"with k of {a.k} on {a.self.shape[axis]} entries")
    return list(site.builder.pick(a.self, a.k, axis, largest=bool(a.largest), name=site.name))


def compares_points(node: FxNode, batch: int) -> bool:
    """Return whether what a node compares has no batch axis in front."""
    shape = getattr(node.all_input_nodes[0].meta.get("val"), "shape", ())
    return len(shape) == 1 or (len(shape) > 1 and shape[0] != batch)


def batch_refusal(place: str) -> UnsupportedOperatorError:
    """Return the error for a comparison of the points of a batch with each other."""
    return UnsupportedOperatorError(
        f"expected points that are treated by themselves, but topk at {place} compares those of a batch with each "
        "other, as BatchTopK does in training: load the autoencoder as it is in use, with the threshold that training "
        "left, x * (x > threshold)"
    )


def with_picked(site: AtenSite, a: SimpleNamespace) -> Any:
    """Lower an operator on entries that were picked, or on their positions."""
    arguments = vars(a)
    if site.operator == "scatter":
        return _scatter(site, a)
    others = [name for name, argument in arguments.items() if name != "self" and is_value(argument)]
    picked = arguments.get("self")
    factor = arguments.get("other")
    is_plain = not isinstance(factor, Tensor) or factor.numel() == 1
    if (
        site.operator not in _POINTWISE
        or not isinstance(picked, Picked)
        or picked.is_positions
        or others
        or not is_plain
    ):
        raise _refusal(site)
    found = HANDLERS[site.operator](site, SimpleNamespace(**{**arguments, "self": picked.value}))
    return Picked(picked.source, picked.top, found, picked.k, picked.axis) if isinstance(found, Value) else found


def _scatter(site: AtenSite, a: SimpleNamespace) -> Value:
    places, values = a.index, getattr(a, "src", getattr(a, "value", None))
    if not isinstance(places, Picked) or isinstance(a.self, Value | Picked) or getattr(a, "reduce", None):
        raise _refusal(site)
    base = torch.as_tensor(a.self)
    is_whole = tuple(base.shape[1:]) == places.value.shape and site.axis(places.value, a.dim) == places.axis
    if isinstance(values, Tensor) and values.numel() and bool((values == values.flatten()[0]).all()):
        values = float(values.flatten()[0])
    if not is_whole or bool(base.any()) or not isinstance(values, Picked | float | int):
        raise _refusal(site)
    return site.builder.put_back(values, places, name=site.name)


def _refusal(site: AtenSite) -> UnsupportedOperatorError:
    return UnsupportedOperatorError(
        f"expected the k largest entries to be scattered into zeros where they were, but {site.operator} at "
        f"{site.place} takes them in order: write zeros_like(x).scatter(-1, indices, values), take amax for the "
        "largest alone, or load the network up to it by submodule="
    )
