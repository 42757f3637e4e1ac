"""Sums, products with constants, reductions, casts, and whatever else leaves a value affine."""

from math import prod
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.building.core import constant
from reluscope.networks.models.operators import entrywise, quantizing, sums_and_products
from reluscope.networks.models.torch.aten_site import AtenSite, is_value, lowers
from reluscope.networks.models.torch.known_checks import NUMBERS_NOTE

_MAX_ENTRIES = 2**26


@lowers("add", "sub", "subtract", "rsub", entrywise=True)
def add(site: AtenSite, a: SimpleNamespace) -> Value:
    """``self + alpha * other`` and its signs; ``rsub`` is ``other - alpha * self``."""
    first, second = site.sides(a.self, a.other)
    if site.operator == "rsub":
        first, second = second, first
    if (alpha := getattr(a, "alpha", 1)) != 1:
        second = _times(site, second, alpha)
    if site.operator == "add":
        return site.builder.add(first, second)
    return site.builder.subtract(first, second)


@lowers("div", "divide", "true_divide", entrywise=True)
def divide(site: AtenSite, a: SimpleNamespace) -> Value:
    """``self / other`` with other constant."""
    first, second = (a.self, a.other) if isinstance(a.other, Value) else site.sides(a.self, a.other)
    if (way := getattr(a, "rounding_mode", None)) is not None:
        return entrywise.divided(site, first, second, way)
    return sums_and_products.divide(site, first, second)


@lowers("round", entrywise=True)
def rounded(site: AtenSite, a: SimpleNamespace) -> Value:
    """``self`` rounded to whole numbers."""
    if decimals := getattr(a, "decimals", 0):
        raise site.unsupported(f"to {decimals} decimals: multiply before it, and divide after it")
    return site.builder.rounded(a.self, "round")


@lowers("fake_quantize_per_tensor_affine", "fake_quantize_per_channel_affine", entrywise=True)
def fake_quantize(site: AtenSite, a: SimpleNamespace) -> Value:
    """``self`` in multiples of a scale, from a least to a largest one; each channel may have a scale of its own."""
    if isinstance(a.scale, Value) or isinstance(a.zero_point, Value):
        raise site.unsupported("with a scale that depends on the input")
    # PyTorch keeps scales in single precision, whatever they are given in.
    step, zero = (torch.as_tensor(one).float().double() for one in (a.scale, a.zero_point))
    if hasattr(a, "axis"):
        axis = site.axis(a.self, a.axis)
        step, zero = (one.reshape(-1, *[1] * (len(a.self.shape) - 1 - axis)) for one in (step, zero))
    whole = quantizing.whole(site, a.self, step, zero, (a.quant_min, a.quant_max))
    return quantizing.back(site, whole, step, zero)


@lowers("cumsum")
def cumulative_sum(site: AtenSite, a: SimpleNamespace) -> Value:
    """Sum everything up to each entry along an axis."""
    axis = site.axis(a.self, a.dim)
    triangle = torch.ones(a.self.shape[axis], a.self.shape[axis], dtype=torch.float64).tril()
    return site.builder.axis_matrix(a.self, axis, triangle)


@lowers(
    *("clone", "contiguous", "alias", "detach", "lift", "lift_fresh", "lift_fresh_copy", "positive", "view_copy"),
    *("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "identity", "requires_grad"),
    entrywise=True,
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


@lowers("_to_copy", "to", "type_as", "_to_dtype", entrywise=True)
def cast(site: AtenSite, a: SimpleNamespace) -> Value:
    """Casts between floating-point types are the identity, with a note; only masks may be cast to whole numbers."""
    dtype = getattr(a, "dtype", None)
    is_float = not isinstance(dtype, torch.dtype) or dtype.is_floating_point
    kind = float if is_float else bool if dtype == torch.bool else int
    if isinstance(dtype, torch.dtype) and is_float and dtype != torch.float64 and not site.builder.is_mask(a.self):
        site.builder.note(cast_note(dtype))
    return sums_and_products.cast(site, a.self, kind, str(dtype).removeprefix("torch."))


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


@lowers("isnan", "isinf", "isfinite", "isposinf", "isneginf")
def is_number(site: AtenSite, a: SimpleNamespace) -> Tensor:
    """Return what is known of numbers."""
    site.builder.note(NUMBERS_NOTE)
    return torch.full((site.batch, *a.self.shape), site.operator == "isfinite")


@lowers("nan_to_num", entrywise=True)
def numbers_alone(site: AtenSite, a: SimpleNamespace) -> Value:
    """Return numbers as they are."""
    site.builder.note(NUMBERS_NOTE)
    return a.self


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
        raise site.product()
    x = flat[0]

    def run(points: Tensor) -> Tensor:
        return site.target(**{name: _replace(entry, points) for name, entry in vars(a).items()})

    def image(unit: Tensor) -> Tensor:
        found = run(torch.cat([unit[None], torch.zeros(site.batch - 1, *x.shape, dtype=torch.float64)]))
        if found.ndim == 0 or len(found) != site.batch or bool(found[1:].any()):
            raise site.batch_error("mixes the points of a batch")
        return found[0]

    matrix, shape = sums_and_products.images_of_units(site, x.shape, image, most=_MAX_ENTRIES)
    if site.batch > 1:
        twin = torch.linspace(-1.0, 1.0, prod(x.shape), dtype=torch.float64).expand(site.batch, -1)
        site.one_row(run(twin.reshape(-1, *x.shape)).round(decimals=9))
    found = site.builder.linear(site.builder.flatten(x), matrix)
    return site.builder.reshape(found, shape)


def _entries(argument: Any) -> list[Any]:
    return list(argument) if isinstance(argument, list | tuple) else [argument]


def _replace(argument: Any, tensor: Tensor) -> Any:
    if isinstance(argument, list | tuple):
        return [_replace(entry, tensor) for entry in argument] if is_value(argument) else argument
    return tensor if isinstance(argument, Value) else argument


def _times(site: AtenSite, operand: Any, factor: float) -> Any:
    if isinstance(operand, Value):
        return site.builder.multiply(operand, factor)
    return constant(operand) * factor
