"""``reluscope preimage``: kinds in closed form, certificates in words, boxes, and what is refused."""

import json

import numpy as np
import pytest

from cli.running import is_one_sentence, reluscope

# The layer max(x, 0), max(y, 0): a point where both are on, a ray or a quadrant where one or both are off.
CROSS = ("preimage", "my_models:cross", "--data", "points.npy")
POINTS = np.array([[1.0, 0.5], [-1.0, -1.0], [3.0, -2.0]])


@pytest.fixture
def points(folder):
    np.save("points.npy", POINTS)
    return folder


def found(*arguments):
    result = reluscope(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_kinds_of_all_samples(points):
    plain = found(*CROSS)
    assert plain["gate"] == {"name": "1", "num_units": 2, "reads": ["input"], "num_inputs": 2, "is_injective": False}
    assert {one["name"]: one["value"] for one in plain["findings"]} == {
        "singleton preimages": 1,
        "compact preimages": 0,
        "unbounded preimages": 2,
    }
    assert {one["claim"] for one in plain["findings"]} == {"EXACT"}
    assert [(one["kind"], one["equations"], one["open_dimensions"]) for one in plain["samples"]] == [
        ("singleton", 2, 0),
        ("unbounded", 0, 2),
        ("unbounded", 1, 1),
    ]
    assert plain["certificates"] == []


def test_a_box_makes_them_compact(points):
    kinds = [one["kind"] for one in found(*CROSS, "--box", "-5,5")["samples"]]
    assert kinds == ["singleton", "compact", "compact"]
    two = found(*CROSS, "--sample", "2", "--box", "0,5", "--box", "-2,9")
    assert two["samples"][0]["kind"] == "compact"
    assert two["domain"] == "box [0, 5] x [-2, 9]"


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        ("0", ("singleton: one input only", "2 equations span all 2 dimensions", "a proof", "EXACT")),
        (
            "2",
            (
                "unbounded: a set that goes on forever",
                "1 unit gives an equation, which leaves 1 direction open",
                "however far one goes",
                "a proof",
            ),
        ),
    ],
)
def test_one_sample_in_words(points, sample, words):
    printed = reluscope(*CROSS, "--sample", sample).stdout
    for one in words:
        assert one in printed
    plain = found(*CROSS, "--sample", sample)
    assert all(one["holds"] and one["is_proof"] for one in plain["certificates"])
    assert len(plain["certificates"]) == 1


def test_what_is_printed_for_all(points):
    printed = reluscope(*CROSS, "--samples", "2").stdout
    for words in ("What 1 of my_models:cross cannot tell from points.npy", "singleton", "unbounded", "EXACT"):
        assert words in printed
    assert "compact" not in printed


def test_gates_by_name_and_by_number(points):
    assert found(*CROSS, "--gate", "1")["samples"] == found(*CROSS, "--gate", "0")["samples"]


def test_what_is_written(points):
    result = reluscope(*CROSS, "-o", "found.json")
    assert result.exit_code == 0, result.output
    assert json.loads((points / "found.json").read_text(encoding="utf-8"))["samples"] == found(*CROSS)["samples"]


def test_ctrl_c_keeps_the_samples_before_it(points, monkeypatch):
    from reluscope.cli.models import preimage

    real, calls = preimage.classify_at, []

    def stops(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(preimage, "BLOCK", 2)
    monkeypatch.setattr(preimage, "classify_at", stops)
    result = reluscope(*CROSS, "--json")
    assert result.exit_code == 130
    assert [one["sample"] for one in json.loads(result.stdout)["samples"]] == [0, 1]
    assert "the first 2 samples of 3" in result.stderr


@pytest.mark.few(8)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--sample", "3"), "points.npy has 3 samples, 0 to 2"),
        (("--gate", "relu9"), "a position among 1, got"),
        (("--gate", "7"), "a position among 1, got"),
        (("--box", "0,5"), "input 1 is outside"),
        (("--box", "0,1") * 3, "each of its 2 inputs, got 3 boxes"),
        (("-o", "a.svg"), "must end in .json"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(points, arguments, words):
    result = reluscope(*CROSS, *arguments)
    assert result.exit_code == 1
    assert words in result.stderr
    assert is_one_sentence(result.stderr), result.stderr


def test_networks_without_a_layer_and_options_that_contradict(points):
    affine = reluscope("preimage", "my_models:affine", "--data", "points.npy")
    assert "no layer to look at" in affine.stderr
    assert is_one_sentence(affine.stderr)
    assert reluscope(*CROSS, "--sample", "0", "--samples", "2").exit_code == 2
