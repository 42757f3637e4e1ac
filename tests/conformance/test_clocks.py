"""The same call gives the same numbers on every clock: seconds end work that takes far too long, and decide nothing.

On the first clock no work takes any time, on the second each look at it comes a quarter of a second after the last
(`conformance.clocks`): where a limit of seconds, a pace that was measured, or a block that grows with time decides how
much is done, the two results differ, whatever else the machine does.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import reluscope as rs
from conformance.bad_input.running import namespaces
from conformance.clocks import SLOW, Clock, differences, quiet
from reluscope.analyses.counting import by_probes
from reluscope.datasets.dataset import dataset_of
from reluscope.partitions.ask import patience
from reluscope.report import Settings, Subject, build_report
from reluscope.report.sections import all_sections
from reluscope.testing import default_network

TESTS = Path(__file__).parents[1]
# Drawings have no numbers.
NAMESPACES = [name or "reluscope" for name in namespaces() if not name.startswith(("plots", "studies", "testing"))]
NET = rs.load(default_network([2, 16, 16, 3], seed=4))
WIDE = rs.load(default_network([9, 12, 12, 3], seed=4))
DRAW = np.random.default_rng(0)
# What a valid call of the table does not reach: other methods, and more work.
CALLS = {
    "count by probes": lambda: rs.count(WIDE, rs.Box(-1, 1, 9), method="probes"),
    "hopeless count": lambda: rs.count(rs.load(default_network([40, 60, 4])), rs.Box(-1, 1, 40)),
    "local complexity": lambda: rs.sensitivity.local_complexity(WIDE, np.zeros((2, 9)), 0.3),
    "inscribed balls": lambda: rs.inscribed_balls(WIDE, np.linspace(-1, 1, 360).reshape(40, 9)),
    "norms": lambda: rs.coefficients.local_norms(NET, np.linspace(-1, 1, 600).reshape(300, 2)),
    "decision distances": lambda: rs.robustness.decision_distance(NET, np.eye(2), norm="l2"),
    "adjacency": lambda: rs.codespace.adjacency(NET, rs.partition(NET, rs.Box(-1, 1, 2)).witnesses),
    "pieces": lambda: rs.compression.unit_pieces(NET, domain=rs.Box(-1, 1, 2)),
    "window": lambda: rs.window_within(NET, rs.Box(-1, 1, 2), rs.Budget(regions=60, seconds=1e4)),
}


def on_both_clocks(call):
    """Return where the results of two calls differ, one on each clock."""
    found = []
    for tick in (0.0, SLOW):
        with quiet(), Clock(tick):
            found.append(call())
    return differences(*found)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", CALLS)
def test_calls(name, monkeypatch):
    # As much of the work that is planned as takes a moment.
    monkeypatch.setattr(by_probes, "SECONDS", 0.1)
    monkeypatch.setattr(patience, "BEFORE_PROBES", 0.1)
    assert not on_both_clocks(CALLS[name])


@pytest.mark.slow
@pytest.mark.parametrize("names", [("stability",), pytest.param((), marks=pytest.mark.slow)])
def test_reports(names):
    points = DRAW.normal(size=(30, 2))
    data = dataset_of(points, np.argmax(NET(points).numpy(), axis=1), name="points")
    sections = tuple(one for one in all_sections() if one.name in names or not names)

    def report():
        subject = Subject(NET, data, "net", Settings(num_segments=4))
        return build_report(subject, sections=sections).to_dict()

    assert not on_both_clocks(report)


@pytest.mark.slow
def test_public_callables():
    paths = [str(TESTS.parent / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "conformance.clocks", "conformance.bad_input.table", *NAMESPACES],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert not found["failed"]
    assert sum(looks > 0 for looks, _ in found["looked"].values()) > 80
