"""What is below the resolution: slivers may be listed or not, and nothing listed is thick that is not there."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.geometry.rational_polytopes import between
from reluscope.networks.rational import RationalNetwork
from reluscope.partitions.exact_regions import code_rows, code_tuples

# Some planes nearly contain lines in which others meet: floats cut what is not there between them.
PHANTOM = [
    [-0.25, -0.75, -0.5, -0.0],
    [1.25, 0.75, 1.5, -0.25],
    [-1.5, -0.5, -0.5, -0.5],
    [1.0, -0.0, -1.5, 0.5],
    [-0.4999999999999988, -1.5000000000000004, -1.0, -4.1130221275094646e-16],
    [-2.25, -0.7500000022901034, -2.5000000007533703, 0.4999999998294133],
    [0.9999999999999956, -2.8049208000849572e-15, -1.4999999999999905, 0.5],
]


def near_dependent(seed):
    """Return planes, some of which nearly contain the lines in which others meet."""
    draw = np.random.default_rng(seed)
    number = int(draw.integers(3, 8))
    planes = np.round(draw.normal(size=(number, 4)) * 4) / 4
    rows = list(planes)
    for _ in range(int(draw.integers(1, 5))):
        weights = draw.integers(-2, 3, size=number) * (draw.random(number) < 2.5 / number)
        noise = 10.0 ** -draw.integers(7, 17) * draw.normal(size=4) * (draw.random(4) < 0.7)
        rows.append(weights @ planes + noise)
    table = np.array(rows)
    return table[np.abs(table[:, :3]).sum(axis=1) > 1e-3]


def is_there(net, code):
    rows = code_rows(RationalNetwork(net), code)
    return rows is not None and between(3, rows)[1] is not None


def thickness(planes, code, witness):
    """Return how far the nearest plane is on whose wrong side a witness may be, relative to where it is."""
    sides = np.where(np.array(code[0]) > 0, 1.0, -1.0)
    heights = sides * (planes[:, :3] @ witness + planes[:, 3]) / np.linalg.norm(planes[:, :3], axis=1)
    return heights.min() / max(np.linalg.norm(witness), 1e-300)


@pytest.mark.parametrize("seed", [*range(12), 3105])
def test_what_is_not_there_is_thinner_than_the_resolution(seed):
    planes = near_dependent(seed) if seed < 3105 else np.array(PHANTOM)
    net = rs.load([(planes[:, :3], planes[:, 3]), (np.ones((1, len(planes))), np.zeros(1))])
    part = rs.partition(net, rs.Space(3), method="cellwise")
    phantoms = [
        (code, witness)
        for code, witness in zip(code_tuples(part.codes), part.witnesses, strict=True)
        if not is_there(net, code)
    ]
    for code, witness in phantoms:
        assert thickness(planes, code, witness) < part.tolerance.resolution
    assert len(phantoms) >= (seed == 3105)
