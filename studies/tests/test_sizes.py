"""Three sizes, what may be changed in them, comparisons with earlier runs, and the book of results."""

import importlib
import json
from dataclasses import dataclass, is_dataclass, replace
from functools import partial

import numpy as np
import pytest

from cli.running import is_one_sentence, reluscope
from reluscope.cli.studies.study_compare import DIFFERENT, EQUAL, GONE, NEW, WITHIN, compare
from reluscope.cli.studies.study_numbers import command_of
from reluscope.datasets import dataset_of
from reluscope.findings import Finding
from reluscope.studies import Outcome, Setting, StatementVerdict, all_studies
from reluscope_studies import _repeated
from reluscope_studies.book import keep, main, results
from reluscope_studies.serra2018 import splits
from reluscope_studies.sizes import number_of, planned
from reluscope_studies.training import Training

STUDIES = all_studies()
FEW = ("reproduce", "serra2018/splits", "--epochs", "1", "--replicates", "2")


@dataclass(frozen=True)
class Inner:
    epochs: int


@dataclass(frozen=True)
class Outer:
    networks: int
    training: Inner


def test_a_size_and_what_replaces_its_numbers():
    plans = {"small": Outer(2, Inner(3)), "full": Outer(100, Inner(50))}
    changes = {"replicates": "networks", "epochs": "training.epochs"}
    assert planned(Setting("medium"), plans, changes) == plans["full"]
    assert planned(Setting("small", epochs=9), plans, changes) == Outer(2, Inner(9))
    assert planned(Setting("full", replicates=4, points=7), plans, changes) == Outer(4, Inner(50))
    assert number_of(Setting("medium", epochs=4), {"small": 1, "full": 2}) == 2


@pytest.mark.parametrize("study", STUDIES, ids=[study.name for study in STUDIES])
def test_every_plan_has_the_numbers_that_can_be_changed(study):
    paper, figure = study.name.replace("-", "_", 1).replace("-", "_").split("/")
    module = importlib.import_module(f"reluscope_studies.{paper}.{figure}")
    changes = getattr(module, "CHANGES", {})
    assert set(changes) == study.changes <= {"replicates", "points", "epochs"}
    plans = getattr(module, "PLANS", None)
    if plans is None or not isinstance(changes, dict):
        return
    for size in ("small", "medium", "full"):
        for change, place in changes.items():
            plan = planned(Setting(size, **{change: 3}), plans, {change: place})
            assert is_dataclass(plan)
            for part in place.split("."):
                plan = getattr(plan, part)
            assert plan == 3


def test_parts_of_a_study_are_chosen():
    setting = Setting("small", only=("?+2*", "10+*"))
    assert setting.wants("1+21")
    assert setting.wants("10+12")
    assert not setting.wants("11+11")


@pytest.fixture
def tiny(monkeypatch):
    """Splits of five units."""
    monkeypatch.setitem(splits.PLANS, "small", splits.Plan(5, 1, Training("Adam", 2e-3, 1, 128)))


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_only_some_splits_are_done(folder):
    command = ("reproduce", "serra2018/splits", "-q")
    assert reluscope(*command, "--only", "[12]+*", "-o", "out").exit_code == 0
    (study,) = json.loads((folder / "out" / "findings.json").read_text(encoding="utf-8"))["studies"]
    assert [row[0] for row in study["tables"][0]["rows"]] == ["1+4", "2+3"]
    (first,) = study["verdicts"]
    assert (first["word"], first["found"]) == ("confirmed", "2 of 2 counts are below it")
    nothing = reluscope(*command, "--only", "9+9", "-o", "none")
    assert nothing.exit_code == 1
    assert is_one_sentence(nothing.stderr)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("serra2018/one_input", "--epochs", "3"), "its numbers are fixed"),
        (("serra2018/splits", "--points", "3"), "--epochs and --replicates"),
        (("sattelberg2026-ch4/solutions", "--only", "x"), "no parts"),
        (("serra2018/splits", "--size", "medium"), "the medium size trains on the paper's data"),
    ],
)
def test_what_cannot_be_changed_is_one_sentence(folder, arguments, words):
    result = reluscope("reproduce", *arguments)
    assert result.exit_code == 1
    assert words in result.stderr
    assert is_one_sentence(result.stderr), result.stderr


