"""``--seconds`` beside the clock: what a section may take follows from what passes take, by a clock that they move."""

import json
from importlib import import_module

import numpy as np
import pytest

import reluscope as rs
from cli.running import reluscope
from reluscope.datasets.dataset import dataset_of
from reluscope.networks.network import Network
from reluscope.partitions.partition_in_memory import Partition
from reluscope.report import Settings, Subject
from reluscope.report.parts import subject as module
from reluscope.report.parts.content import Content, Text
from reluscope.report.sections import Section, all_sections, plane

DRAW = np.random.default_rng(0)
NETWORK = rs.load([(DRAW.normal(size=(40, 3)), DRAW.normal(size=40)), (DRAW.normal(size=(3, 40)), np.zeros(3))])
DATA = dataset_of(DRAW.normal(size=(500, 3)), DRAW.integers(0, 3, 500), name="points")


@pytest.fixture
def clock(monkeypatch):
    """Seconds that have passed, and how many a sample takes."""
    told, proper = {"now": 0.0, "each": 0.01}, Network.__call__

    def slowly(self, x):
        told["now"] += told["each"] * len(x)
        return proper(self, x)

    monkeypatch.setattr(module.time, "perf_counter", lambda: told["now"])
    monkeypatch.setattr(Network, "__call__", slowly)
    return told


@pytest.mark.parametrize("each", [1e-6, 1e-3, 0.02, 0.3, 7.0])
def test_timing_a_pass_takes_little_itself(clock, each):
    clock["each"] = each
    subject = Subject(NETWORK, DATA, "net")
    assert len(subject.pairs)
    clock["now"] = 0.0
    assert subject.timed.seconds_per_sample == pytest.approx(each)
    # A first pass, and some until one takes a quarter of a second; each has at most four times the samples of the last.
    assert clock["now"] <= 2 * each + 4 * module.TIMED


def test_no_clock_decides_what_is_planned(clock):
    """The plan hangs on the network, not on a timed pass: a slow machine looks at as many samples and regions."""
    planned = []
    for each in (1e-9, 1.0):
        clock["each"] = each
        subject = Subject(NETWORK, DATA, "net")
        assert subject.timed.seconds_per_sample == pytest.approx(each)
        sentences = [section.why_not(subject) for section in all_sections()]
        planned.append((subject.most_affordable, subject.region_budget(0.4), subject.seconds_per_sample, sentences))
    assert planned[0] == planned[1]


@pytest.mark.parametrize(("each", "seconds"), [(0.01, 60.0), (0.1, 60.0), (0.1, 3.0), (1e-6, 0.01)])
def test_sections_that_look_at_all_samples_plan_for_their_time(each, seconds):
    subject = Subject(NETWORK, DATA, "net", Settings(seconds=seconds))
    vars(subject)["seconds_per_sample"] = each
    few = subject.limited(subject.most_affordable)
    assert len(few.data) == len(DATA) or module.PASSES * each * len(few.data) <= max(
        seconds, module.PASSES * each * module.MIN_SAMPLES
    )
    assert len(few.data) == len(DATA) or module.PASSES * each * 2 * len(few.data) > seconds


def test_without_a_limit_work_ends_long_after_what_is_planned_and_with_one_at_it():
    free, limited = Settings(), Settings(seconds=6.0)
    assert (limited.planned_seconds, limited.budget(0.5).seconds) == (6.0, 3.0)
    assert free.budget(0.5).seconds_allowed >= 10 * 0.5 * free.planned_seconds
    assert free.affordable(0.5, 1.0, 1000) == 30
    assert limited.affordable(0.5, 1.0, 1000) == 3
    assert free.affordable(0.5, 1e3, 1000) == 1


def test_fewer_samples_are_drawn_at_random_and_said():
    subject = Subject(NETWORK, DATA, "net")
    few, again = subject.limited(64), subject.limited(64)
    rows = [int(np.flatnonzero((DATA.points == point).all(axis=1))[0]) for point in few.data.points]
    assert len(set(rows)) == 64
    assert rows != list(range(64))
    assert (few.data.labels == DATA.labels[rows]).all()
    assert (few.data.points == again.data.points).all()
    assert few.data.notes[-1] == "64 of 500 samples were drawn at random: there is no time for more (--seconds)"
    assert subject.limited(500) is subject


