"""Entries that are added to others, or compared with them, at constant places, and images read at constant places."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.building.core import constant
from reluscope.networks.models.operators.sampling import sampled
from reluscope.networks.models.operators.scattering import scattered
from reluscope.networks.models.torch.aten_site import AtenSite, is_value, lowers

_MODES, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


@lowers("index_add")
def index_add(site: AtenSite, a: SimpleNamespace) -> Value:
    """``index_add``: slices of a source times ``alpha`` added along an axis."""
    updates = a.source
    if a.alpha != 1:
        updates = site.builder.multiply(updates, a.alpha) if isinstance(updates, Value) else updates * a.alpha
    return _meeting(site, a, updates, "sum")


@lowers("index_reduce")
def index_reduce(site: AtenSite, a: SimpleNamespace) -> Value:
    """``index_reduce``: slices of a source meet others along an axis."""
    return _meeting(site, a, a.source, a.reduce, keeps_base=a.include_self)


@lowers("scatter_add")
def scatter_add(site: AtenSite, a: SimpleNamespace) -> Value:
    """``scatter_add``: entries of a source added along an axis."""
    return _meeting(site, a, a.src, "sum")


@lowers("scatter_reduce")
def scatter_reduce(site: AtenSite, a: SimpleNamespace) -> Value:
    """``scatter_reduce``: entries of a source meet others along an axis."""
    return _meeting(site, a, a.src, a.reduce, keeps_base=a.include_self)


@lowers("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(site: AtenSite, a: SimpleNamespace) -> Value:
    """``torch.nn.functional.grid_sample`` at a constant grid."""
    if is_value(a.grid):
        raise site.unsupported("with a grid that depends on the input")
    mode, padding = _MODES[a.interpolation_mode], _PADDINGS[a.padding_mode]
    return sampled(site, a.input, site.one_row(constant(a.grid)), mode, padding, align_corners=a.align_corners)


def accumulated(site: AtenSite, a: SimpleNamespace) -> Value:
    """``index_put`` with ``accumulate``, and ``scatter`` with ``reduce``."""
    if hasattr(a, "indices"):
        return _scattered(site, a, a.values, lambda places: places[tuple(_slices(a.indices))], "sum")
    updates = getattr(a, "src", None)
    updates = constant(a.value) if updates is None else updates
    return _meeting(site, a, updates, a.reduce)


def _slices(indices: list[Tensor | None]) -> list[Any]:
    return [slice(None) if index is None else index for index in indices]


def _meeting(site: AtenSite, a: SimpleNamespace, updates: Any, reduction: str, *, keeps_base: bool = True) -> Value:
    """Return what becomes of entries that meet along the axis ``dim`` at ``index``."""
    if is_value(a.index):
        raise site.unsupported("with an index that depends on the input")
    if site.operator.startswith("index"):
        return _scattered(
            site, a, updates, lambda at: at.index_select(a.dim, a.index), reduction, keeps_base=keeps_base
        )
    if isinstance(updates, Value | Tensor) and len(updates.shape):
        # Of a source that is larger than the index, the first entries count.
        lengths = tuple(slice(0, length) for length in a.index.shape)
        if isinstance(updates, Value):
            updates = site.builder.rearrange(updates, lambda positions: positions[lengths[1:]])
        else:
            updates = updates[lengths]
    return _scattered(site, a, updates, lambda at: at.gather(a.dim, a.index), reduction, keeps_base=keeps_base)


def _scattered(
    site: AtenSite, a: SimpleNamespace, updates: Any, taken: Any, reduction: str, *, keeps_base: bool = True
) -> Value:
    """Return entries that meet updates where ``taken`` takes positions from."""
    base = a.self if isinstance(a.self, Value) else site.one_row(constant(a.self))
    size = int(np.prod(base.shape, dtype=np.int64))
    image = taken(torch.arange(site.batch * size).reshape(site.batch, *base.shape))
    if image.ndim == 0 or len(image) != site.batch:
        raise site.batch_error("moves the batch axis")
    local = image.reshape(site.batch, -1) - size * torch.arange(site.batch)[:, None]
    if bool(((local != local[:1]) | (local < 0) | (local >= size)).any()):
        raise site.batch_error("mixes the points of a batch")
    shape = tuple(image.shape[1:])
    if isinstance(updates, Value):
        updates = site.builder.expand(updates, shape)
    else:
        updates = site.one_row(constant(updates).expand(site.batch, *shape))
    return scattered(site, base, updates, local[0].numpy(), reduction, keeps_base=keeps_base)
