"""Distinct codes against Python sets, activation rates against arrays."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.codespace import SampleCodes, activation_rate, distinct_codes, sample_codes
from reluscope.codes import CodeLayout, Codes, GateLayout


def test_distinct_codes_against_a_set():
    net = rs.load(random_network())
    points = np.random.default_rng(1).normal(size=(300, 3))
    found = distinct_codes(sample_codes(net, points))
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
    sampled = sample_codes(net, [[1.0, 2.0], [1.0, 1.0], [0.0, 0.0]])
    found = distinct_codes(sampled).summary.finding("num_distinct_codes")
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


@pytest.mark.slow
def test_gates_without_doubt_prove_codes_that_other_gates_leave_open():
    layout = CodeLayout((GateLayout("first", 3), GateLayout("second", 2), GateLayout("third", 2)))
    draw = np.random.default_rng(0)
    for _ in range(200):
        tables = [draw.integers(0, 2, (6, gate.num_units)) for gate in layout]
        doubtful = draw.random((6, 3)) < draw.choice([0.0, 0.3, 1.0], size=3)
        sampled = SampleCodes(Codes.from_pieces(tables, layout), doubtful, 0.0)
        classes = draw.integers(0, 2, 6)
        tables_of = [classes == kind for kind in np.unique(classes)]
        columns = [distinct_codes(sampled).summary["num_distinct_codes"], distinct_codes(sampled, classes)]
        for members, lower, upper in [
            (np.ones(6, bool), columns[0].lower[0], columns[0].upper[0]),
            *zip(
                tables_of, *(getattr(columns[1]["num_distinct_codes"], end) for end in ("lower", "upper")), strict=True
            ),
        ]:
            # Whatever doubtful gates are in truth, the number lies between the ends.
            for _ in range(5):
                truth = [np.where(doubt[:, None], draw.integers(0, 2, table.shape), table)
                         for table, doubt in zip(tables, doubtful.T, strict=True)]  # fmt: skip
                number = len({tuple(row) for row in np.hstack(truth)[members].tolist()})
                assert lower <= number <= upper
        clear = [table for table, doubt in zip(tables, doubtful.T, strict=True) if not doubt.any()]
        if clear:
            assert columns[0].lower[0] >= len({tuple(row) for row in np.hstack(clear).tolist()})
        assert columns[0].upper[0] <= 6
