"""The studies of zhang2020: the paper's networks, answers that agree with single regions, work that goes on."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.studies import Record, Setting, all_studies
from reluscope_studies.fitting import Fit, fit_classifier
from reluscope_studies.labelled import labelled_data
from reluscope_studies.zhang2020 import _questions, _statements, convolutional, dense, slices, spirals
from reluscope_studies.zhang2020._comparison import Comparison
from reluscope_studies.zhang2020._networks import KINDS, Architecture, Variant, Workshop, centred
from reluscope_studies.zhang2020._plan import Plan
from reluscope_studies.zhang2020._reporting import compare

pytestmark = pytest.mark.slow

RATES = (1e-2,)
PLAN = Plan(
    "tiny",
    Architecture((8, 8)),
    Fit(RATES[0], batch=32, most_epochs=4),
    RATES,
    1,
    _questions.Inquiry(6, "mean", 0.6, rays=4, reach=1.0),
    True,
    {("test accuracy", 1e-2): (97.8, 97.9, 97.5)},
)
CONV = replace(PLAN, architecture=Architecture((6,), ((2, 1),)), rates=RATES[:1])


def blobs(number, seed):
    """Three classes of images of 3 x 3, in [0, 1]."""
    rng = np.random.default_rng(seed)
    labels = np.arange(number) % 3
    centers = np.random.default_rng(0).uniform(0.2, 0.8, size=(3, 1, 3, 3))
    points = np.clip(centers[labels] + rng.normal(0, 0.15, size=(number, 1, 3, 3)), 0, 1)
    return rs.datasets.dataset_of(points, labels, name="blobs")


@pytest.fixture
def setting():
    return Setting("small", blobs(300, 1), blobs(60, 2))


@pytest.fixture(scope="module")
def done():
    """A finished study: its setting, with records, and its outcome."""
    setting = Setting("small", blobs(300, 1), blobs(60, 2))
    return setting, compare(setting, PLAN)


def test_the_papers_networks():
    mlp = dense.PLANS["full"].architecture.build((1, 28, 28), 10, "vanilla", 0)
    conv = convolutional.PLANS["full"].architecture.build((3, 32, 32), 10, "batch norm", 0)
    units = [(rs.load(model.eval(), input_shape=shape)).gates for model, shape in ((mlp, (1, 28, 28)),)]
    assert [gate.num_units for gate in units[0]] == [1024] * 3
    gates = rs.load(conv.eval(), input_shape=(3, 32, 32)).gates
    assert [gate.num_units for gate in gates] == [15 * 15 * 32, 7 * 7 * 64, 3 * 3 * 128, 1024]
    assert [gate.name for gate in gates] == ["relu1", "relu2", "relu3", "relu4"]
    for layer in mlp:
        if isinstance(layer, nn.Linear):
            assert not layer.bias.any()
            assert layer.weight.abs().max() <= (6 / sum(layer.weight.shape)) ** 0.5


def test_pictures_of_all_studies_have_names_of_their_own():
    plans = [plan for study in (dense, convolutional) for plan in study.PLANS.values()]
    assert [plan.name for plan in plans] == ["dense"] * 3 + ["convolutional"] * 3


def test_kinds_differ_in_what_stands_around_the_gates():
    built = {kind: Architecture((4, 4)).build((2,), 2, kind, 0) for kind in KINDS}
    kinds = {kind: [type(layer).__name__ for layer in model] for kind, model in built.items()}
    assert kinds["vanilla"] == ["Flatten", "Linear", "ReLU", "Linear", "ReLU", "Linear"]
    assert kinds["batch norm"][1:4] == ["Linear", "BatchNorm1d", "ReLU"]
    assert kinds["dropout"][1:4] == ["Linear", "ReLU", "Dropout"]
    first = [model.affine1.weight for model in built.values()]
    assert all(torch.equal(first[0], other) for other in first)


def test_training_stops_early_and_keeps_the_best():
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(120, 3)), rng.integers(0, 2, size=120)  # nothing to learn
    losses = []

    def trained(patience):
        model = Architecture((16,)).build((3,), 2, "dropout", 1)
        fit = Fit(1e-2, batch=16, most_epochs=40, patience=patience)
        losses.clear()
        kept = fit_classifier(model, points, labels, fit=fit, seed=3, on_epoch=lambda epoch, loss: losses.append(loss))
        return model, kept

    before = torch.random.get_rng_state()
    model, kept = trained(patience=3)
    assert torch.equal(before, torch.random.get_rng_state())
    assert not model.training
    assert kept == int(np.argmin(losses)) + 1
    assert len(losses) == kept + 3 < 40
    assert all(torch.equal(*pair) for pair in zip(model.parameters(), trained(3)[0].parameters(), strict=True))


@pytest.mark.slow
def test_answers_are_those_of_single_regions(done):
    setting, outcome = done
    training, testing = (centred(part) for part in labelled_data(setting))
    workshop = Workshop(setting, PLAN.architecture, training, testing, {})
    asked = _questions.Asked(setting, PLAN.inquiry, training, testing)
    box = rs.Box(-1, 1, 9)
    for variant in PLAN.compared:
        network = workshop.kept(variant).network
        radii = asked.answers("inspheres", variant.name)["radius manifold"]
        numbers = asked.answers("classes", variant.name)["number"]
        for row, radius in zip(asked.rows, radii, strict=True):
            one = rs.region(network, testing.points[[row]], domain=box)
            assert radius == pytest.approx(one.polyhedron.insphere().radius, rel=1e-6)
        found = rs.local.region_classes(network, testing.points[asked.rows], domain=box)
        assert numbers.tolist() == found["num_classes"].value.tolist()
        record = setting.records[f"{variant.name}-facets"]
        facets = rs.region(network, testing.points[asked.rows[:1]], domain=box).polyhedron.facets()
        assert len(record.arrays["sources"]) <= sum(map(len, facets))
    by_name = {finding.name: finding for finding in outcome.findings}
    assert by_name["classes in a region: vanilla, rate 0.01"].value >= by_name[
        "classes, the paper's test: vanilla, rate 0.01"
    ].value  # fmt: skip


@pytest.mark.slow
def test_ways_end_on_boundaries(done):
    setting, _ = done
    training, testing = (centred(part) for part in labelled_data(setting))
    network = Workshop(setting, PLAN.architecture, training, testing, {}).trained(Variant("vanilla", 1e-2)).network
    asked = _questions.Asked(setting, PLAN.inquiry, training, testing)
    found = _questions.QUESTIONS["inspheres"](asked, network, asked.rows)
    share = found["alpha decision"]
    known = ~np.isnan(share)
    assert known.any()
    assert ((share[known] >= 0) & (share[known] < 1)).all()
    assert np.array_equal(known, ~np.isnan(found["radius decision"]))


@pytest.mark.slow
def test_a_finished_study_does_nothing_again(done, monkeypatch):
    setting, first = done
    assert not first.interrupted
    monkeypatch.setattr("reluscope_studies.zhang2020._networks.fit_classifier", None)
    for question in list(_questions.QUESTIONS):
        monkeypatch.setitem(_questions.QUESTIONS, question, None)
    again = compare(setting, PLAN)
    assert again.tables == first.tables
    assert [one.to_dict() for one in again.findings] == [one.to_dict() for one in first.findings]
    assert "97.8" in " ".join(first.tables[0].rows[0])
    assert {picture.name for picture in first.pictures} > {
        "tiny-inspheres-0.01",
        "tiny-surrounding-regions",
        "tiny-likeliest",
    }


def test_rates_and_questions_are_chosen(setting, monkeypatch):
    plan, asked = replace(PLAN, rates=(1e-2, 1e-3)), []
    monkeypatch.setattr(_questions.Asked, "ask", lambda self, name, network, _: asked.append((name, network)))
    monkeypatch.setattr(Comparison, "_find_facets", None)
    monkeypatch.setattr(Comparison, "_find_likeliest", None)
    found = compare(replace(setting, only=("0.001-inspheres",)), plan)
    names = [f"{kind.replace(' ', '-')}-0.001-0" for kind in KINDS]
    assert {*setting.records} == {*names}
    assert asked == [("inspheres", name) for name in names]
    assert "3 of 3 networks" in found.sentences[0]
    assert all("rate 0.001" in finding.name for finding in found.findings)
    # What was asked before and is not wanted now is not shown.
    setting.records[f"{names[0]}-classes"] = Record({"seconds": 0.0}, {"number": np.ones(3)})
    work, variant = Comparison(replace(setting, only=("*-inspheres",)), plan), Variant("vanilla", 1e-3)
    assert work.answers("classes", variant) == []
    assert len(Comparison(setting, plan).answers("classes", variant)) == 1
    with pytest.raises(rs.errors.InputError, match=r"--only takes one as 0\.01-inspheres"):
        compare(replace(setting, only=("0.1*",)), plan)


@pytest.mark.slow
def test_an_interrupted_study_goes_on_to_the_same_end(setting, monkeypatch):
    whole = compare(replace(setting, records={}), CONV)
    calls, original = [], _questions.QUESTIONS["classes"]

    def struck(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setitem(_questions.QUESTIONS, "classes", struck)
    part = compare(setting, CONV)
    assert part.interrupted
    assert any("(5)" in cell for table in part.tables for row in table.rows for cell in row)
    rest = compare(setting, CONV)
    assert not rest.interrupted
    assert rest.tables == whole.tables


def test_a_budget_asks_fewer_points(setting):
    training, testing = (centred(part) for part in labelled_data(setting))
    network = (
        Workshop(setting, CONV.architecture, training, testing, {1e-2: CONV.fit})
        .trained(Variant("vanilla", 1e-2))
        .network
    )
    for seconds, number in ((0.0, 5), (0.0, 5), (None, 6)):
        asked = _questions.Asked(replace(setting, seconds=seconds), CONV.inquiry, training, testing)
        asked.ask("surrounding_regions", "vanilla", network)
        assert len(asked.answers("surrounding_regions", "vanilla")["number"]) == number


def test_nothing_is_there_when_the_first_training_is_interrupted(monkeypatch):
    def struck(*arguments, **options):
        raise KeyboardInterrupt

    for module in ("_networks", "orthogonal"):
        monkeypatch.setattr(f"reluscope_studies.zhang2020.{module}.fit_classifier", struck)
    images = Setting("small", rs.datasets.digits("train").limited(50), rs.datasets.digits("test").limited(50))
    for study in all_studies():
        if study.paper == "zhang2020":
            outcome = study.protocol(replace(images, records={}))
            assert outcome.interrupted
            assert not outcome.findings


@pytest.mark.slow
def test_planes(setting, monkeypatch):
    monkeypatch.setitem(slices.FITS, "small", PLAN.fit)
    monkeypatch.setattr(slices, "ARCHITECTURE", Architecture((5, 5)))
    monkeypatch.setattr(spirals, "ARCHITECTURE", Architecture((5, 5)))
    monkeypatch.setattr(spirals, "FIT", PLAN.fit)
    for study, count in ((slices, 1), (spirals, 2)):
        outcome = study.protocol(replace(setting, records={}, replicates=2))
        assert [row[:2] for row in outcome.tables[0].rows] == [(kind, number) for number in "12" for kind in KINDS]
        assert len(outcome.pictures) == count
        assert sum(finding.name == "regions" for finding in outcome.findings) == 6
        # The first networks are drawn; their titles have the numbers of the table.
        drawn = [axes.get_title() for axes in outcome.pictures[0].figure.axes if "region" in axes.get_title()]
        where = outcome.tables[0].columns.index("regions")
        shown = outcome.tables[0].rows[:3]
        assert [one.removesuffix("s") for one in drawn] == [f"{row[0]}: {row[where]} region" for row in shown]
    points = setting.train.points[:1]
    flat = replace(setting.test, points=np.repeat(points, 60, axis=0))
    with pytest.raises(rs.errors.InputError, match="span a plane"):
        slices.protocol(replace(setting, test=flat))


@pytest.mark.slow
def test_spirals_are_learned_as_in_the_paper(setting):
    outcome = spirals.protocol(setting)
    assert [row[2] for row in outcome.tables[0].rows] == ["100.0 %"] * 3


def test_equal_numbers_of_classes_decide_nothing():
    assert [_statements._is_least(one) for one in ([1, 2, 3], [1, 1, 3], [2, 1, 3])] == [True, None, False]
    classes = [
        rs.Finding.of(
            number, name=f"classes, the paper's test: {kind}, rate 0.1", definition="classes", domain="regions"
        )
        for number, kind in zip((1.0, 1.0, 1.0), KINDS, strict=True)
    ]
    assert [one.word for one in _statements.verdicts(classes, [0.1])] == ["not confirmed"]
