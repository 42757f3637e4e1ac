"""What the documentation shows works: every Python block runs, every ``reluscope`` command exits with 0.

The blocks of a page with Python run in order, as one session; a block of text right below one is what it prints, to
the letter. Commands run in a folder that holds the files they name. A number that a comment states,
``# ...: 5,478 (EXACT)``, is compared with what the line prints.
"""

import contextlib
import io
import json
import re
import shlex
import sys
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
from reluscope.cli.reports.analyze import DEMO
from reluscope.cli.studies.reproduce import choose_studies
from reluscope.report import build_report
from reluscope.report.sections import all_sections
from reluscope.studies import all_studies

ROOT = Path(__file__).parents[2]
# What docs/extending.md shows are files, which have a test of their own.
DOCS = [page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "extending.md"]
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *DOCS]
BLOCKS = [
    (str(page.relative_to(ROOT)), language, block)
    for page in PAGES
    for language, block in re.findall(
        r"^```(python|sh|text)\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
]
SESSIONS = list(dict.fromkeys(name for name, language, _ in BLOCKS if language == "python"))


def commands(block):
    """Return the lines of a block that call reluscope, without comments."""
    return [line.partition("#")[0].strip() for line in block.splitlines() if line.startswith("reluscope")]


# What a newcomer reads first; the other pages take some seconds each.
FIRST = ("README.md", "docs/getting-started.md", "docs/concepts.md", "docs/command-line.md", "docs/report.md")
# Commands that no page runs whose blocks are one session.
RUN_BY_PAGES = {
    command
    for name, language, block in BLOCKS
    if language == "sh" and name in SESSIONS and name in FIRST
    for command in commands(block)
}
COMMANDS = [
    command
    for command in dict.fromkeys(
        command
        for name, language, block in BLOCKS
        if language == "sh" and name not in SESSIONS
        for command in commands(block)
    )
    if command not in RUN_BY_PAGES
]
# Sections of reports; the one that a newcomer makes first is made as a whole, too.
QUICK = ("network", "fit", "plane")
WHOLE = "docs/getting-started.md"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "models", raising=False)  # another test may have imported one of this name
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 3))
    onnx.save(onnx_model(model), "net.onnx")
    for name in ("net", "before", "after"):
        save_file(model.state_dict(), f"{name}.safetensors")
    (tmp_path / "models.py").write_text(
        "from torch import nn\ndef make(): return nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 3))\n",
        encoding="utf-8",
    )
    x, y = np.random.default_rng(0).normal(size=(30, 8)), np.arange(30) % 3
    np.save("x.npy", x)
    np.save("y.npy", y)
    np.savez("x.npz", x=x, y=y)
    np.savetxt("x.csv", x, delimiter=",")
    (tmp_path / "studies").symlink_to(ROOT / "studies", target_is_directory=True)
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
    assert {*SESSIONS} >= {"README.md", "docs/concepts.md", "docs/getting-started.md", "docs/report.md"}
    assert len(COMMANDS) >= 3


@pytest.fixture
def demo_at_once(monkeypatch, demo_report):
    """Let ``reluscope demo`` write the report that all tests share."""

    def build(subject, **options):
        return demo_report if subject.model == DEMO else build_report(subject, **options)

    monkeypatch.setattr("reluscope.cli.reports.analyze.build_report", build)


@pytest.fixture
def few_sections(monkeypatch, request):
    """Let reports have a few quick sections, unless a test asks for all."""
    if request.node.callspec.id != "whole":
        kept = tuple(section for section in all_sections() if section.name in QUICK)
        monkeypatch.setattr("reluscope.report.building.all_sections", lambda: kept)


@pytest.fixture(autouse=True)
def ends_at_once(monkeypatch):
    """Let explorers end when they are ready, as Ctrl-C ends them, and open no browser."""
    monkeypatch.setattr("reluscope.cli.reports.explore._wait_for_interruption", lambda: None)
    monkeypatch.setattr("webbrowser.open", lambda url: True)


def imported(name):
    """Return the modules that a page needs, some of which reluscope does not."""
    text = "\n".join(block for page, language, block in BLOCKS if (page, language) == (name, "python"))
    return sorted(set(re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)))


PAGES_TO_RUN = [name if name in FIRST else pytest.param(name, marks=pytest.mark.slow) for name in SESSIONS]


