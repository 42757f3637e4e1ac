"""What becomes of what chapters 6 and 7 say of networks for images: planted numbers that hold, and that do not."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import reluscope as rs
from reluscope.studies import Setting, StatementVerdict
from reluscope_studies.classifiers import trained
from reluscope_studies.labelled import Labelled, labelled
from reluscope_studies.sattelberg2026_ch6 import _statements as chapter6
from reluscope_studies.sattelberg2026_ch6 import first_directions
from reluscope_studies.sattelberg2026_ch6._ink import ink_share
from reluscope_studies.sattelberg2026_ch7 import _statements as chapter7
from reluscope_studies.sattelberg2026_networks import (
    ACCURACIES,
    OPTIMIZERS,
    accuracy_verdicts,
    models,
    with_accuracies,
)

EVERY = models(4, 2)
# Images whose gradients are looked at, of networks with four units.
SEEN = 9
IMAGES = Labelled(np.zeros((2, 36)), np.zeros(2, dtype=int), "images", (1, 6, 6))


def words(found):
    return {one.statement.partition(" (")[0]: one.word for one in found}


def exact(number):
    return rs.Finding.of(number, name="number")


def subspaces(direction, eigenvalues, rank=4):
    """One output with one direction."""
    return rs.sensitivity.ActiveSubspaces(
        (0,),
        np.array([eigenvalues], dtype=float),
        direction.reshape(1, 1, -1) / np.linalg.norm(direction),
        np.array([sum(eigenvalues)], dtype=float),
        np.array([1e-12]),
        np.zeros(36),
        rank,
        SEEN,
    )


def of_chapter_6(name="cifar10", *, holds, with_paper=True, is_full=True):
    """Numbers of all networks that agree with every statement, or with none."""
    ramp = np.add.outer(np.arange(6.0), np.arange(6.0))
    board = (-1.0) ** np.indices((6, 6)).sum(axis=0)
    better = {"SGD": holds, "AdamW": not holds}
    regions, spaces, explained = {}, {}, {}
    for one in EVERY:
        is_simple = one.kind == "simple"
        regions[one] = (exact(500 if better[one.optimizer] else 50), 40, 39 if holds else 40)
        later = 1e-6 if is_simple == holds else 0.3
        tail = [1.0, 0.1, later, later] if holds or one.kind != "dense" else [1.0, 0.9, 0.9, 0.9]
        spaces[one] = subspaces(ramp if better[one.optimizer] else board, tail, rank=4 if holds else 5)
        explained[one] = [0.4 if better[one.optimizer] else 0.2] if holds else [0.6 + 0.1 * better[one.optimizer]]
    if not holds:
        regions = {one: (exact(5 if better[one.optimizer] else 4), 40, 40) for one in EVERY}
    accuracies = {one: exact(0.5) for one in EVERY}
    ink = {one: 0.95 if holds == (one.kind != "linear") else 0.5 for one in EVERY}
    return chapter6.verdicts(
        name, accuracies, regions, spaces, explained, IMAGES, ink, with_paper=with_paper, is_full=is_full
    )


def test_statements_of_chapter_6():
    # The first two are about accuracies, which are all alike here.
    hold, fail = (words(of_chapter_6(holds=one)[2:]) for one in (True, False))
    assert len(hold) == 9
    several = "there are hundreds or thousands of regions in a small part of the slice"
    # Half of the networks have hundreds.
    assert hold.pop(several) == "not confirmed"
    assert fail.pop(several) == "contradicted"
    # There are two pairs of dense networks.
    two = "SGD networks have more regions"
    assert hold.pop(two) == fail.pop(two) == "not confirmed"
    assert set(hold.values()) == {"confirmed"}
    assert set(fail.values()) == {"contradicted"}
    for holds in (True, False):
        assert set(words(of_chapter_6(holds=holds, with_paper=False)).values()) == {"not comparable"}
        assert set(words(of_chapter_6(holds=holds, is_full=False)).values()) == {"not comparable"}
    only = "convolutional networks have coefficients only where the image is not zero"
    assert [words(of_chapter_6("mnist", holds=one))[only] for one in (True, False)] == ["confirmed", "contradicted"]


def test_no_more_images_than_units_say_nothing_of_ranks(monkeypatch):
    statement = "dense networks have at most as many nonzero singular values as units"
    for number, word in ((5, "confirmed"), (4, "not confirmed")):
        monkeypatch.setitem(globals(), "SEEN", number)
        assert words(of_chapter_6(holds=True))[statement] == word


def test_ink_under_coefficients():
    """Two images of 2 x 2 in two channels, with coefficients of two outputs: counted by eye."""
    net = rs.load([(np.array([[1, 0, 0, 0, 1, -1, 0, 0.1], [0, 3.0, 0, 2, 0, 0, 0, 2]]), np.zeros(2))])
    images = np.array([[5.0, 0.2, 0, 0, 0, 0, 0, 0], [-1, -1, -1, -1, -1, -1, -1, 0]])
    # By the largest of all: 0.5, -0.25, 0, 0.025 and 0, 0.75, 0, 1 are drawn: four are seen, three in the ink of the
    # first image, which is strong and faint, one in that of the second.
    assert ink_share(net, images[:1], (2, 2, 2)) == pytest.approx(3 / 4)
    assert ink_share(net, images, (2, 2, 2)) == pytest.approx((3 / 4 + 1 / 4) / 2)


@pytest.mark.parametrize(("coloured", "word"), [(0.2, "confirmed"), (0.9, "contradicted")])
def test_first_directions_of_two_kinds_of_data(coloured, word):
    shares = {"CIFAR-10": coloured, "MNIST": 0.5}
    found = {
        data: {one: exact(1.0 if one.kind == "linear" else share) for one in EVERY} for data, share in shares.items()
    }
    assert [one.word for one in first_directions._verdicts(found)] == [word]
    assert not list(first_directions._verdicts({"MNIST": found["MNIST"]}))


def explained_by_first(network, points):
    """By gradients one by one: squared correlations with positions along their common direction, the middle one."""
    values = network(points).numpy()
    found = []
    for j in range(values.shape[1]):
        rows = np.stack([network.linearize(point[None]).weight[0, j].numpy() for point in points])
        _, _, directions = np.linalg.svd(rows)
        found.append(np.corrcoef(points @ directions[0], values[:, j])[0, 1] ** 2)
    return sorted(found)[len(found) // 2]


def test_first_directions_are_asked_of_as_many_images(monkeypatch):
    rng = np.random.default_rng(0)
    parts = [rs.datasets.dataset_of(rng.uniform(size=(40, 1, 4, 4)), np.arange(40) % 3, name="blobs") for _ in "abc"]
    plan = first_directions.DirectionsPlan(1, 3, 2, 30, scaled=False)
    monkeypatch.setitem(first_directions.PLANS, "small", plan)
    monkeypatch.setattr(first_directions, "models", lambda *sizes: models(*sizes)[2:6])
    kept = {}

    def keeping(*arguments, record):
        kept[record] = (found := trained(*arguments, record=record))[0], arguments[-1].points
        return found

    monkeypatch.setattr(first_directions, "trained", keeping)
    setting = Setting("small", *parts[:2], beside=parts[2])
    found = first_directions.protocol(setting)
    for one in found.findings:
        assert float(one) == pytest.approx(explained_by_first(*kept[one.name.partition(": ")[2]]))
    names = [f"{data} dense 1 {way}" for data in ("blobs", "MNIST") for way in OPTIMIZERS]
    assert list(setting.records) == names
    assert [one.domain for one in found.findings] == ["6 images"] * 4
    training, others = first_directions._split(labelled(parts[2]), 30, 24, 0)
    both = np.concatenate([training.points, others.points])
    assert [len(training), len(others), len(np.unique(both, axis=0))] == [24, 6, 30]
    assert [row[0] for row in found.tables[0].rows] == ["dense 1 SGD", "dense 1 AdamW"]
    assert [one.word for one in found.verdicts] != ["contradicted"]
    alone = first_directions.protocol(Setting("small", *parts[:2]))
    assert alone.tables[0].columns == ("network", "blobs")


@pytest.mark.parametrize("data", ["mnist", "cifar10"])
def test_printed_accuracies_are_confirmed_by_themselves(data):
    said = {one: float(ACCURACIES[data][one.row][OPTIMIZERS.index(one.optimizer)]) for one in EVERY}
    found = {one: exact(value / 100) for one, value in said.items()}
    assert [one.word for one in accuracy_verdicts(data, found, "Table 6.1", is_full=True)] == ["confirmed"] * 2
    away = {one: exact(value / 100 - 0.02) for one, value in said.items()}
    for is_full, word in ((True, "contradicted"), (False, "not comparable")):
        assert accuracy_verdicts(data, away, "Table 6.1", is_full=is_full)[0].word == word
    # Trained for less, networks are like the dissertation's within ten points: statements about them are decided.
    said = [StatementVerdict("a", "b", "c", "d", holds=True), StatementVerdict("e", "b", "c", "d", holds=False)]
    for points, expected in ((9, ["confirmed", "contradicted"]), (11, ["not comparable"] * 2)):
        away = {**found, EVERY[0]: exact(float(found[EVERY[0]]) - points / 100)}
        decided = with_accuracies(said, data, away, "Table 6.1", with_paper=True, is_full=False)
        assert [one.word for one in decided[2:]] == expected


def test_roughness_of_noise():
    noise = np.random.default_rng(0).normal(size=(1, 1, 200, 200))
    assert chapter6.roughness(noise) == pytest.approx(2, abs=0.05)


def compressed(model, lost, numbers=(1, 10, 100)):
    """A network that is right on 90 % and loses so many points with so many functions."""
    left = dict(zip(numbers, (90 - one for one in lost), strict=True))
    return SimpleNamespace(
        model=model, original=90.0, numbers=[*numbers], at=left.__getitem__, num_sharing=0, num_samples=100
    )


def similar(drop, cka, entropy, distance):
    """Findings of all pairs, each number a function of the two networks."""
    pairs = [(a, b) for a in EVERY for b in EVERY]
    columns = {"drop": drop, "cka": cka, "output_cross_entropy": entropy, "scaled_distance": distance}
    values = {name: np.array([float(number(a, b)) for a, b in pairs]) for name, number in columns.items()}
    values["mapped_accuracy"] = np.full(len(pairs), 0.3)
    places = {(a.name, b.name): place for place, (a, b) in enumerate(pairs)}

    class Chosen(dict):
        def where(self, first, second):
            place = places[first, second]
            return {name: SimpleNamespace(value=column[place : place + 1]) for name, column in values.items()}

    return Chosen()


def is_dense(model):
    return model.kind == "dense"


def of_chapter_7(name, *, holds, samples=10_000, is_full=True):
    def lost(model):
        close = is_dense(model) or (name == "mnist" and model.optimizer == "SGD")
        few, most = (10 if is_dense(model) == holds else 60), (1 if close == holds else 20)
        step = (model.optimizer == "AdamW") * (0.1 if holds else -0.1)
        return few, few / 2 + step, most if holds else few + 5

    def drop(a, b):
        crossed = is_dense(a) != is_dense(b)
        hardest = name == "mnist" and is_dense(b) and b.optimizer == "AdamW"
        return (0.3 * crossed + 0.2 * (a.optimizer == "AdamW") + hardest) * (1 if holds else -1)

    def near(a, b):
        return (0.9 if a.optimizer == b.optimizer == "SGD" else 0.5 if a.optimizer == b.optimizer else 0.1) * (
            1 if holds else -1
        )

    def distance(a, b):
        return (1.0 if "linear" in (a.kind, b.kind) else 0.1) * (1 if holds else -1)

    every = [compressed(model, lost(model)) for model in EVERY]
    every = [one if holds else SimpleNamespace(**{**vars(one), "num_sharing": 50}) for one in every]
    accuracies = {one: replace(exact(0.2 if holds else 0.5), num_samples=samples) for one in EVERY}
    found = chapter7.verdicts(
        name, accuracies, every, similar(drop, near, lambda a, b: -near(a, b), distance), "Figure 7.3",
        with_paper=True, is_full=is_full,
    )  # fmt: skip
    return words(found[2:])


@pytest.mark.parametrize(("name", "number"), [("mnist", 10), ("cifar10", 11)])
def test_statements_of_chapter_7(name, number):
    hold, fail = (of_chapter_7(name, holds=one) for one in (True, False))
    assert len(hold) == number
    assert set(hold.values()) == {"confirmed"}, hold
    assert "confirmed" not in fail.values(), fail
    assert list(fail.values()).count("contradicted") >= number - 2, fail
    assert set(of_chapter_7(name, holds=False, is_full=False).values()) == {"not comparable"}
    # Of one image chance makes any difference of accuracies.
    few = of_chapter_7(name, holds=True, samples=1)
    of_accuracies = [one for one in hold if "map" in one or "represent" in one or "similar to each other" in one]
    assert of_accuracies
    assert {few[one] for one in of_accuracies} == {"not confirmed"}


@pytest.mark.slow
def test_networks_alike_by_chance_are_seldom_blocks():
    """CKA that differs from pair to pair by more than between optimisers, as that of few images does."""
    places = {one.name: place for place, one in enumerate(EVERY)}
    decided = 0
    for seed in range(8):
        drawn = np.random.default_rng(seed).normal(scale=0.05, size=(len(EVERY), len(EVERY)))

        def cka(a, b, noise=drawn + drawn.T):
            return 0.43 - 0.01 * (a.optimizer != b.optimizer) + noise[places[a.name], places[b.name]]

        found = words(chapter7._of_similarities("mnist", EVERY, similar(cka, cka, cka, cka)))
        blocks = [one for one in found if "block" in one or "optimisers is low" in one or "cross-entropy" in one]
        assert len(blocks) == 3
        decided += sum(found[one] == "confirmed" for one in blocks)
    # Where means alone decide, eight of the 24 are confirmed.
    assert decided <= 2


def test_a_network_has_its_like_by_the_other_optimizer():
    pairs = chapter6.pairs_of(dict.fromkeys(EVERY), "dense", "simple")
    assert [(a.name, b.name) for a, b in pairs] == [
        (f"{row} SGD", f"{row} AdamW") for row in ("dense 1", "dense 2", "simple 1", "simple 2")
    ]
    assert all(replace(a, optimizer="AdamW") == b for a, b in pairs)
