"""Standard output holds results alone, whatever the libraries and the models of a command print."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from cli.running import reluscope

TALKATIVE = """\
import ctypes, os
import torch
from torch import nn
print("from an import")
def model():
    print("from Python")
    if os.name == "posix" and "IN_A_PROCESS" in os.environ:
        os.write(1, b"from the descriptor\\n")
        ctypes.CDLL(None).puts(b"from a buffer of C")
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
"""
MODEL, DATA = "talkative:model", ("--data", "x.npy", "--box", "0,1")
SPOKEN = ["from an import", "from Python", "from the descriptor", "from a buffer of C"]


@pytest.fixture
def talkative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IN_A_PROCESS", "1")
    (tmp_path / "talkative.py").write_text(TALKATIVE, encoding="utf-8")
    np.save("x.npy", np.array([[0.25, 0.5], [0.75, 0.5], [0.5, 0.125]]))
    yield tmp_path
    sys.modules.pop("talkative", None)
    if str(tmp_path) in sys.path:
        sys.path.remove(str(tmp_path))


@pytest.mark.parametrize(
    "arguments",
    [
        ("info", MODEL),
        ("codes", MODEL, "--data", "x.npy"),
        ("region", MODEL, *DATA, "--sample", "0"),
        ("partition", MODEL, "--box", "0,1", "-o", "plane.parquet"),
        ("count", MODEL, "--box", "0,1"),
        ("bounds", MODEL, "--box", "0,1"),
        ("preimage", MODEL, *DATA, "--sample", "0"),
        ("compare", MODEL, MODEL, "--data", "x.npy"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_python_prints_is_no_result(talkative, monkeypatch, arguments):
    monkeypatch.delenv("IN_A_PROCESS")
    result = reluscope(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["format"].startswith("reluscope")
    assert "from Python" in result.stderr


@pytest.mark.few(1)
@pytest.mark.skipif(os.name != "posix", reason="descriptors as on POSIX")
@pytest.mark.parametrize("close", ["", "2>&-"])
def test_what_c_prints_is_no_result(talkative, close):
    command = f"{sys.executable} -m reluscope region {MODEL} {' '.join(DATA)} --sample 0 --json {close}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["format"] == "reluscope region 1"
    assert done.stderr.splitlines() == ([] if close else SPOKEN)
