"""What becomes of statements of the papers, from planted numbers: those that hold, and those that do not."""

from types import SimpleNamespace

import numpy as np
import pytest

import reluscope as rs
from reluscope.studies import Record, Setting
from reluscope_studies.sattelberg2026_ch3 import _image_pruning, pruned_deep, ten_inputs
from reluscope_studies.sattelberg2026_ch3._networks import Learned
from reluscope_studies.sattelberg2026_ch4 import random_directions
from reluscope_studies.sattelberg2026_ch5 import interpolants
from reluscope_studies.shepeleva2020 import _heads, out_of_domain
from reluscope_studies.shepeleva2020._reporting import RIGHT
from reluscope_studies.zhang2020 import _statements as zhang
from reluscope_studies.zhang2020 import dense
from reluscope_studies.zhang2020._networks import KINDS, Variant
from reluscope_studies.zhang2020._questions import PLACES
from reluscope_studies.zhang2020._redrawn import redrawn


def words(found):
    return [one.word for one in found]


# What the paper says of three kinds of networks, and the other way round.
AS_SAID = {
    "median inradius, manifold regions": ((3, 1, 2.9), (1, 2, 3)),
    "median inradius, decision regions": ((2, 0.8, 1), (3, 4, 5)),
    "median inradius, adversarial regions": ((2.9, 0.9, 2.5), (9, 9, 9)),
    "classes, the paper's test": ((3, 2, 1), (1, 2, 3)),
    "distortion": ((20, 10, 20), (10, 20, 20)),
    "test accuracy": ((0.97, 0.98, 0.975), (0.2, 0.9, 0.4)),
    "mean angle between hyperplanes in degrees": ((85, 88, 80), (88, 85, 90)),
    "median number of regions along rays": ((10, 20, 9), (20, 10, 9)),
    "mean cosine of decision directions": ((0.9, 0.8, 0.9), (0.2, 0.4, 0.3)),
}


def comparison(*, holds):
    """Findings of three kinds of networks at two rates."""
    for rate in (1e-3, 1e-4):
        for measure, planted in AS_SAID.items():
            for kind, value in zip(KINDS, planted[0 if holds else 1], strict=True):
                yield rs.Finding.estimate(float(value), name=f"{measure}: {kind}, rate {rate:g}")


def test_batch_norm_and_dropout():
    found = zhang.verdicts(list(comparison(holds=True)), (1e-3, 1e-4))
    assert words(found) == ["confirmed"] * 10
    assert words(zhang.verdicts(list(comparison(holds=False)), (1e-3, 1e-4))) == ["contradicted"] * 10
    # Of angles one region is known at each rate, whose order of three is one of six.
    (one,) = (one for one in zhang.verdicts(list(comparison(holds=True)), (1e-3,)) if one.word != "confirmed")
    assert (one.statement.partition(",")[0], one.word) == (
        "batch norm makes hyperplanes more orthogonal", "not confirmed",
    )  # fmt: skip


@pytest.mark.slow
def test_other_draws_of_the_points_decide():
    """Chance leaves open what two of forty draws contradict, and what too few points say."""
    name = "distortion: batch norm, rate 0.001"
    rates = (1e-3, 1e-4)

    def decided(draws):
        found = zhang.verdicts(list(comparison(holds=True)), rates, draws)
        return {one.statement: one.word for one in found if one.word != "confirmed"}

    def draws(number, value):
        return [{name: 10.0}] * (40 - number) + [{name: value}] * number

    assert decided(draws(1, 30.0)) == {}
    assert decided(draws(2, 30.0)) == {
        "batch norm decreases the distortion (vanilla, batch norm, dropout)": "not confirmed"
    }
    assert list(decided([{name: float("nan")}] * 2).values()) == ["not confirmed"]
    against, about = list(comparison(holds=False)), "batch norm decreases the distortion (vanilla, batch norm, dropout)"
    drawn = [{one.name: float(one) for one in against}] * 3
    for points, word in ((30, "contradicted"), (29, "not confirmed")):
        found = {one.statement: one.word for one in zhang.verdicts(against, rates, drawn, points=points)}
        assert found[about] == word


