"""Sums, products with constants, reductions, casts, and whatever else leaves a value affine."""

from math import prod
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from reluscope.errors import NotPiecewiseLinearError
from reluscope.networks.building.builder import Value
from reluscope.networks.building.core import constant
from reluscope.networks.models.torch.aten_site import AtenSite, is_value, lowers

_MAX_ENTRIES = 2**26


@lowers("add", "sub", "subtract", "rsub")
def add(site: AtenSite, a: SimpleNamespace) -> Value:
    """``self + alpha * other`` and its signs; ``rsub`` is ``other - alpha * self``."""
    first, second = site.sides(a.self, a.other)
    if site.operator == "rsub":
        first, second = second, first
    if (alpha := getattr(a, "alpha", 1)) != 1:
        second = _times(site, second, alpha)
    combine = site.builder.add if site.operator == "add" else site.builder.subtract
    return combine(first, second, name=site.name)


@lowers("mul", "multiply")
def multiply(site: AtenSite, a: SimpleNamespace) -> Value:
    """``self * other`` with one side constant, or a mask of the other."""
    first, second = site.sides(a.self, a.other)
    if isinstance(first, Value) and isinstance(second, Value):
        product = site.builder.masked(first, second, name=site.name)
        if product is None:
            raise site.masked_product()
        return product
    return site.builder.multiply(first, second, name=site.name)


@lowers("div", "divide", "true_divide")
def divide(site: AtenSite, a: SimpleNamespace) -> Value:
    """``self / other`` with other constant."""
    if getattr(a, "rounding_mode", None) is not None:
        raise NotPiecewiseLinearError(
            f"expected continuous operators, but {site.operator} at {site.place} rounds, which is not continuous"
        )
    if isinstance(a.other, Value):
        raise NotPiecewiseLinearError(
            f"expected divisions by constants, but {site.operator} at {site.place} divides by a value that depends on "
            "the input, which is not piecewise linear"
        )
    first, second = site.sides(a.self, a.other)
    return site.builder.divide(first, second, name=site.name)


@lowers("neg", "negative")
def negate(site: AtenSite, a: SimpleNamespace) -> Value:
    """``-self``."""
    return site.builder.negate(a.self, name=site.name)


@lowers("sum", "mean")
def reduce(site: AtenSite, a: SimpleNamespace) -> Value:
    """Sum or mean over axes."""
    axes = site.axes(a.self, getattr(a, "dim", None))
    operation = site.builder.sum if site.operator == "sum" else site.builder.mean
    return operation(a.self, axes, keepdims=getattr(a, "keepdim", False), name=site.name)


@lowers("cumsum")
def cumulative_sum(site: AtenSite, a: SimpleNamespace) -> Value:
    """Sum everything up to each entry along an axis."""
    axis = site.axis(a.self, a.dim)
    triangle = torch.ones(a.self.shape[axis], a.self.shape[axis], dtype=torch.float64).tril()
    return site.builder.axis_matrix(a.self, axis, triangle, name=site.name)


