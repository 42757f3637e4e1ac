"""Distinct codes against Python sets, activation rates against arrays."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.codespace import activation_rate, distinct_codes


def test_distinct_codes_against_a_set():
    net = rs.load(random_network())
    points = np.random.default_rng(1).normal(size=(300, 3))
    found = distinct_codes(net, points)
    parts = [part.to_array() for part in net.codes(points).by_gate().values()]
    for number, part in zip(found["num_distinct_codes"].value, parts, strict=True):
        assert number == len({row.tobytes() for row in part})
    rows = [row.tobytes() for row in np.concatenate(parts, axis=1)]
    assert int(found.summary.finding("num_distinct_codes")) == len(set(rows))
    assert int(found.summary.finding("largest_cell")) == max(map(rows.count, rows))
    assert all(table[name].is_exact.all() for table in (found, found.summary) for name in found)
    assert found.keys["gate"].tolist() == ["relu 0", "relu 1"]


def test_points_in_doubt_widen_the_count():
    net = rs.load([(np.array([[0.1, 0.2]]), np.array([-0.3])), (np.eye(1), np.zeros(1))])
    found = distinct_codes(net, [[1.0, 2.0], [1.0, 1.0], [0.0, 0.0]]).summary.finding("num_distinct_codes")
    assert found.claim == "LOWER"
    assert found.interval == (2, 3)


@pytest.mark.parametrize("num_units", [1, 63, 64, 65, 200])
def test_activation_rate_against_the_mean(num_units):
    pieces = np.random.default_rng(num_units).integers(0, 2, size=(7, num_units))
    many = np.random.default_rng(0).integers(0, 5, size=(7, 3))
    layout = rs.CodeLayout((rs.GateLayout("relu", num_units), rs.GateLayout("pool", 3, num_pieces=5)))
    rate = activation_rate(rs.Codes.from_pieces([pieces, many], layout))
    assert np.allclose(rate, pieces.mean(axis=1))


def test_without_gates_of_two_pieces_there_is_no_rate():
    layout = rs.CodeLayout((rs.GateLayout("pool", 1, num_pieces=3),))
    assert activation_rate(rs.Codes.from_pieces([np.array([[2]])], layout)) is None


def random_network():
    generator = np.random.default_rng(0)
    return [(generator.normal(size=shape), generator.normal(size=shape[0])) for shape in ((6, 3), (5, 6), (2, 5))]
