"""Sparse autoencoders as they are written: their latents are the codes, and their regions those of the models."""

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.errors import UnsupportedOperatorError

INPUTS, LATENTS = 3, 10


class StraightThrough(torch.autograd.Function):
    """JumpReLU with a gradient of its own, as it is trained."""

    @staticmethod
    def forward(ctx, x, threshold):
        return (x * (x > threshold)).to(x)

    @staticmethod
    def backward(ctx, *grad_outputs):
        return grad_outputs[0], None


def relu(x, threshold):
    return x.relu()


def gemma_scope(x, threshold):
    mask = x > threshold
    return mask * nn.functional.relu(x)


def sae_lens(x, threshold):
    return (x > threshold).to(x.dtype) * x.relu()


def in_training(x, threshold):
    return StraightThrough.apply(x, threshold)


def batch_topk(x, threshold):
    """In use: what is above the threshold that training has left."""
    after = x.relu()
    return after * (after > 0.3)


def topk(x, threshold):
    values, places = x.relu().topk(4, dim=-1)
    return torch.zeros_like(x).scatter_(-1, places, values)


class Autoencoder(nn.Module):
    def __init__(self, activation):
        super().__init__()
        torch.manual_seed(5)
        self.encoder = nn.Linear(INPUTS, LATENTS)
        self.decoder = nn.Linear(LATENTS, INPUTS)
        # Thresholds on both sides of zero, zero, and one that comes twice.
        self.threshold = nn.Parameter(torch.tensor([0.5, 0.1, 0.0, -0.2, 0.5, 0.3, 0.2, 0.4, 0.1, 0.7]))
        with torch.no_grad():  # a latent that comes twice, and one that is dead
            self.encoder.weight[1], self.encoder.bias[1] = self.encoder.weight[0], self.encoder.bias[0]
            self.encoder.weight[2], self.encoder.bias[2] = 0.0, -1.0
        self.activation = activation

    def latents(self, x):
        return self.activation(self.encoder(x - self.decoder.bias), self.threshold)

    def forward(self, x):
        return self.decoder(self.latents(x))


JUMPING = [gemma_scope, sae_lens, in_training, batch_topk]


@pytest.mark.parametrize("activation", [relu, *JUMPING])
def test_outputs_and_latents_are_those_of_the_model(activation):
    model = Autoencoder(activation)
    net = rs.load(model, input_shape=INPUTS)
    model = model.double()
    x = 2 * torch.randn(400, INPUTS, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(net(x), model(x), rtol=1e-12, atol=1e-12)
        active = (model.latents(x) != 0).numpy()
    assert bool(net.jumps) == (activation is not relu)
    last = net.codes(x).to_array()[:, -LATENTS:]
    if activation in (gemma_scope, sae_lens):
        # Below a threshold of less than zero there is a kink and no jump: the last piece is the active one.
        np.testing.assert_array_equal(last == net.gates[-1].num_pieces - 1, active)
    else:
        np.testing.assert_array_equal(last > 0, active)


@pytest.mark.parametrize("activation", JUMPING)
def test_the_plane_is_that_of_a_grid(activation):
    model = Autoencoder(activation)
    net = rs.load(model, input_shape=INPUTS)
    plane = rs.Plane([-2.0, -2.0, 0.5], [2.0, -2.0, 0.5], [-2.0, 2.0, 0.5])
    part = rs.partition(net, plane)
    assert str(part.claim) == "EXACT"
    assert part.volumes().sum() == pytest.approx(plane.window.volume())
    # Every code of a grid is a row, and its map gives what the model gives there.
    side = np.linspace(0.01, 3.99, 120)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    rows = part.locate(points)
    with torch.no_grad():
        outputs = model.double()(torch.tensor(plane.lift(points))).numpy()
    maps = part.maps
    found = np.einsum("smn,sn->sm", maps.weight.numpy()[rows], points) + maps.bias.numpy()[rows]
    np.testing.assert_allclose(found, outputs, atol=1e-9)
    # A region that holds none of the points is smaller than the grid is coarse.
    missed = np.setdiff1d(np.arange(len(part)), rows)
    assert (part.volumes()[missed] < 0.05).all()


def test_topk_is_refused_by_name():
    with pytest.raises(UnsupportedOperatorError, match=r"topk at .*overtake each other.*a threshold in its place"):
        rs.load(Autoencoder(topk), input_shape=INPUTS)
