"""The studies of pruning of sattelberg2026, chapter 3: printed tables, records that are taken up, tiny runs."""

from dataclasses import replace
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.studies import Setting
from reluscope_studies.sattelberg2026_ch3 import (
    _image_pruning,
    _parity,
    _pruned_similarity,
    pruned_deep,
    pruned_images,
    pruned_images_cifar10,
    pruned_parity,
)

pytestmark = pytest.mark.slow


def test_parity_is_the_product_of_signs():
    for number in (1, 2, 5):
        x, y = _parity.parity(number)
        assert x.shape == (2**number, number)
        assert torch.equal((-x).prod(dim=1), 1 - 2 * y)  # a factor -1 for every one


def test_the_printed_tables():
    for digits, (first, entries) in pruned_parity.PRINTED.items():
        assert first + len(entries) == 15
        for width, (units, successes) in enumerate(entries, first):
            assert 1 <= successes <= comb(width, units)
            # ReLU needs as many units as parity along a line has changes, but for what is known of 4 and more digits.
            assert units >= min(digits, 3)
    assert pruned_parity._printed(9, 6) == "5, 1/126"
    assert pruned_parity._printed(14, 5) == "5, 22/2002"
    assert pruned_parity._printed(2, 2) == "-"


def test_parity_pruned_at_a_tiny_size(monkeypatch):
    monkeypatch.setattr(pruned_parity, "EPOCHS", 60)
    monkeypatch.setattr(_parity, "EPOCHS", 60)
    monkeypatch.setitem(pruned_parity.PLANS, "small", pruned_parity.Plan(2, 4, 20))
    setting = Setting("small")
    outcome = pruned_parity.protocol(setting)
    table, by_leak, quoted = outcome.tables
    assert [row[:2] for row in by_leak.rows] == [("4", "3, 3/4")]
    assert len(by_leak.columns) == 5
    assert [row[0] for row in table.rows] == ["2", "3", "4"]
    assert [row[1] for row in table.rows] == ["1, 1/2", "1, 2/3", "1, 2/4"]
    assert len(quoted.rows) == 5
    assert not outcome.interrupted
    kept = dict(setting.records)
    assert pruned_parity.protocol(setting).tables == outcome.tables
    assert all(setting.records[name] is record for name, record in kept.items())


def test_deep_networks_pruned_at_a_tiny_size(monkeypatch):
    monkeypatch.setitem(pruned_deep.PLANS, "small", pruned_deep.Plan(2, 1, 2, 40, 20))
    monkeypatch.setattr(pruned_deep, "DEPTH", 2)
    monkeypatch.setattr(pruned_deep, "QUOTED_WIDTHS", (4, 4))
    monkeypatch.setattr(_parity, "EPOCHS", 200)
    setting = Setting("small")
    outcome = pruned_deep.protocol(setting)
    assert outcome.tables[0].rows[0][:3] == ("2", "10 x 2", "2")
    assert outcome.tables[0].rows[0][-1] == "2"
    assert pruned_deep.protocol(setting).tables == outcome.tables

    def stop(setting, plan):
        raise KeyboardInterrupt

    monkeypatch.setattr(pruned_deep, "_direct", stop)
    assert pruned_deep.protocol(Setting("small")).interrupted


