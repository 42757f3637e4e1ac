"""Long counts that are killed and go on: the same number in the end, and no work done twice."""

import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.counting.by_tree import count_by_tree
from reluscope.budget import Budget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.files.kept_results import KeptResults
from reluscope.findings import Claim
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.tree import tree_count, tree_items, tree_search
from reluscope.progress import RegionProgress
from reluscope.stopping import words_of
from reluscope.testing import default_network, pseudo_random_network

TRUTH = 654


@pytest.fixture(autouse=True)
def early_tasks(monkeypatch):
    monkeypatch.setattr(tree_search, "MIN_CELLS", 40)


@pytest.fixture
def net():
    return from_arrays(pseudo_random_network(3, (8, 8)))


SPACE = rs.Space(3)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "counted"


class KilledError(Exception):
    """What becomes of a run."""


def kill_after(monkeypatch, tasks):
    """Let a run die once so many tasks are kept."""
    faithful, calls = KeptResults.__setitem__, iter(range(1, 10**6))

    def keep(self, name, record):
        faithful(self, name, record)
        if next(calls) == tasks:
            raise KilledError

    monkeypatch.setattr(KeptResults, "__setitem__", keep)


def count(net, path, **options):
    return tree_count.tree_count(net, SPACE, Effort(**options), checkpoint=path)


@pytest.fixture
def begun(net, path, monkeypatch):
    """A count that died after 20 tasks."""
    with monkeypatch.context() as until_then:
        kill_after(until_then, 20)
        with pytest.raises(KilledError):
            count(net, path)
    assert len(list(path.iterdir())) == 21
    return path


@pytest.mark.few(1)
@pytest.mark.parametrize("with_executor", [False, True])
def test_a_count_that_died_goes_on(net, begun, with_executor):
    alone = tree_count.tree_count(net, SPACE)
    if with_executor:
        with ThreadPoolExecutor(2) as executor:
            rest = count(net, begun, executor=executor)
    else:
        rest = count(net, begun)
    assert rest.num_found == alone.num_found == TRUTH
    assert rest.work["kept_tasks"] == 20
    assert rest.work["programs"] < alone.work["programs"]
    again = count(net, begun)
    assert again.num_found == TRUTH
    assert again.work["programs"] < rest.work["programs"] / 2


