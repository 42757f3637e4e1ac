"""The trace of a chain of PyTorch's own layers, written down layer by layer: what torch.export would find, without it.

``torch.export`` brings PyTorch's compiler along, a second or more that a small ``nn.Sequential`` does not need. Here
are chains, nested or not, whose every layer is of a type in `_LAYERS`, exactly, with nothing hooked to it; all else is
left to ``torch.export``. The network is compared with the module in either case.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, fx, nn

from reluscope.networks.models.torch.aten_lowering import TorchTrace
from reluscope.networks.models.torch.float64_models import double_twin, in_double
from reluscope.networks.models.torch.torch_source import TorchSource

_BATCH = 2
_aten = torch.ops.aten
# An operator and its arguments; strings that begin with "." are the layer's parameters and buffers.
_Call = tuple[Any, tuple[Any, ...]]


def _convolution(operator: Any) -> Callable[[Any, Any], _Call]:
    def call(layer: Any, x: Any) -> _Call:
        if layer.padding_mode != "zeros" or isinstance(layer.padding, str):
            raise ValueError("padding of another kind")
        shape = [list(one) for one in (layer.stride, layer.padding, layer.dilation)]
        return operator, (x, ".weight", _if_there(layer, "bias"), *shape, layer.groups)

    return call


def _batch_norm(layer: Any, x: Any) -> _Call:
    if layer.running_mean is None or layer.training:
        raise ValueError("statistics of a batch")
    names = (_if_there(layer, "weight"), _if_there(layer, "bias"), ".running_mean", ".running_var")
    return _aten.batch_norm.default, (x, *names, False, layer.momentum or 0.0, layer.eps, True)


def _max_pool(operator: Any, axes: int) -> Callable[[Any, Any], _Call]:
    def call(layer: Any, x: Any) -> _Call:
        if layer.return_indices:
            raise ValueError("indices")
        window = (layer.kernel_size, layer.stride, layer.padding, layer.dilation)
        return operator, (x, *(_each(one, axes) for one in window), layer.ceil_mode)

    return call


def _average_pool(operator: Any, axes: int) -> Callable[[Any, Any], _Call]:
    def call(layer: Any, x: Any) -> _Call:
        window = (_each(one, axes) for one in (layer.kernel_size, layer.stride, layer.padding))
        divisor = () if axes == 1 else (layer.divisor_override,)
        return operator, (x, *window, layer.ceil_mode, layer.count_include_pad, *divisor)

    return call


def _each(sizes: int | tuple[int, ...], axes: int) -> list[int]:
    return [sizes] * axes if isinstance(sizes, int) else list(sizes)


def _if_there(layer: nn.Module, name: str) -> str | None:
    return f".{name}" if getattr(layer, name) is not None else None


# From a layer and its input to its operator, None where it does nothing; ValueError where torch.export has to look.
_LAYERS: dict[type[nn.Module], Callable[[Any, Any], _Call | None]] = {
    nn.Identity: lambda layer, x: None,
    nn.Dropout: lambda layer, x: None,
    nn.Dropout2d: lambda layer, x: None,
    nn.Linear: lambda layer, x: (_aten.linear.default, (x, ".weight", ".bias" if layer.bias is not None else None)),
    nn.ReLU: lambda layer, x: (_aten.relu.default, (x,)),
    nn.ReLU6: lambda layer, x: (_aten.relu6.default, (x,)),
    nn.Hardtanh: lambda layer, x: (_aten.hardtanh.default, (x, layer.min_val, layer.max_val)),
    nn.LeakyReLU: lambda layer, x: (_aten.leaky_relu.default, (x, layer.negative_slope)),
    nn.Flatten: lambda layer, x: (_aten.flatten.using_ints, (x, layer.start_dim, layer.end_dim)),
    nn.Conv1d: _convolution(_aten.conv1d.default),
    nn.Conv2d: _convolution(_aten.conv2d.default),
    nn.BatchNorm1d: _batch_norm,
    nn.BatchNorm2d: _batch_norm,
    nn.MaxPool1d: _max_pool(_aten.max_pool1d.default, 1),
    nn.MaxPool2d: _max_pool(_aten.max_pool2d.default, 2),
    nn.AvgPool1d: _average_pool(_aten.avg_pool1d.default, 1),
    nn.AvgPool2d: _average_pool(_aten.avg_pool2d.default, 2),
    nn.Sigmoid: lambda layer, x: (_aten.sigmoid.default, (x,)),
    nn.Tanh: lambda layer, x: (_aten.tanh.default, (x,)),
}


def plain_source(model: nn.Module, input_shape: tuple[int, ...]) -> TorchSource | None:
    """Return the trace of a chain of known layers, None for other models and those that fail at the shape.

    The model is left as it is.
    """
    if not _is_plain(model):
        return None
    twin = double_twin(model)
    notes: list[str] = []

    def reference(x: Tensor) -> Tensor:
        with in_double(notes):
            return twin(x.clone())

    generator = torch.Generator().manual_seed(0)
    sample = torch.randn(_BATCH, *input_shape, dtype=torch.float64, generator=generator)
    try:
        with in_double(notes):
            trace = TorchTrace(*_traced(twin, sample), input_shape, _BATCH)
        network = trace.lower()
    except Exception:
        return None  # torch.export's way ends with a sentence about it
    logits = trace.reference if network.left_off else None
    return TorchSource(network, reference, None, trace.tail.finish, logits, _BATCH)


def _is_plain(model: nn.Module) -> bool:
    modules = list(model.modules())
    return isinstance(model, nn.Sequential) and all(
        (type(one) is nn.Sequential or type(one) in _LAYERS)
        and "forward" not in vars(one)
        and not any(vars(one).get(hooks) for hooks in _HOOKS)
        for one in modules
    )


_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def _traced(
    twin: nn.Module, sample: Tensor
) -> tuple[fx.Graph, Mapping[str, Any], Mapping[str, Tensor], Mapping[str, str], Mapping[str, str], str, str]:
    """Return the first parameters of a `TorchTrace`, in order."""
    graph, parameters, placeholders = fx.Graph(), {}, {}
    names, aliases, nodes = {}, {}, {}
    for name, tensor in twin.state_dict(keep_vars=True).items():
        key = (tensor.data_ptr(), tensor.shape, tensor.stride()) if tensor.numel() else name
        aliases[name] = first = names.setdefault(key, name)
        if first == name:
            parameters[name] = tensor.detach()
            nodes[name] = graph.placeholder("p_" + name.replace(".", "_"))
            placeholders[nodes[name].name] = name
    node = graph.placeholder("input")
    given, values = node.name, {node: sample}
    for path, layer in _layers(twin, ""):
        call = _LAYERS[type(layer)](layer, node)
        if call is None:
            continue
        target, args = call
        stored = {arg: aliases[f"{path}{arg}"] for arg in args if isinstance(arg, str)}
        previous = values[node]
        concrete = [
            previous if arg is node else parameters[stored[arg]] if isinstance(arg, str) else arg for arg in args
        ]
        node = graph.call_function(target, tuple(nodes[stored[arg]] if isinstance(arg, str) else arg for arg in args))
        values[node] = target(*concrete)
        node.meta["val"] = values[node]
        node.meta["nn_module_stack"] = {path: (path, type(layer))}
    return graph, {}, parameters, placeholders, aliases, given, node.name


def _layers(module: nn.Module, path: str) -> Iterator[tuple[str, nn.Module]]:
    """Yield the layers of a chain with their paths, in order."""
    for name, layer in module._modules.items():  # named_children leaves out a layer that comes again
        if layer is None:
            continue
        within = f"{path}.{name}" if path else name
        if isinstance(layer, nn.Sequential):
            yield from _layers(layer, within)
        else:
            yield within, layer
