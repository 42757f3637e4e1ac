"""The executor of a command: this process, several on this machine, or the workers of a dask scheduler."""

import importlib
import logging
import multiprocessing
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

import typer

from reluscope.cli.terminal.threads import limit_threads
from reluscope.errors import InputError

# Seconds to wait for a machine to answer, for its scheduler to do so, and for a worker, which takes its time to start.
PATIENCE, SCHEDULER_PATIENCE, WORKER_PATIENCE = 10.0, 30.0, 120.0
# Seconds to wait for a thread that has nothing left to do.
THREAD_PATIENCE = 1.0


@dataclass(frozen=True)
class ExecutorOptions:
    """An executor: this process alone, several processes, or a cluster."""

    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, metavar="N", help="Share the work between so many processes of one thread."),
    ] = None
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask", metavar="SCHEDULER", help="Share it between the workers of a dask scheduler: tcp://HOST:PORT."
        ),
    ] = None

    def check(self, *, certify: bool = False) -> None:
        """Raise BadParameter for two options, or one that would do nothing.

        `certify` says that signs are decided in rational arithmetic, which is not shared.
        """
        if self.workers is not None and self.dask is not None:
            raise typer.BadParameter("there is one way to share the work: leave --workers or --dask out")
        if certify and (self.workers or self.dask):
            raise typer.BadParameter("--certify works in one process: leave --workers and --dask out")


@contextmanager
def open_executor(given: ExecutorOptions) -> Iterator[Executor | None]:
    """Yield the executor asked for, or None for this process.

    At the end, unfinished work is given up: by then all needed results have come back. InputError if dask is not
    installed, or no scheduler with workers answers.
    """
    if given.dask is not None:
        with _dask(given.dask) as executor:
            yield executor
    elif given.workers is not None:
        with _processes(given.workers) as executor:
            yield executor
    else:
        yield None


@contextmanager
def _processes(number: int) -> Iterator[Executor]:
    before, threads_before = set(multiprocessing.active_children()), set(threading.enumerate())
    # Not by fork: this process has threads of torch.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(number, mp_context=context, initializer=_prepare)
    try:
        yield executor
    finally:
        threads = set(threading.enumerate()) - threads_before
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
            process.join()
        # Threads that hold semaphores would leave them behind where the program leaves at once.
        for thread in threads:
            _join(thread)


def _join(thread: threading.Thread) -> None:
    """Wait for a thread, for a moment; one that another thread is about to start is none to wait for before."""
    until = time.monotonic() + THREAD_PATIENCE
    while thread.ident is None and time.monotonic() < until:
        time.sleep(0.01)
    if thread.ident is not None:
        thread.join(max(0.0, until - time.monotonic()))


def start_processes(executor: Executor, number: int) -> None:
    """Let processes start and import what they need, beside what this one has to do first."""
    for _ in range(number):
        executor.submit(_import_report)


def _import_report() -> None:
    importlib.import_module("reluscope.report.sharing").prepare()


def _prepare() -> None:
    """Prepare a new worker process: it has one thread and ignores Ctrl-C, which ends the process that waits for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_threads(1)


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise InputError(
            '--dask needs the package distributed, which is not installed: pip install "reluscope[dask]"'
        ) from error
    # What it says of connections that break is for those who look after a cluster: the work goes on here.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        # A client that fails to connect may never end, so that somebody has to be there before there is one.
        place = urlsplit(address)
        socket.create_connection((place.hostname or "", place.port or 0), timeout=PATIENCE).close()
        client = distributed.Client(address, timeout=SCHEDULER_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError, MemoryError) as error:
        # MemoryError: what another server says is read as the size of a message.
        raise InputError(
            f"no dask scheduler answered at {address}: give the address that `dask scheduler` prints, as in "
            "tcp://10.0.0.5:8786"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKER_PATIENCE)
        except TimeoutError as error:
            raise InputError(
                f"the dask scheduler at {address} has no workers: start some with `dask worker {address}`"
            ) from error
        # Tasks of one run are all different, so there is no use in comparing them.
        executor = client.get_executor(pure=False)
        try:
            yield executor
        finally:
            executor.shutdown(wait=False)
