"""``reluscope partition``: the right place, the right count, whole files, and what is refused."""

import json
from importlib import import_module

import numpy as np
import pyarrow.parquet
import pytest
from matplotlib.image import imread

import reluscope as rs
from cli.running import is_one_sentence, reluscope
from reluscope.analyses.classification.class_predictions import predicted_classes
from reluscope.analyses.samples.choosing import choose_triple
from reluscope.cli.regions.partition_command import IN_FOLDER
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits

DATA = digits("test")
NET = ("my_models:Net", "--weights", "net.safetensors")


def found(*arguments):
    result = reluscope("partition", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def regions(*arguments):
    return found(*arguments)["findings"][0]["value"]


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (("my_models:cross", "--box", "-1,1"), 4),
        (("my_models:cross", "--box", "-1,1", "--box", "0.5,2"), 2),
        (("my_models:cross", "--box", "1,2"), 1),
        (("my_models:cross", "--box", "-1,1", "--inputs", "1"), 2),
        (("my_models:absolute", "--box", "-1,1"), 2),
        (("my_models:absolute", "--box", "0.5,1"), 1),
        (("my_models:total", "--box", "-1,1", "--inputs", "0,2"), 2),
        (("my_models:affine", "--box", "-1,1"), 1),
    ],
)
def test_boxes_with_known_counts(folder, arguments, count):
    plain = found(*arguments)
    assert plain["domain"]["kind"] == "box"
    assert plain["findings"][0] | {"value": count, "claim": "EXACT"} == plain["findings"][0]


@pytest.mark.slow
def test_a_plane_through_samples_is_that_of_the_library(folder):
    network = rs.load(demo_network(), input_shape=(1, 8, 8))
    points = DATA.points.reshape(len(DATA), -1)
    plain = found(*NET, "--data", "x.npy", "--samples", "3,17,42", "--margin", "0.5")
    part = rs.partition(network, rs.Plane(*points[[3, 17, 42]], margin=0.5))
    assert plain["findings"][0]["value"] == len(part)
    assert (plain["domain"]["samples"], plain["domain"]["kind"]) == ([3, 17, 42], "plane")
    assert plain["facets_by_gate"] == dict(
        zip([gate.name for gate in network.gates], np.bincount(part.facets.gates, minlength=3).tolist(), strict=True)
    )
    np.save("three.npy", points[[3, 17, 42]])
    assert regions(*NET, "--plane", "three.npy", "--margin", "0.5", "--input-shape", "1,8,8") == len(part)


@pytest.mark.slow
def test_the_seed_chooses_samples_where_none_are_named(folder):
    network = rs.load(demo_network(), input_shape=(1, 8, 8))
    points = DATA.points.reshape(len(DATA), -1)
    chosen = [found(*NET, "--data", "x.npy", "--seed", seed)["domain"]["samples"] for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]
    assert chosen[0] == list(choose_triple(points, predicted_classes(network, DATA.points), seed=0))


def test_segments_and_their_margin(folder):
    np.save("ends.npy", np.array([[-1.0, 0, 0], [1.0, 0, 0]]))
    plain = found("my_models:total", "--segment", "ends.npy")
    assert (plain["domain"]["low"], plain["domain"]["high"], plain["findings"][0]["value"]) == ([0.0], [2.0], 2)
    np.save("ends.npy", np.array([[1.0, 0, 0], [3.0, 0, 0]]))
    assert regions("my_models:total", "--data", "ends.npy", "--samples", "0,1") == 1
    wider = found("my_models:total", "--data", "ends.npy", "--samples", "0,1", "--margin", "0.75")
    assert (wider["domain"]["low"], wider["domain"]["high"], wider["findings"][0]["value"]) == ([-1.5], [3.5], 2)


def test_the_inputs_outside_a_box_stay_at_a_sample(folder):
    np.save("x.npy", np.array([[9.0, 0.5, 0.25], [9.0, 0.0, 0.0]]))
    for sample, lengths in ((0, [0.25, 1.75]), (1, [1.0, 1.0])):
        arguments = ("--box", "-1,1", "--inputs", "0", "--data", "x.npy", "--samples", sample)
        found("my_models:total", *arguments, "-o", "part.arrow", "--force")
        np.testing.assert_allclose(sorted(rs.Partition.load("part.arrow").volumes()), lengths)


