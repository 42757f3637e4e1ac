"""Sparse autoencoders as they are written: their latents are the codes, and their regions those of the models."""

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.codes import Codes
from reluscope.errors import UnsupportedOperatorError
from reluscope.partitions.table.code_location import locate_by_code
from reluscope.tolerance import Tolerance

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


# -- the k largest latents: as OpenAI, SAE Lens, dictionary_learning and the paper of BatchTopK write them ------------


def openai(x, k):
    top = torch.topk(x, k=k, dim=-1)
    result = torch.zeros_like(x)
    result.scatter_(-1, top.indices, nn.ReLU()(top.values))
    return result


def of_active(x, k):
    top = x.relu().topk(k, sorted=False, dim=-1)
    return x.new_zeros(x.shape).scatter_(dim=-1, index=top.indices, src=top.values.to(x.dtype))


def asked_twice(x, k):
    return torch.zeros_like(x).scatter(-1, x.topk(k).indices, x.topk(k).values)


def by_mask(x, k):
    return x * torch.zeros_like(x).scatter(-1, x.topk(k).indices, 1.0)


def active_by_mask(x, k):
    return torch.zeros_like(x).scatter(-1, x.topk(k).indices, 1.0) * x.relu() * 2.0


def smallest(x, k):
    values, places = x.topk(k, largest=False)
    return torch.zeros_like(x).scatter(-1, places, values.abs())


def of_channels(x, k):
    """The largest of every column of a table."""
    table = x.unflatten(-1, (5, 2))
    top = table.topk(min(k, 5), dim=-2)
    return torch.zeros_like(table).scatter(-2, top.indices, top.values).flatten(-2)


def bounded(x, k):
    """Any function of one entry may follow that is 0 at 0."""
    values, places = x.topk(k)
    return torch.zeros_like(x).scatter(-1, places, nn.functional.relu6(values))


TOP = [openai, of_active, asked_twice, by_mask, active_by_mask, smallest, of_channels, bounded]


class TopAutoencoder(Autoencoder):
    def __init__(self, activation, k=3):
        super().__init__(activation)
        with torch.no_grad():  # latents that come twice tie everywhere: whichever is taken, so it is read out alike
            self.decoder.weight[:, 1] = self.decoder.weight[:, 0]
        self.k = k

    def latents(self, x):
        return self.activation(self.encoder(x - self.decoder.bias), self.k)


def in_order(before, k):
    """Return which entries of each row are among the k largest, lower ones before equal ones, one by one."""
    found = np.zeros(before.shape, dtype=int)
    for row, kept in zip(before, found, strict=True):
        kept[sorted(range(len(row)), key=lambda i: (-row[i], i))[:k]] = 1
    return found