@pytest.mark.parametrize("name", [*PAGES_TO_RUN, pytest.param(WHOLE, marks=pytest.mark.slow, id="whole")])
def test_page(folder, demo_at_once, few_sections, name):
    for module in imported(name):
        pytest.importorskip(module)
    session, printed = {"__name__": "__main__"}, None
    for language, block in [(language, block) for page, language, block in BLOCKS if page == name]:
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(block, name, "exec"), session)
            printed = output.getvalue()
            for stated in re.findall(r"#.*?: ([\d,]+ \((?:EXACT|LOWER)\))", block):
                assert stated in printed
        elif language == "text":
            assert block == printed
        else:
            for command in commands(block):
                run(command)


def marked(command):
    """Return a command as a parameter; studies train networks, and reports but the first take long."""
    reports = [one for one in COMMANDS if one.startswith("reluscope analyze")]
    is_slow = command.startswith("reluscope reproduce") or command in reports[1:]
    return pytest.param(command, marks=pytest.mark.slow if is_slow else ())


@pytest.mark.parametrize("command", [marked(command) for command in COMMANDS])
def test_command(folder, few_sections, command):
    run(command)


def run(command):
    """Run a command line in this process."""
    program, *arguments = shlex.split(command)
    assert program == "reluscope"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


EVERY_COMMAND = sorted(
    {
        line.strip()
        for page in [*PAGES, ROOT / "docs" / "errata.md"]
        for line in page.read_text(encoding="utf-8").splitlines()
        if re.match(r"(    )?reluscope reproduce\b", line)
    }
)


@pytest.mark.parametrize("command", EVERY_COMMAND)
def test_commands_of_studies_are_read(command, monkeypatch):
    """Also those that take hours, and stand in indented blocks: the study is there and takes what the page gives it."""
    asked = []
    monkeypatch.setattr("reluscope.cli.studies.reproduce.reproduce", lambda given: asked.append(given) or 0)
    run(command)
    assert asked
    for given in asked if asked[0].study is not None else ():
        studies = choose_studies(given.study)
        assert set(given.changes) <= set().union(*(study.changes for study in studies))
        kinds = {kind for study in studies for kind in (study.data, study.beside)}
        assert {one.partition(":")[0] for one in given.data} <= kinds


STUDIES_SHOWN = sorted(
    {
        study.name
        for command in EVERY_COMMAND
        for name in [shlex.split(command)[2:3]]
        if name and not name[0].startswith("-")
        for study in choose_studies(name[0])
    }
)
# Of what a size can be changed in; the atlas has its 45 sizes of networks even so.
SMALLEST = {"replicates": "1", "points": "6", "epochs": "1"}
# Points are images to train on there, and two classes are looked at by themselves.
MORE_POINTS = {"shepeleva2020": "60"}
# A quarter of a minute to two minutes each.
LONG = {
    "sattelberg2026-ch6-training/three_by_eight",
    "sattelberg2026-ch6-training/xor",
    "sattelberg2026-ch7/cifar10",
    "sattelberg2026-ch7/mnist",
    "sattelberg2026-ch7/xor",
    "zhang2020/dense",
    "zhang2020/spirals",
    "sattelberg2026-ch3/atlas",
    "sattelberg2026-ch3/pruned_parity",
    "sattelberg2026-ch5/sine",
    "sattelberg2026-ch6/cifar10",
    "sattelberg2026-ch6/mnist",
    "sattelberg2026-ch6/pretrained",
    "sattelberg2026-ch6/pretrained_cifar10",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly(4)] * (name in LONG)) for name in STUDIES_SHOWN]
)
def test_studies_of_commands_run_at_their_smallest(folder, name):
    """What a page says of hours is done here in a minute: on digits, with one epoch, one network and six samples."""
    (study,) = choose_studies(name)
    smallest = SMALLEST | {"points": MORE_POINTS.get(name.partition("/")[0], SMALLEST["points"])}
    less = [part for change in sorted(study.changes) for part in (f"--{change}", smallest[change])]
    run(shlex.join(["reluscope", "reproduce", name, "--size", "small", *less, "-q", "-o", "smallest"]))
    said = json.loads((folder / "smallest" / "findings.json").read_text(encoding="utf-8"))
    assert said["complete"]
    assert all(
        one["word"] in ("confirmed", "not confirmed", "contradicted", "not comparable")
        for one in said["studies"][0]["verdicts"]
    )


def test_every_study_of_a_paper_is_shown_in_a_command():
    shown = {name.partition("/")[0] for name in STUDIES_SHOWN}
    assert shown == {study.paper for study in all_studies()}


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_two_commands_that_come_first(target):
    readme, makefile = (ROOT / "README.md").read_text(encoding="utf-8"), (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"make {target}" in readme.split("```")[1]
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    assert f"make {target}" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if not link.startswith("http"):
            assert (page.parent / link).exists(), link
