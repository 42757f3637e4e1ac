"""Pre-activations that have gone ahead to the next gate are those of a forward pass at the vertices."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope import _kernels
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.numbers import NUMBERS
from reluscope.partitions.complexes import carried_ahead, incidence
from reluscope.testing import default_network


def degenerate():
    """Layers with copies of units, units that are zero, and units that never are."""
    layers = []
    for weight, bias in default_network([2, 30, 40, 30, 2]):
        weight, bias = np.array(weight), np.array(bias)
        if len(weight) > 2:
            weight[1], bias[1] = -2 * weight[0], -2 * bias[0]
            weight[2], bias[2] = 0.0, 0.0
            bias[3] += 9.0
        layers.append((weight, bias))
    return layers


@pytest.mark.parametrize("layers", [default_network([2, 24, 30, 20, 1]), degenerate()], ids=["default", "degenerate"])
def test_values_that_have_gone_ahead_are_those_of_a_forward_pass(monkeypatch, layers):
    net, seen = rs.load(layers), []
    begin = incidence.open_stage

    def opened(chunk, stage, resolution):
        found = begin(chunk, stage, resolution)
        if chunk.sizes:
            truth = list(carry(net, NUMBERS, torch.from_numpy(chunk.points)))[stage.index].numpy()
            off = np.abs(found.opened.pre - truth).max(axis=0)
            assert (off <= found.opened.error + 1e-13).all()
            size, error, _ = stage.advance_errors(chunk.sizes, chunk.errors, resolution.rounding)
            # One rounding of a sum more than behind a product.
            np.testing.assert_allclose(found.opened.error, error + resolution.rounding * size, rtol=1e-15)
            seen.append(off.max())
        return found

    monkeypatch.setattr(incidence, "open_stage", opened)
    plain = rs.partition(net, rs.Box(-1, 1, 2))
    assert not seen  # maps are small
    monkeypatch.setattr(carried_ahead, "LEAST_ENTRIES", 0)
    monkeypatch.setattr(incidence, "CHUNK_CELLS", 128)
    monkeypatch.setattr(incidence, "CACHE_BYTES", 2**16)
    ahead = rs.partition(net, rs.Box(-1, 1, 2))
    assert len(seen) > 2
    assert len(ahead) == len(plain) > 250
    assert {word.tobytes() for word in ahead.codes.words} == {word.tobytes() for word in plain.codes.words}


def test_what_bends_between_two_rows_is_sent_through_the_map():
    rng = np.random.default_rng(0)
    tail, head = np.array([0, 0, 3, 2]), np.array([1, 2, 1, 4])
    share, weight = rng.random(4), rng.normal(size=(7, 40))
    values = np.maximum(rng.normal(size=(7, 40)), 0.0)  # of which rows 3 to 6 lie between others, but for some units
    for row in range(4):
        between = (1 - share[row]) * values[tail[row]] + share[row] * values[head[row]]
        bends = rng.choice(40, size=row, replace=False)
        values[3 + row] = between
        values[3 + row, bends] *= 0.25
    found = values @ weight.T + 1.0
    truth = found.copy()
    found[3:] = np.nan
    _kernels.interpolate_bent(found, values, weight, tail, head, share)
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-13)


def changed(part, **changes):
    """Return something with other values of some attributes."""
    return SimpleNamespace(**{**{name: getattr(part, name) for name in dir(part) if name[0] != "_"}, **changes})


def test_only_one_large_map_between_gates_of_relus_is_worth_it(monkeypatch):
    """From vertices 0 and 1 to one in the middle of their edge: anything else between gates takes a product."""
    monkeypatch.setattr(carried_ahead, "LEAST_ENTRIES", 6)
    net = rs.load(default_network([2, 2, 3, 1]))
    stage, following = net.stages[:2]
    outputs = torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.5, 1.0]]).double()
    values = {stage.position: outputs, 99: outputs}
    work = SimpleNamespace(heights=np.zeros(3), tail=np.array([0]), head=np.array([1]), share=np.array([0.5]))
    ahead, sizes = carried_ahead.carried_ahead(following, stage, values, work)
    ((target, node),) = following.leg.plan
    assert (set(ahead), set(sizes)) == ({99, target}, {stage.position})
    np.testing.assert_allclose(ahead[target], outputs @ node.weight.T + node.bias)
    torch.testing.assert_close(sizes[stage.position].ravel(), torch.tensor([1.0, 2.0]).double())
    clamp = rs.load(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU6()), input_shape=(2,)).stages[0].gate
    leg = following.leg
    for others in (
        (following, changed(stage, gate=clamp)),
        (changed(following, keeps=(stage.position,)), stage),
        *(
            (changed(following, leg=changed(leg, **changes)), stage)
            for changes in (
                {"plan": leg.plan * 2},
                {"plan": ((target, changed(node)),)},
                {"plan": ((target, replace(node, shape=(3, 1))),)},
                {"target": target + 1},
                {"reads": (stage.position, 0)},
            )
        ),
    ):
        assert carried_ahead.carried_ahead(*others, values, work) is None
    for most in ({"LEAST_ENTRIES": 7}, {"LEAST_NEW": 0.4}):
        with monkeypatch.context() as patch:
            for name, least in most.items():
                patch.setattr(carried_ahead, name, least)
            assert carried_ahead.carried_ahead(following, stage, values, work) is None
