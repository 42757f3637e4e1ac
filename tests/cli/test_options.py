"""What all commands share: every option does something in every command that has it."""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from cli.running import is_one_sentence, reluscope
from cli.test_check_command import POINT
from cli.test_reach_command import PLANT
from cli.test_verify_command import TEXT
from reluscope.cli import app
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.standard_output import results
from reluscope.errors import InputError
from reluscope.networks.network import Network

COMMANDS = {
    "analyze": ("analyze", "my_models:cross", "--data", "plane.npy", "--segments", "1", "-o", "out"),
    "demo": ("demo", "-o", "out"),
    "info": ("info", "my_models:cross"),
    "codes": ("codes", "my_models:cross", "--data", "plane.npy"),
    "region": ("region", "my_models:cross", "--data", "plane.npy", "--sample", "1"),
    "compare": ("compare", "my_models:cross", "my_models:affine", "--data", "plane.npy"),
    "partition": ("partition", "my_models:cross", "--box", "-1,1"),
    "count": ("count", "my_models:cross", "--box", "-1,1"),
    "surface": ("surface", "my_models:cross", "--box", "-1,1"),
    "snapshot": ("snapshot", "my_models:cross", "--data", "plane.npy", "-o", "out.html", "--force"),
    "verify": ("verify", "my_models:cross", "safe.vnnlib"),
    "check": ("check", "my_models:cross", "unsafe.vnnlib", "result.txt"),
    "violations": ("violations", "my_models:cross", "safe.vnnlib"),
    "reach": ("reach", "my_models:clamp", "plant.json", "--box", "-1,1"),
    "bounds": ("bounds", "my_models:cross"),
    "reproduce": ("reproduce", "serra2018/one_input", "-o", "out"),
}
WITHOUT_DEVICE = ("info", "bounds", "reproduce")
VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@pytest.fixture
def here(folder, quick_report):
    np.save("plane.npy", np.array([[-1.0, -1.0], [1.0, -1.0], [0.0, 2.0]]))
    (folder / "safe.vnnlib").write_text(TEXT.replace("LEVEL", "1.5"), encoding="utf-8")
    (folder / "unsafe.vnnlib").write_text(TEXT.replace("LEVEL", "0.5"), encoding="utf-8")
    (folder / "result.txt").write_text(POINT, encoding="utf-8")
    (folder / "plant.json").write_text(PLANT, encoding="utf-8")
    return folder


@pytest.mark.few(3)
@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_all_of_standard_output(here, demo_at_once, name):
    result = reluscope(*COMMANDS[name], "--json")
    assert result.exit_code == 0, result.output
    assert isinstance(json.loads(result.stdout), dict)
    assert result.stderr == ""


@pytest.mark.few(6)
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "demo"])
def test_quiet_prints_nothing(here, name):
    result = reluscope(*COMMANDS[name], "-q")
    assert (result.exit_code, result.output) == (0, "")


@pytest.mark.few(6)
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in WITHOUT_DEVICE])
def test_a_device_that_is_not_there_is_one_sentence(here, name):
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    result = reluscope(*COMMANDS[name], "--device", "cuda")
    assert result.exit_code == 1
    assert is_one_sentence(result.stderr)
    assert "--device cuda is not there" in result.stderr


@pytest.mark.few(4)
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in (*WITHOUT_DEVICE, "demo")])
def test_the_device_is_where_the_network_goes(here, name, monkeypatch):
    asked, original = [], Network.to
    monkeypatch.setattr(Network, "to", lambda self, device: asked.append(device) or original(self, device))
    assert reluscope(*COMMANDS[name], "--device", "cpu", "-q").exit_code == 0
    assert torch.device("cpu") in asked


@pytest.mark.parametrize("there", [0, 1, 2])
def test_gpus_are_counted(there, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: there)
    if there:
        assert open_device("cuda") == torch.device("cuda")
    for index in range(there):
        assert open_device(f"cuda:{index}") == torch.device(f"cuda:{index}")
    with pytest.raises(InputError, match="is not there"):
        open_device(f"cuda:{there}")


@pytest.mark.parametrize("name", ["cuda:", "cuda:-1", "gpu", "", "cpu:0x", "meta"])
def test_other_devices_are_refused(name):
    with pytest.raises(InputError, match="must be cpu, cuda or cuda:N"):
        open_device(name)


@pytest.mark.slow
def test_threads_are_limited_before_libraries_are_imported():
    script = (
        "from reluscope.cli.terminal.threads import limit_threads; limit_threads(1); "
        "import torch; print(torch.get_num_threads())"
    )
    clean = {key: value for key, value in os.environ.items() if key not in VARIABLES}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=clean)
    assert done.stdout.split() == ["1"]


