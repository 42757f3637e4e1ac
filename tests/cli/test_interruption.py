"""Ctrl-C at any moment: code 130, one sentence, whole files or none. Streams that close or fill up."""

import os
import signal
import subprocess
import sys
import time

import pytest

import reluscope as rs
from cli.running import is_one_sentence, reluscope
from cli.test_reach_command import PLANT
from cli.test_verify_command import TEXT

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="signals and devices as on POSIX"),
    pytest.mark.usefixtures("hears_ctrl_c"),
]

# Sends the signal when the work has come to a certain place, which no clock would hit.
STRIKE = """\
import os, signal, sys
from pkgutil import resolve_name
place, name, times = sys.argv[1:4]
sys.argv[1:4] = []
home = resolve_name(place)
original = getattr(home, name)
calls = 0
def struck(*given, **named):
    global calls
    calls += 1
    if calls == int(times):
        os.kill(os.getpid(), signal.SIGINT)
    return original(*given, **named)
setattr(home, name, struck)
from reluscope.cli import main
main()
"""

# The command, which prints a line once it answers Ctrl-C.
BEGUN = """\
from reluscope import cli
original = cli.leave_at_once
def begin():
    original()
    print("begun", flush=True)
cli.leave_at_once = begin
cli.main()
"""


def strike(place, times, *arguments):
    home, _, name = place.rpartition(".")
    command = [sys.executable, "-c", STRIKE, home, name, str(times), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.few(1)
@pytest.mark.parametrize("wait", [0.0, 0.3, 1.4])
def test_while_starting(folder, wait):
    """From the moment when Ctrl-C is ours: a signal before that is answered by the interpreter."""
    arguments = [sys.executable, "-c", BEGUN, "partition", "my_models:deep", "--box", "-9,9", "-o", "out"]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    if process.returncode:  # else it was faster
        assert process.returncode == 130, errors
        assert is_one_sentence(errors), errors


@pytest.mark.slow
def test_what_is_ignored_on_purpose_stays_ignored(folder):
    """In the background, as with nohup, the signal of a terminal is not meant for us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    done = strike("reluscope.cli.reading.models.load", 1, "info", "my_models:cross", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.slow
def test_a_partition_keeps_what_it_found(folder):
    arguments = ("partition", "my_models:deep", "--box", "-30,30", "-o", "out", "--threads", "1")
    done = strike("reluscope.partitions.complexes.incidence._Cutting.step", 5, *arguments)
    assert done.returncode == 130, done.stderr
    assert "interrupted with" in done.stderr
    assert is_one_sentence(done.stderr)
    assert "LOWER" in done.stdout
    part = rs.Partition.load("out/partition.arrow")
    assert part.claim == "LOWER"
    assert part.num_open > 0
    assert len(list((folder / "out").iterdir())) == 5


@pytest.mark.slow
def test_while_drawing_what_is_written_stays(folder):
    arguments = ("partition", "my_models:cross", "--box", "-1,1", "-o", "out")
    done = strike("reluscope.plots.to_png", 1, *arguments)
    assert done.returncode == 130, done.stderr
    names = sorted(path.name for path in (folder / "out").iterdir())
    assert names == ["partition.arrow", "partition.json", "partition.svg", "regions.parquet"]
    assert is_one_sentence(done.stderr)
    assert "out/partition.svg hold what was found" in done.stderr
    assert "EXACT" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("violations", "my_models:cross", "safe.vnnlib"),
        ("reach", "my_models:clamp", "plant.json", "--box", "-1,1", "--steps", "1"),
        ("surface", "my_models:cross", "--box", "-1,1"),
    ],
)
def test_pictures_come_last_and_what_was_written_is_named(folder, command):
    (folder / "safe.vnnlib").write_text(TEXT.replace("LEVEL", "0.5"), encoding="utf-8")
    (folder / "plant.json").write_text(PLANT, encoding="utf-8")
    done = strike("reluscope.plots.to_png", 1, *command, "-o", "a.png", "-o", "a.arrow", "-o", "a.json")
    assert done.returncode == 130, done.stderr
    assert done.stderr == "reluscope: interrupted; a.arrow and a.json hold what was found.\n"
    assert (sorted(path.name for path in folder.glob("a.*"))) == ["a.arrow", "a.json"]
    assert done.stdout


@pytest.mark.slow
def test_while_writing_nothing_is_left_behind(folder):
    done = strike("os.fsync", 1, "partition", "my_models:cross", "--box", "-1,1", "-o", "out/a.svg")
    assert done.returncode == 130
    assert done.stderr == "reluscope: interrupted; nothing was written.\n"
    assert list((folder / "out").iterdir()) == []


@pytest.mark.slow
def test_while_loading(folder):
    done = strike("reluscope.cli.reading.models.load", 1, "info", "my_models:cross")
    assert done.returncode == 130
    assert done.stderr == "reluscope: interrupted; nothing was written.\n"
    assert done.stdout == ""


@pytest.mark.slow
def test_a_report_goes_on_after_ctrl_c(folder, quick_report):
    arguments = ("analyze", "my_models:Net", "--weights", "net.safetensors", "--data", "data.npz", "-o", "out")
    small = ("--segments", "2", "--samples", "40")
    done = strike("reluscope.report.sections.plane.content", 1, *arguments, *small)
    assert done.returncode == 130, done.stderr
    assert "--resume goes on" in done.stderr
    assert is_one_sentence(done.stderr)
    assert (folder / "out" / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    refused = reluscope(*arguments, *small)
    assert refused.exit_code == 1
    assert "--resume" in refused.stderr
    resumed = reluscope(*arguments, *small, "--resume")
    assert resumed.exit_code == 0, resumed.stderr
    assert not list((folder / "out").glob(".*"))
    again = reluscope(*arguments, *small, "--resume")
    assert "there is no unfinished report" in again.stderr


@pytest.mark.slow
def test_output_that_nobody_reads(folder):
    command = f"{sys.executable} -m reluscope info my_models:cross --json | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout in ("1\n", "0\n")  # 0 where the other end was still there
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_below_standard_output(folder):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "reluscope", "info", "my_models:cross", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "reluscope: the disk is full: free some space, or write somewhere else with -o.\n"
