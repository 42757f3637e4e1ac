"""``reluscope explore`` and ``reluscope snapshot``: what they print, serve and write, and what they refuse."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

from cli.running import is_one_sentence, reluscope
from reluscope.explorer.exchange.wire import unpack


def ask(url, question):
    """Ask as the page does, whose address this is."""
    page, _, token = url.partition("#token=")
    headers = {"Authorization": f"Bearer {token}", "Origin": page.rstrip("/")}
    request = urllib.request.Request(f"{page}ask", json.dumps(question).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return unpack(answer.read())


@pytest.mark.slow
@pytest.mark.usefixtures("hears_ctrl_c")
def test_explore_serves_until_ctrl_c(tmp_path):
    """In a pipe, too, whose reader waits for the address."""
    command = [sys.executable, "-m", "reluscope", "explore", "--demo", "--no-browser", "--threads", "1"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        url = running.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=[\w-]{32}", url)
        assert re.fullmatch(
            r"Ready after [\d.]+ s, for this machine only; Ctrl-C ends it\.\n", running.stdout.readline()
        )
        with urllib.request.urlopen(url.partition("#")[0], timeout=20) as page:
            assert b"/explorer.js" in page.read()
        hello = ask(url, {"ask": "hello", "seq": 1}).header
        assert (hello["model"]["name"], hello["data"]["num_samples"]) == ("demo network", 360)
        plane = ask(url, {"ask": "partition", "seq": 2, **hello["home"]})
        assert plane.header["num_regions"]["claim"] == "EXACT"
        running.send_signal(signal.SIGINT)
        said, complained = running.communicate(timeout=20)
    assert (running.returncode, said, complained) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name one, or add --demo"),
        (("net.onnx", "--demo"), "leave MODEL out"),
        (("--demo", "--data", "x.npy"), "leave --data out"),
        (("my_models:cross", "--labels", "y.npy"), "about --data, which is missing"),
        (("my_models:cross", "--samples", "3"), "about --data, which is missing"),
        (("my_models:cross", "--port", "70000"), "--port"),
    ],
)
def test_wrong_usage(folder, arguments, words):
    commands = ("explore",) if "--port" in arguments else ("explore", "snapshot")
    for command in commands:
        result = reluscope(command, *arguments)
        assert result.exit_code == 2
        assert words in re.sub(r"\s+", " ", result.stderr)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--train", "xor", "--data", "x.npy"), "leave --data out"),
        (("--train", "xor", "--demo"), "leave --demo out"),
        (("--train", "xor", "--tracker", "run.parquet"), "leave --tracker out"),
        (("--train", "xor", "net.onnx"), "only PyTorch modules are trained, and net.onnx is a file"),
        (("--train", "xor", "--decision", "smallest"), "this is about MODEL, which is missing"),
        (("--train", "xor", "my_models:cross", "--decision", "smallest"), "a model in training has none"),
    ],
)
def test_wrong_usage_of_a_training(folder, arguments, words):
    result = reluscope("explore", *arguments)
    assert result.exit_code == 2
    assert words in re.sub(r"\s+", " ", result.stderr)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("text.csv",), "column 'b' of text.csv must hold numbers, got string (for instance 'north')"),
        (("bare.csv",), "a training needs labels, and bare.csv has none"),
        (("spiral",), "expected one of spirals, circles, moons, xor or a file"),
        (("no.csv",), "there is no file no.csv"),
        (("xor", "my_models:tanh"), "expected an input shape that the model accepts"),
        (("xor", "my_models:number"), "must return a torch.nn.Module"),
    ],
)
def test_what_cannot_be_trained(folder, arguments, words):
    (folder / "text.csv").write_text("a,b,label\n1,north,0\n2,south,1\n", encoding="utf-8")
    (folder / "bare.csv").write_text("a,b\n1,2\n2,3\n", encoding="utf-8")
    result = reluscope("explore", "--train", *arguments, "--no-browser")
    assert result.exit_code == 1
    assert is_one_sentence(result.stderr)
    assert words in result.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("hears_ctrl_c")
def test_a_training_is_served(tmp_path):
    """Of a file: its name is that of the data, and the seed is the one that was given."""
    rows = np.random.default_rng(0).normal(size=(30, 2))
    lines = ["x,y,label", *(f"{a},{b},{int(a > b)}" for a, b in rows)]
    (tmp_path / "points.csv").write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "reluscope", "explore", "--train", "points.csv", "--no-browser", "--seed", "7"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        url = running.stdout.readline().strip()
        running.stdout.readline()
        lesson = ask(url, {"ask": "hello", "seq": 1}).header["lesson"]
        assert (lesson["settings"]["seed"], lesson["problems"][0]) == (7, {"key": "own", "name": "points.csv"})
        assert ask(url, {"ask": "learn", "seq": 2, "lesson": 1, "steps": 3}).header["step"] == 3
        running.send_signal(signal.SIGINT)
        assert running.communicate(timeout=20) == ("", "")
    assert running.returncode == 0


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no.onnx",), "no.onnx does not exist"),
        (("my_models:cross", "--data", "no.npy"), "there is no file no.npy"),
        (("my_models:tanh", "--data", "x.npy"), "tanh"),
        (("my_models:cross", "--data", "x.npy"), "shape"),
        (("my_models:absolute",), "has one input"),
    ],
)
@pytest.mark.parametrize("command", ["explore", "snapshot"])
def test_what_cannot_be_looked_at(folder, command, arguments, words):
    result = reluscope(command, *arguments, *(("--no-browser",) if command == "explore" else ()))
    assert result.exit_code == 1
    assert is_one_sentence(result.stderr)
    assert words in result.stderr


def test_a_port_in_use_is_told_before_the_plane_is_cut(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = reluscope("explore", "my_models:cross", "--no-browser", "--port", taken.getsockname()[1])
    assert result.exit_code == 1
    assert "is in use: name another" in result.stderr
    assert is_one_sentence(result.stderr)


def test_training_records_that_are_not_there(folder):
    result = reluscope("explore", "my_models:cross", "--tracker", "run.parquet", "--no-browser")
    assert result.exit_code == 1
    assert is_one_sentence(result.stderr)
    assert "run.parquet" in result.stderr


def test_a_snapshot_is_written(folder):
    np.savez("points.npz", x=np.array([[-1.0, -1.0], [1.0, -1.0], [0.5, 2.0]]), y=[0, 1, 1])
    result = reluscope("snapshot", "my_models:cross", "--data", "points.npz")
    assert result.exit_code == 0, result.output
    assert re.search(r"regions +4 +EXACT", result.stdout)
    assert result.stdout.endswith("the snapshot is in reluscope-cross.html\n")
    page = (folder / "reluscope-cross.html").read_text(encoding="utf-8")
    assert page.count("<script") == 2
    assert os.stat("reluscope-cross.html").st_size < 200_000


@pytest.mark.slow
def test_a_snapshot_replaces_nothing_unasked(folder):
    (folder / "a.html").write_text("mine", encoding="utf-8")
    result = reluscope("snapshot", "my_models:cross", "-o", "a.html")
    assert (result.exit_code, (folder / "a.html").read_text(encoding="utf-8")) == (1, "mine")
    assert "add --force" in result.stderr
    assert reluscope("snapshot", "my_models:cross", "-o", "a.html", "--force", "-q").output == ""
    assert "must end in .html" in reluscope("snapshot", "my_models:cross", "-o", "a.svg").stderr


@pytest.mark.slow
def test_what_the_first_picture_does_not_need_is_not_imported():
    """It is to be there three seconds after the command; pictures and reports alone take one."""
    script = (
        "import sys, reluscope.cli.reports.explore\n"
        "heavy = 'matplotlib', 'reluscope.plots', 'reluscope.report', 'sklearn', 'jinja2', 'anywidget'\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
