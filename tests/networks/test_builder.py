"""What the torch front end does not reach: uneven padding, errors, forms that only ONNX has."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from reluscope.errors import InputError, NotPiecewiseLinearError, ShapeError
from reluscope.networks.building.builder import GraphBuilder


def random_array(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def built(shape, make):
    """Return a network from a function of the builder and its input, and points for it."""
    builder = GraphBuilder()
    return builder.build(make(builder, builder.input(shape))), random_array(5, *shape, seed=1)


def test_uneven_padding_of_a_convolution():
    weight = random_array(2, 1, 3, 2)
    net, x = built((1, 4, 5), lambda b, x: b.convolution(x, weight, padding=[(1, 0), (0, 2)]))
    torch.testing.assert_close(net(x), F.conv2d(F.pad(x, (0, 2, 1, 0)), weight))


def test_uneven_padding_of_a_transposed_convolution():
    weight = random_array(1, 2, 3)
    net, x = built((1, 4), lambda b, x: b.transposed_convolution(x, weight, stride=2, padding=[(1, 2)]))
    torch.testing.assert_close(net(x), F.conv_transpose1d(x, weight, stride=2)[..., 1:-2])


@pytest.mark.parametrize("count_include_pad", [True, False])
def test_uneven_padding_of_an_average(count_include_pad):
    net, x = built((1, 4), lambda b, x: b.average_pool(x, 3, 2, [(2, 1)], count_include_pad=count_include_pad))
    padded = F.pad(x, (2, 1))
    counts = torch.full((3,), 3.0) if count_include_pad else torch.tensor([1.0, 3.0, 2.0])
    torch.testing.assert_close(net(x), F.avg_pool1d(padded, 3, 2) * 3 / counts)


def test_dilated_average():
    net, x = built((2, 5), lambda b, x: b.average_pool(x, 2, 1, dilation=3))
    torch.testing.assert_close(net(x), (x[..., :2] + x[..., 3:]) / 2)


def test_uneven_padding_of_a_maximum():
    net, x = built((1, 4), lambda b, x: b.max_pool(x, 2, 2, [(1, 0)], ceil_mode=True))
    expected = torch.stack([x[..., 0], x[..., 1:3].amax(-1), x[..., 3]], -1)
    assert torch.equal(net(x), expected)
    assert net.preactivations(x)[0][0, :, 0].isinf().tolist() == [True, False, False]


def test_hard_sigmoid_of_onnx():
    net, x = built((6,), lambda b, x: b.hardsigmoid(x, 0.2, 0.5))
    torch.testing.assert_close(net(4 * x), (0.2 * 4 * x + 0.5).clamp(0, 1))


def test_maxout_and_global_average():
    net, x = built((6, 2), lambda b, x: b.maxout(x, 0, 3))
    assert torch.equal(net(x), x.reshape(5, 2, 3, 2).amax(2))
    net, x = built((2, 3, 4), lambda b, x: b.mean(x, [1, 2], keepdims=True))
    torch.testing.assert_close(net(x), x.mean((2, 3), keepdim=True))


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_padding_modes(mode):
    net, x = built((2, 3), lambda b, x: b.pad(x, [(1, 0), (2, 1)], mode=mode))
    np.testing.assert_array_equal(net(x), np.pad(x, [(0, 0), (1, 0), (2, 1)], mode=mode))


def test_arrangement_follows_numpy():
    net, x = built((2, 3, 4), lambda b, x: b.take(b.permute(x, (2, 0, 1)), 0, torch.tensor([3, 0])))
    np.testing.assert_array_equal(net(x), x.numpy().transpose(0, 3, 1, 2)[:, [3, 0]])
    net, x = built((2, 1, 4), lambda b, x: b.unsqueeze(b.slice(b.squeeze(x), 1, -1, None, -2), [0, -1]))
    np.testing.assert_array_equal(net(x), x.numpy()[:, None, :, 0, ::-2, None])


def test_constants_of_more_axes():
    weight = random_array(4, 3)
    net, x = built((3,), lambda b, x: b.add(x, weight))
    torch.testing.assert_close(net(x), x.unsqueeze(1) + weight)
    net, x = built((3,), lambda b, x: b.concatenate([weight[0], x, weight[1]], 0))
    torch.testing.assert_close(net(x), torch.cat([weight[:1].expand(5, 3), x, weight[1:2].expand(5, 3)], 1))


def test_scalars_keep_their_precision():
    net, _ = built((1,), lambda b, x: b.multiply(b.clamp(b.add(x, 0.1), high=0.7), 1 / 3))
    assert net([[0.0]]).item() == 0.1 * (1 / 3)
    assert net([[9.0]]).item() == 0.7 * (1 / 3)


@pytest.mark.parametrize(
    ("error", "words", "make"),
    [
        (InputError, "continuous", lambda b, x: b.pointwise(x, "step", [0.0], [0.0, 0.0], [0.0, 1.0])),
        (InputError, "increasing", lambda b, x: b.pointwise(x, "odd", [1.0, 0.0], [1.0] * 3, [0.0] * 3)),
        (ShapeError, "one more piece", lambda b, x: b.pointwise(x, "odd", [1.0], [1.0], [0.0])),
        (InputError, "mixture", lambda b, x: b.clamp(x, torch.tensor([0.0, -torch.inf, 0.0, 0.0]))),
        (InputError, "weight of 'linear' holds 1 NaN", lambda b, x: b.linear(x, torch.tensor([[0, 1, 2, torch.nan]]))),
        (InputError, "holds 1 NaN", lambda b, x: b.divide(x, 0.0)),
        (ShapeError, r"last axis of 3, got a value \(4,\)", lambda b, x: b.linear(x, torch.ones(2, 3))),
        (ShapeError, "to keep 4 entries", lambda b, x: b.reshape(x, (3, 2))),
        (ShapeError, "branches of one shape", lambda b, x: b.add(x, b.slice(x, 0, 0, 3))),
        (ShapeError, "a window that fits", lambda b, x: b.max_pool(b.reshape(x, (1, 4)), 5)),
        (ShapeError, "a candidate for each", lambda b, x: b.max_of(x, np.array([[-1, -1]]), (1,))),
        (ShapeError, "an axis of a value with 1 axes", lambda b, x: b.mean(x, [1])),
        (NotPiecewiseLinearError, "two values", lambda b, x: b.multiply(x, x)),
        (NotPiecewiseLinearError, "divides by a value", lambda b, x: b.divide(1.0, x)),
    ],
)
def test_errors(error, words, make):
    with pytest.raises(error, match=words):
        built((4,), make)


def test_one_input():
    builder = GraphBuilder()
    builder.input((2,))
    with pytest.raises(ValueError, match="one input"):
        builder.input((2,))


def test_nothing_to_do_adds_no_node():
    builder = GraphBuilder()
    x = builder.input((1, 3))
    for same in (
        builder.reshape(x, (1, -1)), builder.permute(x, (0, 1)), builder.pad(x, [(0, 0), (0, 0)]), builder.clamp(x),
        builder.clamp(x, -torch.inf, torch.inf), builder.expand(x, (1, 3)), builder.sum(x, []), builder.amax(x, []),
        builder.concatenate([x], 0), builder.slice(x, 1, None, None),
    ):  # fmt: skip
        assert same == x
