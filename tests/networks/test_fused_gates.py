"""Functions of one value that are written with several gates: one gate, and the same function."""

import pytest
import torch
from torch import nn

import reluscope as rs
from conformance.torch_cases import Forward

T = torch.tensor([0.125, 0.25, 0.5])
# A form of each function, the units that it has for each entry, and whether it jumps.
FORMS = {
    "soft threshold": (lambda m, z: z.sign() * (z.abs() - m.t).relu(), 1, False),
    "soft threshold by a difference": (lambda m, z: (z - m.t).relu() - (-z - m.t).relu(), 1, False),
    "soft threshold by a choice": (lambda m, z: torch.where(z.abs() > m.t, z - m.t * z.sign(), 0.0), 1, False),
    "soft threshold by what is left": (lambda m, z: z - z.clamp(-m.t, m.t), 1, False),
    "hard threshold": (lambda m, z: z * (z.abs() > m.t), 2, True),  # a value at each end: breakpoints of two kinds
    "a sign of a sign": (lambda m, z: torch.sign(torch.sign(z) + 0.1), 1, True),
    "the value itself": (lambda m, z: z.sign() * z.abs(), 0, False),
    "the value by its parts": (lambda m, z: z.relu() - (-z).relu(), 0, False),
    "absolute value by its parts": (lambda m, z: z.relu() + (-z).relu(), 1, False),
    "one after the other": (lambda m, z: z.relu().clamp(0.0, 1.0).relu(), 1, False),
    "slopes of both signs": (lambda m, z: torch.where(z < 0, (m.t - 0.25) * z, z), 1, False),
    "a dead zone": (lambda m, z: (z.abs() - 1).relu() * z.sign(), 1, False),
    "a tent": (lambda m, z: (1 - z.abs()).relu(), 1, False),
    "a comb": (lambda m, z: ((z.abs() - 1).abs() - 0.5).abs(), 1, False),
    "a constant": (lambda m, z: (z.relu() > -1).double(), 0, False),
}


@pytest.mark.parametrize("name", FORMS)
def test_one_gate_stands_for_several(name):
    form, units, jumps = FORMS[name]
    torch.manual_seed(2)
    first, last = nn.Linear(2, 3), nn.Linear(3, 2)
    model = Forward(lambda m, x: m.last(form(m, m.first(x)).to(x)), first=first, last=last, t=T).double()
    net = rs.load(model, 2)
    assert net.num_units == 3 * units
    assert bool(net.jumps) == jumps
    x = torch.randn(200, 2, dtype=torch.float64) * 3
    assert torch.allclose(net(x), model(x), rtol=0, atol=1e-12)
    twin = Forward(lambda m, x: form(m, x).to(x), t=T).double()
    direct = rs.load(twin, 3)
    kinks = torch.arange(-8, 9).double()[:, None].expand(-1, 3) / 8
    assert torch.equal(direct(kinks), twin(kinks).double())


def test_gates_that_others_read_stay():
    def forward(m, x):
        y = x.relu()
        return torch.cat([y, y - (-x).relu() + x.flip(1)], 1)

    assert rs.load(Forward(forward), 2).num_units == 4


def test_what_would_be_rounded_stays():
    net = rs.load(Forward(lambda m, x: (3.0 * x.relu() - 0.1).relu()), 2)
    assert [gate.kind for gate in net.gates] == ["relu", "relu"]


def chain(generator, depth):
    steps = []
    for _ in range(depth):
        kind = int(torch.randint(0, 5, (1,), generator=generator))
        number = float(torch.randint(-3, 4, (1,), generator=generator)) / 2
        steps.append((kind, number))

    def run(m, x):
        before = x
        for kind, number in steps:
            before, x = (
                x,
                [
                    lambda z: z.relu(),
                    lambda z, c=number: z + c,
                    lambda z, c=number: c * z,
                    lambda z: z.abs(),
                    lambda z, b=before: z - b,
                ][kind](x),
            )
        return x + 0 * before

    return run


@pytest.mark.parametrize("seed", range(25))
def test_random_chains(seed):
    model = Forward(chain(torch.Generator().manual_seed(seed), 7))
    net = rs.load(model, 3)
    kinks = torch.arange(-12, 12).double()[:, None].expand(-1, 3) / 4
    assert torch.equal(net(kinks), model(kinks))
    x = torch.randn(60, 3, dtype=torch.float64) * 4
    assert torch.allclose(net(x), model(x), rtol=0, atol=1e-12)
    assert len(net.gates) <= 1
