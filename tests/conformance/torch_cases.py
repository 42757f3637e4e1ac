"""One small model per operator and per way of using it: the list that every front end has to get right.

To add an operator, add its case here: the conformance tests then compare it with PyTorch in every respect.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[], nn.Module]
    input_shape: tuple[int, ...]

    def __str__(self):
        return self.name


class Forward(nn.Module):
    """A model whose forward is a function of itself and the input."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            if isinstance(part, nn.Module):
                self.add_module(name, part)
            else:
                self.register_buffer(name, part)

    def forward(self, x):
        return self.function(self, x)


def _largest_scattered(m, x):
    values, places = x.relu().topk(2)
    return torch.zeros_like(x).scatter(-1, places, values.relu() * 2.0)


def _mask_of_largest(x):
    return torch.zeros_like(x).scatter(-1, x.topk(2).indices, 1.0)


def _smallest_of_columns(m, x):
    values, places = x.topk(2, dim=1, largest=False)
    return torch.zeros_like(x).scatter(1, places, values)


def _f(function, **parts):
    return lambda: Forward(function, **{name: part() if callable(part) else part for name, part in parts.items()})


def _s(*makers):
    return lambda: nn.Sequential(*(make() for make in makers))


def _settled(norm):
    """A normalisation with statistics unlike those it starts with."""
    generator = torch.Generator().manual_seed(1)
    norm.running_mean.copy_(torch.randn(norm.num_features, generator=generator))
    norm.running_var.copy_(torch.rand(norm.num_features, generator=generator) + 0.1)
    with torch.no_grad():
        norm.weight.copy_(torch.randn(norm.num_features, generator=generator))
        norm.bias.copy_(torch.randn(norm.num_features, generator=generator))
    return norm


class Residual(nn.Module):
    """A block with a projected shortcut and one activation used twice."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3, stride=2, padding=1)
        self.second = nn.Conv2d(4, 4, 3, padding=1)
        self.short = nn.Conv2d(2, 4, 1, stride=2)
        self.activation = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.second(self.activation(self.first(x)))
        y += self.short(x)
        return self.activation(y)


class Recurrent(nn.Module):
    """A cell that is applied again and again."""

    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(2, 3, nonlinearity="relu")

    def forward(self, x):
        state = x.new_zeros(x.size(0), 3)
        for step in range(x.size(1)):
            state = self.cell(x[:, step], state)
        return state


class Shared(nn.Module):
    """Two layers with the same weight."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


_W = torch.linspace(-1.0, 1.3, 12).reshape(4, 3)
_M = torch.tensor([[True, False, True], [False, True, True]])

