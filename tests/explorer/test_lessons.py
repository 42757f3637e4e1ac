"""Lessons: seeded steps, weights that come back exactly, units that are moved, and what cannot be trained."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.cli.reading.parsing import LEARNT
from reluscope.errors import InputError, NotPiecewiseLinearError
from reluscope.explorer.learning.batches import Batches
from reluscope.explorer.learning.kept_steps import KeptSteps
from reluscope.explorer.learning.lesson import Lesson, read_lesson
from reluscope.explorer.learning.optimisers import OPTIMISERS
from reluscope.explorer.learning.problems import PROBLEMS, open_problem
from reluscope.explorer.learning.training import Training
from reluscope.explorer.learning.unit_weights import Move

SMALL = Lesson(hidden=2, width=6)


def training(lesson=SMALL, problem="moons", **options):
    return Training(lesson, open_problem(problem, lesson.seed), **options)


@pytest.mark.parametrize("lesson", [SMALL, Lesson(hidden=1, width=5, batch_norm=True, dropout=0.3, optimiser="sgd")])
def test_the_seed_decides_every_step_however_many_are_taken_at_a_time(lesson):
    torch.manual_seed(3)
    one, other = training(lesson), training(lesson)
    one.learn(24)
    torch.manual_seed(4)
    for count in (1, 7, 16):
        other.learn(count)
        torch.rand(3)
    assert [one.network_at(step).fingerprint for step in range(25)] == [
        other.network_at(step).fingerprint for step in range(25)
    ]
    assert one.curve.newest == other.curve.newest
    another = training(Lesson(**{**vars(lesson), "seed": 1}))
    assert another.network_at().fingerprint != one.network_at(0).fingerprint


def test_a_lesson_draws_nothing_from_the_generator_of_others():
    torch.manual_seed(5)
    expected = torch.rand(4)
    torch.manual_seed(5)
    training(Lesson(hidden=1, width=4, dropout=0.5)).learn(3)
    assert torch.equal(torch.rand(4), expected)


def test_every_step_comes_back_with_its_own_weights():
    taught = training()
    seen = []
    for _ in range(9):
        seen.append({name: value.clone() for name, value in taught._model.state_dict().items()})
        taught.learn(1)
    for step, state in enumerate(seen):
        expected = copy.deepcopy(taught._model)
        expected.load_state_dict(state)
        assert taught.network_at(step).fingerprint == rs.load(expected.eval()).fingerprint


def test_the_loss_falls_and_the_data_are_learnt():
    taught = training(Lesson(hidden=2, width=12, rate=0.01))
    taught.learn(200)
    first, last = taught.curve.entries[0], taught.curve.newest
    assert last.loss < first.loss / 4
    assert last.unseen_accuracy > 0.9
    assert taught.samples == (300, 100)


def test_each_sample_that_is_learnt_comes_once_in_an_order():
    batches = Batches(40, 3)
    assert sorted([*batches.seen, *batches.unseen]) == list(range(40))
    assert (len(batches.seen), len(batches.unseen)) == (30, 10)
    rows = np.concatenate([batches.next(8).numpy() for _ in range(15)])
    for order in rows.reshape(4, 30):
        assert sorted(order) == sorted(batches.seen)
    assert len(batches.next(100)) == 30
    assert len(Batches(19, 0).unseen) == 0


def test_memory_is_bounded_and_steps_are_thinned():
    state = {"weight": np.zeros(100)}
    kept = KeptSteps(most_bytes=20 * 1000)
    for step in range(1000):
        kept.keep(step, {"weight": np.full(100, step)})
        assert kept.bytes <= 20 * 1000
        assert kept.bytes == len(kept.steps) * 1000
        assert kept.newest == step
        assert all(one % kept.stride == 0 or one == step for one in kept.steps)
        assert kept.at(step)["weight"][0] == step
    assert kept.stride == 64
    assert kept.steps == (*range(0, 1000, 64), 999)
    assert kept.at(128)["weight"][7] == 128
    with pytest.raises(InputError, match="step 5 is not kept: of steps 0 to 999 every 64th and the last"):
        kept.at(5)
    with pytest.raises(ValueError, match="after 999"):
        kept.keep(3, state)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("adam", lambda weights: torch.optim.AdamW(weights, 0.01, weight_decay=0.1)),
        ("sgd", lambda weights: torch.optim.SGD(weights, 0.01, momentum=0.9, weight_decay=0.1)),
    ],
)
def test_optimisers_are_those_of_pytorch(name, theirs):
    torch.manual_seed(0)
    own = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()
    other = copy.deepcopy(own)
    ours, reference = OPTIMISERS[name](list(own.parameters())), theirs(other.parameters())
    for _ in range(20):
        x = torch.randn(5, 3, dtype=torch.float64)
        own(x).square().sum().backward()
        ours.step(0.01, 0.1)
        reference.zero_grad()
        other(x).square().sum().backward()
        reference.step()
    for a, b in zip(own.parameters(), other.parameters(), strict=True):
        np.testing.assert_allclose(a.detach(), b.detach(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("batch_norm", [False, True])
def test_a_bias_moved_by_hand_moves_the_line_of_the_unit(batch_norm):
    taught = training(Lesson(hidden=2, width=6, batch_norm=batch_norm))
    taught.learn(30)
    before, x = taught.network_at(), torch.tensor(taught.data.points)
    was = taught.unit(0, 2)
    taught.move(0, 2, Move(bias=was.bias + 0.25))
    after = taught.network_at()
    change = after.preactivations(x)[0] - before.preactivations(x)[0]
    expected = torch.zeros_like(change)
    expected[:, 2] = 0.25
    np.testing.assert_allclose(change, expected, atol=1e-6)
    assert taught.step == 31
    # A zero of the unit of before lies within a region now, and one of now between two.
    gradient, at = before.preactivations(x)[0][:, 2], x
    line = at[gradient.abs().argmin()]
    weight = _gradient(after, 2)
    zero = line - weight * after.preactivations(line[None])[0][0, 2] / (weight @ weight)
    sides = torch.stack([zero + 1e-6 * weight, zero - 1e-6 * weight])
    assert (after.preactivations(sides)[0][:, 2] > 0).tolist() == [True, False]
    assert len(set(map(bool, before.preactivations(sides)[0][:, 2] > 0))) == 1


def _gradient(network, unit):
    """The direction in which a unit of the first gate grows."""
    ends = torch.cat([torch.zeros(1, 2), torch.eye(2)]).double()
    values = network.preactivations(ends)[0][:, unit]
    return values[1:] - values[0]


def test_weights_are_moved_one_by_one_and_together():
    taught = training()
    was = taught.unit(1, 3)
    assert was.weights.shape == (6,)
    taught.move(1, 3, Move(weight=(4, 0.5)))
    np.testing.assert_allclose(taught.unit(1, 3).weights, [*was.weights[:4], 0.5, was.weights[5]], rtol=1e-6)
    taught.move(1, 3, Move(scale=2.0))
    now = taught.unit(1, 3)
    assert now.scale == pytest.approx(2.0)
    assert now.bias == was.bias
    # Moves that follow each other are one step; another step ends that, and so does another place.
    assert taught.step == 1
    taught.learn(1)
    taught.move(1, 3, Move(bias=0.0))
    assert taught.step == 3
    taught.move(1, 3, Move(bias=0.1), 0)
    assert taught.step == 4
    assert taught.unit(1, 3).weights.tolist() == was.weights.tolist()
    assert taught.unit(1, 3, 3).bias == 0.0


def test_training_goes_on_from_where_a_hand_has_left_it():
    taught = training(Lesson(hidden=1, width=4, rate=1e-6))
    taught.move(0, 1, Move(bias=3.0))
    taught.learn(2)
    assert taught.unit(0, 1).bias == pytest.approx(3.0, abs=1e-4)
    taught.return_to(0)
    assert taught.step == 4
    assert taught.network_at().fingerprint == taught.network_at(0).fingerprint
    taught.return_to(4)
    assert taught.step == 4


def test_weights_of_zero_have_no_direction_to_scale():
    taught = training()
    for place in (0, 1):
        taught.move(0, 0, Move(weight=(place, 0.0)))
    with pytest.raises(InputError, match="no direction to scale"):
        taught.move(0, 0, Move(scale=1.0))
    with pytest.raises(InputError, match="weight must be one of 0 to 1, got 2"):
        taught.move(0, 0, Move(weight=(2, 0.0)))
    with pytest.raises(InputError, match=r"gate must be one of 0 to 1, got 2"):
        taught.move(2, 0, Move(bias=0.0))
    with pytest.raises(InputError, match=r"unit of layer1 must be one of 0 to 5, got 6"):
        taught.unit(0, 6)


def test_a_rate_that_is_too_high_ends_in_a_sentence_and_loses_nothing():
    taught = training(Lesson(hidden=3, width=32, optimiser="sgd", rate=10.0))
    with pytest.raises(InputError, match=r"step \d+ leaves weights that are not finite: choose a lower rate"):
        taught.learn(500)
    reached = taught.step
    assert reached > 0
    assert torch.isfinite(taught.network_at()(taught.data.points)).all()
    taught.adjust(Lesson(hidden=3, width=32, optimiser="sgd", rate=1e-3))
    taught.return_to(0)
    taught.learn(2)
    assert taught.step == reached + 3


class Residual(nn.Module):
    """A forward pass of its own, with a layer that is not used and one before another in the order of definition."""

    def __init__(self):
        super().__init__()
        self.last, self.unused, self.first = nn.Linear(5, 2), nn.Linear(3, 3), nn.Linear(2, 5)
        self.norm = nn.BatchNorm1d(5)

    def forward(self, x):
        return self.last(torch.relu(self.norm(self.first(x)))) + x


def test_a_module_that_is_given_keeps_its_weights():
    torch.manual_seed(1)
    model = Residual().train()
    before = copy.deepcopy(model.state_dict())
    taught = training(Lesson(rate=0.02), given=model)
    taught.learn(40)
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert taught.curve.newest.loss < taught.curve.entries[0].loss
    assert taught.movable == (True,)
    assert taught.unit(0, 3).weights.shape == (2,)
    was = taught.network_at().preactivations(taught.data.points)[0]
    taught.move(0, 3, Move(bias=taught.unit(0, 3).bias + 1))
    now = taught.network_at().preactivations(taught.data.points)[0]
    assert float((now - was)[:, 3].min()) == pytest.approx(1, abs=1e-5)


def test_units_of_a_convolution_have_no_weights_of_their_own():
    x = np.random.default_rng(0).normal(size=(40, 1, 4, 4))
    data = rs.datasets.dataset_of(x, (x.sum(axis=(1, 2, 3)) > 0).astype(int))
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))
    taught = Training(Lesson(), data, model)
    taught.learn(3)
    assert taught.movable == (False,)
    with pytest.raises(InputError, match="no linear layer feeds the units of 1"):
        taught.unit(0, 0)


def test_one_output_tells_two_classes_apart_and_values_are_fitted():
    taught = training(Lesson(rate=0.02), given=nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 1)))
    taught.learn(150)
    assert taught.is_classification
    assert taught.curve.newest.accuracy > 0.8
    x = np.random.default_rng(0).normal(size=(200, 3))
    values = Training(Lesson(rate=0.02), rs.datasets.dataset_of(x, 1000.5 + 300 * x[:, 0] * x[:, 1]))
    values.learn(200)
    assert not values.is_classification
    assert values.curve.newest.accuracy is None
    # The mean of the targets, where layers begin, is off by their variance.
    assert values.curve.entries[0].loss == pytest.approx(1, rel=0.3)
    assert values.curve.newest.loss < 0.4 * values.curve.entries[0].loss


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_are_drawn_with_their_seed(name):
    one, same, other = open_problem(name, 1), open_problem(name, 1), open_problem(name, 2)
    assert one.points.shape == (400, 2)
    assert np.array_equal(one.points, same.points)
    assert not np.array_equal(one.points, other.points)
    assert set(one.labels.tolist()) == {0, 1}
    assert 0.9 < np.abs(one.points).max() < 1.4
    assert LEARNT == PROBLEMS


@pytest.mark.parametrize(
    ("model", "data", "options", "words"),
    [
        (None, None, {}, "train= needs data with labels"),
        (None, "spiral", {}, "expected one of spirals, circles, moons, xor or a file"),
        (None, "missing.csv", {}, "there is no file"),
        (None, np.ones((4, 2)), {}, "a training needs labels"),
        (None, np.ones((4, 1)), {"labels": [0, 1, 0, 1]}, "this network has one input"),
        (None, "xor", {"labels": [0]}, "brings its own: leave them out"),
        (None, "xor", {"train": {"depth": 3}}, "no setting 'depth': choose among hidden"),
        (None, "xor", {"train": {"width": 0}}, "width of train must be a whole number from 1 to 256, got 0"),
        (None, "xor", {"train": {"activation": "tanh"}}, "activation of train must be 'relu'"),
        (None, "xor", {"train": {"batch_norm": 1}}, "batch_norm of train must be True or False"),
        (None, "xor", {"train": {"rate": float("nan")}}, "rate of train must be a number above 0"),
        (None, "xor", {"tracker": "run.parquet"}, "give one of them"),
        (nn.Linear(2, 2), "xor", {"train": {"width": 3}}, "a model was given: leave it out"),
        (nn.Flatten(), "xor", {}, "no weights to train"),
        (
            nn.Linear(2, 2),
            np.ones((3, 2)),
            {"labels": [0, 1, 2]},
            "has 3 classes: give a model with an output for each",
        ),
        (nn.Linear(3, 2), "xor", {}, "cannot be multiplied"),
        (rs.load([(np.eye(2), np.zeros(2))]), "xor", {}, "a network, which is read already"),
        ("net.onnx", "xor", {}, "network must be"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_sentence(model, data, options, words):
    with pytest.raises(InputError, match=words) as raised:
        rs.explore(model, data, **{"train": True, **options})
    assert "\n" not in str(raised.value)


def test_a_model_that_cannot_be_drawn_is_refused():
    with pytest.raises(NotPiecewiseLinearError, match="tanh"):
        rs.explore(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2)), "xor", train=True)


class Fragile(nn.Module):
    """A model whose forward pass fails in training."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        if self.training:
            raise RuntimeError("no training here")
        return self.layer(x)


def test_a_model_that_fails_in_training_says_so():
    taught = training(given=Fragile())
    with pytest.raises(InputError, match="a training step of this model fails with 'no training here'"):
        taught.learn(1)
    assert taught.step == 0


def test_settings_are_taken_from_before():
    before = Lesson(width=5)
    assert read_lesson({"rate": 0.5}, "settings", before) == Lesson(width=5, rate=0.5)
    assert read_lesson(True, "train") == Lesson()
    assert read_lesson(before, "train") is before
    with pytest.raises(InputError, match="train must be True or a mapping"):
        read_lesson(3, "train")