@pytest.mark.slow
def test_everything_is_saved(folder):
    result = reluscope("partition", *NET, "--data", "x.npy", "-o", "out", "-o", "more/plane.pdf")
    assert result.exit_code == 0, result.output
    assert "EXACT" in result.stdout
    assert result.stderr == ""
    assert sorted(path.name for path in (folder / "out").iterdir()) == sorted(IN_FOLDER)
    network = rs.load(demo_network(), input_shape=(1, 8, 8))
    part = rs.Partition.load("out/partition.arrow", network)
    plain = json.loads((folder / "out" / "partition.json").read_text(encoding="utf-8"))
    assert len(part) == plain["findings"][0]["value"] == pyarrow.parquet.read_table("out/regions.parquet").num_rows
    assert f"{len(part):,}" in result.stdout
    svg = (folder / "out" / "partition.svg").read_text(encoding="utf-8")
    assert "share of active units" in svg
    assert imread("out/partition.png").std() > 0.05
    assert (folder / "more" / "plane.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.few(4)
@pytest.mark.parametrize("color", ["activation_rate", "class", "area", "random", "gate", "map_norm"])
@pytest.mark.parametrize("place", [("--box", "-1,1"), ("--box", "-1,1", "--inputs", "1")], ids=["plane", "line"])
def test_colours(folder, color, place):
    result = reluscope("partition", "my_models:deep", *place, "--color", color, "-o", "a.svg", "-q")
    assert (result.exit_code, result.output) == (0, "")
    svg = (folder / "a.svg").read_text(encoding="utf-8")
    assert f"input {1 if '--inputs' in place else 0}" in svg
    assert "distance" not in svg


@pytest.mark.slow
def test_a_budget_gives_a_lower_bound(folder, monkeypatch):
    monkeypatch.setattr(import_module("reluscope.partitions.ask.finishing_windows"), "MIN_SECONDS", float("inf"))
    arguments = ("my_models:deep", "--box", "-3,3")
    whole = regions(*arguments)
    plain = found(*arguments, "--regions", "10")
    assert plain["stopped"] == "budget of 10 regions"
    assert plain["findings"][0]["claim"] == "LOWER"
    if plain["coarse"] is not None:
        assert plain["coarse"]["findings"][0]["value"] <= 10
    assert 10 <= plain["findings"][0]["value"] <= whole
    result = reluscope("partition", *arguments, "--seconds", "0", "-o", "empty.png")
    assert result.exit_code == 0
    assert "lower bound" in result.stdout
    assert (folder / "empty.png").exists()


@pytest.mark.slow
def test_what_is_hopeless_gets_a_window(folder, monkeypatch):
    monkeypatch.setattr(import_module("reluscope.partitions.ask.finishing_windows"), "MIN_SECONDS", 0.0)
    arguments = ("my_models:deep", "--box", "-3,3", "--regions", "2")
    plain = found(*arguments)
    assert plain["expected"] is not None
    assert (plain["stopped"], plain["findings"][0]["claim"]) == ("", "EXACT")
    assert plain["findings"][0]["value"] <= 2
    assert plain["domain"]["high"][0] < 3
    result = reluscope("partition", *arguments)
    assert "Expected:" in result.stdout
    assert "the largest window about the middle" in " ".join(result.stdout.split())


def test_certify(folder):
    plain = found("my_models:cross", "--box", "-1,1", "--certify")
    assert plain["findings"][0]["value"] == 4
    assert "rational arithmetic" in plain["findings"][0]["method"]
    assert plain["regions_proved"] == 4


def test_a_certificate_that_takes_too_long_is_not_begun(folder, monkeypatch):
    monkeypatch.setattr("reluscope.cli.regions.partition_command.SECONDS_OF_PROOF", 1e6)
    arguments = ("partition", "my_models:cross", "--box", "-1,1", "--certify", "-o", "cross.certificate")
    result = reluscope(*arguments, "--seconds", "600")
    assert result.exit_code == 0
    assert "there is no time left for a certificate, about" in result.stderr
    assert "cross.certificate was not written" in result.stderr
    assert "A certificate of" not in result.stdout
    assert "A certificate of 4 regions was checked" in reluscope(*arguments).stdout


def test_a_certificate_is_checked_and_written(folder, monkeypatch):
    arguments = ("partition", "my_models:cross", "--box", "-1,1", "-o", "cross.certificate")
    assert "add --certify" in reluscope(*arguments).stderr
    result = reluscope(*arguments, "--certify")
    assert "A certificate of 4 regions was checked" in result.stdout
    assert len(rs.Certificate.load(folder / "cross.certificate")) == 4

    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("reluscope.partitions.complexes.incidence")._Cutting, "step", pressed)
    result = reluscope(*arguments, "--certify", "--force")
    assert "cross.certificate was not written" in result.stderr


