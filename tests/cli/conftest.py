"""A folder to work in, with models in their forms, and data; reports of a few quick sections."""

import sys

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from reluscope.cli.reports.analyze import DEMO
from reluscope.datasets.demo import demo_network, loaded_demo_network
from reluscope.datasets.digits import digits
from reluscope.report import Subject, build_report
from reluscope.report.sections import all_sections

# Sections of which there is something to test here.
QUICK = ("network", "fit", "plane")
MODELS = """\
import torch
from torch import nn
from reluscope.datasets.demo import DigitsNetwork as Net
def tanh(): return nn.Sequential(nn.Flatten(), nn.Linear(64, 4), nn.Tanh(), nn.ReLU())
def number(): return 3
def needs(x): return x
def two_layers(first, second):
    model = nn.Sequential(nn.Linear(*reversed(first.shape)), nn.ReLU(), nn.Linear(*reversed(second.shape)))
    model.load_state_dict({"0.weight": first, "0.bias": torch.zeros(len(first)),
                           "2.weight": second, "2.bias": torch.zeros(len(second))})
    return model
def cross(): return two_layers(torch.eye(2), torch.eye(2))
def absolute(): return two_layers(torch.tensor([[1.0], [-1.0]]), torch.ones(1, 2))
def away_from_a_third():
    model = two_layers(torch.tensor([[3.0], [-3.0]]), torch.ones(1, 2))
    model[0].bias.data = torch.tensor([-1.0, 1.0])
    return model
def total(): return two_layers(torch.ones(1, 3), torch.ones(1, 1))
def wide(): return two_layers(torch.eye(12)[:4], torch.ones(1, 4))
def affine(): return nn.Linear(2, 2)
def clamp():
    model = nn.Sequential(nn.Linear(2, 1), nn.Hardtanh())
    model.load_state_dict({"0.weight": torch.tensor([[-2.0, -3.0]]), "0.bias": torch.zeros(1)})
    return model
def identity_of_three(): return two_layers(torch.tensor([[1.0, 0, 0], [-1, 0, 0]]), torch.tensor([[1.0, -1]]))
def deep():
    torch.manual_seed(0)
    widths = [2, 40, 40, 40, 40, 3]
    layers = [nn.Linear(*pair) for pair in zip(widths, widths[1:])]
    return nn.Sequential(*[part for layer in layers for part in (layer, nn.ReLU())][:-1])
"""


@pytest.fixture(autouse=True)
def pipe(monkeypatch):
    """Tables are as wide as in a pipe, whatever the terminal of the tests says."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, data = demo_network(), digits("test")
    save_file(model.state_dict(), "net.safetensors")
    torch.save(model.state_dict(), "state.pt")
    torch.save({"state_dict": model.state_dict(), "epoch": 3}, "checkpoint.pt")
    torch.save(model, "whole.pt")
    (tmp_path / "my_models.py").write_text(MODELS, encoding="utf-8")
    np.savez("data.npz", x=data.points, y=data.labels)
    np.save("x.npy", data.points)
    np.save("y.npy", data.labels)
    yield tmp_path
    sys.modules.pop("my_models", None)
    if str(tmp_path) in sys.path:
        sys.path.remove(str(tmp_path))


@pytest.fixture
def quick_report(monkeypatch):
    """Let reports have a few sections."""
    kept = tuple(section for section in all_sections() if section.name in QUICK)
    monkeypatch.setattr("reluscope.report.building.all_sections", lambda: kept)


@pytest.fixture
def demo_at_once(quick_report, monkeypatch, quick_demo):
    """Let ``reluscope demo`` write a report that is there already, without other processes."""
    monkeypatch.setattr("reluscope.cli.reports.analyze.build_report", lambda subject, **options: quick_demo)
    monkeypatch.setattr("reluscope.cli.reports.reporting.count_helpers", lambda threads: 0)


@pytest.fixture(scope="session")
def quick_demo():
    """The demo's report with a few quick sections."""
    kept = tuple(section for section in all_sections() if section.name in QUICK)
    data = digits("test")
    return build_report(Subject(loaded_demo_network(data.points), data, DEMO), sections=kept)