@lowers(
    *("clone", "contiguous", "alias", "detach", "lift", "lift_fresh", "lift_fresh_copy", "positive", "view_copy"),
    *("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "identity", "requires_grad"),
)
def identity(site: AtenSite, a: SimpleNamespace) -> Value:
    """Operators that do nothing to the numbers, dropout in evaluation mode among them."""
    if getattr(a, "train", False):
        raise site.unsupported("in training mode: call model.eval() and remove training=True")
    return a.self if hasattr(a, "self") else a.input


@lowers("native_dropout")
def native_dropout(site: AtenSite, a: SimpleNamespace) -> list[Any]:
    """Dropout with its mask."""
    if a.train:
        raise site.unsupported("in training mode: call model.eval() first")
    return [a.input, None]


@lowers("_to_copy", "to", "type_as", "_to_dtype")
def cast(site: AtenSite, a: SimpleNamespace) -> Value:
    """Casts between floating-point types are the identity, with a note; only masks may be cast to whole numbers."""
    dtype = getattr(a, "dtype", None)
    if site.builder.is_mask(a.self):
        return a.self
    if dtype == torch.bool:
        return site.builder.compare(a.self, 0.0, "!=", name=site.name)
    if isinstance(dtype, torch.dtype) and not dtype.is_floating_point:
        raise NotPiecewiseLinearError(
            f"expected continuous operators, but {site.operator} at {site.place} rounds to {dtype}, which is not "
            "continuous"
        )
    if isinstance(dtype, torch.dtype) and dtype != torch.float64:
        site.builder.note(cast_note(dtype))
    return a.self


def cast_note(dtype: torch.dtype) -> str:
    """Return the note on a cast that was read as the identity."""
    return f"A cast to {str(dtype).removeprefix('torch.')} was read as the identity: the network computes in float64."


@lowers("zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones", "new_full", "new_empty")
def filled(site: AtenSite, a: SimpleNamespace) -> Tensor:
    """Constants in the shape of a value."""
    shape = (site.batch, *a.self.shape) if site.operator.endswith("_like") else tuple(a.size)
    kind = site.operator.removeprefix("new_").removesuffix("_like")
    entry = {"zeros": 0.0, "empty": 0.0, "ones": 1.0}.get(kind)
    return torch.full(shape, float(a.fill_value if entry is None else entry), dtype=torch.float64)


@lowers("sym_size", "size")
def size(site: AtenSite, a: SimpleNamespace) -> int | list[int]:
    """Length of an axis, the batch axis included."""
    shape = [site.batch, *a.self.shape]
    return shape[a.dim] if hasattr(a, "dim") else shape


@lowers("sym_numel", "numel")
def num_entries(site: AtenSite, a: SimpleNamespace) -> int:
    """Count the entries, the batch included."""
    return site.batch * prod(a.self.shape)


@lowers("einsum", "tensordot", "kron", "outer", "col2im", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")
def probed(site: AtenSite, a: SimpleNamespace) -> Value:
    """Operators that are linear in one value, turned into a matrix by applying them to the identity."""
    flat = [entry for argument in vars(a).values() for entry in _entries(argument) if isinstance(entry, Value)]
    if len(flat) != 1:
        raise NotPiecewiseLinearError(
            f"expected products with constants, but {site.operator} at {site.place} multiplies values that depend on "
            "the input, which is not piecewise linear"
        )
    x = flat[0]
    rows, extent = [], prod(x.shape)
    for position in range(extent):
        point = torch.zeros(site.batch, extent, dtype=torch.float64)
        point[0, position] = 1.0
        image = site.target(**{name: _replace(entry, point.reshape(-1, *x.shape)) for name, entry in vars(a).items()})
        if image.ndim == 0 or len(image) != site.batch or bool(image[1:].any()):
            raise site.batch_error("mixes the points of a batch")
        if image[0].numel() * extent > _MAX_ENTRIES:
            raise site.unsupported("for values this large: write it as a linear layer or a convolution")
        rows.append(image[0])
    if site.batch > 1:
        twin = torch.linspace(-1.0, 1.0, extent, dtype=torch.float64).expand(site.batch, -1).reshape(-1, *x.shape)
        site.one_row(site.target(**{name: _replace(entry, twin) for name, entry in vars(a).items()}).round(decimals=9))
    matrix = torch.stack([row.reshape(-1) for row in rows], dim=1)
    image = site.builder.linear(site.builder.flatten(x, name=site.name), matrix, name=site.name)
    return site.builder.reshape(image, tuple(rows[0].shape), name=site.name)


def _entries(argument: Any) -> list[Any]:
    return list(argument) if isinstance(argument, list | tuple) else [argument]


def _replace(argument: Any, tensor: Tensor) -> Any:
    if isinstance(argument, list | tuple):
        return [_replace(entry, tensor) for entry in argument] if is_value(argument) else argument
    return tensor if isinstance(argument, Value) else argument


def _times(site: AtenSite, operand: Any, factor: float) -> Any:
    if isinstance(operand, Value):
        return site.builder.multiply(operand, factor, name=site.name)
    return constant(operand) * factor
