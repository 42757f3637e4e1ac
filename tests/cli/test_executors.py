"""Who does the work: processes and dask workers give the same results, lost ones included; what is refused."""

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from importlib import import_module

import pytest

import reluscope as rs
from cli.running import is_one_sentence, reluscope
from reluscope.cli.terminal.executors import ExecutorOptions, open_executor
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.driver.parallel import Lost, run_tasks
from reluscope.partitions.tree.tree_count import tree_count
from reluscope.progress import RegionProgress
from reluscope.stopping import Stop, StopReason, words_of
from reluscope.testing import default_network


@pytest.fixture(scope="module")
def net():
    return from_arrays(default_network([30, 7, 5, 1]))


BOX = rs.Box(-1, 1, 30)


class Told(RegionProgress):
    """Hands on how many tasks are done."""

    def __init__(self, told):
        super().__init__()
        self.show_tasks = told


def tasks(told):
    """Return a listener that keeps the last number of tasks done."""
    return Told(lambda done, every: told.append((done, every)))


def test_this_process_is_no_executor():
    with open_executor(ExecutorOptions()) as executor:
        assert executor is None


@pytest.mark.slow
def test_processes(net):
    told = []
    with open_executor(ExecutorOptions(workers=1)) as executor:
        assert isinstance(executor, ProcessPoolExecutor)
        found = tree_count(net, BOX, Effort(executor=executor, count=tasks(told)))
        # What is still being done at the end is given up, and does not hold it up.
        executor.submit(time.sleep, 1000)
    while multiprocessing.active_children():
        time.sleep(0.05)  # the system takes its time to bury a process
    assert found.num_found == tree_count(net, BOX).num_found
    assert told[-1][0] == told[-1][1] > 90


class Cluster:
    """A scheduler and a worker under a nanny, as the command line of dask starts them, in processes of their own.

    Not dask's `LocalCluster`: closing it waits without end for a nanny that is starting a worker anew, as after one was
    killed, when the scheduler is gone; and its scheduler shares this process with whatever is being computed here.
    """

    def __init__(self, log):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.log, self.processes = log, []

    def start(self, kind, *options):
        """Start a part, which reads the modules that this process reads."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
        environment["DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"] = "1"  # a worker takes seconds to start anew
        line = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options, "--no-dashboard"]
        self.processes.append(
            subprocess.Popen(line, env=environment, stdout=self.log, stderr=self.log, start_new_session=True)
        )
        return self.processes[-1]

    def start_scheduler(self):
        return self.start("scheduler", "--host", "127.0.0.1", "--port", str(self.port))

    def start_worker(self):
        return self.start("worker", self.address, "--nthreads", "1")

    def wait(self):
        """Wait until there is a scheduler; commands wait for a worker themselves."""
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
                return
            except OSError:
                assert all(process.poll() is None for process in self.processes)
                time.sleep(0.1)

    def kill(self):
        """End everything, the nanny's workers included."""
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def started(folder):
    pytest.importorskip("distributed", reason="distributed is not installed")
    with (folder / "dask.log").open("wb") as log:
        cluster = Cluster(log)
        try:
            cluster.start_scheduler()
            cluster.start_worker()
            cluster.wait()
            yield cluster
        finally:
            cluster.kill()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    yield from started(tmp_path_factory.mktemp("dask"))


@pytest.fixture
def own_cluster(tmp_path):
    yield from started(tmp_path)


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


@pytest.mark.slow
def test_a_command_with_dask(folder, cluster):
    result = reluscope("partition", "my_models:cross", "--box", "-1,1", "--dask", cluster.address, "--json")
    assert result.exit_code == 0, result.output
    assert '"value": 4' in result.stdout


@pytest.mark.slow
def test_dask_workers(net, cluster, monkeypatch):
    monkeypatch.setattr(import_module("reluscope.partitions.tree.tree_search"), "MAX_TASKS", 4)
    told = []
    with open_executor(ExecutorOptions(dask=cluster.address)) as executor:
        found = tree_count(net, BOX, Effort(executor=executor, count=tasks(told)))
    assert found.num_found == tree_count(net, BOX).num_found
    assert (found.left, words_of(found.stop)) == ((), "")
    assert told[-1] == (4, 4)


