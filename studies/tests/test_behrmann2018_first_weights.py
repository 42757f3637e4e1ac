"""What moves the change of Figure 4: first weights, scales and biases, and what becomes of the paper's place for it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.studies import Setting
from reluscope_studies.behrmann2018 import first_weights
from reluscope_studies.behrmann2018._networks import Training

pytestmark = pytest.mark.slow


def samples(number, seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(number) % 2
    points = np.clip(labels[:, None] * 0.3 + rng.uniform(0, 0.6, size=(number, 4)), 0, 1)
    return rs.datasets.dataset_of(points, labels, name="samples")


def test_first_weights_are_what_their_names_say():
    networks = {
        (weights, has_biases): first_weights._Start("a", (400, 3), weights, has_biases, 0).build((100,), 2, 0)
        for weights in first_weights.WEIGHTS
        for has_biases in (True, False)
    }
    for (weights, has_biases), model in networks.items():
        first = model[1].requires_grad_(False)
        assert (first.bias is not None) == has_biases
        bound = {"Glorot": (6 / 500) ** 0.5, "PyTorch": 100**-0.5}.get(weights)
        if bound is None:
            assert float(first.weight.std()) == pytest.approx((2 / 100) ** 0.5, rel=0.02)
        else:
            assert bound * 0.99 < float(first.weight.abs().max()) <= bound
        if has_biases:
            assert bool((first.bias == 0).all()) == (weights != "PyTorch")
    one, other = (first_weights._Start("a", (5, 3), "He", True, k).build((4,), 2, 0)[1].weight for k in range(2))
    assert not torch.equal(one, other)


def test_pixels_on_three_scales():
    points = np.array([[0.0, 1.0], [0.5, 0.5]])
    assert np.array_equal(first_weights._scaled(points, points, "[-1, 1]"), [[-1, 1], [0, 0]])
    assert np.array_equal(first_weights._scaled(points, points, "[0, 1]"), points)
    standard = first_weights._scaled(points, points, "standardised")
    assert (standard.mean(), standard.std()) == pytest.approx((0, 1))


def test_the_study_at_a_tiny_size(monkeypatch):
    plan = replace(first_weights.PLANS["small"], hidden=(6, 3), training=Training("Adam", 1e-2, 1, 10), points=9)
    monkeypatch.setitem(first_weights.PLANS, "small", plan)
    monkeypatch.setattr(first_weights, "WEIGHTS", ("Glorot",))
    monkeypatch.setattr(first_weights, "SCALES", ("[0, 1]", "standardised"))
    setting = Setting("small", samples(30, 1), samples(20, 2))
    found = first_weights.protocol(setting)
    assert [row[0] for row in found.tables[0].rows] == [
        *first_weights.WEIGHTS, *first_weights.SCALES, *first_weights.BIASES,
    ]  # fmt: skip
    assert [row[1] for row in found.tables[0].rows] == ["4", "2", "2", "2", "2"]
    # Every record has samples with fewer positive outputs than the four inputs, spread over all there are.
    kinds = {name: one for name, one in setting.records.items() if name.endswith("kinds")}
    assert len(kinds) == 4
    for one in kinds.values():
        assert (one.arrays["positive"] < 4).all()
        assert len(one.arrays["positive"]) <= 9
        assert (one.plain["inputs"], len(one.arrays["unbounded"])) == (4, len(one.arrays["positive"]))
    few = first_weights.protocol(replace(setting, only=("*, standardised, no biases",)))
    assert [(row[0], row[1]) for row in few.tables[0].rows] == [
        ("Glorot", "1"),
        ("standardised", "1"),
        ("no biases", "1"),
    ]
    with pytest.raises(rs.errors.InputError, match="names no kind"):
        first_weights.protocol(replace(setting, only=("Xavier*",)))
    again = first_weights.protocol(setting)
    assert [one.to_dict() for one in again.findings] == [one.to_dict() for one in found.findings]


@pytest.mark.parametrize(
    ("bounded", "unbounded", "word"),
    [((730, 700), (700, 783), "confirmed"), ((522, 600), (500, 570), "contradicted"), ((), (500,), "not confirmed")],
)
def test_the_place_of_the_change(bounded, unbounded, word):
    choices = [("He", "[0, 1]", "biases", number) for number in range(2)]
    found = {choice: first_weights.Found(bounded[k : k + 1], unbounded, 784, 0.9) for k, choice in enumerate(choices)}
    if bounded:
        assert found[choices[0]].ends == (bounded[0] / 784, max(unbounded) / 784)
    (verdict,) = first_weights._verdicts(found)
    assert verdict.word == word
