"""Which engine is chosen where: cases of the benchmark of this name in which one is much faster than others."""

import pytest
import torch

import reluscope as rs
from reluscope.partitions.ask.engine_choice import chooses_tree, covering_engines
from reluscope.partitions.ask.engine_costs import cheapest
from reluscope.testing import default_network


def behind_maxima(inputs: int, units: int, candidates: int, *hidden: int) -> rs.Network:
    layers = [torch.nn.Linear(inputs, units * candidates), torch.nn.Unflatten(1, (units, candidates, 1))]
    layers += [torch.nn.MaxPool2d((candidates, 1)), torch.nn.Flatten()]
    for fan_in, fan_out in zip((units, *hidden), hidden, strict=False):
        layers += [torch.nn.Linear(fan_in, fan_out), torch.nn.ReLU()]
    return rs.load(torch.nn.Sequential(*layers, torch.nn.Linear((units, *hidden)[-1], 1)), input_shape=(inputs,))


def chosen(net: rs.Network, domain: rs.Box | rs.Space, keep: str) -> str:
    return cheapest(covering_engines(net, domain, keep), net, domain, keep)


@pytest.mark.parametrize(
    ("sizes", "with_vertices", "codes"),
    [
        ([3, 64, 64, 1], "cellwise", "cellwise"),
        ([3, 512, 512, 1], "incidence", "incidence"),
        ([6, 12, 12, 1], "cellwise", "cellwise"),
        ([7, 32, 32, 1], "cellwise", "cellwise"),
        ([8, 12, 1], "cellwise", "tree"),
        ([8, 8, 8, 1], "cellwise", "tree"),
        ([9, 9, 9, 1], "tree", "tree"),
    ],
)
def test_of_pointwise_gates(sizes, with_vertices, codes):
    net, box = rs.load(default_network(sizes)), rs.Box(-1, 1, sizes[0])
    assert (chosen(net, box, "vertices"), chosen(net, box, "codes")) == (with_vertices, codes)
    assert chooses_tree(net, box) == (codes == "tree")


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("shape", "codes"),
    [
        ((3, 8, 2, 16), "incidence"),
        ((3, 10, 6), "tree"),
        ((4, 8, 2, 8, 8), "incidence"),
        ((4, 5, 3, 6), "incidence"),
        ((4, 6, 4), "tree"),
        ((5, 6, 2, 6, 6), "incidence"),
        ((5, 6, 3), "tree"),
        ((6, 6, 2, 6), "tree"),
    ],
)
def test_of_max_gates(shape, codes):
    """Ties of candidates that are not the largest cut cells in vain: with many of them programs are faster."""
    net = behind_maxima(*shape)
    box, everywhere = rs.Box(-1, 1, shape[0]), rs.Space(shape[0])
    assert chosen(net, box, "codes") == codes
    assert chosen(net, box, "vertices") == ("incidence" if shape[0] <= 5 else "tree")
    assert chosen(net, everywhere, "codes") == chosen(net, everywhere, "vertices") == "tree"


def test_large_networks_with_max_gates_are_not_left_to_programs():
    """One region of a convolutional network costs the tree thousands of them."""
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(3, 32, 3), torch.nn.MaxPool2d(2), torch.nn.ReLU(), torch.nn.Flatten()]
    net = rs.load(torch.nn.Sequential(*layers, torch.nn.Linear(32 * 15 * 15, 10)), input_shape=(3, 32, 32))
    generator = torch.Generator().manual_seed(0)
    basis = torch.linalg.qr(torch.randn(3 * 32 * 32, 3, generator=generator, dtype=torch.float64))[0].T.numpy()
    assert chosen(net, rs.Slice(basis[0] * 0, basis, rs.Box(-1, 1, 3)), "codes") == "incidence"
