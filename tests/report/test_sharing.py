"""Sections run beside each other: the same results in the same order, and what was found is kept after Ctrl-C."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import reluscope as rs
from reluscope.datasets.dataset import dataset_of
from reluscope.datasets.demo import demo_network, loaded_demo_network
from reluscope.errors import InputError
from reluscope.report import Settings, Subject, build_report, check_folder, sections
from reluscope.report.building import expected_seconds
from reluscope.report.sections import Section, all_sections
from reluscope.report.sharing import helped

GENERATOR = np.random.default_rng(0)
NETWORK = rs.load([(GENERATOR.normal(size=(8, 2)), np.ones(8)), (GENERATOR.normal(size=(2, 8)), np.zeros(2))])
SUBJECT = Subject(NETWORK, dataset_of(GENERATOR.normal(size=(30, 2))), "net", Settings(num_segments=3))
SECTIONS = tuple(one for one in all_sections() if one.name in ("network", "fit", "codes", "maps", "plane", "segments"))


def plain(report):
    return [
        (one.name, one.status, one.sentence, [f.value for f in one.content.findings] if one.content else [])
        for one in report.sections
    ]


@pytest.mark.slow
def test_helpers_change_nothing_but_the_time():
    told = []
    with ThreadPoolExecutor(2) as executor, helped(executor, 2, SUBJECT) as helpers:
        shared = build_report(SUBJECT, sections=SECTIONS, helpers=helpers, notify=told.append)
    assert plain(shared) == plain(build_report(SUBJECT, sections=SECTIONS))
    assert all(0 <= at.share <= 1 and at.remaining >= 0 for at in told)
    assert expected_seconds(SUBJECT, SECTIONS) > 0


def test_ctrl_c_keeps_what_others_have_ended():
    def interrupt(subject, tell):
        raise KeyboardInterrupt

    stopping = Section("plane", "Plane", 1.0, lambda subject: None, lambda subject: 99.0, interrupt)
    sections = (*(one for one in SECTIONS if one.name != "plane"), stopping)
    kept = {}
    with ThreadPoolExecutor(1) as executor, helped(executor, 1, SUBJECT) as helpers:
        report = build_report(SUBJECT, sections=sections, helpers=helpers, kept=kept)
    assert report.was_interrupted
    assert [one.name for one in report.sections] == [one.name for one in sections]
    by_name = {one.name: one.status for one in report.sections}
    assert by_name["plane"] == "interrupted"
    assert set(by_name.values()) <= {"done", "not applicable", "interrupted", "not started"}
    assert set(kept) == {name for name, status in by_name.items() if status in ("done", "not applicable")}


def test_the_embedded_network_is_the_one_that_is_traced():
    assert loaded_demo_network().fingerprint == rs.load(demo_network(), input_shape=(1, 8, 8)).fingerprint
    scores = np.ones(10)
    assert np.allclose(loaded_demo_network().with_parameters({"scores.bias": scores})(np.zeros((1, 64))).shape, (1, 10))


@pytest.mark.slow
def test_what_needs_no_compiler_does_not_import_it():
    program = """
import sys
import numpy as np
import reluscope as rs
import reluscope.cli.reports.analyze
from reluscope.datasets.demo import loaded_demo_network
from reluscope.datasets.digits import digits
loaded_demo_network(digits("test").points)
rs.partition(rs.load([(np.eye(2), np.zeros(2))]), rs.Box(-1, 1, 2))
heavy = "torch._dynamo", "torch.export._trace", "sklearn", "sympy", "scipy.stats"
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_folders_that_let_nobody_write_are_told_at_once(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is a file"):
        check_folder(tmp_path / "file" / "below")
    if sys.platform == "linux":
        with pytest.raises(InputError, match=r"the folder /proc cannot be written to \(.*\): name another with -o DIR"):
            check_folder("/proc/reluscope-report")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@pytest.mark.slow
def test_helpers_find_sections_that_others_have_added(tmp_path, monkeypatch):
    """Seen red where processes that help looked at the installed package alone."""
    (tmp_path / "added.py").write_text(
        "from reluscope.report.parts.content import Content, Text\n"
        "TITLE, POSITION = 'Added', 99\n"
        "def why_not(subject): return None\n"
        "def seconds(subject): return 1.0\n"
        "def content(subject, progress):\n"
        "    import os\n"
        "    import beside\n"
        "    return Content((Text(f'{beside.SAID} {os.getpid()}'),))\n",
        encoding="utf-8",
    )
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "beside.py").write_text("SAID = 'said by'\n", encoding="utf-8")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        executor.submit(int).result()  # it has started before there is anything to find
        monkeypatch.setattr(sections, "__path__", [*sections.__path__, str(tmp_path)])
        monkeypatch.syspath_prepend(tmp_path / "modules")
        added = tuple(one for one in all_sections() if one.name == "added")
        with helped(executor, 1, SUBJECT) as helpers:
            report = build_report(SUBJECT, sections=added, helpers=helpers)
    (result,) = report.sections
    assert result.status == "done", result.sentence
    said, pid = result.content.blocks[0].text.rsplit(" ", 1)
    assert said == "said by"
    assert int(pid) != os.getpid()