@pytest.mark.slow
def test_a_scheduler_without_workers(cluster, monkeypatch):
    def wait_in_vain(client, number, timeout):
        raise TimeoutError

    monkeypatch.setattr("distributed.Client.wait_for_workers", wait_in_vain)
    with (
        pytest.raises(InputError, match="has no workers: start some with `dask worker tcp://"),
        open_executor(ExecutorOptions(dask=cluster.address)),
    ):
        pass


def die_elsewhere(here):
    """End a process as one ends that is pressed for memory, but not the one that asked."""
    assert os.getpid() != here
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_count_while_a_worker_is_killed(net, cluster, monkeypatch):
    monkeypatch.setattr(import_module("reluscope.partitions.tree.tree_search"), "MAX_TASKS", 12)
    with open_executor(ExecutorOptions(dask=cluster.address)) as executor:
        victim, told = executor.submit(os.getpid).result(), []

        def strike(done, every):
            told.append((done, every))
            if done == 2:
                os.kill(victim, signal.SIGKILL)

        found = tree_count(net, BOX, Effort(executor=executor, count=Told(strike)))
    assert (found.num_found, found.left, words_of(found.stop)) == (tree_count(net, BOX).num_found, (), "")
    assert told[-1] == (12, 12)


@pytest.mark.slow
@pytest.mark.parametrize("end", ["closed", "killed", "deaf", "restarted", "without workers"])
def test_a_count_whose_scheduler_goes_away(net, own_cluster, monkeypatch, end):
    """Dask's futures stay pending for ever when a scheduler says goodbye or stops to answer, or has no workers left."""
    monkeypatch.setattr(import_module("reluscope.partitions.tree.tree_search"), "MAX_TASKS", 12)
    monkeypatch.setattr(import_module("reluscope.partitions.driver.parallel"), "SECONDS_OF_SILENCE", 1.0)
    monkeypatch.setattr(import_module("reluscope.partitions.driver.parallel"), "SECONDS_OF_REPLY", 2.0)
    scheduler, worker = own_cluster.processes

    def strike(done, every):
        if done != 2:
            return
        if end == "without workers":
            os.killpg(worker.pid, signal.SIGKILL)
            return
        scheduler.send_signal({"closed": signal.SIGTERM, "deaf": signal.SIGSTOP}.get(end, signal.SIGKILL))
        if end == "restarted":
            scheduler.wait()
            own_cluster.start_scheduler()

    with open_executor(ExecutorOptions(dask=own_cluster.address)) as executor:
        found = tree_count(net, BOX, Effort(executor=executor, count=Told(strike)))
    assert (found.num_found, found.left, words_of(found.stop)) == (tree_count(net, BOX).num_found, (), "")


@pytest.mark.slow
def test_a_task_that_kills_every_worker_is_given_up(own_cluster):
    own_cluster.start_worker()
    with open_executor(ExecutorOptions(dask=own_cluster.address)) as executor:
        results = dict(run_tasks(os.kill, [(0, 0), (0, 0)], executor))
        assert results == {0: None, 1: None}
        found = dict(run_tasks(die_elsewhere, [(os.getpid(),)], executor))
    assert found == {0: Lost(Stop(StopReason.WORKERS_DIED))}


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


@pytest.mark.slow
def test_a_server_that_is_no_scheduler(monkeypatch):
    """Its first words are the size of a message to distributed. Seen red: "this machine has too little memory"."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")

    def client(*arguments, **options):
        raise MemoryError("Unable to allocate 3.07 EiB")

    monkeypatch.setattr(distributed, "Client", client)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        with (
            pytest.raises(InputError, match="no dask scheduler answered at"),
            open_executor(ExecutorOptions(dask=address)),
        ):
            pass


def test_a_scheduler_that_is_not_there():
    pytest.importorskip("distributed", reason="distributed is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    for where in (address, "nowhere at all", "tcp://127.0.0.1", "tcp://127.0.0.1:what"):
        with (
            pytest.raises(InputError, match=r"no dask scheduler answered at .*: give the address"),
            open_executor(ExecutorOptions(dask=where)),
        ):
            pass


@pytest.mark.few(1)
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
