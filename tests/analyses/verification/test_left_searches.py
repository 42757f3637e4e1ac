"""Searches for a proof that are left wherever: OPEN or right, and never a proof."""

import pytest

import reluscope as rs
from reluscope.networks.passes import stages
from reluscope.testing import default_network
from reluscope.time_limits import OutOfTime


def reaching(net, level):
    """Return the property that output 0 stays below a level it reaches."""
    return rs.verification.Property(
        [rs.verification.Case([-1.0] * 2, [1.0] * 2, [rs.Polyhedron([[-1.0, 0.0]], [-level])])]
    )


@pytest.mark.few(6)
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OutOfTime(1.0)], ids=["Ctrl-C", "time"])
@pytest.mark.parametrize("split", ["inputs", "units"])
@pytest.mark.parametrize("after", [0, 1, 2, 3, 5, 8, 13, 21, 34, 60, 100, 200])
def test_nothing_is_proved_by_leaving(monkeypatch, error, split, after):
    net = rs.load(default_network([2, 9, 7, 2], seed=4))
    level = float(rs.partition(net, rs.Box(-1, 1, 2)).outputs[:, 0].max()) - 1e-3
    safe = reaching(net, level)
    truth = rs.violations(net, safe).volume().value
    monkeypatch.setattr("reluscope.analyses.verification.deciding._attacked", lambda *given: None)
    passes = []

    def struck():
        passes.append(None)
        if len(passes) == after + 1:
            raise error

    monkeypatch.setattr(stages, "step_point", struck)
    found = rs.verify(net, safe, split=split)
    assert found.verdict in ("OPEN", "VIOLATED")
    if found.verdict == "OPEN":
        assert found.undecided.value > 0
    passes.clear()
    try:
        volume = rs.violations(net, safe).volume()
    except KeyboardInterrupt:
        return
    low, high = volume.interval or (volume.value,) * 2
    assert low - 1e-9 <= truth <= high + 1e-9
