"""``reluscope count``: the right number in any number of dimensions, budgets, and what is refused."""

import json

import numpy as np
import pytest

import reluscope as rs
from cli.running import is_one_sentence, reluscope
from reluscope.cli.terminal.ctrl_c import INTERRUPTED
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.stopping import INTERRUPTED as STRUCK

NET = ("my_models:Net", "--weights", "net.safetensors")


def found(*arguments):
    result = reluscope("count", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def number(*arguments):
    finding = found(*arguments)["findings"][0]
    assert finding["claim"] == "EXACT"
    return finding["value"]


@pytest.mark.few(5)
@pytest.mark.parametrize("method", ["auto", "partition", "tree"])
@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (("my_models:cross", "--box", "-1,1"), 4),
        (("my_models:cross", "--box", "-1,1", "--box", "0.5,2"), 2),
        (("my_models:cross", "--space"), 4),
        (("my_models:cross", "--box", "-1,1", "--inputs", "1"), 2),
        (("my_models:total", "--box", "-1,1"), 2),
        (("my_models:total", "--box", "1,2"), 1),
        (("my_models:total", "--space"), 2),
        (("my_models:absolute", "--space"), 2),
        (("my_models:affine", "--box", "-1,1"), 1),
    ],
)
def test_known_counts(folder, arguments, count, method):
    assert number(*arguments, "--method", method) == count


def test_a_plane_through_samples_is_that_of_the_library(folder):
    data = digits("test").points.reshape(360, -1)
    part = rs.partition(rs.load(demo_network(), input_shape=(1, 8, 8)), rs.Plane(*data[[3, 17, 42]], margin=0.25))
    plain = found(*NET, "--data", "x.npy", "--samples", "3,17,42")
    assert plain["findings"][0]["value"] == len(part)
    assert (plain["domain"]["kind"], plain["domain"]["samples"]) == ("plane", [3, 17, 42])


@pytest.mark.slow
def test_some_inputs_of_many(folder):
    plain = found(*NET, "--input-shape", "1,8,8", "--inputs", "0,1,2,7,8", "--box", "0,0.5", "--regions", "50")
    assert plain["domain"]["dimensions"] == 5
    assert "box [0, 0.5]^5 of 5 inputs, the others at 0" in plain["domain"]["description"]


@pytest.mark.slow
def test_a_budget_gives_a_lower_bound(folder):
    whole = number("my_models:deep", "--box", "-3,3")
    plain = found("my_models:deep", "--box", "-3,3", "--regions", "10")
    assert plain["stopped"].startswith("budget of 10 regions")
    assert plain["findings"][0]["claim"] == "LOWER"
    assert 10 <= plain["findings"][0]["value"] <= whole
    many = reluscope("count", *NET, "--input-shape", "1,8,8", "--box", "0,1", "--method", "tree", "--regions", "20")
    assert many.exit_code == 0
    assert "this is a lower bound: raise --regions or --seconds" in many.stdout


@pytest.mark.parametrize(
    ("definition", "count"), [("activation", 3), ("proper_activation", 2), ("convex", 2), ("affine", 2)]
)
def test_definitions(folder, definition, count):
    assert number("my_models:absolute", "--box", "-1,1", "--definition", definition) == count


def test_an_interval_where_only_bounds_are_known(folder):
    printed = reluscope("count", "my_models:identity_of_three", "--box", "-1,1", "--definition", "convex").stdout
    assert "lies from 1 to 2" in printed
    assert "LOWER" in printed


@pytest.mark.slow
def test_a_count_goes_on_from_its_checkpoint(folder):
    line = ("my_models:deep", "--box", "0,0.5", "--method", "tree", "--checkpoint", "kept")
    first, again = found(*line)["findings"][0], found(*line)["findings"][0]
    assert first["value"] == again["value"] > 1
    assert again["work"]["kept_tasks"] > 0
    other = reluscope("count", "my_models:cross", "--box", "-1,1", "--method", "tree", "--checkpoint", "kept")
    assert other.exit_code == 1
    assert is_one_sentence(other.stderr)
    refused = reluscope("count", "my_models:cross", "--box", "-1,1", "--method", "partition", "--checkpoint", "a")
    assert "takes no checkpoint" in refused.stderr


def test_a_finding_says_what_it_is(folder):
    printed = reluscope("count", "my_models:total", "--box", "-1,1", "--method", "tree").stdout
    assert "Counted: proper activation regions (full-dimensional), in box [-1, 1]^3, by tree" in printed
    assert "programs" in printed


def test_interruption_keeps_a_lower_bound(folder, monkeypatch):
    from reluscope.findings import Claim, Finding

    stopped = (Finding(7, Claim.LOWER, name="regions"), STRUCK)
    monkeypatch.setattr("reluscope.cli.regions.count_command.counted", lambda *arguments, **options: stopped)
    result = reluscope("count", "my_models:total", "--box", "-1,1", "--method", "tree", "-o", "a.json")
    assert result.exit_code == INTERRUPTED
    assert "lower bound" in result.stderr
    assert json.loads((folder / "a.json").read_text(encoding="utf-8"))["findings"][0]["value"] == 7


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "or --space"),
        (("--box", "0,1", "--space"), "one place to look"),
        (("--box", "1,1"), "must be below"),
        (("--box", "0,1", "--method", "guess"), "--method"),
        (("--box", "0,1", "--regions", "0"), "--regions"),
        (("--box", "0,1", "--seconds", "-1"), "--seconds"),
    ],
)
def test_wrong_usage(folder, arguments, words):
    result = reluscope("count", "my_models:cross", *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.replace("│", "").split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no.onnx", "--box", "0,1"), "no.onnx"),
        (("my_models:cross", "--box", "0,1", "--box", "0,1", "--box", "0,1"), "each of the 2"),
        (("my_models:total", "--box", "0,1", "--inputs", "0,7"), "from 0 to 2"),
        (("my_models:cross", "--plane", "line.npy"), "collinear"),
        (("my_models:cross", "--box", "0,1", "-o", "a.svg"), "must end in .json"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(folder, arguments, words):
    np.save("line.npy", np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))
    result = reluscope("count", *arguments)
    assert result.exit_code == 1
    assert words in result.stderr
    assert is_one_sentence(result.stderr), result.stderr