@pytest.mark.slow
def test_a_process_killed_by_the_system_goes_on(path):
    """kill -9, in the middle of a task; here two layers on a box of 30 inputs."""
    script = f"""
        import os, signal
        import reluscope as rs
        from reluscope.effort import Effort
        from reluscope.networks.models.from_arrays import from_arrays
        from reluscope.partitions.tree import tree_count
        from reluscope.progress import RegionProgress
        from reluscope.testing import default_network

        left = iter(range(40))
        class Killing(RegionProgress):
            def __call__(self, number, share):
                if next(left, None) is None:
                    os.kill(os.getpid(), signal.SIGKILL)
        net = from_arrays(default_network([30, 7, 5, 1]))
        tree_count.tree_count(net, rs.Box(-1, 1, 30), Effort(count=Killing()), checkpoint={str(path)!r})
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False, env={**os.environ})
    assert done.returncode == -signal.SIGKILL
    net, box = from_arrays(default_network([30, 7, 5, 1])), rs.Box(-1, 1, 30)
    rest = tree_count.tree_count(net, box, checkpoint=path)
    alone = tree_count.tree_count(net, box)
    assert rest.num_found == alone.num_found
    assert rest.work["kept_tasks"] > 0
    assert rest.work["programs"] < alone.work["programs"]


def test_what_was_being_written_when_a_run_was_killed_is_passed_over(net, begun):
    (begun / ".0050.npz.abcd").write_bytes(b"PK")
    rest = count(net, begun)
    assert (rest.num_found, rest.work["kept_tasks"]) == (TRUTH, 20)


def test_a_damaged_number_is_not_believed(net, begun):
    first = min(path for path in begun.iterdir() if path.suffix == ".npz")
    whole = first.read_bytes()
    for damaged in (whole.replace(b'"regions": ', b'"regions": 1'), whole[:-1], b""):
        first.write_bytes(damaged)
        with pytest.raises(InputError, match=rf"{first.name} is not .* or it is damaged: remove that file, and its"):
            count(net, begun)
    first.unlink()
    rest = count(net, begun)
    assert (rest.num_found, rest.work["kept_tasks"]) == (TRUTH, 19)


def test_the_number_of_another_task_is_not_believed(net, begun):
    first, second = sorted(path for path in begun.iterdir() if path.suffix == ".npz")[:2]
    first.write_bytes(second.read_bytes())
    with pytest.raises(InputError, match="holds the result of something else"):
        count(net, begun)


def test_a_number_that_is_believed_counts(net, begun):
    """The other side of the same: kept numbers are used, not counted again."""
    faithful = KeptResults.__getitem__

    def one_more(self, name):
        known = faithful(self, name)
        return replace(known, num_found=known.num_found + 1)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(KeptResults, "__getitem__", one_more)
        assert count(net, begun).num_found == TRUTH + 20


def test_another_count_is_refused(net, begun, monkeypatch):
    other = from_arrays(pseudo_random_network(3, (8, 7)))
    before = {one: one.read_bytes() for one in begun.iterdir()}
    with pytest.raises(InputError, match=r"begun with another network: give the same as then, or another folder"):
        tree_count.tree_count(other, SPACE, checkpoint=begun)
    with pytest.raises(InputError, match="begun with another domain"):
        tree_count.tree_count(net, rs.Box(-1, 1, 3), checkpoint=begun)
    with pytest.raises(InputError, match="begun with another tolerance"):
        count(net, begun, tolerance=rs.Tolerance(resolution=1e-9))
    monkeypatch.setattr(tree_search, "MAX_TASKS", 13)
    with pytest.raises(InputError, match="begun with another version of reluscope"):
        count(net, begun)
    assert {one: one.read_bytes() for one in begun.iterdir()} == before


def test_a_file_of_something_else_is_left_alone(net, path):
    path.write_text("regions: 5", encoding="utf-8")
    with pytest.raises(InputError, match=r"expected a folder to keep results in, got .*: name another one"):
        count(net, path)
    assert path.read_text(encoding="utf-8") == "regions: 5"


def test_a_folder_of_something_else_is_left_alone(net, path):
    path.mkdir()
    (path / "love.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"expected an empty folder.* holds love.txt: name another one"):
        count(net, path)
    assert [one.name for one in path.iterdir()] == ["love.txt"]


def test_an_empty_folder_is_a_beginning(net, path):
    path.mkdir()
    assert count(net, path).num_found == TRUTH


def test_budgets_in_turn_reach_the_end(net, path):
    """What a budget cuts short is a lower bound, tasks that were cut short are not kept, and the rest goes on."""
    numbers, found = [], None
    for _ in range(50):
        found, stopped = count_by_tree(net, SPACE, Effort(Budget(regions=(numbers or [0])[-1] + 100)), checkpoint=path)
        numbers.append(int(found))
        if not stopped:
            break
        assert found.claim is Claim.LOWER
        assert words_of(stopped).startswith("budget of")
    assert numbers[-1] == TRUTH
    assert max(numbers) == TRUTH
    assert 3 <= len(numbers) < 50
    assert found is not None
    assert (found.claim, found.num_undecided) == (Claim.EXACT, 0)


@pytest.mark.few(1)
@pytest.mark.parametrize("after", [60, 71, 100])
def test_an_interrupted_task_is_not_kept(net, path, after, monkeypatch):
    monkeypatch.setattr(tree_items, "BATCH", 1)  # many steps for each task
    calls = iter(range(10**6))

    class Pressed(RegionProgress):
        def __call__(self, number, share):
            if next(calls) == after:
                raise KeyboardInterrupt

    found = count(net, path, count=Pressed())
    assert words_of(found.stop) == "interrupted"
    assert sum(found.left) > 0
    assert found.num_found + sum(found.left) <= TRUTH
    assert count(net, path).num_found == TRUTH


def test_what_is_reported_adds_up(net, begun):
    regions, shares, told = [], [], []

    class Told(RegionProgress):
        def __call__(self, number, share):
            regions.append(number)
            shares.append(share)

        def show_tasks(self, done, tasks):
            told.append((done, tasks))

    found = count(net, begun, count=Told())
    assert sum(regions) == found.num_found == TRUTH
    assert sum(shares) == pytest.approx(1.0)
    assert told[0][0] == 20
    assert told[-1][0] == told[-1][1]


def test_few_regions_need_no_tasks(path):
    net = from_arrays([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    for _ in range(2):
        assert count(net, path).num_found == 8


def test_slices_have_their_own_files(path):
    net = from_arrays(default_network([5, 8, 6, 1], seed=3))
    plane = rs.Plane(np.zeros(5), np.ones(5), np.arange(5.0))
    finding, stopped = count_by_tree(net, plane, checkpoint=path)
    assert (int(finding), words_of(stopped)) == (len(rs.partition(net, plane)), "")
    with pytest.raises(InputError, match="another domain"):
        count_by_tree(net, rs.Plane(np.zeros(5), np.ones(5), np.arange(1.0, 6.0) ** 2), checkpoint=path)
