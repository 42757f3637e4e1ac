"""What is below the resolution: slivers may be listed or not, and nothing listed is thick that is not there."""

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from oracles import fractions_plane
from reluscope.geometry.polyhedra.rational_polytopes import between
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.partitions.exact.exact_regions import code_rows, code_tuples

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


@pytest.mark.few(2)
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


def nearly_one_line(seed):
    """Return units some of whose lines are copies of others up to a few units in the last place."""
    draw = np.random.default_rng(seed)
    number = int(draw.integers(2, 4))
    weight, bias = draw.integers(-2, 3, (number, 2)).astype(float), draw.integers(-2, 3, number) / 2.0
    one, other = draw.choice(number, 2, replace=False)
    weight[other] = weight[one] * (1 + draw.choice([0, 1e-12, 1e-13, 1e-14, 1e-15, -1e-12, -1e-15], size=2))
    bias[other] = bias[one] * (1 + draw.choice([0, 1e-12, 1e-13, 1e-15, -1e-14])) + draw.choice([0, 1e-13, -1e-16])
    return [(weight, bias), (np.ones((1, number)), np.zeros(1))]


@pytest.mark.few(21)
@pytest.mark.parametrize("seed", [*range(40), 322])
def test_areas_and_places_of_certified_slivers(seed):
    layers = nearly_one_line(seed)
    part = rs.certify(rs.partition(rs.load(layers), rs.Box(-2, 2, 2)))
    pieces = {piece.code: piece for piece in fractions_plane.split(layers, fractions_plane.rectangle(-2, 2))}
    codes = [tuple(code) for code in part.codes.to_array().tolist()]
    assert set(codes) == set(pieces)
    for code, area in zip(codes, part.volumes().tolist(), strict=True):
        truth = float(pieces[code].measure)
        assert area > 0
        assert area == pytest.approx(truth, rel=1e-6, abs=1e-13)
    points = np.random.default_rng(seed).uniform(-2, 2, (50, 2))
    for point, row in zip(points, part.locate(points).tolist(), strict=True):
        assert row >= 0
        assert distance_outside(pieces[codes[row]].vertices, point) < 1e-13


def distance_outside(corners, point):
    """Return how far a point is beyond the sides of a convex polygon, in counter-clockwise order, at most."""
    ends, starts = np.array(corners, dtype=float), np.roll(np.array(corners, dtype=float), 1, axis=0)
    long = np.linalg.norm(ends - starts, axis=1) > 1e-9
    along, towards = (ends - starts)[long], (point - starts)[long]
    return ((along[:, 1] * towards[:, 0] - along[:, 0] * towards[:, 1]) / np.linalg.norm(along, axis=1)).max()


class Largest(nn.Module):
    """The largest of -(1 + 1e-15) x, 0.3 and -x: corners 3e-16 apart, which rounding puts in another order."""

    def forward(self, x):
        z = x[:, :1]
        return torch.cat([-(1 + 1e-15) * z, 0 * z + 0.3, -z], 1).amax(-1, keepdim=True)


def test_points_beside_a_tiny_side():
    net = rs.load(Largest(), input_shape=(2,))
    part = rs.certify(rs.partition(net, rs.Box([-2, -2], [2, 1])))
    points = np.random.default_rng(0).uniform([-2, -2], [2, 1], (500, 2))
    assert (part.locate(points) >= 0).all()
    assert part.locate([[-2.1, 0.0], [0.0, 1.0 + 1e-9]]).tolist() == [-1, -1]