def test_files_are_replaced_only_by_force(folder):
    (folder / "a.svg").write_text("mine", encoding="utf-8")
    arguments = ("partition", "my_models:cross", "--box", "-1,1", "-o", "a.arrow", "-o", "a.svg")
    result = reluscope(*arguments)
    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert (folder / "a.svg").read_text(encoding="utf-8") == "mine"
    assert not (folder / "a.arrow").exists()
    assert reluscope(*arguments, "--force").exit_code == 0
    assert (folder / "a.svg").read_text(encoding="utf-8") != "mine"


def test_quantities_of_regions(folder):
    asked = ("--measure", "inradius", "--measure", "is_bounded", "-o", "regions.parquet", "--json")
    found = json.loads(reluscope("partition", "my_models:cross", "--box", "-1,1", *asked).stdout)
    assert [one["name"] for one in found["quantities"]] == ["median inradius", "is bounded"]
    assert {one["claim"] for one in found["quantities"]} == {"EXACT"}
    columns = pyarrow.parquet.read_table(folder / "regions.parquet").column_names
    assert columns[3:] == ["volume", "num_corners", "inradius", "is_bounded"]
    plain = reluscope("partition", "my_models:cross", "--box", "-1,1", "--measure", "all").stdout
    assert "median map norm" in plain


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "say where to look"),
        (("--box", "-1,1", "--data", "x.npy"), "leave one out"),
        (("--plane", "x.npy", "--segment", "x.npy"), "leave one out"),
        (("--box", "1"), "give two numbers with a comma"),
        (("--box", "1,1"), "must be below"),
        (("--box", "nan,1"), "must be below"),
        (("--box", "-inf,1"), "must be below"),
        (("--box", "-1,1", "--margin", "0.5"), "a box has none"),
        (("--samples", "1,2"), "rows of --data"),
        (("--data", "x.npy", "--inputs", "1"), "add --box"),
        (("--data", "x.npy", "--samples", "1,b"), "whole numbers with commas"),
        (("--data", "x.npy", "--samples", "1,-2"), "counted from 0"),
        (("--box", "-1,1", "--color", "blue"), "--color"),
        (("--box", "-1,1", "--measure", "size"), "--measure"),
        (("--box", "-1,1", "--threads", "0"), "--threads"),
        (("--box", "-1,1", "--regions", "0"), "--regions"),
    ],
)
def test_wrong_usage(folder, arguments, words):
    result = reluscope("partition", "my_models:cross", *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.replace("│", "").split())
    assert "Traceback" not in result.stderr