_AFFINE = [
    ("linear", _s(lambda: nn.Linear(3, 2)), (3,)),
    ("linear without bias", _s(lambda: nn.Linear(3, 2, bias=False)), (3,)),
    ("linear on the last of two axes", _s(lambda: nn.Linear(3, 2), nn.ReLU, nn.Flatten), (4, 3)),
    ("matmul by a constant", _f(lambda m, x: (x @ m.w).relu(), w=_W.T), (3,)),
    ("matmul from the left", _f(lambda m, x: (m.w @ x).relu(), w=_W), (3, 2)),
    ("matmul of stacks", _f(lambda m, x: m.w @ x, w=torch.randn(2, 4, 3)), (2, 3, 5)),
    ("matmul by stacks", _f(lambda m, x: x @ m.w, w=torch.randn(2, 3, 4)), (2, 5, 3)),
    ("matmul by a vector", _f(lambda m, x: x @ m.w, w=_W[0]), (2, 3)),
    ("lerp", _f(lambda m, x: torch.lerp(x, x.relu(), m.w), w=torch.tensor([0.25, 0.75, 2.0])), (3,)),
    ("lerp to a constant", _f(lambda m, x: torch.lerp(x, m.end, 0.25), end=torch.ones(3)), (3,)),
    ("addmm", _f(lambda m, x: torch.addmm(m.b, x, m.w, beta=2.0, alpha=0.5), w=_W.T, b=torch.ones(4)), (3,)),
    ("einsum", _f(lambda m, x: torch.einsum("bi,oi->bo", x, m.w).abs(), w=_W), (3,)),
    ("conv1d", _s(lambda: nn.Conv1d(2, 3, 3, stride=2, padding=1)), (2, 7)),
    ("conv2d", _s(lambda: nn.Conv2d(2, 4, (3, 2), stride=(1, 2), padding=(1, 0), dilation=(1, 2))), (2, 5, 6)),
    ("conv2d with groups", _s(lambda: nn.Conv2d(4, 6, 3, groups=2, bias=False)), (4, 4, 4)),
    ("conv2d same", _s(lambda: nn.Conv2d(1, 2, 4, padding="same", dilation=1)), (1, 5, 5)),
    ("conv2d reflected", _s(lambda: nn.Conv2d(1, 2, 3, padding=1, padding_mode="reflect")), (1, 4, 4)),
    ("conv2d circular", _s(lambda: nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular")), (1, 4, 4)),
    ("conv3d", _s(lambda: nn.Conv3d(1, 2, 2, padding=1)), (1, 3, 3, 2)),
    ("transposed conv1d", _s(lambda: nn.ConvTranspose1d(2, 3, 3, stride=2, padding=1, output_padding=1)), (2, 4)),
    ("transposed conv2d", _s(lambda: nn.ConvTranspose2d(4, 2, 3, stride=2, dilation=3, groups=2)), (4, 3, 3)),
    ("transposed conv3d", _s(lambda: nn.ConvTranspose3d(1, 2, 2, stride=2, bias=False)), (1, 2, 2, 2)),
    ("batch norm 1d", lambda: nn.Sequential(nn.Linear(3, 4), _settled(nn.BatchNorm1d(4)), nn.ReLU()), (3,)),
    ("batch norm 2d", lambda: nn.Sequential(_settled(nn.BatchNorm2d(2)), nn.ReLU()), (2, 3, 3)),
    (
        "instance norm with statistics",
        lambda: _settled(nn.InstanceNorm1d(2, affine=True, track_running_stats=True)),
        (2, 5),
    ),
    ("dropout", _s(nn.Dropout, nn.ReLU, nn.Dropout1d, lambda: nn.AlphaDropout(0.3)), (2, 3)),
    ("average pool 1d", _s(lambda: nn.AvgPool1d(3, 2, 1)), (2, 7)),
    ("average pool 2d", _s(lambda: nn.AvgPool2d(2)), (2, 5, 4)),
    ("average pool of full windows only", _s(lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False)), (1, 6, 5)),
    ("average pool, ceil mode", _s(lambda: nn.AvgPool2d(3, 2, 1, ceil_mode=True)), (1, 6, 6)),
    (
        "average pool, ceil mode, not the padding",
        _s(lambda: nn.AvgPool2d(2, 3, 1, ceil_mode=True, count_include_pad=False)),
        (1, 6, 6),
    ),
    ("average pool, ceil mode, no window in the padding", _s(lambda: nn.AvgPool1d(2, 5, 1, ceil_mode=True)), (1, 4)),
    ("average pool by a divisor", _s(lambda: nn.AvgPool2d((3, 2), 1, divisor_override=5)), (1, 4, 4)),
    ("average pool 3d", _s(lambda: nn.AvgPool3d(2, 1)), (1, 3, 3, 2)),
    ("adaptive average pool", _s(lambda: nn.AdaptiveAvgPool2d((2, 3))), (2, 5, 7)),
    ("adaptive average pool 1d", _s(lambda: nn.AdaptiveAvgPool1d(3)), (2, 4)),
    ("global average pool", _s(lambda: nn.AdaptiveAvgPool2d(1), nn.Flatten), (2, 3, 4)),
    ("mean and sum", _f(lambda m, x: x.mean((2, 3)) + x.sum(dim=3, keepdim=True).sum((2, 3))), (2, 3, 4)),
    ("cumulative sum", _f(lambda m, x: x.cumsum(2).relu()), (2, 4)),
    ("add and subtract constants", _f(lambda m, x: (2.0 - x + m.w).sub(m.w, alpha=0.5) - 1.5, w=_W), (4, 3)),
    ("multiply and divide", _f(lambda m, x: -(x * m.w) / (m.w.abs() + 1) * 3.0, w=_W), (4, 3)),
    ("constants that broadcast", _f(lambda m, x: x * m.w[:, :1] + m.w, w=_W), (1, 3)),
    (
        "normalisation by constants",
        _f(
            lambda m, x: (x - m.mean) / m.std,
            mean=torch.tensor([0.1, 0.2]).reshape(2, 1, 1),
            std=torch.tensor([0.5, 2.0]).reshape(1, 2, 1, 1),
        ),
        (2, 3, 3),
    ),
    ("branches", _f(lambda m, x: torch.add(x.relu(), x, alpha=-2.0) - x.abs()), (3,)),
    ("branches that broadcast", _f(lambda m, x: x.relu() + x.mean((1, 2), keepdim=True)), (2, 3)),
    ("rsub", _f(lambda m, x: torch.rsub(x, x.relu(), alpha=2.0)), (3,)),
    ("bilinear upsampling", _s(lambda: nn.Upsample(scale_factor=2, mode="bilinear")), (2, 3, 4)),
    (
        "bilinear upsampling, aligned",
        _s(lambda: nn.Upsample(size=(5, 7), mode="bilinear", align_corners=True)),
        (1, 3, 4),
    ),
    ("linear upsampling", _s(lambda: nn.Upsample(scale_factor=1.5, mode="linear")), (2, 5)),
    ("trilinear upsampling", _s(lambda: nn.Upsample(scale_factor=2, mode="trilinear")), (1, 2, 2, 2)),
    ("bicubic upsampling", _s(lambda: nn.Upsample(scale_factor=2, mode="bicubic")), (1, 3, 3)),
]


def _meeting(reduction, keeps=True):
    return lambda m, x: x[:, :4].scatter_reduce(
        1, m.i[None, :, None].expand_as(x), 2 * x, reduction, include_self=keeps
    )


def _messages(m, x):
    return torch.zeros(len(x), 4, 2, dtype=x.dtype).index_add(1, m.i, m.layer(x).relu())


def _recurrent(m, x):
    states, last = m.layer(x)
    return torch.cat([states[:, -1], last[-1]], 1)


def _sampled(mode, padding):
    def run(m, x):
        grid = m.g.to(x).expand(len(x), -1, -1, -1)
        return F.grid_sample(x.relu(), grid, mode, padding, align_corners=False)

    return run


_PLACES = torch.tensor([0, 2, 2, 1, 3])
_GRID = torch.linspace(-1.3, 1.2, 24).reshape(1, 3, 4, 2)

_ARRANGED = [
    ("messages of a graph", _f(_messages, layer=lambda: nn.Linear(3, 2), i=_PLACES), (5, 3)),
    ("added along an axis", _f(lambda m, x: x.index_add(1, m.i, x.relu(), alpha=0.5), i=_PLACES[:4]), (4,)),
    ("scattered sums", _f(_meeting("sum"), i=_PLACES), (5, 2)),
    ("scattered means", _f(_meeting("mean", False), i=_PLACES), (5, 2)),
    ("scattered maxima", _f(_meeting("amax"), i=_PLACES), (5, 2)),
    ("scattered minima of the others", _f(_meeting("amin", False), i=_PLACES), (5, 2)),
    ("accumulated", _f(lambda m, x: torch.ops.aten.index_put(x.relu(), [None, m.i], x, True), i=_PLACES[:4]), (4,)),
    ("a recurrent layer", _f(_recurrent, layer=lambda: nn.RNN(2, 3, nonlinearity="relu", batch_first=True)), (3, 2)),
    (
        "recurrent layers both ways",
        _f(
            _recurrent,
            layer=lambda: nn.RNN(2, 2, 2, nonlinearity="relu", batch_first=True, bidirectional=True, bias=False),
        ),
        (3, 2),
    ),
    ("an image between its entries", _f(_sampled("bilinear", "zeros"), g=_GRID), (1, 3, 4)),
    ("an image beyond its ends", _f(_sampled("bicubic", "reflection"), g=_GRID), (2, 3, 4)),
    ("the largest in order", _f(lambda m, x: x.topk(3)[0].relu()), (5,)),
    ("the smallest in order", _f(lambda m, x: x.topk(2, dim=1, largest=False)[0]), (3, 2)),
    ("numbers for what is none", _f(lambda m, x: torch.where(x.isnan(), 0.0, x.nan_to_num()).relu()), (3,)),
    ("flatten and reshape", _f(lambda m, x: x.flatten(1).view(x.size(0), 3, -1).reshape(-1, 12)), (2, 2, 3)),
    ("permute", _f(lambda m, x: x.permute(0, 3, 1, 2).transpose(1, 2).relu().flatten(1)), (2, 3, 4)),
    ("slices", _f(lambda m, x: x[:, 1:, ::2] - x[:, :-1, 1::2]), (3, 4)),
    (
        "index and select",
        _f(lambda m, x: x[:, m.i] + x[:, 1:2] + x.select(1, 0).unsqueeze(1), i=torch.tensor([2, 0])),
        (3, 4),
    ),
    (
        "index select and gather",
        _f(lambda m, x: x.index_select(1, m.i) + x.gather(1, m.i.repeat(x.size(0), 1)), i=torch.tensor([2, 0, 2])),
        (3,),
    ),
    ("squeeze", _f(lambda m, x: x.squeeze(1).unsqueeze(2).squeeze()), (1, 3)),
    ("expand", _f(lambda m, x: x.expand(-1, 3, 4).relu()), (3, 1)),
    ("repeat", _f(lambda m, x: x.repeat(1, 2).relu()), (3,)),
    ("flip and roll", _f(lambda m, x: x.flip(1).roll(1, 2)), (3, 4)),
    ("split", _f(lambda m, x: torch.maximum(*x.split(2, dim=1))), (4,)),
    ("chunk and unbind", _f(lambda m, x: x.chunk(2, 1)[1] + x.unbind(1)[0].unsqueeze(1)), (4, 2)),
    ("concatenation", _f(lambda m, x: torch.cat([x.relu(), x, -x.abs()], 1)), (2, 3)),
    (
        "concatenation with constants",
        _f(lambda m, x: torch.cat([m.w.expand(x.size(0), 4, 3), x, m.w.expand(x.size(0), 4, 3)], 1).relu(), w=_W),
        (2, 3),
    ),
    ("stack", _f(lambda m, x: torch.stack([x, x.relu()], 1)), (3,)),
    ("padding", _f(lambda m, x: F.pad(x, (1, 2, 0, 1), value=0.5).relu()), (2, 3)),
    ("padding that cuts", _f(lambda m, x: F.pad(x, (-1, 2))), (4,)),
    ("reflection padding", _s(lambda: nn.ReflectionPad2d((1, 2, 0, 1))), (1, 3, 4)),
    ("replication padding", _s(lambda: nn.ReplicationPad1d(2), nn.ReLU), (2, 3)),
    ("nearest upsampling", _s(lambda: nn.Upsample(scale_factor=2), nn.ReLU), (2, 2, 3)),
    ("nearest upsampling to a size", _f(lambda m, x: F.interpolate(x, size=(5, 4), mode="nearest-exact")), (1, 3, 3)),
    ("pixel shuffle", _s(lambda: nn.PixelShuffle(2)), (4, 2, 2)),
    ("channel shuffle", _s(lambda: nn.ChannelShuffle(2)), (4, 2, 2)),
    ("unfold", _s(lambda: nn.Unfold(2, padding=1), nn.ReLU), (1, 3, 3)),
    ("fold", _s(lambda: nn.Fold((3, 3), 2)), (4, 4)),
    ("triangle", _f(lambda m, x: x.tril().relu()), (3, 3)),
    ("written in place", _f(lambda m, x: _written(x)), (4,)),
    ("masked fill", _f(lambda m, x: x.masked_fill(m.mask, 0.25), mask=_M), (2, 3)),
    ("where by a constant mask", _f(lambda m, x: torch.where(m.mask, x, x.relu() - 1), mask=_M), (2, 3)),
]


def _written(x):
    y = x.clone()
    y[:, :2] = 0.5
    y[:, 3] = x[:, 0].relu()
    return y


_GATES = [
    ("relu module", _s(lambda: nn.Linear(3, 5), nn.ReLU, lambda: nn.Linear(5, 2)), (3,)),
    ("relu function", _f(lambda m, x: m.b(F.relu(m.a(x))), a=lambda: nn.Linear(3, 5), b=lambda: nn.Linear(5, 2)), (3,)),
    ("relu as clamp", _f(lambda m, x: x.clamp(min=0) + x.clamp_min(0.5)), (3,)),
    ("leaky relu", _s(lambda: nn.LeakyReLU(0.2)), (4,)),
    ("leaky relu of negative slope", _s(lambda: nn.LeakyReLU(-0.5)), (4,)),
    ("prelu", _s(nn.PReLU), (2, 3)),
    ("prelu per channel", _f(lambda m, x: m.p(x), p=lambda: _spread(nn.PReLU(3))), (3, 2, 2)),
    ("rrelu in evaluation", _s(nn.RReLU), (4,)),
    ("relu6", _s(nn.ReLU6), (4,)),
    ("hard-tanh", _s(lambda: nn.Hardtanh(-0.5, 2.0)), (4,)),
    ("clamp", _f(lambda m, x: x.clamp(-1, 0.25)), (4,)),
    ("clamp from above", _f(lambda m, x: x.clamp(max=0.25)), (4,)),
    ("clamp by tensors", _f(lambda m, x: torch.clamp(x, m.w - 1, m.w.abs()), w=_W), (4, 3)),
    ("clamp with crossed bounds", _f(lambda m, x: torch.clamp(x, 1.0, -1.0) + x.relu()), (3,)),
    ("clamp by values", _f(lambda m, x: torch.clamp(x[:, :2], min=x[:, 2:])), (4,)),
    ("abs", _f(lambda m, x: x.abs()), (4,)),
    ("hard-sigmoid", _f(lambda m, x: F.hardsigmoid(4 * x)), (4,)),
    ("softshrink", _s(lambda: nn.Softshrink(0.75)), (4,)),
    ("threshold", _s(lambda: nn.Threshold(0.5, 0.5)), (4,)),
    ("max pool 1d", _s(lambda: nn.MaxPool1d(3, 2, 1)), (2, 7)),
    ("max pool 2d", _s(lambda: nn.MaxPool2d(2)), (2, 4, 5)),
    ("max pool that overlaps", _s(lambda: nn.MaxPool2d(3, 1, 1)), (1, 4, 3)),
    ("max pool with dilation", _s(lambda: nn.MaxPool2d(2, 1, dilation=(2, 1))), (1, 4, 4)),
    ("max pool, ceil mode", _s(lambda: nn.MaxPool2d(3, 2, 1, ceil_mode=True)), (1, 6, 6)),
    ("max pool, ceil mode, no window in the padding", _s(lambda: nn.MaxPool1d(2, 5, 1, ceil_mode=True)), (1, 4)),
    ("max pool 3d", _s(lambda: nn.MaxPool3d(2)), (1, 2, 4, 2)),
    ("max pool with indices unused", _f(lambda m, x: F.max_pool2d(x, 2, return_indices=True)[0]), (1, 4, 4)),
    ("adaptive max pool", _s(lambda: nn.AdaptiveMaxPool2d((2, 3))), (1, 5, 4)),
    ("max pool of one entry", _s(lambda: nn.MaxPool2d(1, 2)), (1, 4, 4)),
    ("maxout", _f(lambda m, x: m.a(x).view(-1, 3, 4).amax(2), a=lambda: nn.Linear(3, 12)), (3,)),
    ("maxout by max", _f(lambda m, x: m.a(x).view(-1, 3, 4).max(dim=1).values, a=lambda: nn.Linear(3, 12)), (3,)),
    ("largest of all", _f(lambda m, x: x.amax((1, 2)) + x.amin((1, 2))), (2, 3)),
    ("maximum and minimum", _f(lambda m, x: torch.maximum(x, m.w) + torch.minimum(x, x.flip(1)), w=_W[0]), (3,)),
    ("max of two", _f(lambda m, x: torch.max(x[:, :1], x[:, 1:2]) - torch.min(x[:, :1], x[:, 1:])), (3, 2)),
    ("maximum that broadcasts", _f(lambda m, x: torch.maximum(x, x.mean(2, keepdim=True))), (2, 3)),
    ("absolute values of a minimum", _f(lambda m, x: torch.min(x, dim=2).values.abs()), (2, 3)),
]

_WHOLE = [
    ("residual block", Residual, (2, 6, 6)),
    ("shared weights", Shared, (4,)),
    ("recurrent cell", Recurrent, (3, 2)),
    ("reused module", _f(lambda m, x: m.r(m.l(m.r(m.l(x)))), l=lambda: nn.Linear(4, 4), r=nn.ReLU), (4,)),
    ("no gate", _s(lambda: nn.Linear(3, 4), lambda: nn.Linear(4, 2)), (3,)),
    ("constant output", _f(lambda m, x: torch.zeros_like(x) + m.w[0], w=_W), (3,)),
    ("identity", _f(lambda m, x: x), (3,)),
    ("one input, one unit", _s(lambda: nn.Linear(1, 1), nn.ReLU), (1,)),
    ("gate on the input", _s(nn.ReLU, lambda: nn.Linear(3, 2)), (3,)),
    ("gate after gate", _s(nn.ReLU6, lambda: nn.LeakyReLU(0.1), lambda: nn.MaxPool1d(2)), (2, 4)),
    ("dead code", _f(lambda m, x: (x.sin(), x.relu())[1]), (3,)),
    ("batch size one", _f(lambda m, x: m.l(x.view(1, -1)).relu(), l=lambda: nn.Linear(6, 2)), (2, 3)),
    ("no gradients inside", _f(lambda m, x: _detached(m, x), l=lambda: nn.Linear(3, 3)), (3,)),
    ("input of three axes that is flattened", _s(nn.Flatten, lambda: nn.Linear(12, 3), nn.ReLU), (3, 2, 2)),
]


def _detached(m, x):
    with torch.no_grad():
        y = m.l(x)
    return y.detach().relu() + x


def _spread(prelu):
    with torch.no_grad():
        prelu.weight.copy_(torch.linspace(-0.5, 1.5, prelu.num_parameters))
    return prelu


# What jumps, on values of which some are the breakpoints themselves: the positive parts are 0 on whole regions.
_LEVELS = torch.tensor([0.5, -0.25, 0.0, 0.5])
_JUMPING = [
    ("sign", _f(lambda m, x: torch.sign(x), l=lambda: nn.Linear(4, 4)), (4,)),
    ("sign of what is dead", _f(lambda m, x: torch.sign(x.relu())), (4,)),
    ("sign as one", _f(lambda m, x: (x > 0).double() - (x < 0).double()), (4,)),
    ("step", _f(lambda m, x: (x > 0).double()), (4,)),
    ("step of what is dead", _f(lambda m, x: (x.relu() >= 0).to(x) + (x.relu() <= 0).to(x)), (4,)),
    (
        "heaviside, no gradients",
        _f(lambda m, x: torch.heaviside(x.relu(), m.w.to(x)), w=torch.tensor([0.5, 1, 0, -2])),
        (4,),
    ),
    ("jumprelu of levels", _f(lambda m, x: (x > m.w) * x.relu(), w=_LEVELS), (4,)),
    ("jumprelu with its ends", _f(lambda m, x: torch.where(x >= m.w, x, 0.0), w=_LEVELS), (4,)),
    ("jumprelu by a difference", _f(lambda m, x: x * (x - m.w > 0), w=_LEVELS), (4,)),
    ("batch topk in use", _f(lambda m, x: x.relu() * (x.relu() > 0.3).to(x)), (4,)),
    ("the largest scattered", _f(_largest_scattered), (4,)),
    ("the largest active by a mask", _f(lambda m, x: _mask_of_largest(x) * x.relu()), (4,)),
    ("the smallest of columns", _f(_smallest_of_columns), (3, 4)),
    ("leaky by where", _f(lambda m, x: torch.where(x > 0, x, 0.1 * x)), (4,)),
    ("jumping threshold", _s(lambda: nn.Threshold(0.5, -1.0)), (4,)),
    ("hard shrinkage", _s(lambda: nn.Hardshrink(0.75)), (4,)),
    ("masked fill by a condition", _f(lambda m, x: x.masked_fill(x < m.w, 1.5), w=_LEVELS), (4,)),
    ("conditions together", _f(lambda m, x: ((x > -1) & (x <= 1) | (x > m.w + 2)).to(x), w=_LEVELS), (4,)),
    ("conditions on two values", _f(lambda m, x: ((x > 0) & ~(x.flip(1) > 0)).to(x)), (4,)),
    ("either of two", _f(lambda m, x: torch.logical_xor(x > 0, x.flip(1) > 0).to(x)), (4,)),
    ("comparison of values", _f(lambda m, x: (x > x.flip(1)).long().to(x)), (4,)),
    ("equal and not", _f(lambda m, x: (x.relu() == 0).to(x) + 2 * (x.relu() != 0).to(x)), (4,)),
    (
        "jumps after jumps",
        _s(lambda: nn.Hardshrink(0.5), lambda: nn.Linear(4, 3), lambda: nn.Threshold(0.1, -1.0)),
        (4,),
    ),
]

JUMPING = [Case(*case) for case in _JUMPING]
CASES = [*(Case(*case) for case in (*_AFFINE, *_ARRANGED, *_GATES, *_WHOLE)), *JUMPING]
