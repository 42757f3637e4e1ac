"""Where the numbers of a record go besides the tracker's file: boards of TensorBoard, runs of Weights & Biases.

A sink is a function ``sink(numbers, epoch=, step=)``: a tracker calls its sinks after each record that it has written.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any

from reluscope.analyses.tracking.record_quantities import QUANTITIES
from reluscope.arguments import read_arguments
from reluscope.errors import InputError, ReluscopeError

Sink = Callable[..., None]
PREFIX = "reluscope"


def numbers_of(row: Mapping[str, Any], gates: tuple[str, ...]) -> dict[str, float]:
    """Return the numbers of a record by name, one per gate where there is one, the median of segments.

    ``row`` is as the file has it. Where a number claims less than EXACT, its certain ends are beside it:
    ``accuracy_lower``, ``accuracy_upper``.
    """
    numbers: dict[str, float] = {}
    for name, quantity in QUANTITIES.items():
        values, intervals = row.get(name), row.get(f"{name}_interval")
        if values is None or quantity.per == "segment":
            continue
        if quantity.per == "network":
            _add(numbers, name, values, intervals)
            continue
        for gate, value, ends in zip(gates, values, intervals or [None] * len(gates), strict=True):
            _add(numbers, f"{name}/{gate}", value, ends)
    return numbers


def _add(numbers: dict[str, float], name: str, value: Any, ends: Any) -> None:
    if value is None:
        return
    numbers[name] = float(value)
    for ending, end in zip(("lower", "upper"), ends or (), strict=False):
        if end is not None:
            numbers[f"{name}_{ending}"] = float(end)


@read_arguments
def tensorboard_sink(board: Any) -> Sink:
    """Return a sink that writes scalars ``reluscope/NAME`` for TensorBoard.

    Parameters
    ----------
    board : path or torch.utils.tensorboard.SummaryWriter
        A folder of logs, or an existing writer.

    Returns
    -------
    callable
        For ``Tracker(sinks=[...])``. Points are at the step passed to `Tracker.record`, or at the record's number.

    Raises
    ------
    InputError
        If ``board`` is neither.
    ReluscopeError
        If the package tensorboard is not installed: ``pip install "reluscope[tensorboard]"``.

    Examples
    --------
    >>> import reluscope as rs
    >>> class Writer:
    ...     def add_scalar(self, name, value, step): print(name, value, step)
    ...     def flush(self): pass
    >>> rs.tracking.tensorboard_sink(Writer())({"accuracy": 0.5}, epoch=3.0, step=7)
    reluscope/accuracy 0.5 7
    """
    writer = board
    if isinstance(board, str | os.PathLike):
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise ReluscopeError(
                'expected the package tensorboard, and it is not installed: run pip install "reluscope[tensorboard]"'
            ) from error
        writer = SummaryWriter(os.fspath(board))
    elif not _has(board, "add_scalar", "flush"):
        raise InputError(f"expected board as a folder or a SummaryWriter, got {_kind(board)}")

    def write(numbers: Mapping[str, float], *, epoch: float, step: int) -> None:
        del epoch
        for name, value in numbers.items():
            writer.add_scalar(f"{PREFIX}/{name}", value, step)
        writer.flush()

    return write


@read_arguments
def wandb_sink(run: Any) -> Sink:
    """Return a sink that logs ``reluscope/NAME`` to a run of Weights & Biases, over ``reluscope/epoch``.

    Parameters
    ----------
    run : wandb.Run
        As returned by ``wandb.init``; ``wandb.init(mode="offline")`` requires no network and no account.

    Returns
    -------
    callable
        For ``Tracker(sinks=[...])``. The run's own step counter is unaffected.

    Raises
    ------
    InputError
        If ``run`` is not a run.

    Examples
    --------
    >>> import reluscope as rs
    >>> class Run:
    ...     def define_metric(self, name, step_metric=None): pass
    ...     def log(self, numbers): print(numbers)
    >>> rs.tracking.wandb_sink(Run())({"accuracy": 0.5}, epoch=3.0, step=7)
    {'reluscope/accuracy': 0.5, 'reluscope/epoch': 3.0, 'reluscope/step': 7}
    """
    if not _has(run, "define_metric", "log"):
        raise InputError(f"expected run as wandb.init returns it, got {_kind(run)}")
    run.define_metric(f"{PREFIX}/*", step_metric=f"{PREFIX}/epoch")

    def write(numbers: Mapping[str, float], *, epoch: float, step: int) -> None:
        named = {f"{PREFIX}/{name}": value for name, value in numbers.items()}
        run.log({**named, f"{PREFIX}/epoch": epoch, f"{PREFIX}/step": step})

    return write


def _has(thing: Any, *methods: str) -> bool:
    return all(callable(getattr(thing, name, None)) for name in methods)


def _kind(thing: Any) -> str:
    return f"a {type(thing).__name__}"
