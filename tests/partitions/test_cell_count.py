"""Counts that keep no regions: the same numbers as partitions, facets that cancel, memory, and what is continued."""

import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from itertools import count as numbers
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.analyses.counting import by_cells
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.partitions.cells import cell_tasks, cellwise
from reluscope.partitions.cells.cell_count import NumberOfCells, count_cells
from reluscope.testing import default_network

BOX = rs.Box(-1, 1, 3)


@pytest.fixture(scope="module")
def net():
    return rs.load(default_network([3, 32, 24, 1], seed=3))


@pytest.fixture(scope="module")
def truth(net):
    return len(rs.partition(net, BOX, method="incidence"))


def by_number(net, domain=BOX, **options):
    return rs.count(net, domain, method="cells", **options)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), dim=st.integers(2, 4))
def test_cells_that_are_dropped_are_as_many_as_those_that_are_kept(seed, dim):
    generator = np.random.default_rng(seed)
    widths = [dim, *generator.integers(1, 9, size=generator.integers(1, 4)).tolist(), 1]
    layers = [
        (generator.integers(-3, 4, size=(after, before)).astype(float), generator.integers(-2, 3, size=after) / 2)
        for before, after in pairwise(widths)
    ]
    net, box = rs.load(layers), rs.Box(-1, 1, dim)
    found = by_number(net, box)
    kept = rs.count(net, box, method="partition")
    assert (found.value, found.claim) == (kept.value, kept.claim)


def test_numbers_of_other_domains(net):
    corner = rs.Polyhedron([[1.0, 1.0, 1.0]], [0.5]).intersect(BOX.polyhedron)
    long = rs.Box([-1e-5, -1.0, -1.0], [1e-5, 1.0, 1.0])
    plane = rs.Plane(np.zeros(3), [1.0, 0.2, 0.0], [0.0, 0.3, 1.0])
    for domain in (corner, long, plane):
        found = by_number(net, domain)
        assert (found.value, found.claim) == (len(rs.partition(net, domain)), "EXACT")


def test_facets_cancel_unless_a_cell_is_lost(net, truth, monkeypatch):
    whole = count_cells(net, BOX, Effort())
    assert (whole.walked.num_found, whole.is_closed) == (truth, True)
    of, calls = NumberOfCells.of, numbers()

    def losing(network, tolerance, patch):
        if next(calls) == 1:
            patch.facet_keys[patch.facet_cells == 0] = 0
        return of(network, tolerance, patch)

    monkeypatch.setattr(cellwise, "MAX_FINISHED", 64)
    monkeypatch.setattr(NumberOfCells, "of", losing)
    assert not count_cells(net, BOX, Effort()).is_closed


def test_what_is_open_is_counted_by_a_partition_or_estimated(net, truth, monkeypatch):
    def not_closed(*given, **options):
        found = count_cells(*given, **options)
        return found._replace(is_closed=False)

    monkeypatch.setattr(by_cells, "count_cells", not_closed)
    found = by_number(net)
    assert (found.value, found.claim, "dropped" in found.method) == (truth, "EXACT", False)
    monkeypatch.setattr(by_cells, "MOST_KEPT", 100)
    found = by_number(net)
    assert (found.value, found.claim) == (truth, "ESTIMATE")


def test_budgets_and_executors(net, truth):
    some = by_number(net, budget=rs.Budget(regions=50))
    assert some.claim == "LOWER"
    assert 50 <= some.value < truth
    assert "50 regions" in some.stopped
    with ThreadPoolExecutor(2) as executor:
        assert by_number(net, executor=executor).value == truth


def test_counts_are_by_cells_where_planes_are_not(net):
    assert "dropped" in rs.count(net, BOX).method
    assert "dropped" not in rs.count(net, rs.Plane(np.zeros(3), [1.0, 0, 0], [0, 1.0, 0])).method
    with pytest.raises(InputError, match='method="cells" counts proper_activation regions'):
        by_number(net, definition="convex")
    with pytest.raises(InputError, match='method="cells" takes no certify'):
        by_number(net, certify=True)
    with pytest.raises(InputError, match="does not cover"):
        by_number(rs.load(default_network([12, 4, 1])), rs.Box(-1, 1, 12))
    with pytest.raises(InputError, match="counts on bounded domains, got"):
        by_number(net, rs.Space(3))


KILLED = """
    import os, signal
    import reluscope as rs
    from reluscope.files.kept_results import KeptResults
    from reluscope.testing import default_network

    left, keep = iter(range(20)), KeptResults.__setitem__
    def killing(self, name, value):
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        keep(self, name, value)
    KeptResults.__setitem__ = killing
    rs.count(rs.load(default_network([3, 32, 24, 1], seed=3)), rs.Box(-1, 1, 3), checkpoint={path!r})
"""


@pytest.mark.slow
def test_a_count_that_was_killed_goes_on(net, truth, tmp_path):
    path = tmp_path / "kept"
    script = textwrap.dedent(KILLED).format(path=str(path))
    done = subprocess.run([sys.executable, "-c", script], check=False, env={**os.environ})
    assert done.returncode == -signal.SIGKILL
    found = rs.count(net, BOX, checkpoint=path)
    assert (found.value, found.claim, found.work["kept_tasks"]) == (truth, "EXACT", 20)
    again = rs.count(net, BOX, checkpoint=path)
    assert (again.value, again.claim) == (truth, "EXACT")
    with pytest.raises(InputError, match="begun with another domain"):
        rs.count(net, rs.Box(-1, 0.9, 3), checkpoint=path)
    first = min(one for one in path.iterdir() if one.suffix == ".npz")
    first.write_bytes(first.read_bytes()[:-1])
    with pytest.raises(InputError, match="remove that file"):
        rs.count(net, BOX, checkpoint=path)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number():
    script = """
        import resource, sys
        import reluscope as rs
        from reluscope.testing import default_network
        small, large = (rs.load(default_network([3, width, 32, 1], seed=1)) for width in (16, 96))
        peaks = []
        for net in (small, large):
            print(rs.count(net, rs.Box(-1, 1, 3)).value)
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, capture_output=True, text=True)
    few, before, many, after = map(int, done.stdout.split())
    assert many > 50_000 + few
    assert after - before < 100_000  # kB: a table of them takes more


@pytest.mark.slow
def test_there_are_more_tasks_where_there_is_more_work(net, truth, monkeypatch, tmp_path):
    def number_of_tasks(folder):
        found = rs.count(net, BOX, checkpoint=tmp_path / folder)
        assert (found.value, found.claim) == (truth, "EXACT")
        return len(list((tmp_path / folder).iterdir())) - 1

    assert number_of_tasks("few") <= cell_tasks.TASKS
    monkeypatch.setattr(cell_tasks, "REGIONS_PER_TASK", 10)
    many = number_of_tasks("many")
    assert 4 * cell_tasks.TASKS < many <= cell_tasks.MOST_TASKS
    assert many < truth / 5
    monkeypatch.setattr(cell_tasks, "REGIONS_TRIED", 1)  # what there is more of counts by its share of the work
    assert many / 3 < number_of_tasks("guessed") < 3 * many
