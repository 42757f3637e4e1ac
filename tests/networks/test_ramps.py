"""Ramps in the place of jumps: continuous, equal to the network away from its jumps, and with slopes."""

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.networks.ramps import with_ramps


class Sign(nn.Module):
    def forward(self, x):
        return torch.sign(x)


class Gated(nn.Module):
    """Identity above a level, 0 below: a jump between pieces with slopes."""

    def forward(self, x):
        return torch.where(x > 0.3, x, torch.zeros_like(x))


def load(gate):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 12), gate, nn.Linear(12, 8), gate, nn.Linear(8, 2))
    return rs.load(module.double(), input_shape=(4,))


@pytest.mark.parametrize("gate", [Sign(), Gated(), nn.Hardshrink(0.2)])
def test_ramps_are_continuous_and_have_slopes(gate):
    network = load(gate)
    x = np.random.default_rng(0).uniform(-1, 1, (300, 4))
    ramps = with_ramps(network, x)
    for stage, other in zip(network.stages, ramps.stages, strict=True):
        one, two = stage.gate, other.gate
        assert float(two.jumps.abs().max()) < 1e-12
        assert (two.breakpoints.diff(dim=0) >= 0).all()
        levels = torch.linspace(-3, 3, 601, dtype=torch.float64)[:, None].expand(-1, one.num_units)
        away = (one.apply(levels) - two.apply(levels)).abs()
        reach = (two.breakpoints[-1] - two.breakpoints[0]).max()
        far = (levels - one.breakpoints.mean()).abs() > reach + 1
        assert away[far].max() < 1e-12
    assert network.jumps
    assert float(ramps.vjp(x, np.ones((300, 2))).abs().max()) > 0


def test_breakpoints_that_coincide_have_one_ramp():
    network = load(Gated())
    (stage, *_) = network.stages
    gate = stage.gate
    # -1 up to 0, 7 nowhere, 1 beyond.
    tables = ([[0.0], [0.0]], [[0.0], [0.0], [0.0]], [[-1.0], [7.0], [1.0]])
    levels, slopes, starts = (torch.tensor(table, dtype=torch.float64) for table in tables)
    from dataclasses import replace

    from reluscope.networks.ramps import _with_ramps

    twice = replace(gate, breakpoints=levels, slopes=slopes, intercepts=starts)
    seen = torch.linspace(-1, 1, 201, dtype=torch.float64)[:, None].expand(-1, gate.num_units)
    ramp = _with_ramps(twice, seen)
    values = ramp.apply(seen)
    np.testing.assert_allclose(values.numpy(), np.clip(2 * seen.numpy(), -1, 1), atol=1e-12)