def test_points_are_drawn_again_for_all_networks_at_once():
    """Radii of one network are half of another's at every point: so is every median, and means of few are unknown."""
    radii = np.random.default_rng(0).uniform(size=20)

    def answers(question, variant):
        if question != "inspheres" or variant.kind == KINDS[2]:
            return [{"number": np.ones(5), "at likeliest": np.ones(5), "distortion": np.ones(5)}] * (
                question == "classes"
            )
        return [{f"radius {place}": radii / (1 + KINDS.index(variant.kind)) for place in PLACES}]

    every = redrawn([Variant(kind, 1e-3) for kind in KINDS], answers, 0)
    names = [f"median inradius, manifold regions: {kind}, rate 0.001" for kind in KINDS[:2]]
    assert all(draw[names[0]] == 2 * draw[names[1]] for draw in every)
    assert all(np.isnan(draw[f"distortion: {kind}, rate 0.001"]) for draw in every[:2] for kind in KINDS)
    assert "median inradius, manifold regions: dropout, rate 0.001" not in every[0]
    found = np.array([draw[names[0]] for draw in every])
    # The standard deviation of a median of n uniform numbers is near to 1 / (2 sqrt(n + 2)).
    assert len(found) == 400
    assert 0.5 < found.std() / (0.5 / np.sqrt(22)) < 1.6


def test_numbers_of_tables_stand_beside_ours():
    """Accuracies in per cent, classes and distortions as printed; figures of convolutional networks are their own."""
    findings = list(comparison(holds=True))
    found = {one.statement.partition(" (")[0]: one for one in zhang.verdicts(findings, (1e-3,), published=dense.PAPER)}
    one = found["accuracies are similar, within 2 points"]
    assert (one.place, one.printed, one.found) == (
        "Table 1", "rate 0.001: 97.8, 97.9, 97.5 %", "rate 0.001: 97.0 %, 98.0 %, 97.5 %",
    )  # fmt: skip
    one = found["dropout leaves fewest classes in a region"]
    assert (one.place, one.printed, one.found) == (
        "Table 2", "rate 0.001: 1.116, 1.083, 1.012", "rate 0.001: 3, 2, 1",
    )  # fmt: skip
    one = found["decision regions are narrower than manifold regions, most so with dropout"]
    assert (one.place, one.printed) == ("Figure 3", "in words")
    assert one.found == "rate 0.001: decision regions 2, 0.8, 1, manifold regions 3, 1, 2.9"
    assert {one.place for one in zhang.verdicts(findings, (1e-3,), of="convolutional")} == {
        "Figure 9", "Figure 10", "Table 4", "Figure 12", "section E.1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "word"),
    [((100, 200, 150), "confirmed"), ((100, 200, 50), "not confirmed"), ((100, 20, 50), "contradicted")],
)
def test_regions_of_a_plane(counts, word):
    exact = {kind: rs.Finding.of(count, name="regions") for kind, count in zip(KINDS, counts, strict=True)}
    assert zhang.more_regions([exact] * 5, "Figure 1").word == word
    # One network of each kind may be so by chance, as may four.
    assert zhang.more_regions([exact], "Figure 1").word == zhang.more_regions([exact] * 4, "").word == "not confirmed"
    lower = {kind: rs.Finding.of(int(one), upper=np.inf, name="regions") for kind, one in exact.items()}
    assert zhang.more_regions([lower] * 5, "Figure 1").word == "not confirmed"
    less = {kind: rs.Finding.of(int(one) - 90, name="regions") for kind, one in exact.items()}
    assert zhang.more_regions([exact, less], "").found.startswith("vanilla 10 to 100, batch norm")


@pytest.mark.parametrize(("norm", "word"), [((1.0, 1.0, 1.2), "confirmed"), ((1.0, 9.0), "contradicted")])
def test_sizes_of_regions(norm, word):
    areas = {KINDS[1]: np.array(norm), KINDS[2]: np.array([1.0, 2.0])}
    assert zhang.more_uniform([areas] * 5, "Figure 1").word == word
    assert zhang.more_uniform([areas], "Figure 1").word == "not confirmed"
    assert zhang.more_uniform([{KINDS[1]: np.ones(2)}] * 5, "Figure 1").word == "not confirmed"
    drawn = np.random.default_rng(0).exponential(size=50)
    between = np.abs(drawn[:, None] - drawn).mean()
    assert zhang.gini(drawn) == pytest.approx(between / (2 * drawn.mean()))


@pytest.mark.parametrize(
    ("channels", "weights", "fell", "full", "small"),
    [
        (0.15, 0.05, True, ["confirmed"] * 3, ["not comparable"] * 3),
        (0.3, 0.5, True, ["contradicted"] * 3, ["not comparable"] * 3),
        # Where pruning by channels ended at once, nothing is known but that weights kept the accuracy.
        (0.98, 0.15, False, ["not confirmed", "confirmed", "not confirmed"], ["not comparable"] * 3),
    ],
)
def test_pruned_images(channels, weights, fell, full, small):
    kinds = (_image_pruning.CHANNELS, _image_pruning.WEIGHTS)
    fewest = {kind: rs.Finding.of(share, name="s") for kind, share in zip(kinds, (channels, weights), strict=True)}
    keeps = dict.fromkeys(kinds, 0.2)
    for size, wanted in (("full", full), ("small", small)):
        found = _image_pruning._verdicts(Setting(size), fewest, dict(zip(kinds, (fell, True), strict=True)), keeps, "F")
        assert words(found)[: len(wanted)] == wanted


