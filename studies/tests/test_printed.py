"""Printed numbers: the file, transcribed from the papers' text by a program, against what studies were given."""

import json
import re
from itertools import product
from math import comb

import pytest

from reluscope_studies import printed, sattelberg2026_runs
from reluscope_studies.behrmann2018 import _networks as invertible
from reluscope_studies.behrmann2018 import invariances, preimages
from reluscope_studies.sattelberg2026_ch3 import (
    _image_pruning,
    atlas,
    classes,
    local_optima,
    pruned_deep,
    pruned_images,
    pruned_images_cifar10,
    pruned_parity,
    ten_inputs,
)
from reluscope_studies.sattelberg2026_ch3 import _networks as boolean
from reluscope_studies.sattelberg2026_ch4 import _networks as circles
from reluscope_studies.sattelberg2026_ch4 import dimensions, hyperparameters, random_directions, solutions
from reluscope_studies.sattelberg2026_ch5 import _restarts, sine
from reluscope_studies.sattelberg2026_ch7 import _plan, _printed, circle_annulus, xor
from reluscope_studies.sattelberg2026_networks import ACCURACIES, OPTIMIZERS, models, training_of
from reluscope_studies.serra2018 import splits
from reluscope_studies.shepeleva2020 import _heads, _networks, heads
from reluscope_studies.zhang2020 import _networks as compared
from reluscope_studies.zhang2020 import convolutional, dense, slices, spirals

DISSERTATION = "sattelberg2026"
# By its table of contents: where a section begins, and where the next one does.
CONTENTS = {
    "3.3.1": (47, 52),
    "3.4": (60, 61),
    "3.4.1": (61, 62),
    "3.4.2": (62, 67),
    "3.4.3": (67, 70),
    "3.4.4": (70, 74),
    "3.4.5": (74, 76),
    "4.1.3": (84, 88),
    "4.2.1": (89, 91),
    "4.2.2": (91, 93),
    "5.3": (104, 107),
    "6.1": (114, 121),
    "6.4": (136, 137),
    "7.1": (145, 149),
    "7.2": (149, 151),
    "7.3.1": (154, 161),
}


@pytest.mark.parametrize(("paper", "table"), printed.names())
def test_rows_have_the_columns_and_a_place(paper, table):
    found = printed._tables()[paper][table]
    assert {len(row) for row in found["rows"]} == {len(found["columns"])}
    assert printed.place(paper, table).startswith("section")
    assert found["what"]


def test_places_agree():
    """Tables, figures and captions stand in one section, whoever names it, on the pages of the table of contents."""
    found = printed._tables()[DISSERTATION]
    sections = {
        one["name"]: one["section"] for one in json.loads(printed.FIGURES.read_text(encoding="utf-8"))[DISSERTATION]
    }
    for name, table in found.items():
        last = name.replace("caption of ", "Figure ").replace("captions of 3.7 to ", "Figure ")
        assert sections.get(last, table["section"]) == table["section"], name
        if "text" in name:
            assert name == f"text of {table['section']}"
        assert table["pages"] == "{} to {}".format(*CONTENTS[table["section"]]), name


def test_boolean_functions():
    assert {int(n): value for n, value in printed.rows(DISSERTATION, "Table 3.1")} == {
        inputs: value for inputs, value in classes.PRINTED.items() if inputs < 5
    }
    rows = printed.rows(DISSERTATION, "Table 3.3")
    for first, leak in ((0, 0.0), (3, atlas.LEAK)):
        assert {int(row[first]): int(row[first + 2]) for row in rows} == atlas.PRINTED[leak]
        assert all(int(row[first + 1].replace(" ", ""), 2) == int(row[first]) for row in rows)


def test_steady_states():
    """Active where ``w x + b`` is not negative, read from the printed inequalities."""
    found = {}
    for loss, solution, times in printed.rows(DISSERTATION, "Table 3.2"):
        units = []
        for unit in "12":
            at = [
                re.search(rf"(?<![\w{{]){re.escape(place.replace('u', unit))} (<|\\geq) 0", solution)
                for place in ("b_u - w_u", "b_u", "b_u + w_u")
            ]
            units.append("".join("01"[one[1] != "<"] for one in at if one))
        found.setdefault((loss, *units), []).append(int(times))
    assert {key: tuple(times) for key, times in found.items()} == local_optima.PRINTED


