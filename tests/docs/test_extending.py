"""The two files of docs/extending.md add a quantity to the page, the JSON file and the command line."""

import json
import re
from importlib import invalidate_caches
from pathlib import Path

import numpy as np
import pytest
from torch import nn
from typer.testing import CliRunner

import reluscope as rs
from reluscope import analyses
from reluscope.cli import app
from reluscope.report import sections

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
FILES = re.findall(
    r"^`src/reluscope/(\S+)`:\n\n```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)


@pytest.fixture
def extended(tmp_path, monkeypatch):
    """Put the files where packages find them, and a model with data beside them."""
    for place, source in FILES:
        path = tmp_path / place
        path.parent.mkdir(parents=True)
        path.write_text(source, encoding="utf-8")
    for package, folder in ((analyses, "analyses"), (sections, "report/sections")):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / folder)])
    invalidate_caches()
    (tmp_path / "leading_models.py").write_text(
        "from torch import nn\ndef make(): return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3))\n",
        encoding="utf-8",
    )
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(12, 3)))
    # The new section among a few quick ones, in their order.
    found = sections.all_sections
    few = ("network", "fit", "plane", "leads")
    monkeypatch.setattr(
        "reluscope.report.building.all_sections", lambda: tuple(one for one in found() if one.name in few)
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_files_are_enough(extended):
    assert [place for place, _ in FILES] == ["analyses/leads.py", "report/sections/leads.py"]
    command = [
        "analyze",
        "leading_models:make",
        "--input-shape",
        "3",
        "--data",
        "x.npy",
        "-o",
        "out",
        "--segments",
        "2",
    ]
    said = CliRunner().invoke(app, command)
    assert said.exit_code == 0, said.output
    assert "median lead" in said.output
    section = json.loads((extended / "out" / "report.json").read_text(encoding="utf-8"))["sections"]["leads"]
    assert [found["name"] for found in section["findings"]] == ["median lead", "0.05 quantile lead"]
    assert {found["claim"] for found in section["findings"]} == {"EXACT"}
    page = (extended / "out" / "report.html").read_text(encoding="utf-8")
    assert "Lead of the largest output" in page
    assert "difference between the two largest outputs" in page


def test_the_quantity_is_right(extended):
    from importlib import import_module

    leads = import_module("reluscope.analyses.leads").leads
    net = rs.load(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3)), input_shape=(3,))
    x = np.random.default_rng(1).normal(size=(20, 3))
    outputs = np.sort(net(x).numpy(), axis=1)
    assert np.allclose(leads(net, x)["lead"].value, outputs[:, -1] - outputs[:, -2])


def test_the_operator_of_the_page_is_the_one_of_the_package():
    section = PAGE.read_text(encoding="utf-8").split("## An operator of models")[1].split("\n## ")[0]
    room = Path(rs.__file__).parent / "networks" / "models" / "operators"
    source = "\n".join(path.read_text(encoding="utf-8") for path in room.glob("*.py"))
    blocks = re.findall(r"```(?:python|text)\n(.*?)```", section, re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    assert len(lines) > 6
    assert {line for line in lines if line} <= {line.strip() for line in source.splitlines()}
