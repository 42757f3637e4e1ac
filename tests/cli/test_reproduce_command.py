"""``reluscope reproduce``: which studies there are, and how one is run; those of papers have tests of their own."""

import json
from dataclasses import replace
from importlib.metadata import EntryPoint

import numpy as np
import pytest

import reluscope as rs
from cli.running import is_one_sentence, reluscope
from reluscope.cli.studies.study_records import open_records
from reluscope.studies import Outcome, Record, Study, Table


def draw(setting):
    setting.progress("Counting", 0.5)
    count = rs.count(rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]), rs.Space(2))
    return Outcome(("Counted.",), (count,), (Table(("regions",), ((str(int(count)),),)),))


LAST = Study("serra2018", "last", "the second of two", 20, None, None, draw)
FIRST = replace(LAST, figure="first", sentence="the first of two", position=10)


def offered():
    return (LAST,)


def also_offered():
    return (FIRST,)


@pytest.fixture
def installed(monkeypatch):
    """Let two packages with studies be installed, and none else."""
    points = [EntryPoint(name, f"{__name__}:{name}", "reluscope.studies") for name in ("offered", "also_offered")]
    monkeypatch.setattr(EntryPoint, "load", lambda point: globals()[point.name])
    monkeypatch.setattr("reluscope.studies.discovery.entry_points", lambda group: points)


def test_where_no_studies_are_installed_it_says_what_to_install(folder, monkeypatch):
    monkeypatch.setattr("reluscope.studies.discovery.entry_points", lambda group: [])
    for arguments in ((), ("serra2018",), ("--json",)):
        result = reluscope("reproduce", *arguments)
        assert result.exit_code == 1
        assert "pip install reluscope-studies" in result.stderr
        assert is_one_sentence(result.stderr)


@pytest.mark.usefixtures("installed")
def test_studies_of_all_packages_are_listed_in_the_papers_order():
    assert [one.name for one in rs.studies.all_studies()] == ["serra2018/first", "serra2018/last"]
    plain = json.loads(reluscope("reproduce", "--json").stdout)
    assert [one["name"] for one in plain["studies"]] == ["serra2018/first", "serra2018/last"]
    assert "the second of two" in reluscope("reproduce").stdout


@pytest.mark.usefixtures("installed")
def test_a_paper_fills_a_folder(folder):
    result = reluscope("reproduce", "serra2018", "-o", "out", "--json")
    assert result.exit_code == 0, result.output
    plain = json.loads((folder / "out" / "findings.json").read_text(encoding="utf-8"))
    assert plain == json.loads(result.stdout)
    assert [one["findings"][0]["value"] for one in plain["studies"]] == [4, 4]
    page = (folder / "out" / "README.md").read_text(encoding="utf-8")
    assert "## The first of two" in page
    assert "| 4 |" in page


def test_data_beside_are_welcome_and_not_needed(folder, monkeypatch):
    seen = []

    def protocol(setting):
        seen.append(setting.beside)
        return Outcome(("Done.",), ())

    study = Study("shepeleva2020", "other", "a sentence", 0, None, "cifar10", protocol)
    monkeypatch.setattr("reluscope.cli.studies.reproduce.all_studies", lambda: (study, replace(study, data="mnist")))
    rows = np.arange(2 * 3073, dtype=np.int64).reshape(2, 3073) % 200
    rows[:, 0] = 1
    (folder / "test_batch.bin").write_bytes(rows.astype(np.uint8).tobytes())
    result = reluscope("reproduce", "shepeleva2020", "--data", "cifar10:.", "-o", "with")
    assert result.exit_code == 0, result.output
    assert [len(one) for one in seen] == [2, 2]
    assert reluscope("reproduce", "shepeleva2020", "-o", "without").exit_code == 0
    assert seen[2:] == [None, None]
    refused = reluscope("reproduce", "shepeleva2020", "-o", "with", "--resume").stderr
    assert "begun with another data" in refused


def test_wrong_usage():
    assert "leave one out" in reluscope("reproduce", "serra2018", "--force", "--resume").stderr
    assert reluscope("reproduce", "serra2018", "--size", "huge").exit_code == 2


def test_records_are_a_mapping(tmp_path):
    kept = open_records(tmp_path / "records", {"seed": "0"})
    kept["a"] = Record({"regions": 5, "high": float("inf")}, {"W": np.eye(2)})
    kept["b"] = Record({"regions": 6})
    assert (list(kept), len(kept), "c" in kept) == (["a", "b"], 2, False)
    assert kept["a"].plain == {"regions": 5, "high": float("inf")}
    assert np.array_equal(kept["a"].arrays["W"], np.eye(2))
    del kept["a"]
    assert list(open_records(tmp_path / "records", {"seed": "0"}, resume=True)) == ["b"]
    with pytest.raises(rs.errors.InputError, match="another seed"):
        open_records(tmp_path / "records", {"seed": "1"}, resume=True)
    (tmp_path / "records" / "key.json").write_text("[", encoding="utf-8")
    with pytest.raises(rs.errors.InputError, match=r"key.json is not the key .* or it is damaged"):
        open_records(tmp_path / "records", {"seed": "0"}, resume=True)
    assert list(open_records(tmp_path / "records", {"seed": "0"})) == []


@pytest.mark.usefixtures("installed")
def test_a_figure_runs_what_makes_it(folder, monkeypatch):
    seen = []

    def drawn(setting):
        seen.append(setting.only)
        return draw(setting)

    parted = replace(LAST, protocol=drawn, parts="letters", repeats={"Figure 1": "", "Figure 2": "b*"})
    monkeypatch.setitem(globals(), "LAST", parted)
    plain = json.loads(reluscope("reproduce", "serra2018", "Figure 2", "--json").stdout)
    assert [one["name"] for one in plain["studies"]] == ["serra2018/last"]
    assert plain["command"].startswith('reluscope reproduce serra2018 "Figure 2" --size small')
    assert (folder / "reluscope-serra2018-figure-2" / "findings.json").is_file()
    assert reluscope("reproduce", "serra2018", "Figure 1", "--only", "c", "-o", "one").exit_code == 0
    assert seen == [("b*",), ("c",)]
    refused = reluscope("reproduce", "serra2018", "Figure 9")
    assert refused.exit_code == 1
    assert "no study of serra2018 makes 'Figure 9': they make Figure 1, Figure 2" in refused.stderr
    assert is_one_sentence(refused.stderr)


@pytest.mark.usefixtures("installed")
def test_what_is_not_there_to_compare_with_is_said(folder):
    assert reluscope("reproduce", "serra2018/last", "-o", "book/serra2018/last/small").exit_code == 0
    for place, there in (("book", "what it has of it is small"), ("elsewhere", "it has no run of it")):
        refused = reluscope("reproduce", "serra2018/last", "--size", "full", "--compare", place, "-o", "new")
        assert refused.exit_code == 1
        assert f"{place} has no run of serra2018/last called full to compare with: {there}" in refused.stderr
        assert is_one_sentence(refused.stderr)