def test_pruned_deep_networks():
    def records(*widths, learned=True):
        return [Record({"learned": learned, "widths": [list(one) for one in widths], "units": []})]

    direct = Record({"learned": 1, "number": 100})
    tables = {2: records((2,), (3,)), 3: records((2, 2), (3,)), 4: records((2, 2))}
    quoted = 20 * records((2, 2), *[(3, 2)] * 4)
    assert words(pruned_deep._verdicts(tables, direct, quoted)) == ["confirmed"] * 4
    larger = {2: records((3,)), 3: records((3, 2)), 4: records((2, 2, 2))}
    often = Record({"learned": 60, "number": 100})
    assert words(pruned_deep._verdicts(larger, often, records(*[(2, 2)] * 90, *[(3, 2)] * 10)))[:2] == [
        "contradicted", "contradicted",
    ]  # fmt: skip


def learned(rate, number=200):
    solved = np.arange(number) < rate * number
    return Learned(np.where(solved, 5, -1).reshape(number, 1), np.zeros((number, 1), dtype=np.int64))


@pytest.mark.parametrize(
    ("enough", "few", "random", "word"), [(0.9, 0.1, 0.05, "confirmed"), (0.1, 0.9, 0.99, "contradicted")]
)
def test_sizes_for_ten_inputs(enough, few, random, word):
    sizes = {
        (10, 1, ten_inputs.PARITY): learned(enough),
        (2, 1, ten_inputs.PARITY): learned(few),
        (10, 1, ten_inputs.RANDOM): learned(random),
        (2, 1, ten_inputs.RANDOM): learned(random),
    }
    assert words(ten_inputs._verdicts_of_sizes(sizes)) == [word] * 2


def followed(rate, accuracy, cells, label="[4]"):
    """A training that ends with an accuracy and has so many cells with correct samples after each epoch."""
    epochs = tuple(range(len(cells)))
    numbers = {"accuracy": lambda epoch: accuracy, RIGHT: lambda epoch: cells[epoch]}

    def finding(epoch, part, what):
        return rs.Finding.of(float(numbers[what](epoch)), name=what)

    run = SimpleNamespace(label=label, rate=rate, epochs=epochs, task=SimpleNamespace(score="accuracy"))
    return SimpleNamespace(run=run, finding=finding)


@pytest.mark.parametrize(
    ("second", "word"),
    [
        ((0.905, (5, 90, 100)), "confirmed"),
        ((0.905, (50, 81, 100)), "contradicted"),
        ((0.5, (5, 10, 100)), "not confirmed"),
    ],
)
def test_cells_of_two_rates(second, word):
    plan = SimpleNamespace(name="heads", heads=((4,),), rates=(0.1, 0.01))
    every = [followed(0.1, 0.9, (50, 80, 100)), followed(0.01, *second), followed(0.1, 1, (1,), label="two classes")]
    assert words(_heads._of_rates(plan, every)) == [word]


@pytest.mark.parametrize(
    ("inside", "area", "expected"),
    [(0.1, 0.99, ["confirmed", "confirmed"]), (1.0, 0.5, ["contradicted", "contradicted"])],
)
def test_samples_out_of_the_domain(inside, area, expected):
    values = {"new": {out_of_domain.INSIDE: inside, "noise": 1.0}, "auroc": {"noise": area}}
    plain = {
        f"{what}/{out_of_domain.ALL}/{kind}": rs.Finding.of(value, name=what).to_dict()
        for what, kinds in values.items()
        for kind, value in kinds.items()
    }
    one = out_of_domain._Judged("dense", Record({"findings": plain}))
    kinds = {out_of_domain.INSIDE: np.zeros(1), "noise": np.zeros(1)}
    assert words(out_of_domain._verdicts([one], kinds)) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("study", "number"), [(random_directions, 2), (interpolants, 1)])
def test_what_is_drawn_without_numbers(study, number, monkeypatch):
    monkeypatch.setattr(random_directions, "TRIALS", 20)
    assert words(study.protocol(Setting("small")).verdicts) == ["confirmed"] * number
