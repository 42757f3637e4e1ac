"""Pre-activations that have gone ahead to the next gate are those of a forward pass at the vertices."""

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