def blobs(number, seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(number) % 3
    centers = np.random.default_rng(0).uniform(0.2, 0.8, size=(3, 1, 8, 8))
    return rs.datasets.dataset_of(centers[labels] + rng.normal(0, 0.1, size=(number, 1, 8, 8)), labels, name="blobs")


def _compared_as_by_hand(outcome, setting):
    """Of the network and its half with the smallest weights: the share of images in the same class, by torch alone."""
    table = outcome.tables[-1]
    assert len(table.rows) == 3 * 2 + 3
    (row,) = (row for row in table.rows if row[1] == "weights, about 50 % (50 %)" and row[0] == "the network")
    classes, images = [], torch.tensor(setting.test.points, dtype=torch.float32)
    for record, prefix in (("network", ""), ("weights", "1 ")):
        module = _image_pruning.Convolutions((2, 2, 2)).build((1, 8, 8), 3, 0)
        arrays = setting.records[record].arrays
        module.load_state_dict({name: torch.tensor(arrays[prefix + name]) for name in module.state_dict()})
        classes.append(module(images).argmax(dim=1))
    assert float(row[-1]) == pytest.approx((classes[0] == classes[1]).double().mean().item(), abs=5e-3)
    *_, verdict = outcome.verdicts
    assert verdict.place == "section 3.4.5"


def test_images_pruned_at_a_tiny_size(monkeypatch):
    plan = _image_pruning.PLANS["small"]
    training = replace(plan.training, epochs=1)
    monkeypatch.setitem(_image_pruning.PLANS, "small", replace(plan, channels=2, training=training, judged=20))
    monkeypatch.setattr(_image_pruning, "AMOUNTS", (0.5, 0.9))
    setting = Setting("small", blobs(80, 1), blobs(30, 2))
    outcome = pruned_images.protocol(setting)
    assert sorted(setting.records) == ["channels", "network", "similarity", "weights"]
    # Compared two at a time, as larger images are, they give the same.
    whole = rs.Findings.from_dict(setting.records.pop("similarity").plain)
    monkeypatch.setattr(_pruned_similarity, "MOST_COEFFICIENTS", 0)
    assert pruned_images.protocol(setting).tables == outcome.tables
    parts = rs.Findings.from_dict(setting.records["similarity"].plain)
    assert parts.keys["first"].tolist() == whole.keys["first"].tolist()
    assert parts.keys["second"].tolist() == whole.keys["second"].tolist()
    for name in _pruned_similarity.METRICS:
        np.testing.assert_allclose(parts[name].value, whole[name].value, rtol=1e-9, atol=1e-12)
    _compared_as_by_hand(outcome, setting)
    assert len(outcome.findings) == 3
    assert outcome.tables[1].rows[0][:2] == ("100.0 %", "2-2-2")
    again = pruned_images_cifar10.protocol(setting)
    assert again.tables[1:] == outcome.tables[1:]


@pytest.mark.parametrize(("last", "fell"), [(0.97, False), (0.985, False), (0.9, True)])
def test_a_curve_that_ended_early_has_not_fallen(last, fell):
    curve = SimpleNamespace(findings={"accuracy": SimpleNamespace(value=np.array([0.98, 0.99, last]))})
    assert _image_pruning._fell(curve) is fell


@pytest.mark.parametrize("channels", [(2, 3, 4), (1, 1, 1)])
def test_the_dissertations_network(channels):
    module = _image_pruning.Convolutions(channels).build((3, 32, 32), 10, 0)
    assert [part.out_channels for part in module if isinstance(part, torch.nn.Conv2d)] == list(channels)
    assert module(torch.zeros(2, 3, 32, 32)).shape == (2, 10)
    training = _image_pruning.PLANS["full"].training
    assert (training.learning_rate, training.batch, training.momentum, training.weight_decay, training.epochs) == (
        1e-3, 40, 0.9, 1e-4, 30,
    )  # fmt: skip


def test_the_printed_table_of_subnetworks_is_that_of_the_dissertation():
    """Table 3.4, copied from its text by rows; one denominator, of width 9 and six digits, is printed as 128."""
    text = """
    2 | 1, 1/2 | - | - | - | - | -
    3 | 1, 2/3 | 2, 3/3 | 3, 1/1 | 3, 1/1 | - | -
    4 | 1, 2/4 | 2, 3/6 | 3, 3/4 | 4, 1/1 | - | -
    5 | 1, 3/5 | 2, 8/10 | 3, 8/10 | 4, 3/5 | - | -
    6 | 1, 3/6 | 2, 4/15 | 3, 18/20 | 3, 1/20 | 5, 1/6 | 6, 1/1
    7 | 1, 4/7 | 2, 8/21 | 3, 26/35 | 3, 3/35 | 5, 3/21 | 6, 1/7
    8 | 1, 5/8 | 2, 5/28 | 3, 41/56 | 3, 5/56 | 5, 4/56 | 6, 2/28
    9 | 1, 7/9 | 2, 8/36 | 3, 66/84 | 3, 3/84 | 5, 4/126 | 5, 1/128
    10 | 1, 5/10 | 2, 8/45 | 3, 95/120 | 3, 4/120 | 4, 1/210 | 5, 2/252
    11 | 1, 6/11 | 2, 13/55 | 3, 143/165 | 3, 4/165 | 4, 1/330 | 5, 1/462
    12 | 1, 5/12 | 2, 24/66 | 3, 166/220 | 3, 9/220 | 4, 2/495 | 5, 2/792
    13 | 1, 3/13 | 2, 12/78 | 3, 245/286 | 3, 5/286 | 4, 5/715 | 5, 4/1287
    14 | 1, 5/14 | 2, 25/91 | 3, 278/364 | 3, 10/364 | 5, 22/2002 | 5, 3/2002
    """
    wrong = []
    for line in text.split("\n")[1:-1]:
        width, *cells = (cell.strip() for cell in line.split("|"))
        for digits, cell in enumerate(cells, start=1):
            ours = pruned_parity._printed(int(width), digits)
            if ours != cell:
                wrong.append((width, digits, cell, ours))
    assert wrong == [("9", 6, "5, 1/128", "5, 1/126")]