def test_pruned_parity():
    rows = printed.rows(DISSERTATION, "Table 3.4")
    for digits, (first, entries) in pruned_parity.PRINTED.items():
        column = {int(row[0]): row[digits] for row in rows if row[digits] != "-"}
        assert min(column) == first
        for (width, entry), own in zip(column.items(), entries, strict=True):
            pruned, ways, every = map(int, re.fullmatch(r"(\d+), (\d+)/(\d+)", entry).groups())
            assert (pruned, ways) == own
            # 1/128 of width 9, six digits, is the one misprint: there are 126 subnetworks of 5 of 9 units.
            assert every == comb(width, pruned) or (width, digits, every) == (9, 6, 128)
    for digits, widths in printed.rows(DISSERTATION, "Table 3.5"):
        hidden = ["-".join(one.split("-")[1:-1]) for one in widths.split("; ")]
        assert " or ".join(hidden) == pruned_deep.PRINTED[int(digits)]


def test_circle_and_annulus():
    radii = {int(dim): float(radius) for dim, radius in printed.rows(DISSERTATION, "Table 4.1")}
    assert radii == solutions.PRINTED
    found = {
        (loss.lower(), float(leak), int(batch), normalised): int(number)
        for loss, leak, batch, normalised, number in printed.rows(DISSERTATION, "Table 4.2")
    }
    own = {
        (*key, str(is_normalized)): pair[is_normalized]
        for key, pair in hyperparameters.PRINTED.items()
        for is_normalized in (False, True)
    }
    assert found == own
    # Table 4.3 has the means of Table 4.2, rounded to whole numbers.
    places = {"loss": 0, "leak": 1, "batch": 2, "normalised": 3}
    means = printed._tables()[DISSERTATION]["Table 4.3"]
    for column, name in enumerate(means["columns"]):
        for row in means["rows"] if name in places else ():
            if row[column]:
                chosen = [n for key, n in found.items() if str(key[places[name]]).lower() in _names(row[column])]
                assert abs(sum(chosen) / len(chosen) - int(row[column + 1])) <= 0.5


def _names(said):
    return {said.lower(), f"{float(said)}" if said[0].isdigit() else said.lower()}


def test_sine_and_linear_regions():
    rows = printed.rows(DISSERTATION, "Table 5.1")
    assert tuple(tuple(None if one == "-" else int(one) for one in row[1:]) for row in rows) == sine.PAPER
    assert printed.rows(DISSERTATION, "Table 6.1") == printed.rows(DISSERTATION, "Table 7.1")
    names = {"number": "classes, the paper's test", "distortion": "distortion"}
    found = {("test accuracy", float(rate)): row for rate, *row in printed.rows("zhang2020", "Table 1")}
    found |= {(names[what], float(rate)): row for what, rate, *row in printed.rows("zhang2020", "Table 2")}
    assert {key: tuple(map(float, row)) for key, row in found.items()} == dense.PAPER
    of_images = {(names[what], 1e-3): tuple(map(float, row)) for what, *row in printed.rows("zhang2020", "Table 4")}
    assert of_images.items() <= convolutional.PAPER.items()


def said(paper, table):
    """Return what a text prints by what it is about, with numbers as numbers."""
    return {what: _number(value) for what, value in printed.rows(paper, table)}


def _number(value):
    plain = value.replace(",", "")
    if re.fullmatch(r"-?[\d.]+(e-\d+)?", plain):
        return float(plain)
    return float(plain[:-1]) / 100 if re.fullmatch(r"[\d.]+%", plain) else value


def test_how_boolean_functions_are_learned():
    text = said(DISSERTATION, "text of 3.4")
    assert (text["leak"], text["Adam, rate"], text["epochs"]) == (boolean.LEAK, boolean.RATE, boolean.EPOCHS)
    text = said(DISSERTATION, "text of 3.4.1")
    assert text["minima"] == local_optima.PRINTED_STATES
    assert sum(map(len, local_optima.PRINTED.values())) == text["solutions in the table"]
    text, plan = said(DISSERTATION, "text of 3.4.2"), atlas.TRIALS["full"]
    assert plan == text["trials"] == 10 * {"ten": 10}[text["trials, again"]]
    # Names of classes, largest swaps value, and what the atlas compares.
    assert classes.PRINTED[4] == str({"five": 5}[text["largest swaps value"]])
    text, plan = said(DISSERTATION, "captions of 3.7 to 3.9"), ten_inputs.PLANS["full"]
    assert (plan.size_trials, plan.trials, plan.score_trials) == tuple(
        text[f"Figure {number}, trials"] for number in ("3.7", "3.9", "3.8")
    )
    assert (plan.size_functions, plan.random) == (10, text["Figure 3.9, random functions"])
    assert text["Figure 3.7, random functions"] == "ten"
    assert text["Figure 3.9, inputs"] == f"{plan.dimensions[0]}-{plan.dimensions[-1]}"
    assert len(ten_inputs.functions_of(ten_inputs.MIXED, 5, plan.every, 0)) == text["Figure 3.9, XOR functions"]


