"""Operators that move entries, join them or frame them.

Whatever such an operator does to a tensor of positions, it does to the values: ONNX's own evaluator says what that is.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.models.onnx.onnx_evaluation import evaluate
from reluscope.networks.models.onnx.onnx_operands import broadcast
from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, Operand, lowers, stored_shape


@lowers(
    *("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Gather", "Split", "Expand", "Tile"),
    *("GatherElements", "GatherND", "DepthToSpace", "SpaceToDepth", "Compress", "ReverseSequence"),
)
def move(site: NodeSite) -> list[Activation | None]:
    """Entries in another order, shape or number."""
    x = site.activation()
    settings = [site.given(position) for position in range(1, len(site.operands))]
    if site.operator == "Reshape" and settings and site.fixed_batch > 1:
        settings[0] = _one_point(site, x, settings[0])
    return _moved(site, x, settings)


@lowers("Shape", "Size")
def shape_of(site: NodeSite) -> np.ndarray:
    """Return the shape of a tensor, which is known: the batch axis has length 1."""
    return evaluate(site.node, [np.broadcast_to(np.float64(0.0), site.activation().shape)], site.opset)[0]


@lowers("Where")
def where(site: NodeSite) -> Activation:
    """Entries of one tensor or the other, chosen by constants, or by a mask of the value that is chosen."""
    if not isinstance(site.operand(0), Activation):
        return moved_together(site, (1, 2))
    (mask, x, y), shape = broadcast(site, site.operands)
    assert isinstance(mask, Value)
    return site.close(site.builder.where(mask, x, y), shape)


@lowers("Concat")
def concatenate(site: NodeSite) -> Activation:
    """Tensors one after the other along an axis, some of them constant."""
    x = next(operand for operand in site.operands if isinstance(operand, Activation))
    parts: list[Operand] = list(site.operands)
    axis = site.setting("axis", 1) % len(x.shape)
    length = sum(part.shape[axis] for part in parts if part is not None)
    shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
    inner = axis > 0 and stored_shape(x.shape) != x.shape
    joined = []
    for part in parts:
        if isinstance(part, Activation):
            joined.append(part.value if inner else site.whole(part))
        elif part is not None:
            tensor = torch.from_numpy(np.array(part, dtype=np.float64))
            joined.append(tensor[0] if inner else tensor)
    return site.close(site.builder.concatenate(joined, axis - inner), shape)


@lowers("Pad")
def pad(site: NodeSite) -> Activation | None:
    """Frame a tensor by one constant, by mirrored, repeated or wrapped entries; negative numbers cut off."""
    x = site.activation()
    mode = site.setting("mode", "constant")
    settings = [site.given(position) for position in range(1, len(site.operands))]
    if mode != "constant":
        return _moved(site, x, settings)[0]
    pads = site.integers(1, "pads") or []
    fill = float(np.asarray(site.given(2, "value", 0.0)).item()) if site.given(2, "value", 0.0) is not None else 0.0
    axes = [axis % len(x.shape) for axis in site.integers(3, "axes") or range(len(x.shape))]
    padding = [(0, 0)] * len(x.shape)
    for place, axis in enumerate(axes):
        padding[axis] = (pads[place], pads[len(axes) + place])
    shape = [before + length + after for length, (before, after) in zip(x.shape, padding, strict=True)]
    gone = len(x.shape) - len(x.value.shape)
    if any(padding[0]) and gone:
        return site.close(site.builder.pad(site.whole(x), padding, fill), shape)
    return site.close(site.builder.pad(x.value, padding[gone:], fill), shape)


def moved_together(site: NodeSite, places: Sequence[int]) -> Activation:
    """Return the entries of operands, some of them constant, where the node moves positions in place of them."""
    parts = [part for part in (site.operand(place) for place in places) if part is not None]
    starts = np.cumsum([0, *(prod(part.shape) for part in parts)])
    marked = {
        place: start + np.arange(prod(part.shape)).reshape(part.shape)
        for place, start, part in zip(places, starts, parts, strict=False)
    }
    operands = [marked[at] if at in marked else site.given(at) for at in range(len(site.operands))]
    image = evaluate(site.node, operands, site.opset)[0]
    flat: list[Value | Tensor] = []
    for start, part in zip(starts, parts, strict=False):
        if isinstance(part, Activation):
            flat.append(site.builder.reshape(part.value, (-1,)))
        else:  # where nothing is taken, constants may be infinite
            entries = np.array(part, dtype=np.float64).reshape(-1)
            flat.append(torch.from_numpy(np.where(np.isin(start + np.arange(entries.size), image), entries, 0.0)))
    index = torch.from_numpy(np.array(image, dtype=np.int64).reshape(stored_shape(image.shape)))
    return Activation(site.builder.select(site.builder.concatenate(flat, 0), index), image.shape)


def _moved(site: NodeSite, x: Activation, settings: list[np.ndarray | None]) -> list[Activation | None]:
    positions = np.arange(prod(x.shape)).reshape(x.shape)
    result: list[Activation | None] = []
    for image in evaluate(site.node, [positions, *settings], site.opset):
        if image is None:
            result.append(None)
            continue
        index = torch.from_numpy(np.array(image, dtype=np.int64).reshape(stored_shape(image.shape)))
        result.append(Activation(site.builder.select(x.value, index), image.shape))
    return result


def _one_point(site: NodeSite, x: Activation, shape: np.ndarray | None) -> np.ndarray | None:
    """Return a target shape that was written down for the file's fixed batch, for one point."""
    if shape is None or not len(shape) or x.shape[:1] != (1,) or shape[0] != site.fixed_batch:
        return shape
    return np.array([1, *shape[1:]], dtype=np.int64)
