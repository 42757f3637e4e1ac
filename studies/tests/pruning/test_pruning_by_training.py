"""Pruning with fine-tuning, against networks that are pruned and trained one by one with plain PyTorch."""

from copy import deepcopy
from functools import partial
from itertools import combinations, pairwise

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from reluscope.errors import InputError, ShapeError, UnsupportedOperatorError
from reluscope.findings import Claim
from reluscope_studies.pruning import (
    prune_by_magnitude,
    prune_channels,
    prune_exhaustively,
    prune_stochastically,
)
from reluscope_studies.pruning.channels import channel_losses, without_channel
from reluscope_studies.pruning.proof_of_signs import has_all_right
from reluscope_studies.pruning.stochastic import _Course, _without_gate, _without_one
from reluscope_studies.stacked import Stack, concatenate, initialize, losses, signs_agree, subnetworks, train

X = torch.tensor([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
XOR = torch.tensor([0.0, 1.0, 1.0, 0.0])
ADAM = partial(torch.optim.Adam, lr=0.025)
HOW = {"loss": "bce", "optimizer": ADAM}


def trained_alone(module, epochs):
    """Train until all signs are right; return whether they are, and the loss."""
    optimizer, targets = ADAM(list(module.parameters())), XOR[:, None]
    for _ in range(epochs):
        outputs = module(X)
        if bool(((outputs > 0) == (targets > 0.5)).all()):
            break
        optimizer.zero_grad()
        binary_cross_entropy_with_logits(outputs, targets).backward()
        optimizer.step()
    outputs = module(X)
    right = bool(((outputs > 0) == (targets > 0.5)).all())
    return right, float(binary_cross_entropy_with_logits(outputs, targets).detach())


@pytest.fixture(scope="module")
def solved():
    many = initialize((4,), num_inputs=2, seeds=range(40))
    done = train(many, X, XOR, epochs=500, goal=signs_agree, **HOW)
    return done.stack.take(done.reached.nonzero()[:, 0])


@pytest.mark.slow
def test_exhaustive_pruning_equals_pruning_each_subnetwork_alone(solved):
    stack, epochs = solved.take([0]), 150
    found = prune_exhaustively(stack, X, XOR, epochs=epochs, **HOW)
    (first_weight, first_bias), (second_weight, second_bias) = stack.layers(0)
    alone, size = {}, 0
    for size in range(1, 5):
        for units in combinations(range(4), size):
            module = nn.Sequential(nn.Linear(2, size), nn.ReLU(), nn.Linear(size, 1))
            rows = list(units)
            values = (first_weight[rows], first_bias[rows], second_weight[:, rows], second_bias)
            with torch.no_grad():
                for parameter, value in zip(module.parameters(), values, strict=True):
                    parameter.copy_(torch.tensor(value))
            alone[units] = trained_alone(module, epochs)
        if any(right for units, (right, _) in alone.items() if len(units) == size):
            break
    assert found.num_units is not None
    assert int(found.num_units) == size
    assert found.num_units.claim is Claim.UPPER
    for kept, reached, loss in zip(found.kept, found.trained.reached, found.trained.losses, strict=True):
        right, own = alone[tuple(kept.nonzero()[:, 0].tolist())]
        assert right == bool(reached)
        assert own == pytest.approx(float(loss), rel=1e-3)
    assert found.num_successes == sum(right for units, (right, _) in alone.items() if len(units) == size)
    assert all(has_all_right(found.successes.take([row]), X, XOR) for row in range(found.num_successes))


def test_losses_of_all_subnetworks_are_those_of_each(solved):
    stack = solved.take([1])
    together = losses(subnetworks(stack), X, XOR, loss="bce")
    for number in range(16):
        kept = torch.tensor([bool(number >> unit & 1) for unit in range(4)])
        outputs = stack.keep(0, kept)(X)[0]
        assert float(together[number]) == pytest.approx(float(binary_cross_entropy_with_logits(outputs, XOR[:, None])))


def test_a_task_that_no_subnetwork_learns_has_no_number():
    stack = initialize((1,), num_inputs=2, seeds=[0])  # one unit is monotone in w.x
    found = prune_exhaustively(stack, X, XOR, epochs=20, **HOW)
    assert found.num_units is None
    assert (found.num_successes, len(found.successes)) == (0, 0)
    assert "no size" in repr(found)


def test_units_that_a_network_lacks_make_no_subnetworks(solved):
    padded = concatenate([solved.take([0]), initialize((6,), num_inputs=2, seeds=[0])]).take([0])
    few, many = (prune_exhaustively(one, X, XOR, epochs=150, **HOW) for one in (solved.take([0]), padded))
    assert torch.equal(few.kept, many.kept)
    assert torch.equal(few.trained.reached, many.trained.reached)


def test_compact_and_concatenated_networks_compute_the_same():
    stack = initialize((5, 4), num_inputs=3, seeds=range(3), leak=0.1)
    few = stack.keep(0, [[1, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 1, 1, 0, 1]]).keep(1, [0, 1, 1, 0])
    x = torch.randn(7, 3)
    small = few.compact()
    assert small.sizes == (3, 3, 2, 1)
    assert torch.allclose(small(x), few(x), atol=1e-6)
    for (weight, bias), (own, constant) in zip(few.layers(1), small.layers(1), strict=True):
        assert np.array_equal(weight, own)
        assert np.array_equal(bias, constant)
    both = concatenate([small, stack])
    assert torch.allclose(both(x), torch.cat([few(x), stack(x)]), atol=1e-6)
    assert [one.shape for pair in both.layers(0) for one in pair] == [
        one.shape for pair in few.layers(0) for one in pair
    ]
    nothing = stack.keep(0, [False] * 5).compact()
    assert nothing.sizes == (3, 1, 4, 1)
    with pytest.raises(ShapeError, match="one depth"):
        concatenate([stack, initialize((5,), num_inputs=3, seeds=[0], leak=0.1)])
    with pytest.raises(InputError, match="at least one"):
        concatenate([])


def test_signs_that_rounding_could_change_are_not_proved():
    zero = Stack((torch.zeros(1, 1, 1), torch.zeros(1, 1, 1)), (torch.zeros(1, 1),) * 2, (torch.ones(1, 1).bool(),))
    assert not has_all_right(zero, [[1.0]], [0.0])
    above = Stack(zero.weights, (zero.biases[0], torch.ones(1, 1)), zero.kept)
    assert has_all_right(above, [[1.0]], [1.0])


@pytest.fixture(scope="module")
def deep():
    return train(initialize((4, 3), num_inputs=2, seeds=range(6)), X, XOR, epochs=500, goal=signs_agree, **HOW)


@pytest.mark.slow
def test_stochastic_pruning_takes_unit_after_unit(deep):
    before = [weight.clone() for weight in deep.stack.weights]
    pruned = prune_stochastically(deep.stack, X, XOR, epochs=60, seeds=range(6), **HOW)
    assert all(torch.equal(one, other) for one, other in zip(before, deep.stack.weights, strict=True))
    for row, (reached, stack, widths) in enumerate(
        zip(deep.reached.tolist(), pruned.stacks, pruned.widths, strict=True)
    ):
        units = pruned.findings.finding("fewest_units", row)
        assert widths[0] == (4, 3)
        assert all(sum(one) == sum(other) + 1 for one, other in pairwise(widths))
        assert int(units) == sum(widths[-1]) == sum(stack.sizes[1:-1])
        assert units.claim is (Claim.UPPER if reached else Claim.ESTIMATE)
        assert reached == has_all_right(stack, X, XOR)
        assert len(widths) > 1 or not reached
        if reached:  # nothing more can go
            candidates = [train(one, X, XOR, epochs=60, goal=signs_agree, **HOW) for one in _without_one(stack)]
            assert not any(bool(one.reached.any()) for one in candidates)
    row = int(deep.reached.nonzero()[0])
    alone = prune_stochastically(deep.stack.take([row]), X, XOR, epochs=60, seeds=[row], **HOW)
    assert alone.widths[0] == pruned.widths[row]  # it depends on itself and its seed only
    with pytest.raises(ShapeError, match="one seed per network"):
        prune_stochastically(deep.stack, X, XOR, epochs=1, seeds=[0], **HOW)


def test_units_are_drawn_by_the_inverse_of_their_losses():
    stacks = [initialize((units,), num_inputs=1, seeds=[0]) for units in (1, 2, 3)]
    drawn = []
    for seed in range(600):
        way = _Course(stacks[0], seed)
        way.draw([(0.1, stacks[0]), (0.2, stacks[1]), (0.7, stacks[2])])
        drawn.append(way.widths[-1][0])
    shares = np.bincount(drawn, minlength=4)[1:] / len(drawn)
    assert shares == pytest.approx(np.array([10, 5, 1 / 0.7]) / (15 + 1 / 0.7), abs=0.06)


def test_a_layer_of_one_unit_is_multiplied_into_the_next():
    stack = initialize((3, 1, 2), num_inputs=2, seeds=[3])
    on = Stack(stack.weights, (stack.biases[0], torch.full((1, 1), 50.0), *stack.biases[2:]), stack.kept)
    without = _without_gate(on, 1)
    assert without.sizes == (2, 3, 2, 1)
    assert torch.allclose(on(X), without(X), atol=1e-4)  # the unit is on at all of these points
    assert [len(one) for one in _without_one(stack)] == [3, 1, 2]
    assert _without_one(initialize((1,), num_inputs=2, seeds=[0])) == []


def image_network():
    torch.manual_seed(0)
    first = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.PReLU(4), nn.MaxPool2d(2))
    module = nn.Sequential(first, nn.Conv2d(4, 3, 3, bias=False), nn.ReLU(), nn.Flatten(), nn.Linear(12, 8), nn.ReLU(),
                           nn.Linear(8, 3))  # fmt: skip
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return module.eval()


IMAGES, LABELS = torch.rand(20, 2, 8, 8, generator=torch.Generator().manual_seed(1)), torch.arange(20) % 3
TESTS = {"test_x": IMAGES, "test_labels": LABELS}


def state(module):
    return {name: one.clone() for name, one in module.state_dict().items()}


def test_losses_without_channels_are_those_of_the_smaller_networks():
    first, *rest = image_network().children()
    chain = nn.Sequential(*first.children(), *rest).eval()
    found = channel_losses(chain, IMAGES, LABELS)
    assert {place: len(one) for place, one in found.items()} == {0: 4, 4: 3}
    for place, own in found.items():
        for channel, loss in enumerate(own.tolist()):
            smaller = without_channel(chain, place, channel)
            assert loss == pytest.approx(float(cross_entropy(smaller(IMAGES), LABELS).detach()), rel=1e-5)


@pytest.mark.slow
def test_channels_go_one_by_one_the_least_loss_first():
    module = image_network()
    before = state(module)

    def fine_tune(one):
        assert one is not module
        one.train()
        optimizer = torch.optim.SGD(one.parameters(), 0.05)
        cross_entropy(one(IMAGES), LABELS).backward()
        optimizer.step()

    curve = prune_channels(module, IMAGES, LABELS, fine_tune=fine_tune, **TESTS)
    assert all(torch.equal(one, before[name]) for name, one in module.state_dict().items())
    channels = curve.findings.details["channels"]
    assert channels.sum(axis=1).tolist() == [7, 6, 5, 4, 3, 2]
    assert channels[-1].tolist() == [1, 1]
    assert not any(one.training for one in curve.modules)
    losses_ = channel_losses(curve.modules[0], IMAGES, LABELS)
    least = min(losses_, key=lambda place: float(losses_[place].min()))
    assert channels[1].tolist() == ([3, 3] if least == 0 else [4, 2])
    for share, one in zip(curve.findings["accuracy"].value, curve.modules, strict=True):
        right = (one(IMAGES).argmax(dim=1) == LABELS).float().mean()
        assert share == pytest.approx(float(right))
    stopped = prune_channels(module, IMAGES, LABELS, fine_tune=lambda one: None, least_accuracy=1.1, **TESTS)
    assert len(stopped) == 2


def test_the_smallest_weights_go_and_stay_away():
    module = image_network()
    before = state(module)

    def fine_tune(one):
        optimizer = torch.optim.SGD(one.parameters(), 0.05, momentum=0.9, weight_decay=1e-3)
        for _ in range(3):
            optimizer.zero_grad()
            cross_entropy(one(IMAGES), LABELS).backward()
            optimizer.step()

    curve = prune_by_magnitude(module, [0.5, 0.9], fine_tune=fine_tune, **TESTS)
    assert all(torch.equal(one, before[name]) for name, one in module.state_dict().items())
    assert curve.findings["share_of_weights"].value == pytest.approx([1.0, 0.5, 0.1], abs=0.005)
    names = [name for name, part in module.named_modules() if isinstance(part, nn.Conv2d | nn.Linear)]
    sizes = torch.cat([before[f"{name}.weight"].abs().ravel() for name in names])
    for smaller, amount in zip(curve.modules[1:], (0.5, 0.9), strict=True):
        kept = torch.cat([(smaller.get_submodule(name).weight != 0).ravel() for name in names])
        assert float(sizes[kept].min()) >= float(sizes[~kept].max())
        assert int((~kept).sum()) == round(amount * len(sizes))
        assert set(smaller.state_dict()) == set(before)  # no trace of masks


def test_fewest_weights_within_a_drop():
    module = image_network()
    every = prune_by_magnitude(module, [0.5], fine_tune=lambda one: None, **TESTS)
    assert float(every.fewest_weights(1.0)) == pytest.approx(0.5, abs=0.005)
    assert every.fewest_weights(0.0).claim is Claim.UPPER
    with pytest.raises(InputError, match="drop from 0 to 1"):
        every.fewest_weights(2)


def test_what_cannot_be_pruned_is_refused():
    nothing = {"fine_tune": lambda one: None, **TESTS}
    module = image_network()
    grouped = deepcopy(module)
    grouped[1] = nn.Conv2d(4, 4, 3, groups=2)
    for one in (grouped, nn.Sequential(nn.Conv2d(2, 2, 3), nn.Softmax(1), nn.Flatten(), nn.Linear(72, 3))):
        with pytest.raises(UnsupportedOperatorError, match="expected Conv2d without groups"):
            prune_channels(one, IMAGES, LABELS, **nothing)
    with pytest.raises(UnsupportedOperatorError, match=r"nn\.Sequential"):
        prune_channels(nn.Linear(2, 2), IMAGES, LABELS, **nothing)
    with pytest.raises(InputError, match="convolutions and a last dense layer"):
        prune_channels(nn.Sequential(nn.Flatten(), nn.Linear(128, 3)), IMAGES, LABELS, **nothing)
    with pytest.raises(ShapeError, match="one label per sample"):
        prune_channels(module, IMAGES, LABELS[:3], **nothing)
    for amounts in ([0.0], [1.0], [0.5, -1]):
        with pytest.raises(InputError, match="above 0 and below 1"):
            prune_by_magnitude(module, amounts, **nothing)
    with pytest.raises(InputError, match="Linear or Conv2d"):
        prune_by_magnitude(nn.ReLU(), [0.5], **nothing)
