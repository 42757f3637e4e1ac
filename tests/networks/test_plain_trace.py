"""Chains of PyTorch's own layers: the same network, with and without torch.export."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from networks.models import seeded
from reluscope.networks.models.load import load
from reluscope.networks.models.torch.from_torch import from_module
from reluscope.networks.models.torch.plain_trace import _LAYERS, plain_source


def chain():
    shared = nn.Linear(4, 4)
    nested = nn.Sequential(nn.Dropout(), shared, nn.Identity(), nn.LeakyReLU(0.2))
    return nn.Sequential(nn.Flatten(), nn.Linear(6, 4), nn.ReLU(), nested, shared, nn.Linear(4, 2, bias=False))


def images():
    return nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1, stride=(1, 2), bias=False),
        nn.BatchNorm2d(3),
        nn.ReLU6(),
        nn.MaxPool2d(2, ceil_mode=True),
        nn.Dropout2d(),
        nn.Conv2d(3, 3, (2, 1), dilation=(1, 2), groups=3),
        nn.Hardtanh(-2, 0.5),
        nn.AvgPool2d((2, 1), padding=(1, 0), count_include_pad=False),
        nn.Flatten(),
        nn.LazyLinear(5),
        nn.BatchNorm1d(5, affine=False),
        nn.ReLU(),
        nn.Linear(5, 2),
    )


def built(make, *shape):
    """Return a function that makes a network with the sizes of its lazy layers filled in, and statistics of its own."""

    def filled():
        model = make()
        with torch.no_grad():
            model(torch.randn(6, *shape))
        return model.eval()

    return filled


def signals():
    return nn.Sequential(
        nn.Conv1d(2, 4, 3, padding=2),
        nn.BatchNorm1d(4),
        nn.ReLU(),
        nn.MaxPool1d(2, stride=1, padding=1),
        nn.AvgPool1d(3),
        nn.Flatten(),
        nn.LazyLinear(2),
    )


CHAINS = {
    "images": (built(images, 2, 6, 9), (2, 6, 9)),
    "signals": (built(signals, 2, 8), (2, 8)),
    "shared and nested": (chain, (2, 3)),
    "one layer": (lambda: nn.Sequential(nn.Linear(3, 2)), (3,)),
    "along the last axis": (lambda: nn.Sequential(nn.Linear(3, 2), nn.ReLU()), (5, 3)),
    "nothing": (nn.Sequential, (3,)),
    "sigmoid": (lambda: nn.Sequential(nn.Linear(3, 2), nn.Sigmoid()), (3,)),
    "tanh": (lambda: nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 2), nn.Tanh()), (3,)),
}


@pytest.mark.few(5)
@pytest.mark.parametrize("name", CHAINS)
def test_equal_torch_export(name):
    make, shape = CHAINS[name]
    model, other = seeded(make), seeded(make, 1)
    source, exported = plain_source(model, shape), from_module(model, shape)
    assert source is not None
    ours, theirs = source.network, exported.network
    assert ours.fingerprint == theirs.fingerprint
    assert [node.name for node in ours.nodes] == [node.name for node in theirs.nodes]
    assert ours.notes == theirs.notes
    changed = ours.with_parameters(other.state_dict())
    assert changed.fingerprint == theirs.with_parameters(other.state_dict()).fingerprint


def test_all_layers_are_tried():
    tried = {type(layer) for make, _ in CHAINS.values() for layer in make().modules()} - {nn.Sequential}
    assert tried == set(_LAYERS)


class Doubled(nn.Linear):
    def forward(self, input):  # noqa: A002
        return 2 * super().forward(input)


def hooked():
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    model[0].register_forward_hook(lambda module, given, output: 2 * output)
    return model


def overridden():
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    model[1].forward = lambda x: -x
    return model


OTHERS = {
    "a subclass": lambda: nn.Sequential(Doubled(3, 2)),
    "a hook": hooked,
    "a forward of its own": overridden,
    "no chain": lambda: nn.Linear(3, 2),
    "another layer": lambda: nn.Sequential(nn.Linear(3, 2), nn.GELU()),
    "a parametrization": lambda: nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))),
    "a mixed batch": lambda: nn.Sequential(nn.Linear(3, 2), nn.Flatten(0)),
    "another shape": lambda: nn.Sequential(nn.Linear(4, 2)),
    "padding of another kind": lambda: nn.Sequential(nn.Conv1d(3, 2, 3, padding=1, padding_mode="circular")),
    "statistics of a batch": lambda: nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2, track_running_stats=False)),
    "in the middle": lambda: nn.Sequential(nn.Tanh(), nn.Linear(3, 2)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_all_else_is_left_to_torch_export(name):
    assert plain_source(OTHERS[name](), (3,)) is None


def test_loading_a_chain_does_not_ask_torch_export(monkeypatch):
    monkeypatch.setattr(torch.export, "export", None)
    assert load(chain(), (2, 3)).num_units == 8


@pytest.mark.slow
def test_what_traces_is_not_imported():
    asked = """
import sys
from torch import nn
from reluscope.networks.models.load import load
load(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
print("reluscope.networks.models.torch.from_torch" in sys.modules, "torch._dynamo" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
