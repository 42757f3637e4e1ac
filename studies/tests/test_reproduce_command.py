"""``reluscope reproduce``: a folder of results, work that goes on, records that can be trusted, and what is refused."""

import gzip
import json
import struct
from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from cli.running import is_one_sentence, reluscope
from reluscope.cli.studies.study_numbers import data_fingerprint
from reluscope.cli.terminal.ctrl_c import INTERRUPTED
from reluscope.studies import Setting, all_studies
from reluscope_studies import sattelberg2026_runs as runs
from reluscope_studies.sattelberg2026_ch6_training import xor
from reluscope_studies.serra2018 import splits
from reluscope_studies.training import Training

pytestmark = pytest.mark.slow

SPLITS = ("reproduce", "serra2018/splits", "-o", "out")


@pytest.fixture
def small(folder, monkeypatch):
    monkeypatch.setitem(splits.PLANS, "small", splits.Plan(4, 1, Training("Adam", 2e-3, 2, 128)))
    monkeypatch.setitem(splits.PLANS, "full", splits.Plan(5, 1, Training("Adam", 2e-3, 2, 128)))
    return folder


def test_the_list(monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")  # no sentence is folded
    printed = reluscope("reproduce").stdout
    plain = json.loads(reluscope("reproduce", "--json").stdout)
    assert [one["name"] for one in plain["studies"]] == [study.name for study in all_studies()]
    for study in all_studies():
        assert study.name in printed
        assert study.sentence in printed


def test_a_first_try_runs_short_studies_of_all_papers(folder, monkeypatch):
    short = [study for study in all_studies() if study.is_short]
    assert {study.source for study in short} == {study.source for study in all_studies()}
    chosen = [study for study in short if study.figure in ("one_input", "classes")]
    monkeypatch.setattr("reluscope.cli.studies.reproduce.all_studies", lambda: tuple(chosen))
    result = reluscope("reproduce", "--kick-the-tires", "-o", "tried")
    assert result.exit_code == 0, result.output
    assert "All 2 came to their end" in result.output
    assert {one.name for one in (folder / "tried").iterdir()} == {"sattelberg2026-ch3-classes", "serra2018-one_input"}
    again = reluscope("reproduce", "--kick-the-tires", "-o", "tried", "--resume", "--json")
    assert json.loads(again.stdout)["studies"] == [study.name for study in chosen]
    for wrong in (["serra2018"], ["--size", "full"], ["--compare", "tried"], ["--only", "1*"], ["--epochs", "3"]):
        refused = reluscope("reproduce", "--kick-the-tires", *wrong)
        assert refused.exit_code == 2
        assert "--kick-the-tires" in refused.stderr


def test_a_paper_fills_a_folder(small):
    result = reluscope("reproduce", "serra2018", "-o", "new/out")
    assert result.exit_code == 0, result.output
    folder = small / "new" / "out"
    plain = json.loads((folder / "findings.json").read_text(encoding="utf-8"))
    assert plain["complete"]
    assert {one["data"] for one in plain["studies"]} == {"digits (train part)", None}
    assert [one["name"] for one in plain["studies"]] == [s.name for s in all_studies() if s.paper == "serra2018"]
    page = (folder / "README.md").read_text(encoding="utf-8")
    for study in plain["studies"]:
        assert study["findings"]
        for picture in study["pictures"]:
            assert f"({picture}.svg)" in page
            assert (folder / f"{picture}.svg").read_text(encoding="utf-8").startswith("<svg")
            assert (folder / f"{picture}.png").stat().st_size > 5000
    assert "small size" in page
    assert "were trained on digits" in page
    assert "serra2018: Thiago Serra" in page
    for line in page.splitlines():
        if line.startswith("|"):
            assert line.endswith("|")


@pytest.mark.slow
def test_films_stand_beside_pictures(folder, monkeypatch):
    monkeypatch.setattr(runs, "POINTS", 40)
    monkeypatch.setattr(runs, "MAX_ATTEMPTS", 1)
    monkeypatch.setitem(xor.PLANS, "small", replace(xor.PLANS["small"], widths=(3, 3), epochs=1, moments=3))
    result = reluscope("reproduce", "sattelberg2026-ch6-training/xor", "-o", "out", "-q")
    assert result.exit_code == 0, result.output
    assert json.loads((folder / "out" / "findings.json").read_text(encoding="utf-8"))["studies"][0]["films"] == [
        "xor-film"
    ]
    assert (folder / "out" / "xor-film.gif").read_bytes()[:3] == b"GIF"
    page = (folder / "out" / "README.md").read_text(encoding="utf-8")
    assert "(xor-film.gif)" in page
    assert "After Ben Sattelberg" in page


@pytest.mark.slow
def test_what_was_interrupted_goes_on(small, monkeypatch):
    original, calls = rs.count, []

    def struck(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(rs, "count", struck)
    result = reluscope(*SPLITS, "-q")
    assert result.exit_code == INTERRUPTED
    assert "--resume goes on" in result.stderr
    assert not json.loads((small / "out" / "findings.json").read_text(encoding="utf-8"))["complete"]
    refused = reluscope(*SPLITS)
    assert refused.exit_code == 1
    assert "--resume" in refused.stderr
    result = reluscope(*SPLITS, "--resume", "-q")
    assert (result.exit_code, len(calls)) == (0, 4)
    assert json.loads((small / "out" / "findings.json").read_text(encoding="utf-8"))["complete"]
    whole = json.loads(reluscope("reproduce", "serra2018/splits", "-o", "other", "--json").stdout)
    gone_on = json.loads((small / "out" / "findings.json").read_text(encoding="utf-8"))
    assert [one["value"] for one in whole["studies"][0]["findings"]] == [
        one["value"] for one in gone_on["studies"][0]["findings"]
    ]


@pytest.mark.slow
def test_damaged_records_are_refused_and_those_that_are_gone_made_again(small):
    assert reluscope(*SPLITS, "-q").exit_code == 0
    before = (small / "out" / "findings.json").read_text(encoding="utf-8")
    records = small / "out" / "records" / "splits"
    (records / "02+02-0.npz").write_bytes((records / "02+02-0.npz").read_bytes()[:100])
    refused = reluscope(*SPLITS, "-q", "--resume")
    assert refused.exit_code == 1
    assert "02+02-0.npz" in refused.stderr
    assert is_one_sentence(refused.stderr)
    (records / "02+02-0.npz").unlink()
    (records / "03+01-0.npz").unlink()
    result = reluscope(*SPLITS, "-q", "--resume", "--debug")
    assert result.exit_code == 0, result.output
    numbers = [[f["value"] for f in json.loads(text)["studies"][0]["findings"]]
               for text in (before, (small / "out" / "findings.json").read_text(encoding="utf-8"))]  # fmt: skip
    assert numbers[0] == pytest.approx(numbers[1])


@pytest.mark.slow
def test_records_of_another_setting_are_refused(small):
    assert reluscope(*SPLITS, "-q").exit_code == 0
    result = reluscope(*SPLITS, "--resume", "--seed", "1")
    assert result.exit_code == 1
    assert "begun with another seed" in result.stderr
    assert is_one_sentence(result.stderr)
    assert reluscope(*SPLITS, "--force", "--seed", "1", "-q").exit_code == 0


@pytest.mark.slow
def test_the_full_size_on_files_of_mnist(small):
    rng = np.random.default_rng(0)
    (small / "data").mkdir()
    for part, number in (("train", 60), ("t10k", 20)):
        images = rng.integers(0, 256, size=(number, 28, 28), dtype=np.uint8)
        header = struct.pack(">4B3I", 0, 0, 8, 3, number, 28, 28)
        (small / "data" / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(header + images.tobytes()))
        labels = np.arange(number, dtype=np.uint8) % 10
        header = struct.pack(">4BI", 0, 0, 8, 1, number)
        (small / "data" / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(header + labels.tobytes()))
    printed = reluscope(*SPLITS, "--size", "full", "--data", "mnist:data", "--json").stdout
    plain = json.loads(printed)
    assert (plain["size"], plain["studies"][0]["data"]) == ("full", "MNIST (train part)")
    assert "small size" not in " ".join(plain["studies"][0]["sentences"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("serra2081",), "there is no study serra2081: did you mean serra2018"),
        (("serra2018/splits", "--size", "full"), "--data mnist:DIR"),
        (("serra2018/splits", "--data", "mnist:nowhere"), "nowhere"),
        (("serra2018/splits", "--data", "x.npy"), "digits, mnist:DIR or cifar10:DIR"),
        (("serra2018/splits", "--data", "cifar10:x"), "take mnist, not cifar10"),
        (("serra2018/splits", "--data", "mnist:x", "--data", "mnist:y"), "each once"),
        (("zhang2020", "--size", "full", "--data", "mnist:x"), "as in --data cifar10:DIR"),
        (("zhang2020", "--device", "cuda:99"), "cuda:99"),
        (("serra2018/one_input", "--data", "digits"), "uses no data"),
        (("serra2018/one_input", "-o", "occupied"), "it is a file"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(folder, arguments, words):
    (folder / "occupied").write_text("", encoding="utf-8")
    result = reluscope("reproduce", *arguments)
    assert result.exit_code == 1
    assert words in result.stderr
    assert is_one_sentence(result.stderr), result.stderr


def test_a_label_that_differs_gives_data_another_fingerprint():
    data = rs.datasets.digits("test")
    labels = data.labels.copy()
    labels[5] += 1
    prints = [
        data_fingerprint(Setting("small", **given))
        for given in ({}, {"train": data}, {"test": data}, {"train": replace(data, labels=labels)}, {"train": data})
    ]
    assert prints[0] == ""
    assert prints[1] == prints[4]
    assert len(set(prints)) == 4
