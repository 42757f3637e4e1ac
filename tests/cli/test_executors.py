"""Who does the work: processes and dask workers give the same results, lost ones included; what is refused."""

import multiprocessing
import os
import signal
import socket
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import pytest

import reluscope as rs
from cli.running import is_one_sentence, reluscope
from reluscope.cli.executors import ExecutorArguments, open_executor
from reluscope.errors import InputError
from reluscope.networks.from_arrays import from_arrays
from reluscope.partitions.parallel import run_tasks
from reluscope.partitions.tree_count import tree_count
from reluscope.testing import default_network


@pytest.fixture(scope="module")
def net():
    return from_arrays(default_network([30, 7, 5, 1]))


BOX = rs.Box(-1, 1, 30)


def tasks(told):
    """Return a listener that keeps the last number of tasks done."""
    return lambda done, every: told.append((done, every))


def test_this_process_is_no_executor():
    with open_executor(ExecutorArguments()) as executor:
        assert executor is None


@pytest.mark.slow
def test_processes(net):
    told = []
    with open_executor(ExecutorArguments(workers=1)) as executor:
        assert isinstance(executor, ProcessPoolExecutor)
        found = tree_count(net, BOX, executor=executor, tell=tasks(told))
        # What is still being done at the end is given up, and does not hold it up.
        executor.submit(time.sleep, 1000)
    while multiprocessing.active_children():
        time.sleep(0.05)  # the system takes its time to bury a process
    assert found.num_regions == tree_count(net, BOX).num_regions
    assert told[-1][0] == told[-1][1] > 90


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    # Workers are spawned, and read the paths of this process.
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as started:
        yield started
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(autouse=True)
def end():
    """Let a test that hangs fail: nothing here may wait without end, however busy the machine is."""

    def fail(*_):
        pytest.fail("a test of executors did not end within ten minutes")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(600)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_a_command_with_dask(folder, cluster):
    result = reluscope("partition", "my_models:cross", "--box", "-1,1", "--dask", cluster.scheduler_address, "--json")
    assert result.exit_code == 0, result.output
    assert '"value": 4' in result.stdout


@pytest.mark.slow
def test_dask_workers(net, cluster, monkeypatch):
    monkeypatch.setattr("reluscope.partitions.tree_search.MOST_TASKS", 4)
    told = []
    with open_executor(ExecutorArguments(scheduler=cluster.scheduler_address)) as executor:
        found = tree_count(net, BOX, executor=executor, tell=tasks(told))
    assert found.num_regions == tree_count(net, BOX).num_regions
    assert (found.num_open, found.stopped) == (0, "")
    assert told[-1] == (4, 4)


@pytest.mark.slow
def test_a_scheduler_without_workers(cluster, monkeypatch):
    def wait_in_vain(client, number, timeout):
        raise TimeoutError

    monkeypatch.setattr("distributed.Client.wait_for_workers", wait_in_vain)
    with (
        pytest.raises(InputError, match="has no workers: start some with `dask worker tcp://"),
        open_executor(ExecutorArguments(scheduler=cluster.scheduler_address)),
    ):
        pass


@pytest.mark.slow
def test_the_loss_of_a_dask_worker(cluster):
    victim, results = next(iter(cluster.workers.values())).pid, []
    with open_executor(ExecutorArguments(scheduler=cluster.scheduler_address)) as executor:
        for result in run_tasks(time.sleep, [(0.05,)] * 20, executor):
            results.append(result)
            if len(results) == 2:
                os.kill(victim, signal.SIGKILL)
    assert sorted(results) == [(index, None) for index in range(20)]


@pytest.mark.slow
def test_a_count_while_a_worker_dies_and_the_scheduler_closes(net, monkeypatch):
    """A cluster of its own: at first its worker is killed, then all of it is closed while tasks are under way.

    Dask's futures stay pending for ever when a scheduler says goodbye; who waited for them never came back.
    """
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    monkeypatch.setattr("reluscope.partitions.tree_search.MOST_TASKS", 12)
    monkeypatch.setattr("reluscope.partitions.parallel.SILENCE", 1.0)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    told = []
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as cluster:

        def strike(done, every):
            told.append((done, every))
            if done == 1:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
            elif done == 4:
                cluster.sync(cluster.scheduler.close)

        with open_executor(ExecutorArguments(scheduler=cluster.scheduler_address)) as executor:
            found = tree_count(net, BOX, executor=executor, tell=strike)
    assert (found.num_regions, found.num_open, found.stopped) == (tree_count(net, BOX).num_regions, 0, "")
    assert told[-1] == (12, 12)


def test_a_command_with_processes(folder):
    result = reluscope("partition", "my_models:cross", "--box", "-1,1", "--workers", "2", "--json")
    assert result.exit_code == 0, result.output
    assert '"value": 4' in result.stdout


def test_without_dask_it_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = reluscope("partition", "my_models:cross", "--box", "-1,1", "--dask", "tcp://127.0.0.1:1")
    assert result.exit_code == 1
    assert is_one_sentence(result.stderr)
    assert 'pip install "reluscope[dask]"' in result.stderr


def test_a_scheduler_that_is_not_there():
    pytest.importorskip("distributed", reason="distributed is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    for where in (address, "nowhere at all", "tcp://127.0.0.1", "tcp://127.0.0.1:what"):
        with (
            pytest.raises(InputError, match=r"no dask scheduler answered at .*: give the address"),
            open_executor(ExecutorArguments(scheduler=where)),
        ):
            pass


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--workers", "2", "--dask", "tcp://a:1"), "one way to share the work"),
        (("--workers", "0"), "--workers"),
        (("--workers", "2", "--certify"), "works in one process"),
    ],
)
def test_wrong_usage(folder, options, words):
    result = reluscope("partition", "my_models:cross", "--box", "-1,1", *options)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.replace("│", "").split())