def test_how_networks_are_pruned():
    text = said(DISSERTATION, "text of 3.4.4")
    quoted = [float(value.removesuffix(" %")) / 100 for value in pruned_deep.QUOTED.values()]
    assert quoted == [text[what] for what in ("2 x 2 learns them", "15 x 4 learns them", "it is pruned to 2 x 2")]
    assert (pruned_deep.PLANS["full"].networks, pruned_deep.PLANS["full"].prunings) == (4, 10)
    assert (text["trained networks"], text["prunings of each"]) == ("four", "ten")
    text, plan = said(DISSERTATION, "text of 3.4.5"), _image_pruning.PLANS["full"]
    assert plan.channels == text["channels"]
    training = plan.training
    assert (training.epochs, training.learning_rate, training.batch) == (text["epochs"], text["rate"], text["batch"])
    assert (training.momentum, training.weight_decay) == (text["momentum"], text["weight decay"])
    for module, rows in (
        (pruned_images, ["MNIST keeps its accuracy down to"] * 2),
        (pruned_images_cifar10, ["CIFAR-10, by channels", "CIFAR-10, by magnitude"]),
    ):
        kept = [f"{100 * text[row]:.0f} %" for row in rows]
        kinds = (_image_pruning.CHANNELS, _image_pruning.WEIGHTS)
        assert [module.SAID[kind].partition(",")[0] for kind in kinds] == kept
        assert [f"{100 * module.KEEPS[kind]:.0f} %" for kind in kinds] == kept


def test_how_circles_and_balls_are_learned():
    text = said(DISSERTATION, "text of 4.2.1")
    own = hyperparameters.NETWORKS["full"], hyperparameters.SAMPLES, hyperparameters.GOAL, hyperparameters.EPOCHS
    assert own == tuple(text[what] for what in ("networks", "samples", "right, at least", "epochs"))
    assert own[1:3] == (sattelberg2026_runs.POINTS, sattelberg2026_runs.SOLVED)
    assert text["Adam, rate"] == circles.RATE
    text = said(DISSERTATION, "text of 4.2.2")
    own = dimensions.NETWORKS["full"], dimensions.SAMPLES["full"], dimensions.TESTED, dimensions.BATCH
    assert own == tuple(text[what] for what in ("networks", "training samples", "testing samples", "batch"))
    assert ", ".join(f"{one:g}" for one in dimensions.THRESHOLDS) == text["thresholds"]
    assert ", ".join(f"{one:g}" for one in dimensions.LEAKS) == text["leaks"]
    assert (dimensions.DIMS[0], dimensions.DIMS[-1], text["dimensions"]) == (2, 8, "two through eight")
    assert said(DISSERTATION, "caption of 4.7")["trials"] == random_directions.TRIALS


def test_sine_and_small_networks():
    text, plan = said(DISSERTATION, "text of 5.3"), sine.PLANS["full"]
    assert (text["error of success"], text["error of success, caption"]) == (
        _restarts.GOAL,
        sine.PAPERS_GOAL_IN_CAPTION,
    )
    own = _restarts.FIRST_EPOCHS, _restarts.RATE, _restarts.MORE_EPOCHS, plan.trials
    assert own == tuple(text[what] for what in ("first training, epochs", "rate", "further epochs", "most restarts"))
    text = said(DISSERTATION, "text of 7.2")
    assert {"ten": 10}[text["clusters of its coefficients"]] == circle_annulus.CLUSTERS
    text = said(DISSERTATION, "text of 7.3.1")
    assert {units for units, _ in xor.TRAINED.values()} == {text["units of the second"], text["units of the third"]}
    assert text["grid"] == f"{xor.GRID}×{xor.GRID}"


def test_networks_for_images():
    text, plan = said(DISSERTATION, "text of 6.1"), _plan.PLANS["full"]
    sgd = training_of(models(1, 1)[0], plan.epochs)
    assert (sgd.learning_rate, sgd.momentum, sgd.weight_decay, sgd.batch, sgd.epochs) == tuple(
        text[what] for what in ("SGD, rate", "momentum", "weight decay", "batch", "epochs")
    )
    assert plan.hidden == said(DISSERTATION, "text of 6.4")["units"]


