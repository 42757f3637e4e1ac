"""What the documentation shows works: every Python block runs, every ``reluscope`` command exits with 0.

Commands run in a folder that holds the files they name. A number that a comment states, ``# ...: 5,478 (EXACT)``, is
compared with what the line prints.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import helper, numpy_helper
from safetensors.torch import save_file
from torch import nn
from typer.testing import CliRunner

from reluscope.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    (page.name, language, block)
    for page in PAGES
    for language, block in re.findall(r"^```(python|sh)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
]
COMMANDS = [
    (name, line.partition("#")[0].strip())
    for name, language, block in BLOCKS
    if language == "sh"
    for line in block.splitlines()
    if line.startswith("reluscope")
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 3))
    onnx.save(onnx_model(model), "net.onnx")
    save_file(model.state_dict(), "net.safetensors")
    (tmp_path / "models.py").write_text(
        "from torch import nn\ndef make(): return nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 3))\n"
    )
    x, y = np.random.default_rng(0).normal(size=(30, 8)), np.arange(30) % 3
    np.save("x.npy", x)
    np.save("y.npy", y)
    np.savez("x.npz", x=x, y=y)
    np.savetxt("x.csv", x, delimiter=",")
    return tmp_path


def onnx_model(model):
    """Return a perceptron as ONNX."""
    weights = [(numpy_helper.from_array(tensor.detach().numpy(), name)) for name, tensor in model.named_parameters()]
    nodes = [
        helper.make_node("Gemm", ["x", "0.weight", "0.bias"], ["h"], transB=1),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "2.weight", "2.bias"], ["y"], transB=1),
    ]
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["s", n]) for name, n in (("x", 8), ("y", 3))]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_there_is_something_to_test():
    assert {name for name, _, _ in BLOCKS} >= {"README.md", "concepts.md", "command-line.md"}
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize(
    ("name", "block"),
    [(name, block) for name, language, block in BLOCKS if language == "python"],
    ids=lambda entry: entry if entry.endswith(".md") else "",
)
def test_python(folder, name, block):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, name, "exec"), {"__name__": "__main__"})
    for stated in re.findall(r"#.*?: ([\d,]+ \((?:EXACT|LOWER)\))", block):
        assert stated in printed.getvalue()


@pytest.mark.parametrize("command", [command for _, command in COMMANDS])
def test_command(folder, command):
    program, *arguments = shlex.split(command)
    assert program == "reluscope"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_two_commands_that_come_first(target):
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    assert f"make {target}" in readme.split("```")[1]
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    assert f"make {target}" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if not link.startswith("http"):
            assert (page.parent / link).exists(), link
