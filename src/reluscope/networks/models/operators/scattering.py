"""Entries that meet those of another tensor at constant places: the sums and maxima of graph networks."""

from math import prod

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.models.operators.operator_site import OperatorSite

# What the two front ends call the ways in which entries meet.
SUM, MEAN, PRODUCT = {"add", "sum"}, {"mean"}, {"mul", "multiply", "prod"}
LARGEST, SMALLEST = {"max", "amax"}, {"min", "amin"}


def scattered(
    site: OperatorSite,
    base: Value | Tensor,
    updates: Value | Tensor,
    places: np.ndarray,
    reduction: str,
    *,
    keeps_base: bool = True,
) -> Value:
    """Return a base whose entries have met the updates that belong to them.

    ``places`` has, for each entry of the flattened updates, one of the flattened base. Without ``keeps_base`` an entry
    that updates meet does not count itself.
    """
    table = _by_place(places, prod(base.shape))
    is_met = torch.from_numpy((table >= 0).any(axis=1).reshape(base.shape))
    if reduction in LARGEST | SMALLEST:
        sign = 1.0 if reduction in LARGEST else -1.0
        return _largest(site, base, updates, table, sign, keeps_base)
    if not keeps_base:
        base = _times(site, base, torch.where(is_met, 0.0, 1.0))
    if reduction in PRODUCT:
        if isinstance(updates, Value):
            raise site.product()
        factors = torch.cat([updates.reshape(-1), torch.ones(1, dtype=torch.float64)])
        return _value(site, _times(site, base, factors[table].prod(dim=1).reshape(base.shape)))
    if reduction not in SUM | MEAN:
        raise site.unsupported(f"with reduction {reduction!r}")
    total = _plus(site, base, _sums(site, updates, table, base.shape))
    if reduction in MEAN:
        count = torch.from_numpy((table >= 0).sum(axis=1).reshape(base.shape)) + (keeps_base | ~is_met)
        total = _times(site, total, 1.0 / count.double())
    return _value(site, total)


def _by_place(places: np.ndarray, size: int) -> np.ndarray:
    """Return the updates of each entry, ``(size, k)``, filled up with -1."""
    order = np.argsort(places, kind="stable")
    count = np.bincount(places, minlength=size)
    rank = np.arange(len(places)) - np.repeat(np.cumsum(count) - count, count)
    table = np.full((size, max(1, int(count.max(initial=0)))), -1, dtype=np.int64)
    table[places[order], rank] = order
    return table


def _sums(site: OperatorSite, updates: Value | Tensor, table: np.ndarray, shape: tuple[int, ...]) -> Value | Tensor:
    nothing = torch.zeros(1, dtype=torch.float64)
    if isinstance(updates, Tensor):
        return torch.cat([updates.reshape(-1), nothing])[table].sum(dim=1).reshape(shape)
    size = prod(updates.shape)
    joined = site.builder.concatenate([site.builder.reshape(updates, (size,)), nothing], 0)
    found = site.builder.select(joined, torch.from_numpy(np.where(table < 0, size, table)))
    return site.builder.reshape(site.builder.sum(found, [1]), shape)


def _largest(
    site: OperatorSite, base: Value | Tensor, updates: Value | Tensor, table: np.ndarray, sign: float, keeps_base: bool
) -> Value:
    flat = []
    for part in (base, updates):
        signed = _times(site, part, torch.tensor(sign, dtype=torch.float64)) if sign < 0 else part
        flat.append(site.builder.reshape(signed, (-1,)) if isinstance(signed, Value) else signed.reshape(-1))
    number = len(table)
    own = np.arange(number)[:, None]
    if not keeps_base:
        own = np.where((table >= 0).any(axis=1, keepdims=True), -1, own)
    candidates = np.concatenate([own, np.where(table < 0, -1, table + number)], axis=1)
    found = site.builder.max_of(site.builder.concatenate(flat, 0), candidates, base.shape, kind="scatter_max")
    return site.builder.negate(found) if sign < 0 else found


def _times(site: OperatorSite, part: Value | Tensor, factor: Tensor) -> Value | Tensor:
    return site.builder.multiply(part, factor) if isinstance(part, Value) else part * factor


def _plus(site: OperatorSite, one: Value | Tensor, two: Value | Tensor) -> Value | Tensor:
    if isinstance(one, Tensor) and isinstance(two, Tensor):
        return one + two
    zero = next((side for side in (one, two) if isinstance(side, Tensor) and not bool(side.any())), None)
    return site.builder.add(one, two) if zero is None else two if zero is one else one


def _value(site: OperatorSite, found: Value | Tensor) -> Value:
    assert isinstance(found, Value), site.place
    return found
