"""What becomes of what chapters 6 and 7 say of networks for images: planted numbers that hold, and that do not."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import reluscope as rs
from reluscope_studies.labelled import Labelled
from reluscope_studies.sattelberg2026_ch6 import _statements as chapter6
from reluscope_studies.sattelberg2026_ch7 import _statements as chapter7
from reluscope_studies.sattelberg2026_networks import ACCURACIES, OPTIMIZERS, accuracy_verdicts, models

EVERY = models(4, 2)
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
        9,
    )


def of_chapter_6(*, holds, with_paper=True):
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
    return chapter6.verdicts(
        "cifar10", accuracies, regions, spaces, explained, IMAGES, with_paper=with_paper, is_full=False
    )


def test_statements_of_chapter_6():
    # The first two are about accuracies, which are all alike here.
    hold, fail = (words(of_chapter_6(holds=one)[2:]) for one in (True, False))
    assert len(hold) == 9
    several = "there are hundreds or thousands of regions in a small part of the slice"
    # Half of the networks have hundreds.
    assert hold.pop(several) == "not confirmed"
    assert fail.pop(several) == "contradicted"
    assert set(hold.values()) == {"confirmed"}
    assert set(fail.values()) == {"contradicted"}
    assert set(words(of_chapter_6(holds=False, with_paper=False)).values()) == {"not confirmed"}


@pytest.mark.parametrize("data", ["mnist", "cifar10"])
def test_printed_accuracies_are_confirmed_by_themselves(data):
    said = {one: float(ACCURACIES[data][one.row][OPTIMIZERS.index(one.optimizer)]) for one in EVERY}
    found = {one: exact(value / 100) for one, value in said.items()}
    assert [one.word for one in accuracy_verdicts(data, found, "Table 6.1", is_full=True)] == ["confirmed"] * 2
    away = {one: exact(value / 100 - 0.02) for one, value in said.items()}
    for is_full, word in ((True, "contradicted"), (False, "not confirmed")):
        assert accuracy_verdicts(data, away, "Table 6.1", is_full=is_full)[0].word == word


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


def of_chapter_7(name, *, holds):
    def lost(model):
        close = is_dense(model) or (name == "mnist" and model.optimizer == "SGD")
        few, most = (10 if is_dense(model) == holds else 60), (1 if close == holds else 20)
        step = (model.optimizer == "AdamW") * (0.1 if holds else -0.1)
        return few, few / 2 + step, most if holds else max(most, few)

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
    accuracies = {one: exact(0.25 if holds else 0.5) for one in EVERY}
    found = chapter7.verdicts(
        name, accuracies, every, similar(drop, near, lambda a, b: -near(a, b), distance), "Figure 7.3",
        with_paper=True, is_full=False,
    )  # fmt: skip
    return words(found[2:])


@pytest.mark.parametrize(("name", "number"), [("mnist", 10), ("cifar10", 11)])
def test_statements_of_chapter_7(name, number):
    hold, fail = (of_chapter_7(name, holds=one) for one in (True, False))
    assert len(hold) == number
    assert set(hold.values()) == {"confirmed"}, hold
    assert "confirmed" not in fail.values(), fail
    assert list(fail.values()).count("contradicted") >= number - 2, fail


def test_a_network_has_its_like_by_the_other_optimizer():
    pairs = chapter6.pairs_of(dict.fromkeys(EVERY), "dense", "simple")
    assert [(a.name, b.name) for a, b in pairs] == [
        (f"{row} SGD", f"{row} AdamW") for row in ("dense 1", "dense 2", "simple 1", "simple 2")
    ]
    assert all(replace(a, optimizer="AdamW") == b for a, b in pairs)
