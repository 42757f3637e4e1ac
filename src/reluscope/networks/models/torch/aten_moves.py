"""Operators that only move entries, whatever their names.

Such an operator is run once on tensors that hold the *position* of every entry; where the positions end up says where
the entries go. Constants get positions of their own, and position 0 stands for a zero that the operator fills in.
"""

from dataclasses import dataclass
from math import prod
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.building.core import constant
from reluscope.networks.models.torch.aten_scatters import accumulated
from reluscope.networks.models.torch.aten_site import AtenSite, is_value, lowers

# Operators that take nothing but the shape of their second operand.
_LIKE = ("expand_as", "view_as", "reshape_as")
# Scalars that end up as entries of the result.
_ENTRIES = {**dict.fromkeys(("masked_fill", "fill", "index_fill", "scatter"), ("value",)), "where": ("self", "other")}


@lowers(
    *("view", "_unsafe_view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "expand", "expand_as"),
    *("permute", "transpose", "t", "numpy_T", "mT", "movedim", "swapaxes", "view_as", "reshape_as", "ravel"),
    *("slice", "select", "narrow", "index", "index_select", "gather", "take_along_dim", "diagonal", "as_strided"),
    *("flip", "roll", "rot90", "repeat", "tile", "repeat_interleave", "broadcast_to", "tril", "triu", "diag_embed"),
    *("split", "split_with_sizes", "chunk", "unbind", "tensor_split", "hsplit", "vsplit", "dsplit"),
    *("pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "native_channel_shuffle", "unfold", "im2col"),
    *("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"),
    *("_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d"),
    *("reflection_pad1d", "reflection_pad2d", "reflection_pad3d"),
    *("replication_pad1d", "replication_pad2d", "replication_pad3d", "_pad_circular"),
    *("slice_scatter", "select_scatter", "diagonal_scatter", "index_put", "index_fill", "index_copy", "scatter"),
    *("copy", "fill", "masked_fill", "where", "stack"),
)
def move(site: AtenSite, a: SimpleNamespace) -> Any:
    """Lower an operator by running it on positions."""
    arguments = vars(a)
    if site.operator == "where" and isinstance(a.condition, Value):
        return site.builder.where(*site.sides(a.condition, a.self, a.other))
    if site.operator == "masked_fill" and isinstance(a.mask, Value):
        return site.builder.where(*site.sides(a.mask, a.value, a.self))
    for name in ("condition", "mask", "index", "indices"):
        if is_value(arguments.get(name)):
            raise site.unsupported(f"with a {name} that depends on the input")
    if getattr(a, "accumulate", False) or getattr(a, "reduce", None):
        return accumulated(site, a)
    if site.operator in _LIKE and not isinstance(a.self, Value):
        return site.target(self=a.self, other=torch.zeros(site.batch, *a.other.shape))
    sources = _Sources(site.batch)
    marked = {name: sources.mark(entry, name in _ENTRIES.get(site.operator, ())) for name, entry in arguments.items()}
    result = site.target(**marked)
    if isinstance(result, Tensor):
        return sources.follow(site, result)
    return [sources.follow(site, part) for part in result]


@dataclass(frozen=True)
class _Source:
    """Entries with consecutive positions, those of a value repeated for every point of the batch."""

    entries: Value | Tensor
    first: int
    size: int


class _Sources:
    """Hands out positions and reads them back."""

    def __init__(self, batch: int) -> None:
        self.batch = batch
        self.sources: list[_Source] = []
        self.next = 1

    def mark(self, argument: Any, is_entry: bool) -> Any:
        """Return an argument with positions in place of its entries; indices and settings stay."""
        if isinstance(argument, Value):
            size = prod(argument.shape)
            return self._positions(argument, size, self.batch * size).reshape(self.batch, *argument.shape)
        if isinstance(argument, Tensor) and argument.is_floating_point():
            return self._positions(argument, argument.numel(), argument.numel()).reshape(argument.shape)
        if is_entry and argument is not None:
            tensor = constant(argument)
            marked = self._positions(tensor, tensor.numel(), tensor.numel()).reshape(tensor.shape)
            return marked if isinstance(argument, Tensor) else marked.item()
        if isinstance(argument, list | tuple) and is_value(argument):
            return [self.mark(entry, is_entry) for entry in argument]
        return argument

    def follow(self, site: AtenSite, result: Tensor) -> Value | Tensor:
        """Return the value whose entries come from the positions in a result ``(batch, *shape)``."""
        if result.ndim == 0 or len(result) != self.batch:
            raise site.batch_error("moves the batch axis")
        shape = tuple(result.shape[1:])
        positions = result.reshape(self.batch, -1).round().long()
        index = torch.zeros(positions.shape[1], dtype=torch.int64)
        fixed = torch.zeros(positions.shape, dtype=torch.float64)
        is_fixed = torch.ones(positions.shape, dtype=torch.bool)
        used: list[_Source] = []
        offset = 0
        for source in self.sources:
            count = source.size * self.batch if isinstance(source.entries, Value) else source.size
            inside = (positions >= source.first) & (positions < source.first + count)
            if not bool(inside.any()):
                continue
            local = (positions - source.first).where(inside, 0)
            if isinstance(source.entries, Tensor):
                fixed = torch.where(inside, source.entries.reshape(-1)[local], fixed)
                continue
            rows = torch.arange(self.batch).unsqueeze(1)
            entry = local - rows * source.size
            same = (inside == inside[:1]).all() & ((entry == entry[:1]) | ~inside).all()
            if not bool(same) or bool((((entry < 0) | (entry >= source.size)) & inside).any()):
                raise site.batch_error("mixes the points of a batch")
            index = torch.where(inside[0], entry[0] + offset, index)
            is_fixed &= ~inside
            used.append(source)
            offset += source.size
        row = site.one_row(fixed.where(is_fixed, 0.0))
        if not used:
            return row.reshape(1, *shape).expand(self.batch, *shape)
        return self._gather(site, used, index.reshape(shape), is_fixed[0].reshape(shape), row.reshape(shape), offset)

    def _gather(
        self, site: AtenSite, used: list[_Source], index: Tensor, is_fixed: Tensor, row: Tensor, offset: int
    ) -> Value:
        builder = site.builder
        values = [source.entries for source in used if isinstance(source.entries, Value)]
        if len(values) == 1 and not bool(is_fixed.any()):
            return builder.select(values[0], index)
        parts: list[Value | Tensor] = [builder.reshape(value, (prod(value.shape),)) for value in values]
        if bool(is_fixed.any()):
            table, places = row[is_fixed].unique(return_inverse=True)
            index = index.clone()
            index[is_fixed] = places + offset
            parts.append(table)
        return builder.select(builder.concatenate(parts, 0), index)

    def _positions(self, entries: Value | Tensor, size: int, count: int) -> Tensor:
        first = self.next
        self.next += count
        self.sources.append(_Source(entries, first, size))
        return torch.arange(first, first + count, dtype=torch.float64)


@lowers("cat", "concat", "concatenate")
def concatenate(site: AtenSite, a: SimpleNamespace) -> Value:
    """``torch.cat``: values and constants one after the other."""
    parts = [part for part in a.tensors if isinstance(part, Value) or part.numel()]
    first = next(part for part in parts if isinstance(part, Value))
    rows = [part if isinstance(part, Value) else site.one_row(constant(part)) for part in parts]
    return site.builder.concatenate(rows, site.axis(first, a.dim))


@lowers("constant_pad_nd", "pad")
def pad(site: AtenSite, a: SimpleNamespace) -> Value:
    """``torch.nn.functional.pad``: last axis first; modes other than constant only move entries."""
    if getattr(a, "mode", "constant") != "constant":
        del a.value
        return move(site, a)
    pairs = list(zip(a.pad[::2], a.pad[1::2], strict=True))[::-1]
    if len(pairs) > len(a.self.shape):
        raise site.batch_error("pads the batch axis")
    padding = [(0, 0)] * (len(a.self.shape) - len(pairs)) + pairs
    return site.builder.pad(a.self, padding, float(a.value or 0.0))