def study_of(*findings, fingerprint="a"):
    return {"name": "p/f", "fingerprint": fingerprint, "findings": [finding.to_dict() for finding in findings]}


def test_numbers_are_equal_within_tolerance_or_different():
    then = study_of(
        Finding.of(5, name="regions"),
        Finding.of(0.5, name="share"),
        Finding.of(0.25, 0.2, 0.3, name="estimate"),
        Finding.of(7, name="regions"),
        Finding.of(1, name="old"),
    )
    now = study_of(
        Finding.of(5, name="regions"),
        Finding.of(0.5 + 1e-10, name="share"),
        Finding.of(0.29, 0.28, 0.3, name="estimate"),
        Finding.of(9, name="regions"),
        Finding.of(1, name="other"),
        fingerprint="b",
    )
    found = compare(now, then)
    assert [one.how for one in found.numbers] == [EQUAL, WITHIN, WITHIN, DIFFERENT, GONE, NEW]
    assert found.differs
    assert not found.same_weights
    assert found.numbers[3].difference == 2
    assert not compare(then, then).differs
    # A claim that became another one is no agreement.
    assert compare(study_of(Finding.of(5, 5, 9, name="a")), study_of(Finding.of(5, name="a"))).differs


def test_networks_of_other_epochs_or_images_decide_nothing():
    said = Outcome(
        (), (), verdicts=(StatementVerdict("a", "b", "c", "d", False), StatementVerdict("a", "b", "c", "d", True))
    )

    def words(trains_on_points, **changes):
        study = replace(STUDIES[0], protocol=partial(_repeated, lambda setting: said, trains_on_points))
        return [one.word for one in study.protocol(Setting("full", **changes)).verdicts]

    assert words(True) == words(False, points=9) == ["contradicted", "confirmed"]
    assert words(False, epochs=3) == words(True, points=9) == ["not comparable"] * 2
    assert all(one.protocol.func is _repeated for one in STUDIES)
    on_points = {one.name for one in STUDIES if one.protocol.args[1]}
    assert on_points == {
        f"{paper}/{figure}"
        for paper, figures in {
            "sattelberg2026-ch3": ("pruned_images", "pruned_images_cifar10"),
            "sattelberg2026-ch4": ("dimensions",),
            "sattelberg2026-ch6": ("mnist", "cifar10", "first_directions", "pretrained", "pretrained_cifar10"),
            "sattelberg2026-ch7": ("mnist", "cifar10"),
            "shepeleva2020": ("heads", "heads_cifar10", "autoencoder", "autoencoder_cifar10", "out_of_domain"),
        }.items()
        for figure in figures
    }


