"""Slopes that rounding hides: the tree engine decides them in fractions, or counts them as undecided."""

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.partitions.tree import exact_forms

TINY = 2.0**-49


class Largest(nn.Module):
    def forward(self, x):
        return torch.maximum(*x.chunk(2, -1))


def linear(weight, bias):
    layer = nn.Linear(len(weight[0]), len(weight), dtype=torch.float64)
    parameters = {"weight": weight, "bias": bias}
    layer.load_state_dict({name: torch.tensor(value, dtype=torch.float64) for name, value in parameters.items()})
    return layer


def hidden_kink(num_inputs=1):
    """Return a network with a kink at 1/8 of the first input, where a unit passes 1/2 by the last bits of a float."""
    weight = [[TINY] + [0.0] * (num_inputs - 1)]
    return rs.load(nn.Sequential(linear(weight, [0.5 - TINY / 8]), nn.Hardtanh(-1.0, 0.5), linear([[1.0]], [0.0])))


def copies(smallest):
    """Return a network in which a unit is the difference of two copies, plus little of another unit."""
    first = (np.array([[1.0, 0.3], [1.0, 0.3], [0.2, -0.7]]), np.array([0.1, 0.1, 0.3]))
    return rs.load([first, (np.array([[0.7, -0.7, smallest]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))])


DOMAINS = {2: [rs.Box([-1.0] * 2, [1.0] * 2), rs.Space(2)], 1: [rs.Box([0.0], [1.0]), rs.Space(1)]}


@pytest.mark.parametrize("domain", DOMAINS[1], ids=["box", "space"])
def test_a_kink_by_the_last_bits_is_found(domain):
    part = rs.partition(hidden_kink(), domain, method="tree")
    kinks = {"Box": 1, "Space": 2}[type(domain).__name__]
    assert (len(part), str(part.claim)) == (kinks + 1, "EXACT")
    below, at, above = part.locate([[0.124], [0.125], [0.126]]).tolist()
    assert below != above
    assert at == min(below, above)


@pytest.mark.parametrize("domain", DOMAINS[2], ids=["box", "space"])
@pytest.mark.parametrize("smallest", [0.0, 1e-17, 1e-200, -1e-17])
def test_copies_cancel_and_what_is_left_counts(domain, smallest):
    # The last unit is positive or not where the third of the first layer is: no region more.
    found = rs.count(copies(smallest), domain, method="tree")
    assert str(found) == "4 (EXACT)"
    codes = rs.partition(copies(smallest), domain, method="tree").codes.to_array()
    assert codes[:, 3].tolist() == (codes[:, 2] * (smallest > 0)).tolist()


def test_candidates_that_are_copies_up_to_the_last_bits():
    # The larger of 1/2 and 1/2 + (x - 1/8) 2^-49, in float64 with weights as they are.
    first = linear([[0.0], [TINY]], [0.5, 0.5 - TINY / 8])
    net = rs.load(nn.Sequential(first, Largest(), linear([[1.0]], [0.0])))
    part = rs.partition(net, rs.Box([0.0], [1.0]), method="tree")
    assert (len(part), str(part.claim)) == (2, "EXACT")
    same = rs.load(nn.Sequential(linear([[0.3], [0.3]], [0.1, 0.1]), nn.ReLU(), Largest(), linear([[1.0]], [0.0])))
    assert str(rs.count(same, rs.Box([-1.0], [1.0]), method="tree")) == "2 (EXACT)"


def test_what_is_too_dear_is_counted(monkeypatch):
    monkeypatch.setattr(exact_forms, "MULTIPLICATIONS", 0)
    box = rs.Box([-1.0] * 2, [1.0] * 2)
    for net, domain in ((copies(0.0), box), (copies(0.0), rs.Space(2)), (hidden_kink(), rs.Box([0.0], [1.0]))):
        part = rs.partition(net, domain, method="tree")
        assert str(part.claim) == "LOWER"
        assert part.num_undecided > 0


@pytest.mark.parametrize(("smallest", "claim"), [(0.0, "EXACT"), (1e-17, "LOWER")])
def test_narrow_first_layers_know_that_copies_cancel(smallest, claim):
    # In the coordinates of the first layer a function of the inputs that is not constant is none that fractions give.
    first = (np.array([[1.0, 0.3, 0.1, -0.2], [0.4, 0.2, -0.7, 0.3]]), np.array([0.1, 0.1]))
    second = (np.array([[0.3, 0.7]] * 2 + [[-0.2, 1.0]]), np.array([0.1, 0.1, -0.3]))
    third, last = (np.array([[0.7, -0.7, smallest]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))
    found = rs.count(rs.load([first, second, third, last]), rs.Box([-1.0] * 4, [1.0] * 4), method="tree")
    assert str(found.claim) == claim