@pytest.mark.few(1)
@pytest.mark.parametrize("each", [1e-9, 1.0])
def test_a_plane_leaves_time_for_the_outputs_at_its_corners(monkeypatch, each):
    """Seen red with all of the time for the regions."""
    corners, proper = [], Partition.outputs.func
    monkeypatch.setattr(Partition, "outputs", property(lambda part: corners.append(len(part.vertices)) or proper(part)))
    subject = Subject(NETWORK, DATA, "net", Settings(seconds=500.0))
    subject.__dict__["seconds_per_sample"] = each
    found = plane.content(subject, lambda share: None)
    assert corners
    assert corners[0] * each <= 0.5 * subject.settings.seconds
    assert (found.headline.finding.claim == "LOWER") == (each == 1.0)


@pytest.mark.slow
def test_a_hopeless_plane_gives_way_to_a_window_and_to_first_gates(monkeypatch):
    monkeypatch.setattr(import_module("reluscope.partitions.ask.finishing_windows"), "MIN_SECONDS", 0.0)
    monkeypatch.setattr(
        import_module("reluscope.partitions.ask.finishing_windows"), "MIN_TIMES", 0.0
    )  # however little the forecast knows
    monkeypatch.setattr(import_module("reluscope.partitions.ask.finishing_windows"), "PROMPT", 0.0)
    subject = Subject(NETWORK, DATA, "net", Settings(seconds=60.0, regions=20))
    found = plane.content(subject, lambda share: None)
    # What is told first is about the plane, and not about the window.
    ahead, in_window = found.findings[:2]
    assert (found.headline.finding, ahead.name) == (ahead, "forecast regions")
    assert ahead.claim in ("ESTIMATE", "EXACT")  # where there was time to count them all
    assert (in_window.name, in_window.claim) == ("number of regions in plane", "EXACT")
    assert in_window.value <= 20 < ahead.value
    text = found.sentences[0].text
    about = "about " if ahead.claim == "ESTIMATE" else ""
    start = f"The plane through three samples is forecast to have {about}{ahead.value:,} linear regions"
    assert text.startswith(start)
    assert text.endswith(f", of which a small window about its middle was done: {in_window.value}.")
    assert any("The whole plane is expected to have" in block.text for block in found.blocks if isinstance(block, Text))


@pytest.mark.slow
def test_the_page_says_of_how_many_samples_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models.py").write_text(
        "from torch import nn\ndef make(): return nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))\n",
        encoding="utf-8",
    )
    np.save("x.npy", DATA.points)
    kept = tuple(section for section in all_sections() if section.name in ("network", "codes"))
    monkeypatch.setattr("reluscope.report.building.all_sections", lambda: kept)
    monkeypatch.setattr(Subject, "seconds_per_sample", 0.1)
    done = reluscope("analyze", "models:make", "--input-shape", "3", "--data", "x.npy", "-o", "out", "--threads", "1")
    assert done.exit_code == 0, done.output
    note = "64 of 500 samples were drawn at random: there is no time for more (--seconds)"
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["data"]["notes"] == [note]
    assert note in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_report_goes_on_with_the_samples_that_it_was_begun_with(tmp_path, monkeypatch):
    """The network decides how many are looked at, not a measurement, which is of other data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seeded_models.py").write_text(
        "import torch\nfrom torch import nn\n\ndef make():\n    torch.manual_seed(0)\n"
        "    return nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))\n",
        encoding="utf-8",
    )
    np.save("x.npy", DATA.points)
    pressed = [True]

    def stop_once(subject, progress):
        if pressed.pop():
            raise KeyboardInterrupt
        return Content((Text(f"{len(subject.data)} samples"),))

    kept = tuple(section for section in all_sections() if section.name == "network")
    stopping = Section("last", "Last", 99.0, lambda subject: None, lambda subject: 1.0, stop_once)
    monkeypatch.setattr("reluscope.report.building.all_sections", lambda: (*kept, stopping))
    command = ("analyze", "seeded_models:make", "--input-shape", "3", "--data", "x.npy", "-o", "out", "--threads", "1")
    monkeypatch.setattr(module, "pass_seconds", lambda network: 0.1)
    monkeypatch.setattr(module, "_measured", lambda *_: 0.1)
    assert reluscope(*command).exit_code == 130
    monkeypatch.setattr(module, "_measured", lambda *_: 0.3)
    pressed.append(False)
    done = reluscope(*command, "--resume")
    assert done.exit_code == 0, done.stderr
    assert "64 samples" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