def test_a_command_names_the_data_beside():
    images = dataset_of(np.zeros((4, 3)), np.arange(4) % 2, name="CIFAR-10 (test part)")
    beside, alone = (command_of("p/f", None, Setting("full", beside=one), []) for one in (images, None))
    assert beside.endswith("--data cifar10:DIR")
    assert "--data" not in alone


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_a_run_is_kept_in_a_book_and_compared_with_it(folder):
    assert reluscope(*FEW, "-o", "out", "-q").exit_code == 0
    plain = json.loads((folder / "out" / "findings.json").read_text(encoding="utf-8"))
    (study,) = plain["studies"]
    assert plain["changes"] == {"replicates": 2, "epochs": 1}
    assert plain["command"] == ("reluscope reproduce serra2018/splits --size small --replicates 2 --epochs 1")
    assert plain["machine"]["processor"]
    assert len(study["fingerprint"]) == 16
    assert study["processor_seconds"] > 0
    assert 0.05 < study["peak_gigabytes"] < 50
    assert len(study["data_fingerprint"]) == 16
    assert study["tables"]
    page = (folder / "out" / "index.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= len(study["pictures"])
    assert plain["command"] in page
    main(["out", "-o", "book"])
    own = folder / "book" / study["name"] / "small-replicates-2-epochs-1"
    assert {path.suffix for path in own.iterdir()} <= {".json", ".md", ".svg"}
    assert max(path.stat().st_size for path in own.iterdir()) <= 400_000
    assert [path for path, _ in results(folder / "book")] == [own]
    again = reluscope(*FEW, "-o", "out", "--resume", "--compare", "book", "--json")
    assert again.exit_code == 0, again.output
    (compared,) = json.loads(again.stdout)["compared"]
    assert compared["counts"] == {"equal": len(study["findings"])}
    assert compared["same_weights"]
    other = reluscope(*FEW, "-o", "other", "--seed", "1", "--compare", "book")
    assert other.exit_code == 1
    assert "made with another seed" in other.stderr
    changed = json.loads((own / "findings.json").read_text(encoding="utf-8"))
    changed["studies"][0]["findings"][0]["value"] += 1
    (own / "findings.json").write_text(json.dumps(changed), encoding="utf-8")
    differing = reluscope(*FEW, "-o", "out", "--resume", "--compare", "book")
    assert differing.exit_code == 1
    assert "(-1)" in differing.stdout
    without_a_claim = json.loads(json.dumps(changed))
    del without_a_claim["studies"][0]["findings"][0]["claim"]
    others = ({}, "nothing", {"format": "reluscope reproduce 1"}, {**changed, "studies": [3]}, without_a_claim)
    for broken in map(json.dumps, others):
        (own / "findings.json").write_text(broken, encoding="utf-8")
        result = reluscope(*FEW, "-o", "other", "--compare", "book")
        assert result.exit_code == 1
        assert is_one_sentence(result.stderr), result.stderr
    assert not (folder / "other").exists(), "nothing is worked on that can't be compared"


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_work_that_went_on_adds_its_seconds(folder):
    assert reluscope(*FEW, "-o", "out", "-q").exit_code == 0
    before = json.loads((folder / "out" / "findings.json").read_text(encoding="utf-8"))["studies"][0]
    assert reluscope(*FEW, "-o", "out", "-q", "--resume").exit_code == 0
    after = json.loads((folder / "out" / "findings.json").read_text(encoding="utf-8"))["studies"][0]
    assert after["processor_seconds"] > before["processor_seconds"]
    assert after["fingerprint"] == before["fingerprint"]


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_work_that_was_ended_by_force_keeps_its_seconds(folder):
    assert reluscope(*FEW, "-o", "out", "-q").exit_code == 0
    (folder / "out" / "findings.json").unlink()  # which is written at the end of a run
    clock = folder / "out" / "records" / "splits" / "seconds.json"
    before = json.loads(clock.read_text(encoding="utf-8"))
    assert reluscope(*FEW, "-o", "out", "-q", "--resume").exit_code == 0
    after = json.loads((folder / "out" / "findings.json").read_text(encoding="utf-8"))["studies"][0]
    assert after["processor_seconds"] > before["processor_seconds"] > 0
    assert after["seconds"] > before["seconds"] > 0
    for broken in (b"{}", clock.read_bytes()[:-9], clock.read_bytes().replace(b"0", b"1")):
        clock.write_bytes(broken)
        result = reluscope(*FEW, "-o", "out", "-q", "--resume")
        assert result.exit_code == 1
        assert is_one_sentence(result.stderr), result.stderr
    clock.unlink()
    assert reluscope(*FEW, "-o", "out", "-q", "--resume").exit_code == 0


def test_interrupted_work_is_not_kept(folder):
    (folder / "out").mkdir()
    (folder / "out" / "findings.json").write_text(json.dumps({"complete": False, "studies": []}), encoding="utf-8")
    with pytest.raises(ValueError, match="interrupted"):
        keep(folder / "out", folder / "book")
