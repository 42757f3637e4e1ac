"""``reluscope compare``: numbers of toy networks, data to fit on and to judge on, and what is refused."""

import json

import numpy as np
import pytest

import reluscope as rs
from cli.running import is_one_sentence, reluscope

PAIR = ("compare", "my_models:cross", "my_models:deep_pair", "--data", "points.npz")
MODELS = """
def deep_pair():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 2))
"""
POINTS = np.random.default_rng(0).normal(size=(40, 2))


@pytest.fixture
def models(folder):
    with (folder / "my_models.py").open("a") as file:
        file.write(MODELS)
    np.savez("points.npz", x=POINTS, y=(POINTS[:, 0] > 0).astype(int))
    np.savez("train.npz", x=np.random.default_rng(1).normal(size=(60, 2)))
    return folder


def found(*arguments):
    result = reluscope(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_numbers_are_those_of_the_library(models):
    plain = found(*PAIR, "--metric", "cka", "--metric", "agreement")
    import my_models

    networks = {name: rs.load(getattr(my_models, name)(), input_shape=(2,)) for name in ("cross", "deep_pair")}
    expected = rs.similarity.compare(networks, POINTS, metrics=["cka", "agreement"])
    pairs = rs.Findings.from_dict(plain["pairs"])
    assert list(pairs) == [*expected, "accuracy"]
    for name, column in expected.columns.items():
        assert pairs[name].value == pytest.approx(column.value)
        assert pairs[name].claims == column.claims
    assert [one["name"] for one in plain["models"]] == ["my_models:cross", "my_models:deep_pair"]


def test_a_model_with_itself(models):
    plain = found("compare", "my_models:cross", "my_models:cross", "--data", "points.npz")
    assert [one["name"] for one in plain["models"]] == ["my_models:cross (1)", "my_models:cross (2)"]
    pairs = plain["pairs"]
    for name, metric in rs.similarity.METRICS.items():
        if metric.of_itself is not None:
            assert pairs[name]["value"] == pytest.approx(4 * [metric.of_itself], abs=1e-7), name
    assert pairs["mapped_agreement"]["value"] == [1.0, 1.0, 1.0, 1.0]


def test_maps_are_fitted_on_other_data(models):
    arguments = ("--metric", "map_residual", "-o", "found.json")
    plain = found("compare", *PAIR[1:3], "--data", "train.npz", "--test", "points.npz", *arguments)
    assert (plain["fitted_on"]["samples"], plain["data"]["samples"]) == (60, 40)
    assert not any("look their best" in note for note in plain["pairs"].get("notes", []))
    assert json.loads((models / "found.json").read_text(encoding="utf-8")) == plain
    measured = {"map_residual", "mapped_agreement", "mapped_accuracy", "drop"}
    assert set(rs.Findings.from_dict(plain["pairs"])) == measured | {"accuracy", "coefficient_condition_number"}


def test_what_is_printed(models):
    printed = reluscope(*PAIR).stdout
    for words in (
        "my_models:cross (A) and my_models:deep_pair (B) on points.npz",
        "A to B",
        "with itself",
        "linear CKA of coefficients (cka)",
        "linear CKA of outputs (features_cka)",
        "agreement of predictions",
        "Accuracy:",
        "condition numbers",
        "look their best",
        "ESTIMATE",
    ):
        assert words in printed, words
    assert "not defined" in reluscope("compare", "my_models:cross", "my_models:affine", "--data", "points.npz").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("compare", "my_models:cross", "my_models:absolute", "--data", "points.npz"), "input"),
        ((*PAIR, "--metric", "cca"), "among map_residual"),
        ((*PAIR, "-o", "a.svg"), "must end in .json"),
        ((*PAIR, "--test", "nothing.npz"), "nothing.npz"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(models, arguments, words):
    result = reluscope(*arguments)
    assert result.exit_code == 1
    assert words in result.stderr
    assert is_one_sentence(result.stderr), result.stderr


def test_options_that_contradict(models):
    assert reluscope(*PAIR, "--test-labels", "y.npy").exit_code == 2
    assert reluscope(*PAIR, "--weights", "a", "--weights", "b", "--weights", "c").exit_code == 2
