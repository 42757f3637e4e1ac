"""Networks trained side by side are the networks trained one by one; padding, pruning and chunks change nothing."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, mse_loss

import reluscope as rs
from reluscope.errors import InputError, ShapeError
from reluscope_studies.stacked import initialize, losses, signs_agree, subnetworks, train

F64 = torch.float64
SINGLE = {"mse": mse_loss, "bce": binary_cross_entropy_with_logits, "cross_entropy": cross_entropy}
SGD = partial(torch.optim.SGD, lr=0.05, momentum=0.9, weight_decay=1e-3)
ADAM = partial(torch.optim.Adam, lr=0.025)
FUSED = partial(torch.optim.Adam, lr=0.025, weight_decay=1e-2, fused=True)


def data(number=12, inputs=3, outputs=2, networks=5):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(number, inputs, generator=generator, dtype=F64)
    y = (torch.rand(networks, number, outputs, generator=generator) > 0.5).to(F64)
    return x, y


def alone(module, x, y, loss, optimizer, epochs, batch=None, order=0):
    """Train one network as everybody does, and return its parameters."""
    steps = optimizer(list(module.parameters()))
    generator = torch.Generator().manual_seed(order)
    for _ in range(epochs):
        rows = torch.randperm(len(x), generator=generator).split(batch) if batch else [slice(None)]
        for some in rows:
            steps.zero_grad()
            SINGLE[loss](module(x[some]), y[some]).backward()
            steps.step()
    return [one.detach() for one in module.parameters()]


def flat(layers):
    return [torch.from_numpy(one) for layer in layers for one in layer]


def close(one, other, tolerance=1e-10):
    return all(torch.allclose(a, b, rtol=0, atol=tolerance) for a, b in zip(one, other, strict=True))


@pytest.mark.few(8)
@pytest.mark.parametrize("optimizer", [SGD, ADAM, FUSED], ids=["sgd", "adam", "fused"])
@pytest.mark.parametrize(
    ("loss", "batch", "own"),
    [
        ("mse", None, False),
        ("bce", 5, False),
        ("mse", 5, True),
        ("cross_entropy", 5, True),
        ("cross_entropy", None, False),
    ],
)
@pytest.mark.parametrize(("widths", "leak"), [((6,), 0.1), ((4, 5, 3), 0.0)])
def test_a_stack_is_trained_as_its_networks_one_by_one(widths, loss, batch, own, optimizer, leak):
    x, y = data()
    stack = initialize(widths, num_inputs=3, num_outputs=2, seeds=range(5), leak=leak, dtype=F64)
    orders = [7, 8, 9, 10, 11] if own else 7
    for epochs in (1, 8):
        found = train(stack, x, y, loss=loss, optimizer=optimizer, epochs=epochs, batch=batch, order=orders)
        for index in (0, 4):
            order = orders[index] if own else orders
            module = stack.module(index)
            expected = alone(module, x, y[index], loss, optimizer, epochs, batch, order)
            assert close(flat(found.stack.layers(index)), expected)
            assert found.losses[index].item() == pytest.approx(SINGLE[loss](module(x), y[index]).item(), abs=1e-10)
    assert found.epochs.tolist() == [8] * 5
    assert not found.reached.any()


@pytest.mark.few(1)
@pytest.mark.parametrize("chunk", [1, 3, 7, 100])
def test_chunks_change_nothing(chunk):
    x, y = data(networks=9)
    stack = initialize((7, 5), num_inputs=3, num_outputs=2, seeds=range(9), dtype=F64)
    common = {"loss": "bce", "optimizer": ADAM, "epochs": 30, "batch": 4, "order": list(range(9))}
    whole, parts = train(stack, x, y, **common), train(stack, x, y, chunk=chunk, **common)
    for index in range(9):
        assert close(flat(whole.stack.layers(index)), flat(parts.stack.layers(index)))


def test_networks_that_are_done_leave_as_they_were():
    """Compaction keeps what the optimiser knows of the others, and the weights of those that left."""
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], dtype=F64)
    y = torch.tensor([0.0, 1.0, 1.0, 0.0])
    stack = initialize((4,), num_inputs=2, seeds=range(40), scheme="he", leak=0.1, dtype=F64)
    found = train(stack, x, y, loss="bce", optimizer=ADAM, epochs=80, goal=signs_agree)
    assert 5 < found.reached.sum() < 40
    assert len(set(found.epochs.tolist())) > 5
    for index in range(0, 40, 4):
        module = stack.module(index)
        expected = alone(module, x, y[:, None].to(F64), "bce", ADAM, int(found.epochs[index]))
        assert close(flat(found.stack.layers(index)), expected)
        right = ((module(x)[:, 0] > 0) == (y > 0.5)).all()
        assert bool(right) == bool(found.reached[index])


@pytest.mark.parametrize(("batch", "per_epoch"), [(None, 1), (5, 3)])
@pytest.mark.parametrize("chunk", [2, None])
def test_snapshots_are_the_networks_after_so_many_steps(batch, per_epoch, chunk):
    x, y = data()
    assert -(-len(x) // (batch or len(x))) == per_epoch
    stack = initialize((4,), num_inputs=3, num_outputs=2, seeds=range(5), dtype=F64)
    common = {"loss": "mse", "optimizer": ADAM, "batch": batch, "order": [7, 8, 9, 10, 11]}
    steps = [0, per_epoch, per_epoch + 1, 3 * per_epoch]
    found = train(stack, x, y, epochs=3, snapshots=steps, chunk=chunk, **common)
    assert len(found.snapshots) == 4
    for place, epochs in ((0, 0), (1, 1), (3, 3)):
        for index in (0, 4):
            expected = alone(stack.module(index), x, y[index], "mse", ADAM, epochs, batch, 7 + index)
            assert close(flat(found.snapshots[place].layers(index)), expected)
    between = [flat(one.layers(2)) for one in found.snapshots]
    assert not close(between[1], between[2])
    assert train(stack, x, y, epochs=3, **common).snapshots == ()
    for bad in ([0, 3 * per_epoch + 1], [1, 0], [1, 1]):
        with pytest.raises(InputError, match="after steps from 0"):
            train(stack, x, y, epochs=3, snapshots=bad, **common)


@pytest.mark.slow
def test_snapshots_after_the_goal_are_of_the_goal():
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], dtype=F64)
    y = torch.tensor([0.0, 1.0, 1.0, 0.0])
    stack = initialize((4,), num_inputs=2, seeds=range(40), scheme="he", leak=0.1, dtype=F64)
    found = train(stack, x, y, loss="bce", optimizer=ADAM, epochs=80, goal=signs_agree, snapshots=[10, 40, 80])
    for index in range(0, 40, 4):
        for step, taken in zip((10, 40, 80), found.snapshots, strict=True):
            epochs = min(step, int(found.epochs[index]))
            expected = alone(stack.module(index), x, y[:, None].to(F64), "bce", ADAM, epochs)
            assert close(flat(taken.layers(index)), expected)


def test_seeds_are_those_of_pytorch():
    stack = initialize([(3, 4), (2, 1)], num_inputs=2, seeds=[5, 6])
    for index, (seed, sizes) in enumerate(((5, (2, 3, 4, 1)), (6, (2, 2, 1, 1)))):
        torch.manual_seed(seed)
        modules = [nn.Linear(*pair) for pair in pairwise(sizes)]
        for (weight, bias), module in zip(stack.layers(index), modules, strict=True):
            assert np.array_equal(weight, module.weight.detach().numpy())
            assert np.array_equal(bias, module.bias.detach().numpy())
    he = initialize((400,), num_inputs=100, seeds=[3], scheme="he", leak=0.5)
    assert float(he.weights[0].std()) == pytest.approx((2 / 1.25 / 100) ** 0.5, rel=0.02)
    assert not he.biases[0].any()


def test_narrower_networks_are_padded_and_trained_as_themselves():
    x, y = data(networks=3)
    widths = [(2, 4), (5, 1), (5, 4)]
    stack = initialize(widths, num_inputs=3, num_outputs=2, seeds=[0, 1, 2], dtype=F64)
    found = train(stack, x, y, loss="mse", optimizer=FUSED, epochs=20)
    for index in range(3):
        own = initialize(widths[index], num_inputs=3, num_outputs=2, seeds=[index], dtype=F64)
        expected = alone(own.module(0), x, y[index], "mse", FUSED, 20)
        assert close(flat(found.stack.layers(index)), expected)
    absent = ~found.stack.kept[0]
    assert absent.sum() == 3
    assert not found.stack.weights[0][absent].any()


def test_all_subnetworks_have_the_loss_of_what_is_left():
    x, y = data(outputs=1, networks=1)
    # A leak has a slope at 0 as well, so that absent units are let alone only by weights that are zero on both sides.
    stack = initialize((4, 3), num_inputs=3, seeds=[1], leak=0.1, dtype=F64)
    every = subnetworks(stack, layer=0)
    found = losses(every, x, y[0], loss="mse")
    assert len(every) == 16
    (w0, b0), (w1, b1), (w2, b2) = stack.layers(0)
    for number in range(16):
        units = [unit for unit in range(4) if number >> unit & 1]
        hidden = x.numpy() @ w0[units].T + b0[units]
        later = np.maximum(hidden, 0.1 * hidden) @ w1[:, units].T + b1
        outputs = np.maximum(later, 0.1 * later) @ w2.T + b2
        assert found[number].item() == pytest.approx(((outputs - y[0].numpy()) ** 2).mean(), abs=1e-12)
        assert every.layers(number)[0][0].shape == (len(units), 3)
    tuned = train(every, x, y[0], loss="mse", optimizer=ADAM, epochs=5)
    assert not tuned.stack.weights[0][~tuned.stack.kept[0]].any()


def test_a_diverging_network_leaves_the_others_alone():
    x, y = data(outputs=1, networks=1)
    stack = initialize((3,), num_inputs=3, seeds=[0, 1], dtype=F64)
    stack.weights[0][1] *= 1e200
    found = train(stack, x, y[0], loss="mse", optimizer=SGD, epochs=5)
    assert torch.isfinite(found.losses).tolist() == [True, False]


def test_networks_are_loaded_as_they_compute():
    stack = initialize((3, 2), num_inputs=2, seeds=[0, 1], leak=0.2, dtype=F64)
    x = torch.randn(5, 2, dtype=F64, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(rs.load(stack.module(1))(x), stack(x)[1])
    relu = initialize((3, 2), num_inputs=2, seeds=[0, 1], dtype=F64)
    assert torch.allclose(rs.load(relu.layers(1))(x), relu(x)[1])


@pytest.mark.parametrize(
    ("error", "match", "work"),
    [
        (ShapeError, "points of shape", lambda stack: stack([[0.0]])),
        (ShapeError, "targets of shape", lambda stack: losses(stack, [[0.0, 0.0]], [0.0, 1.0], loss="mse")),
        (
            InputError,
            "loss must be 'mse', 'bce' or 'cross_entropy'",
            lambda stack: losses(stack, [[0.0, 0.0]], [0.0], loss="hinge"),
        ),
        (ShapeError, "one of the 1 hidden", lambda stack: stack.keep(1, [True] * 3)),
        (ShapeError, "units of shape", lambda stack: stack.keep(0, [True])),
        (ShapeError, "a stack of one network", subnetworks),
        (InputError, "leak", lambda _: initialize((3,), num_inputs=2, seeds=[0], leak=1.0)),
        (InputError, "at least one seed", lambda _: initialize((3,), num_inputs=2, seeds=[])),
        (ShapeError, "one depth", lambda _: initialize([(3,), (3, 3)], num_inputs=2, seeds=[0, 1])),
        (ShapeError, "per seed", lambda _: initialize([(3,)], num_inputs=2, seeds=[0, 1])),
        (InputError, "one unit", lambda _: initialize((0,), num_inputs=2, seeds=[0])),
        (
            ShapeError,
            "one seed of the order",
            lambda stack: train(stack, [[0.0, 0.0]], [0.0], loss="mse", optimizer=ADAM, epochs=1, batch=1, order=[1]),
        ),
        (
            InputError,
            "epochs",
            lambda stack: train(stack, [[0.0, 0.0]], [0.0], loss="mse", optimizer=ADAM, epochs=-1),
        ),
    ],
)
def test_bad_input_gets_a_sentence(error, match, work):
    with pytest.raises(error, match=match):
        work(initialize((3,), num_inputs=2, seeds=[0, 1]))