@pytest.mark.few(10)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*NET, "--box", "0,1"), "--input-shape"),
        ((*NET, "--box", "0,1", "--input-shape", "1,8,8"), "too many dimensions"),
        (("my_models:total", "--box", "0,1", "--inputs", "0,1,2"), "one or two different inputs"),
        (("my_models:total", "--box", "0,1", "--inputs", "1,1"), "one or two different inputs"),
        (("my_models:total", "--box", "0,1", "--inputs", "3"), "from 0 to 2"),
        (("my_models:total", "--box", "0,1", "--box", "0,1", "--inputs", "1"), "once for each of the 1"),
        ((*NET, "--data", "x.npy", "--samples", "360,1"), "has 360 samples, 0 to 359"),
        ((*NET, "--data", "x.npy", "--samples", "3"), "two (a segment) or three (a plane)"),
        ((*NET, "--data", "x.npy", "--samples", "1,2,3,4"), "got 4"),
        ((*NET, "--data", "x.npy", "--samples", "3,3"), "two different end points"),
        ((*NET, "--data", "line.npy", "--samples", "0,1,2"), "collinear"),
        ((*NET, "--data", "line.npy"), "not on a line, and line.npy has none"),
        ((*NET, "--data", "one.npy"), "not on a line, and one.npy has none"),
        ((*NET, "--plane", "line.npy"), "collinear"),
        ((*NET, "--plane", "x.npy"), "must hold the three points of a plane"),
        ((*NET, "--segment", "line.npy"), "must hold two points"),
        ((*NET, "--data", "nan.npy"), "NaN or infinite"),
        ((*NET, "--data", "cut.npy"), "cut.npy"),
        ((*NET, "--data", "no.npy"), "there is no file no.npy"),
        ((*NET, "--data", "x.npy", "--input-shape", "1,9,9"), "(1, 9, 9)"),
        (("my_models:absolute", "--data", "column.npy"), "one input"),
        (("my_models:cross", "--box", "0,1", "-o", "a.xyz"), "must end in .arrow"),
        (("my_models:cross", "--box", "0,1", "-o", "x.npy/a.svg"), "is a file"),
        (("my_models:cross", "--box", "0,1", "-o", "plain"), "it is a file"),
        (("my_models:cross", "--box", "0,1", "--device", "tpu"), "cpu, cuda or cuda:N"),
        (("my_models:cross", "--box", "0,1", "--device", "mps"), "float64"),
        (("my_models:cross", "--box", "0,1", "--device", "cuda:x"), "cpu, cuda or cuda:N"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(folder, arguments, words):
    (folder / "plain").write_text("", encoding="utf-8")
    np.save("line.npy", DATA.points[:1] * np.arange(3).reshape(3, 1, 1, 1))
    np.save("one.npy", DATA.points[:1])
    np.save("column.npy", np.arange(5.0)[:, None])
    np.save("nan.npy", np.full((3, 64), np.nan))
    (folder / "cut.npy").write_bytes((folder / "x.npy").read_bytes()[:5000])
    result = reluscope("partition", *arguments)
    assert result.exit_code == 1, result.output
    assert words in result.stderr
    assert is_one_sentence(result.stderr), result.stderr
    assert result.stdout == ""


def test_a_full_disk_is_one_sentence(folder, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("reluscope.files.whole_files.os.fsync", full)
    result = reluscope("partition", "my_models:cross", "--box", "0,1", "-o", "out", "-q")
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr
    assert is_one_sentence(result.stderr)
    assert list((folder / "out").iterdir()) == []


def test_boxes_of_many_inputs_are_listed_and_not_drawn(folder):
    plain = found("my_models:total", "--box", "-1,1", "--method", "tree", "-o", "all")
    assert plain["domain"]["dimensions"] == 3
    assert (plain["num_facets"], plain["facets_by_gate"]) == (None, {})
    assert sorted(path.name for path in (folder / "all").iterdir()) == [
        "partition.arrow",
        "partition.json",
        "regions.parquet",
    ]
    part = rs.Partition.load(folder / "all" / "partition.arrow")
    assert len(part) == plain["findings"][0]["value"] == regions("my_models:total", "--box", "-1,1", "--method", "auto")
    assert pyarrow.parquet.read_table(folder / "all" / "regions.parquet").num_rows == len(part)
    assert "tree of linear programs" in plain["findings"][0]["method"]
    listed = found("my_models:wide", "--box", "-1,1", "--method", "auto", "--regions", "5")
    assert listed["findings"][0]["claim"] == "LOWER"
    assert listed["domain"]["dimensions"] == 12
    for arguments in (("my_models:total", "--box", "-1,1"), ("my_models:cross", "--box", "-1,1")):
        result = reluscope("partition", *arguments, "--method", "tree", "-o", "a.svg")
        assert result.exit_code == 1
        assert is_one_sentence(result.stderr)
        assert "needs a segment or a plane" in " ".join(result.stderr.split())


def test_regions_go_to_a_file(folder):
    arguments = ("my_models:cross", "--box", "-1,1", "--stream", "regions.parquet")
    plain = found(*arguments)
    part = rs.StreamedPartition.load("regions.parquet")
    assert (plain["findings"][0]["value"], plain["files"]) == (4, ["regions.parquet"])
    assert (len(part), str(part.claim), part.take(range(4)).volumes.sum()) == (4, "EXACT", 4.0)
    again = reluscope("partition", *arguments)
    assert is_one_sentence(again.stderr)
    assert "--force" in again.stderr
    said = reluscope("partition", *arguments, "--force")
    assert said.exit_code == 0
    assert "regions.parquet holds it" in said.output


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("-o", "picture.svg"), "--stream writes the regions alone"),
        (("--certify",), "--stream writes the regions alone"),
        (("--color", "area"), "--stream writes the regions alone"),
    ],
)
def test_what_means_nothing_beside_a_stream(folder, extra, words):
    result = reluscope("partition", "my_models:cross", "--box", "-1,1", "--stream", "regions.parquet", *extra)
    assert is_one_sentence(result.stderr)
    assert words in result.stderr
