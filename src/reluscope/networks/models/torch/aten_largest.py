"""The k largest entries, as autoencoders take them out and scatter them into zeros."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from torch.fx import Node as FxNode
from torch.utils._pytree import tree_leaves

from reluscope.errors import UnsupportedOperatorError
from reluscope.networks.building.builder import Picked, Value
from reluscope.networks.models.operators import kept_largest
from reluscope.networks.models.torch.aten_site import HANDLERS, AtenSite, is_value, lowers


@lowers("topk")
def top_k(site: AtenSite, a: SimpleNamespace) -> list[Picked]:
    """Take the largest or smallest entries along an axis; their order is lost."""
    return list(kept_largest.pick(site, a.self, a.k, site.axis(a.self, a.dim), largest=bool(a.largest)))


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
    if site.operator == "scatter":
        return _scatter(site, a)
    arguments = vars(a)
    picked = kept_largest.the_picked(site, tree_leaves(list(arguments.values())), HANDLERS.entrywise)
    if arguments.get("self") is not picked:
        raise kept_largest.taken_in_order(site)
    found = HANDLERS[site.operator](site, SimpleNamespace(**{**arguments, "self": picked.value}))
    return replace(picked, value=found)


def _scatter(site: AtenSite, a: SimpleNamespace) -> Value:
    places, values = a.index, getattr(a, "src", getattr(a, "value", None))
    if not isinstance(places, Picked) or is_value(a.self) or getattr(a, "reduce", None):
        raise kept_largest.taken_in_order(site)
    base, axis = torch.as_tensor(a.self), site.axis(places.value, a.dim)
    is_zero = not bool(base.any())
    return kept_largest.scatter(site, places, values, axis=axis, shape=tuple(base.shape[1:]), in_zeros=is_zero)
