"""Running a model in float64, also where its code asks for less."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from reluscope.errors import InputError
from reluscope.networks.models.torch.aten_arithmetic import cast_note

_PRODUCTS = (torch.matmul, torch.mv, Tensor.matmul, Tensor.mv, Tensor.__matmul__)
_CASTS = {Tensor.float: torch.float32, Tensor.half: torch.float16, Tensor.bfloat16: torch.bfloat16}


def double_twin(model: nn.Module) -> nn.Module:
    """Return a copy of the model in evaluation mode and float64.

    Raises InputError if it cannot be copied, or its weights are missing or not finite.
    """
    if isinstance(model, torch.jit.ScriptModule):
        raise InputError(
            "expected a module written in Python, got TorchScript: load the weights into the original model"
        )
    for kind, entries in (("parameter", model.named_parameters()), ("buffer", model.named_buffers())):
        for name, tensor in entries:
            if nn.parameter.is_lazy(tensor) or tensor.is_meta:
                raise InputError(f"expected a model with weights, but {kind} {name} has none: run it once or load them")
            if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
                raise InputError(f"expected finite weights, but {kind} {name} holds NaN or infinite entries: repair it")
    try:
        twin = copy.deepcopy(model)
    except Exception as error:
        raise InputError(f"expected a model that copy.deepcopy can copy, but it fails: {error}") from error
    return to_double(twin.eval().requires_grad_(False))


def to_double(model: nn.Module) -> nn.Module:
    """Convert a model's parameters, buffers and plain tensor attributes to float64, in place."""
    model = model.double().cpu()
    for module in model.modules():
        for name, entry in vars(module).items():
            if isinstance(entry, Tensor) and entry.is_floating_point():
                setattr(module, name, entry.detach().double().cpu())
    return model


@contextmanager
def in_double(notes: list[str], *, tracing: bool = False) -> Iterator[None]:
    """Evaluate without gradients, with float64 as default and casts to lower precision left out, each with a note.

    While tracing, soft shrinkage is written as ``x - clamp(x)``: torch.export takes it apart into comparisons.
    """
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad(), _NoCasts(notes, tracing):
            yield
    finally:
        torch.set_default_dtype(default)


def _softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    return x - x.clamp(-lambd, lambd)


def _fake_quantized(x: Tensor, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> Tensor:
    """Return multiples of a scale, which PyTorch computes in single precision whatever it is given."""
    step, zero = (torch.as_tensor(one).float().double() for one in (scale, zero_point))
    return (((x / step).round() + zero).clamp(quant_min, quant_max) - zero) * step


def _fake_quantized_by_channel(
    x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    shape = (-1, *[1] * (x.ndim - 1 - axis % x.ndim))
    return _fake_quantized(x, scale.reshape(shape), zero_point.reshape(shape), quant_min, quant_max)


_FAKE_QUANTIZED = {
    torch.fake_quantize_per_tensor_affine: _fake_quantized,
    torch.fake_quantize_per_channel_affine: _fake_quantized_by_channel,
}


class _NoCasts(TorchFunctionMode):
    """Replaces casts of float64 tensors to a lower precision by nothing, and such types of new tensors by float64."""

    def __init__(self, notes: list[str], tracing: bool) -> None:
        super().__init__()
        self.notes = notes
        self.tracing = tracing

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if self.tracing and func is nn.functional.softshrink:
            return _softshrink(*args, **kwargs)
        if self.tracing and func in _PRODUCTS and (args[0].ndim, args[1].ndim) == (2, 1):
            return args[1] @ args[0].T  # torch.export takes a matrix times a vector within torch.vmap for a constant
        if func in _FAKE_QUANTIZED:
            if not self.tracing:
                return _FAKE_QUANTIZED[func](*args, **kwargs)
            args = tuple(
                one.float() if place == 1 and isinstance(one, Tensor) else one for place, one in enumerate(args)
            )
        if func in _CASTS:
            # Whole numbers and masks become numbers of the kind that everything else has.
            return self._leave_off(args[0], _CASTS[func]) if args[0].is_floating_point() else args[0].double()
        if func in (Tensor.to, Tensor.type):
            value = args[0] if args[0].is_floating_point() else None
            args = tuple(self._widened(value, entry) for entry in args)
        if self._is_lower(kwargs.get("dtype")):
            value = args[0] if args and isinstance(args[0], Tensor) and args[0].is_floating_point() else None
            kwargs["dtype"] = self._widened(value, kwargs["dtype"])
        return func(*args, **kwargs)

    def _widened(self, value: Any, setting: Any) -> Any:
        if not self._is_lower(setting):
            return setting
        if isinstance(value, Tensor):
            self._leave_off(value, setting)
        return torch.float64

    def _leave_off(self, value: Tensor, dtype: torch.dtype) -> Tensor:
        self.notes.append(cast_note(dtype))
        return value

    @staticmethod
    def _is_lower(setting: Any) -> bool:
        return isinstance(setting, torch.dtype) and setting.is_floating_point and setting != torch.float64
