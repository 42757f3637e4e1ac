"""Many properties: each as if asked alone, kept one by one, and not asked again."""

from concurrent.futures import ThreadPoolExecutor
from signal import SIGINT, raise_signal

import numpy as np
import pyarrow.parquet as pq
import pytest

import reluscope as rs
from networks.models import layers
from reluscope.analyses.verification import many
from reluscope.errors import InputError

NET = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # |x|


def at_least(level):
    return rs.verification.Property(
        [rs.verification.Case(-np.ones(1), np.ones(1), [rs.Polyhedron([[-1.0]], [-level])])]
    )


PROPERTIES = [at_least(level) for level in (1.25, 0.5, 1.5, 0.75)]


def test_rows_are_kept_and_not_asked_again(tmp_path, monkeypatch):
    told = []
    found = rs.verification.verify_each(NET, PROPERTIES[:2], tmp_path, progress=told.append)
    assert found["verdict"].to_pylist() == ["HOLDS", "VIOLATED"]
    assert found["inputs"][0].as_py() is None
    assert abs(found["inputs"][1].as_py()[0]) >= 0.5
    assert told[-1] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000000.parquet", "000001.parquet"]
    asked = []
    decide = many._decide
    monkeypatch.setattr(many, "_decide", lambda *task: asked.append(task) or decide(*task))
    with ThreadPoolExecutor(2) as executor:
        again = rs.verification.verify_each(NET, PROPERTIES, tmp_path, executor=executor)
    assert len(asked) == 2
    assert again["verdict"].to_pylist() == ["HOLDS", "VIOLATED"] * 2
    assert again.slice(0, 2).equals(found)
    assert pq.read_table(tmp_path / "000003.parquet").to_pylist() == again.slice(3).to_pylist()


def test_what_a_budget_left_open_is_asked_again(tmp_path):
    net = rs.load(layers([2, 6, 5, 2], seed=3))
    high = float(net(np.random.default_rng(0).uniform(-1, 1, (2000, 2))).numpy()[:, 0].max())
    unsafe = [rs.Polyhedron([[-1.0, 0.0]], [-high - 0.05])]
    safe = rs.verification.Property([rs.verification.Case(-np.ones(2), np.ones(2), unsafe)])
    first = rs.verification.verify_each(net, [safe], tmp_path, budget=rs.Budget(regions=1))
    assert (first["verdict"].to_pylist(), first["undecided"].to_pylist()) == (["OPEN"], [1.0])
    assert rs.verification.verify_each(net, [safe], tmp_path)["verdict"].to_pylist() == ["HOLDS"]


def test_rows_of_others_and_damaged_ones_are_refused(tmp_path):
    rs.verification.verify_each(NET, PROPERTIES[:1], tmp_path)
    with pytest.raises(InputError, match=f"{tmp_path.name}.000000.parquet is of another network or property"):
        rs.verification.verify_each(NET, PROPERTIES[1:], tmp_path)
    (tmp_path / "000000.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=f"{tmp_path.name}.000000.parquet is not a row"):
        rs.verification.verify_each(NET, PROPERTIES[:1], tmp_path)


def test_ctrl_c_leaves_rows_that_are_not_asked_again(tmp_path, hears_ctrl_c):
    def strike(share):
        if share == 0.5:
            raise_signal(SIGINT)

    with ThreadPoolExecutor(1) as executor:
        first = rs.verification.verify_each(NET, PROPERTIES, tmp_path, executor=executor, progress=strike)
    assert len(first) == len(list(tmp_path.iterdir())) == 1  # it is told before what is told is kept
    told = []
    again = rs.verification.verify_each(NET, PROPERTIES, tmp_path, progress=told.append)
    assert (told[0], again["verdict"].to_pylist()) == (0.25, ["HOLDS", "VIOLATED"] * 2)


@pytest.mark.parametrize("seconds", [np.inf, np.nan, -1.0])
def test_rows_without_a_finite_time_are_refused(seconds):
    row = {"instance": 0, "verdict": "HOLDS", "undecided": 0.0, "inputs": None, "outputs": None}
    row |= {"stopped": "", "kind": "halves", "examined": 1, "seconds": 0.0}
    many._check_row(row, NET, 0)
    with pytest.raises(ValueError, match="seconds"):
        many._check_row({**row, "seconds": seconds}, NET, 0)