@pytest.mark.few(6)
@pytest.mark.parametrize("name", COMMANDS)
def test_threads_reach_the_libraries(here, name, monkeypatch):
    seen = []
    for variable in VARIABLES:
        monkeypatch.setenv(variable, "1")
    monkeypatch.setattr(torch, "set_num_threads", seen.append)
    result = reluscope(*COMMANDS[name], "--threads", "2", "--device" if name not in WITHOUT_DEVICE else "-q", "bad")
    assert result.exit_code  # it went no further
    if name not in WITHOUT_DEVICE:
        assert seen[0] == 2  # of which helpers may have got some
        assert os.environ["OMP_NUM_THREADS"] == str(seen[-1])


@pytest.mark.few(6)
@pytest.mark.parametrize("name", COMMANDS)
def test_threads_start_at_one(here, name):
    result = reluscope(*COMMANDS[name], "--threads", "0")
    assert result.exit_code == 2
    assert "--threads" in result.stderr


@pytest.mark.few(6)
@pytest.mark.parametrize("name", COMMANDS)
def test_debug_shows_tracebacks(here, name):
    arguments = ["analyze", "no.onnx", "--data", "plane.npy"] if name == "demo" else list(COMMANDS[name])
    arguments[1] = "no.onnx"
    plain, debugged = reluscope(*arguments), reluscope(*arguments, "--debug")
    assert plain.exit_code == debugged.exit_code == 1
    assert is_one_sentence(plain.stderr)
    assert "Traceback" in debugged.stderr
    assert debugged.stderr.endswith(plain.stderr)


def test_a_mistake_of_ours_is_one_sentence_too(here, monkeypatch):
    def broken(*arguments, **options):
        raise TypeError("unexpected\nin two lines")

    monkeypatch.setattr("reluscope.cli.models.info.open_model", broken)
    result = reluscope("info", "my_models:cross")
    assert result.exit_code == 1
    assert result.stderr.startswith("reluscope: TypeError: unexpected, which should not happen: run it again with --d")
    assert is_one_sentence(result.stderr)


def test_too_little_memory_is_one_sentence(here, monkeypatch):
    def greedy(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr("reluscope.cli.models.info.open_model", greedy)
    result = reluscope("info", "my_models:cross")
    assert "too little memory" in result.stderr
    assert is_one_sentence(result.stderr)


@pytest.mark.parametrize("name", ["info", "codes", "partition"])
def test_no_colour_no_bars_and_no_short_lines_in_a_pipe(here, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    result = reluscope(*COMMANDS[name])
    assert result.exit_code == 0
    assert result.stderr == ""
    assert not {"\x1b", "…", "\r"} & set(result.stdout)
    assert result.stdout.startswith("my_models:cross")
    assert max(map(len, result.stdout.splitlines())) > 40


@pytest.mark.parametrize("width", [50, 120])
def test_terminals_of_any_width(here, width, monkeypatch):
    monkeypatch.setattr(
        "reluscope.cli.models.info.open_console", lambda: Console(file=results(), width=width, highlight=False)
    )
    result = reluscope("info", *COMMANDS["info"][1:])
    assert result.exit_code == 0
    table = [line for line in result.stdout.splitlines() if "relu" in line or "linear" in line]
    assert table
    assert all(len(line) <= width for line in table)
    assert ("0.weight" in result.stdout or "name" in result.stdout) == (width >= 90)


def test_info_writes_what_it_prints(here):
    printed = reluscope("info", "my_models:cross", "-o", "a/info.json", "--json").stdout
    assert json.loads((here / "a" / "info.json").read_text(encoding="utf-8")) == json.loads(printed)
    assert "--force" in reluscope("info", "my_models:cross", "-o", "a/info.json").stderr
    assert reluscope("info", "my_models:cross", "-o", "a/info.json", "--force", "-q").exit_code == 0
    assert "must end in .json" in reluscope("info", "my_models:cross", "-o", "a").stderr


def test_a_folder_that_cannot_be_written_to(here):
    if os.name != "posix" or os.geteuid() == 0:
        pytest.skip("the owner of the machine may write everywhere")
    (here / "locked").mkdir(mode=0o500)
    result = reluscope("partition", "my_models:cross", "--box", "-1,1", "-o", "locked/a.svg")
    assert "cannot be written to" in result.stderr
    assert is_one_sentence(result.stderr)


def test_the_page_says_which_commands_have_an_option():
    """Every command that it names has the option, and no other one has."""
    having = {flag: set() for flag in ("--seed", "--device", "--json", "--quiet")}
    for command in app.registered_commands:
        parameters = inspect.signature(command.callback).parameters
        for flag, field in zip(having, ("seed", "device", "as_json", "quiet"), strict=True):
            having[flag] |= {command.name} if field in parameters else set()
    every = {command.name for command in app.registered_commands}
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    for flag, commands in having.items():
        (row,) = [line for line in page.splitlines() if line.startswith("|") and f"`{flag}" in line.split("|")[1]]
        named = set(re.findall(r"`([a-z-]+)`", row.split("|")[2])) & every
        assert commands == (every - named if "all but" in row else named), flag