@pytest.mark.few(3)
@pytest.mark.parametrize("activation", TOP)
def test_the_largest_latents_are_those_of_the_model(activation):
    model = TopAutoencoder(activation).eval()
    net = rs.load(model, input_shape=INPUTS)
    model = model.double()
    x = 2 * torch.randn(200, INPUTS, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    before = model.encoder(x - model.decoder.bias).detach()
    torch.testing.assert_close(net(x), model(x).detach(), rtol=1e-12, atol=1e-12)
    ((top, gate),) = [(i, gate) for i, gate in enumerate(net.gates) if gate.kind.startswith("topk")]
    assert gate.num_pieces == 2
    found = net.codes(x).to_array()[:, net.layout.units(top)]
    if activation in (openai, asked_twice, by_mask, active_by_mask):
        np.testing.assert_array_equal(found, in_order(before.numpy(), 3))
    assert (found.sum(axis=1) == (6 if activation is of_channels else 3)).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("activation", [openai, by_mask])
def test_regions_of_the_largest_latents(activation):
    model = TopAutoencoder(activation).eval()
    net = rs.load(model, input_shape=INPUTS)
    plane = rs.Plane([-2.0, -2.0, 0.5], [2.0, -2.0, 0.5], [-2.0, 2.0, 0.5])
    part = rs.partition(net, plane)
    assert str(part.claim) == "EXACT"
    side = np.linspace(0.01, 3.99, 40)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    rows = part.locate(points)
    assert (rows >= 0).all()
    maps = part.maps
    found = np.einsum("smn,sn->sm", maps.weight.numpy()[rows], points) + maps.bias.numpy()[rows]
    with torch.no_grad():
        outputs = model.double()(torch.tensor(plane.lift(points))).numpy()
    np.testing.assert_allclose(found, outputs, atol=1e-9)
    # A region that holds none of the points is small, and every region is that of its witness.
    again = rs.regions(net, part.witnesses[:8], domain=plane)
    assert [one.code.to_array().tolist() for one in again] == [[row] for row in part.codes.to_array()[:8].tolist()]
    missed = np.setdiff1d(np.arange(len(part)), rows)
    assert all(rs.region(net, point, domain=plane).polyhedron.volume() < 0.1 for point in part.witnesses[missed])


def test_points_lie_in_regions_that_take_the_other_one_of_equal_latents():
    net = rs.load(TopAutoencoder(openai).eval(), input_shape=INPUTS)
    points = 2 * np.random.default_rng(0).normal(size=(200, INPUTS))
    codes = net.codes(points)
    tables = [gate.to_array() for gate in codes.by_gate().values()]
    differ = np.flatnonzero(tables[0][:, 0] != tables[0][:, 1])
    assert len(differ) > 4
    other = Codes.from_pieces([table[:, [1, 0, *range(2, LATENTS)]] for table in tables], net.layout)
    for row in differ[:5].tolist():
        assert locate_by_code(points[[row]], net, other[row : row + 1], Tolerance()).tolist() == [0]


def in_order_of_size(x, k):
    return x.topk(k).values.repeat(1, 4)[:, :LATENTS]


def not_zero_at_zero(x, k):
    top = x.topk(k)
    return torch.zeros_like(x).scatter(-1, top.indices, nn.functional.threshold(top.values, 0.25, 0.5))


def shifted(x, k):
    top = x.topk(k)
    return torch.zeros_like(x).scatter(-1, top.indices, top.values + 1.0)


def bounded_by_rank(x, k):
    top = x.topk(k)
    return torch.zeros_like(x).scatter(-1, top.indices, top.values.clamp(max=torch.arange(k) + 1.0))


def elsewhere(x, k):
    return torch.zeros_like(x).scatter(-1, x.topk(k).indices, x.relu().topk(k).values)


def of_a_batch(x, k):
    """BatchTopK in training."""
    flat = x.flatten()
    top = flat.topk(k * len(x))
    return torch.zeros_like(flat).scatter(-1, top.indices, top.values).reshape(x.shape)


@pytest.mark.parametrize(
    ("activation", "message"),
    [
        (in_order_of_size, "scattered into zeros where they were.*takes them in order"),
        (not_zero_at_zero, "scatters what is not 0 where an entry is 0"),
        (shifted, "scatters what is not 0 where an entry is 0"),
        (bounded_by_rank, "scattered into zeros where they were.*takes them in order"),
        (elsewhere, "scatters entries to positions that are not their own"),
        (of_a_batch, "topk at .*compares those of a batch with each other, as BatchTopK does in training"),
    ],
)
def test_other_uses_of_the_largest_are_refused(activation, message):
    with pytest.raises(UnsupportedOperatorError, match=message):
        rs.load(TopAutoencoder(activation).eval(), input_shape=INPUTS)


@pytest.mark.slow
def test_distances_to_single_breakpoints_do_not_speak_of_the_k_largest():
    net = rs.load(TopAutoencoder(openai).eval(), input_shape=INPUTS)
    with pytest.raises(rs.errors.DiscontinuousNetworkError, match="compares two: take the half-spaces"):
        rs.robustness.boundary_distance(net, np.zeros((1, INPUTS)), norm="l2")