def test_accuracies_after_mapping():
    """The rule of the module: what adds up to the target's accuracy, in rows that are not printed like others."""
    (_, *targets), rows = (
        printed._tables()[DISSERTATION]["Figure 7.9"]["columns"],
        printed.rows(DISSERTATION, "Figure 7.9"),
    )
    cells = {name: dict(zip(targets, row, strict=True)) for name, *row in rows}
    alike = {
        first for first in cells for second in cells
        if first != second and sum(cells[first][one] == cells[second][one] for one in targets) >= 5
    }  # fmt: skip
    assert not alike & {first for first, _ in _printed.MAPPED}
    own = [model.name for model in models(1, 1)]
    for first, second in product(own, own):
        given = _printed.MAPPED.get((first, second))
        if first == second or first in alike:
            assert given is None
            continue
        accuracy, *drop = map(float, cells[first][second].split())
        row, _, optimizer = second.rpartition(" ")
        target = float(ACCURACIES["cifar10"][row][OPTIMIZERS.index(optimizer)])
        adds_up = not drop or abs(accuracy + abs(drop[0]) - target) < 0.06
        assert given == (accuracy if adds_up else None), (first, second)


def test_architectures_of_behrmann():
    for table, network in (("Table 3", invertible.WIDE), ("Table 4", invertible.THIN)):
        rows = printed.rows("behrmann2018", table)
        convolutions = tuple((int(row[3]), int(row[2][1])) for row in rows if row[0] == "convolution")
        assert convolutions == network.convolutions
        assert tuple(int(row[4]) for row in rows if row[0] == "dense") == network.hidden
        assert {row[1] for row in rows if row[0] == "convolution"} == {"(3,3)"}
    for table, network in (("Table 1", invariances.PLANS["full"].architecture), ("Table 2", invertible.DENSE)):
        assert [int(units) for kind, units in printed.rows("behrmann2018", table)] == [*network.hidden, 10]
    text = said("behrmann2018", "text of A4")
    for name, training in (("MLP", invertible.MLP), ("CIFAR-10", invertible.KERAS)):
        assert (training.optimizer, training.epochs, training.batch) == tuple(
            text[f"{name}, {what}"] for what in ("optimizer", "epochs", "batch")
        )
    text = said("behrmann2018", "Figure 4")
    assert (text["both effects from"], text["both effects to"]) == (
        preimages.PAPER_BOUNDED_FROM,
        preimages.PAPER_POINTS_FROM,
    )
    text = said("behrmann2018", "Figure 7")
    assert sorted({own for own, _ in invariances.PAIRS}) == [int(one) for one in text["digits"].split(", ")]


def test_networks_of_serra_and_shepeleva():
    text, plan = said("serra2018", "text of 5"), splits.PLANS["full"]
    assert (plan.units, plan.replicates) == (text["units"], text["networks of a configuration"])
    columns = list(zip(*printed.rows("shepeleva2020", "Table 1"), strict=True))[1:]
    (encoder, *widths) = [tuple(int(one) for one in column if one != "-") for column in columns]
    assert encoder == _networks.ENCODER
    assert tuple(widths) == _heads.HEADS
    text = said("shepeleva2020", "text of 3 and B")
    rates = {float(one) for name in ("Figure 1", "Figures 5 and 6") for one in text[f"{name}, rates"].split(", ")}
    assert rates == set(heads.RATES)
    assert heads.PLANS["full"].batch == text["batch of VGG16"]


def test_networks_of_zhang():
    rows = printed.rows("zhang2020", "Table 3")
    plan = convolutional.PLANS["full"]
    found = tuple((int(row[2]), int(row[3][1])) for row in rows if row[0] == "convolution")
    assert found == plan.architecture.convolutions
    assert tuple(int(row[2]) for row in rows if row[0] == "dense") == plan.architecture.hidden
    text, plan = said("zhang2020", "text of 3.1"), dense.PLANS["full"]
    assert plan.architecture.hidden == (text["nodes"],) * 3
    assert text["constraints"] == 3 * text["nodes"]
    assert text["linear inequalities"] == text["constraints"] + 2 * text["pixels"]
    assert {f"{rate:g}" for rate in plan.rates} == {f"{float(one):g}" for one in text["rates"].split(", ")}
    assert plan.inquiry.points == text["test points"] == said("zhang2020", "text of E")["test points"]
    text = said("zhang2020", "text of 3.5")
    assert (plan.inquiry.rays, plan.inquiry.reach) == (text["directions"], text["length"])
    text = said("zhang2020", "captions of 1 and 8")
    assert slices.ARCHITECTURE.hidden == (text["Figure 1, nodes"],) * 3
    assert spirals.ARCHITECTURE.hidden == (text["Figure 8, nodes"],) * 3
    assert text["drop rate"] == compared.DROPOUT
    text = said("zhang2020", "text of E")
    accuracies = tuple(100 * text[f"accuracy, {kind}"] for kind in ("vanilla", "BN", "dropout"))
    assert convolutional.PAPER["test accuracy", 1e-3] == pytest.approx(accuracies)
    assert text["hyperplanes of convolutions"] == 15 * 15 * 32 + 7 * 7 * 64 + 3 * 3 * 128
