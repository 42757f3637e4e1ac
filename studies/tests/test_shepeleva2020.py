"""The studies of shepeleva2020: the paper's networks, numbers that agree with counting by hand, work that goes on."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import mse_loss

import reluscope as rs
from reluscope.studies import Setting, all_studies
from reluscope_studies.fitting import Fit
from reluscope_studies.labelled import Labelled, labelled_data
from reluscope_studies.shepeleva2020 import (
    _autoencoder,
    _foreign,
    _heads,
    _reporting,
    autoencoder,
    autoencoder_cifar10,
    heads,
    heads_cifar10,
    out_of_domain,
)
from reluscope_studies.shepeleva2020._descent import descend
from reluscope_studies.shepeleva2020._following import follow
from reluscope_studies.shepeleva2020._networks import VGG16, classifier
from reluscope_studies.shepeleva2020._networks import autoencoder as build_autoencoder
from reluscope_studies.shepeleva2020._samples import pair_of, samples_of

pytestmark = pytest.mark.slow

HEADS = _heads.HeadsPlan("heads", 16, (0, 1, 4), (1, 4), None, 30, ((2, 1),), ((6,), (6, 5)), (0.1, 0.5))
CODED = _autoencoder.Plan("autoencoder", 16, (0, 2), (2,), None, 30)
FOREIGN = out_of_domain.Plan({"dense": ()}, Fit(1e-2, batch=16, most_epochs=2), 2, None)


def blobs(number, seed):
    """Ten classes of images of 4 x 4, in [0, 1]."""
    rng = np.random.default_rng(seed)
    labels = np.arange(number) % 10
    centers = np.random.default_rng(0).uniform(0.2, 0.8, size=(10, 1, 4, 4))
    points = np.clip(centers[labels] + rng.normal(0, 0.1, size=(number, 1, 4, 4)), 0, 1)
    return rs.datasets.dataset_of(points, labels, name="blobs")


@pytest.fixture(autouse=True)
def without_umap(monkeypatch):
    """Its compilation alone takes longer than all tests here."""
    monkeypatch.setattr(_reporting, "find_spec", lambda name: None)


@pytest.fixture
def setting():
    return Setting("small", blobs(160, 1), blobs(60, 2))


@pytest.fixture(scope="module")
def followed():
    """One training, followed, and the models at the epochs it was looked at."""
    setting = Setting("small", blobs(160, 1), blobs(60, 2))
    plan = replace(HEADS, blocks=((6, 1),), heads=((16, 12),), rates=(0.2,), epochs=(0, 1, 30))
    run = plan.runs(samples_of(setting, None), 0)[0]
    models = {}

    def build():
        models["model"] = run.build()
        return models["model"]

    found = follow(replace(run, build=build), setting, watched=lambda gate: gate.startswith("fc"), most_drawn=30)
    return setting, found, models["model"]


def test_the_papers_networks():
    model = classifier((1, 28, 28), VGG16, (256, 128, 128), 10, seed=0)
    filters = [layer.out_channels for layer in model if isinstance(layer, nn.Conv2d)]
    assert filters == [64] * 2 + [128] * 2 + [256] * 3 + [512] * 6
    assert [layer.in_features for layer in model if isinstance(layer, nn.Linear)] == [512, 256, 128, 128]
    assert heads.PLANS["full"].blocks == heads_cifar10.PLANS["full"].blocks == VGG16
    assert heads.PLANS["full"].heads == ((512,), (256, 256), (256, 128, 128))
    for layer in model:
        if isinstance(layer, nn.Linear):
            assert not layer.bias.any()
            assert layer.weight.abs().max() <= (6 / sum(layer.weight.shape)) ** 0.5
    coded = build_autoencoder((1, 8, 8), seed=0)
    assert [layer.out_features for layer in coded if isinstance(layer, nn.Linear)] == [128, 64, 32, 64, 128, 64]
    assert set(_autoencoder.CODED) < {name for name, _ in coded.named_children()}


def test_first_weights_leave_the_generator_alone_and_follow_their_seed():
    before = torch.random.get_rng_state()
    one, again, other = (classifier((1, 4, 4), ((2, 1),), (6,), 10, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.equal(one.logits.weight, again.logits.weight)
    assert not torch.equal(one.logits.weight, other.logits.weight)


def test_steps_are_those_of_gradient_descent():
    rng = np.random.default_rng(0)
    points, targets = rng.normal(size=(20, 3)), rng.normal(size=(20, 1))
    model = nn.Linear(3, 1, bias=False)
    nn.init.zeros_(model.weight)
    seen = {}
    descend(
        model,
        points,
        targets,
        loss=mse_loss,
        rate=0.1,
        batch=20,
        looked_at=(0, 1, 3),
        look=lambda epoch: seen.__setitem__(epoch, model.weight.detach().numpy().copy()),
        seed=0,
    )
    weight = np.zeros((3, 1))
    for epoch in range(4):
        if epoch:
            weight = weight - 0.1 * 2 / 20 * points.T @ (points @ weight - targets)
        if epoch in seen:
            np.testing.assert_allclose(seen[epoch], weight.T, atol=1e-6)
    assert sorted(seen) == [0, 1, 3]


@pytest.mark.slow
def test_numbers_are_those_of_counting_by_hand(followed):
    setting, found, model = followed
    model = model.double().eval()
    rows, right, labels = {}, {}, {}
    with torch.no_grad():
        for part, data in zip(("training", "validation"), labelled_data(setting), strict=True):
            values = torch.tensor(data.points).reshape(len(data), *data.shape)
            bits = {}
            for name, layer in model.named_children():
                values = layer(values)
                if name.startswith("fc"):
                    bits[name] = (values > 0).numpy()
            rows[part], labels[part] = bits, data.labels
            right[part] = values.argmax(dim=1).numpy() == data.labels

    def distinct(bits):
        return len(np.unique(bits, axis=0))

    last = max(found.run.epochs)
    for part, bits in rows.items():
        both = np.concatenate(list(bits.values()), axis=1)
        assert int(found.finding(last, part, "codes")) == distinct(both)
        assert int(found.finding(last, part, "correct codes")) == distinct(both[right[part]])
        assert float(found.finding(last, part, "accuracy")) == pytest.approx(right[part].mean())
        for gate, alone in bits.items():
            assert int(found.finding(last, part, f"codes of {gate}")) == distinct(alone)
            assert int(found.finding(last, part, f"correct codes of {gate}")) == distinct(alone[right[part]])
    assert 0.3 < right["validation"].mean() < 1
    for gate in ("fc0", "fc1"):
        of_training, own = rows["training"][gate], rows["validation"][gate]
        far = (own[:, None] != of_training).sum(axis=2)
        share = (labels["training"][far.argmin(axis=1)] == labels["validation"]).mean()
        assert float(found.finding(last, "validation", f"nearest {gate}")) == pytest.approx(share)
        table = (own[:, None] != own).sum(axis=2)
        same = labels["validation"][:, None] == labels["validation"]
        pairs = ~np.eye(len(own), dtype=bool)
        assert float(found.finding(last, "validation", f"within {gate}")) == pytest.approx(table[same & pairs].mean())
        assert float(found.finding(last, "validation", f"between {gate}")) == pytest.approx(table[~same].mean())


@pytest.mark.slow
def test_drawn_codes_are_those_of_the_drawn_samples(followed):
    setting, found, model = followed
    validation = labelled_data(setting)[1]
    rows = np.sort(np.random.default_rng(setting.seed).permutation(60)[:30])
    assert np.array_equal(found.labels, validation.labels[rows])
    assert [gate.num_units for gate in found.gates] == [16, 12]
    network = rs.load(model.double().eval(), input_shape=(1, 4, 4))
    expected = network.codes(validation.points[rows]).by_gate()
    for gate in found.gates:
        assert found.codes(max(found.run.epochs), gate.name) == expected[gate.name]
        assert found.codes(0, gate.name) != expected[gate.name]


@pytest.mark.slow
def test_a_finished_study_does_nothing_again(setting, monkeypatch):
    monkeypatch.setitem(heads.PLANS, "small", replace(HEADS, heads=((6,),), rates=(0.1,)))
    monkeypatch.setitem(autoencoder.PLANS, "small", CODED)
    for study, num_pictures in ((heads, 3), (autoencoder, 3)):
        setting = replace(setting, records={})
        first = study.protocol(setting)
        with monkeypatch.context() as patch:
            patch.setattr("reluscope_studies.shepeleva2020._following.descend", None)
            again = study.protocol(setting)
        assert len(first.pictures) == num_pictures
        assert not first.interrupted
        assert again.tables == first.tables
        assert again.findings == first.findings
        assert again.verdicts == first.verdicts
        assert first.findings
        assert all(finding.source == "shepeleva2020" for finding in first.findings)
        assert len({finding.name for finding in first.findings}) == len(first.findings)


@pytest.mark.slow
def test_an_interrupted_study_goes_on_to_the_same_end(setting, monkeypatch):
    monkeypatch.setitem(autoencoder.PLANS, "small", CODED)
    whole = autoencoder.protocol(replace(setting, records={}))
    calls, original = [], _reporting.follow

    def struck(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(_reporting, "follow", struck)
    part = autoencoder.protocol(setting)
    assert part.interrupted
    assert len(part.tables[0].rows) == 2
    assert autoencoder.protocol(setting).tables == whole.tables


def test_nothing_is_there_when_the_first_training_is_interrupted(setting, monkeypatch):
    def struck(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(_reporting, "follow", struck)
    monkeypatch.setattr(out_of_domain, "fit_classifier", struck)
    monkeypatch.setitem(out_of_domain.PLANS, "small", FOREIGN)
    for study in all_studies():
        if study.paper == "shepeleva2020":
            outcome = study.protocol(replace(setting, records={}))
            assert outcome.interrupted
            assert not outcome.findings


def test_the_pair_that_is_hard_to_separate(setting):
    samples = samples_of(setting, (100, 40))
    assert (len(samples.training), len(samples.validation)) == (100, 40)
    few = samples_of(setting, (100, 40), 30)
    assert (len(few.training), len(few.validation)) == (30, 8)
    pair = pair_of(samples)
    assert pair.names == ("4", "9")
    for part, every in zip(pair.parts().values(), samples.parts().values(), strict=True):
        rows = np.flatnonzero(np.isin(every.labels, (4, 9)))
        assert np.array_equal(part.points, every.points[rows])
        assert np.array_equal(part.labels, (every.labels[rows] == 9).astype(int))
    colours = replace(setting, **{part: replace(getattr(setting, part), name="CIFAR-10") for part in ("train", "test")})
    assert pair_of(samples_of(colours, None)).names == ("deer", "frog")
    few = [replace(part, labels=part.labels % 3) for part in (setting.train, setting.test)]
    with pytest.raises(rs.errors.InputError, match="needs the classes"):
        pair_of(samples_of(Setting("small", *few), None))


def test_foreign_samples(setting):
    _, inside = labelled_data(setting)
    images = np.arange(60 * 3 * 10 * 10).reshape(60, 3, 10, 10) / 18000.0
    kinds = _foreign.foreign_samples(inside, rs.datasets.dataset_of(images[:60], name="other"), seed=0)
    assert list(kinds) == ["in domain", "rotated", "shuffled", "noise", "CIFAR-10 in grey"]
    assert {points.shape for points in kinds.values()} == {(60, 16)}
    first = inside.points[0].reshape(4, 4)
    assert np.array_equal(kinds["rotated"][0].reshape(4, 4), np.rot90(first))
    assert np.array_equal(np.sort(kinds["shuffled"], axis=1), np.sort(inside.points, axis=1))
    order = [int(np.flatnonzero(inside.points[0] == value)[0]) for value in kinds["shuffled"][0]]
    assert np.array_equal(kinds["shuffled"], inside.points[:, order])  # one order for all
    # Ten pixels are twice four and a border of one: blocks of 2 x 2 from the second pixel on.
    number = np.random.default_rng(0)
    number.permutation(16)
    number.uniform(size=(60, 16))
    chosen = images[number.permutation(60)[0]]
    assert kinds["CIFAR-10 in grey"][0, 0] == pytest.approx(chosen[:, 1:3, 1:3].mean())
    assert kinds["CIFAR-10 in grey"][0, -1] == pytest.approx(chosen[:, 7:9, 7:9].mean())
    assert isinstance(inside, Labelled)


@pytest.mark.slow
def test_scores_out_of_the_domain(setting, monkeypatch):
    monkeypatch.setitem(out_of_domain.PLANS, "small", FOREIGN)
    beside = rs.datasets.dataset_of(np.random.default_rng(3).uniform(size=(80, 3, 8, 8)), name="other")
    setting = replace(setting, beside=beside)
    outcome = out_of_domain.protocol(setting)
    areas, new = outcome.tables
    kinds = ("rotated", "shuffled", "noise", "CIFAR-10 in grey")
    assert areas.columns == ("network", "score", *kinds)
    assert [row[1] for row in areas.rows] == [
        *(f"code distance, {gate}" for gate in ("all gates", "fc0", "fc1", "fc2")),
        "largest probability",
        "nearest training image",
    ]
    assert new.columns == ("network", "gate", "in domain", *kinds)
    record = setting.records["dense-1"]
    for gate in ("all gates", "fc2"):
        inside, outside = (record.arrays[f"{gate}/{kind}"] for kind in ("in domain", "noise"))
        area = ((outside[:, None] > inside) + 0.5 * (outside[:, None] == inside)).mean()
        assert record.plain["findings"][f"auroc/{gate}/noise"]["value"] == pytest.approx(area)
        assert record.plain["findings"][f"new/{gate}/noise"]["value"] == pytest.approx((outside > 0).mean())
    # A sample differs at least as far in all gates as in one.
    assert (record.arrays["all gates/noise"] >= record.arrays["fc0/noise"]).all()
    with monkeypatch.context() as patch:
        patch.setattr(out_of_domain, "fit_classifier", None)
        assert out_of_domain.protocol(setting).tables == outcome.tables


def test_pictures_of_all_studies_have_names_of_their_own():
    studies = (heads, heads_cifar10, autoencoder, autoencoder_cifar10)
    names = [{plan.name for plan in study.PLANS.values()} for study in studies]
    assert [len(own) for own in names] == [1] * len(studies)
    assert len(set().union(*names)) == len(studies)


def test_statements_about_layers_are_decided_by_the_samples(monkeypatch):
    """Of the same shares many samples decide, few do not; the last layer first."""
    shares = {"encoder1": 0.9, "encoder2": 0.7, "encoder3": 0.5}
    plan = SimpleNamespace(name="autoencoder")
    before = 0.6
    monkeypatch.setattr(
        _reporting,
        "nearest_shares",
        lambda one, gates, epoch=None: [before if epoch == 0 else shares[g] for g in gates],
    )
    for number, words in ((2000, ["confirmed", "confirmed"]), (20, ["not confirmed", "not confirmed"])):
        run = SimpleNamespace(samples=SimpleNamespace(validation=range(number)), label="all")
        found = _autoencoder._verdicts(plan, [SimpleNamespace(run=run)])
        assert [one.word for one in found] == words
    before = 0.4
    run = SimpleNamespace(samples=SimpleNamespace(validation=range(2000)), label="all")
    assert [one.word for one in _autoencoder._verdicts(plan, [SimpleNamespace(run=run)])] == [
        "confirmed",
        "contradicted",
    ]
