"""Bars in notebooks, without the widgets that other bars ask for: IPython is stood in for, as none runs here."""

import sys
from types import SimpleNamespace

import pytest

import reluscope as rs
from reluscope import progress
from reluscope.progress import counting_regions, share_done
from reluscope.testing import default_network


@pytest.fixture
def shown(monkeypatch):
    """What a cell's output holds, one entry each time that it is drawn."""
    drawn = []

    def display(thing, display_id):
        assert display_id
        drawn.append(thing)
        return SimpleNamespace(update=drawn.append)

    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display, HTML=str))
    return drawn


def test_a_share_is_drawn_and_goes_away(shown, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: clock[0])
    with share_done("<balls>", True) as tell:
        for share in (0.0, 0.25, 0.5):
            tell(share)
            clock[0] += 2.0
        tell(0.501)
    assert shown[0] == "&lt;balls&gt;"
    assert '<progress value="0.2500" max="1"></progress> 6 s left' in shown[2]
    assert '<progress value="0.5000" max="1"></progress> 4 s left' in shown[3]
    assert shown[-1] == ""


def test_it_is_not_drawn_for_every_step(shown, monkeypatch):
    monkeypatch.setattr(progress.time, "perf_counter", lambda: 1.0)
    with counting_regions("partition", True) as count:
        assert count is not None
        for _ in range(1000):
            count(3, 0.001)
        count.show_tasks(1, 2)
    assert len(shown) == 3
    assert shown[1].startswith("partition <progress")
    assert "3 regions" in shown[1]


def test_work_shows_it_and_an_error_takes_it_away(shown):
    rs.partition(rs.load(default_network([2, 8, 3], seed=0)), rs.Box(-1, 1, 2), progress=True)
    assert any("regions" in one for one in shown)
    assert shown[-1] == ""
    with pytest.raises(KeyboardInterrupt), share_done("balls", True):
        raise KeyboardInterrupt
    assert shown[-1] == ""


@pytest.mark.parametrize("shell", [None, SimpleNamespace()])
def test_a_shell_in_a_terminal_is_no_notebook(monkeypatch, shell):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert not progress.in_notebook()
