"""A tracker in the loops of others: callbacks for Lightning and for the Trainer of Hugging Face's transformers.

They say when to record and which numbers the loop knows; everything else is the tracker's.
"""

import sys
from collections.abc import Mapping
from typing import Any

from reluscope.analyses.tracking.record_files import plain
from reluscope.analyses.tracking.tracker import Tracker
from reluscope.arguments import Count, read_arguments
from reluscope.errors import InputError, ReluscopeError


@read_arguments
def lightning_callback(tracker: Tracker, *, every: Count = 1) -> Any:
    """Return a callback for a Lightning ``Trainer`` that records at the ends of training epochs.

    Parameters
    ----------
    tracker : Tracker
        Of the LightningModule, or of the part of it to be tracked.
    every : int
        Number of epochs from one record to the next.

    Returns
    -------
    lightning.pytorch.Callback
        Logged metrics are stored with the record, by name. With several processes, the first one records.

    Raises
    ------
    ReluscopeError
        If neither ``lightning`` nor ``pytorch_lightning`` is installed: ``pip install "reluscope[lightning]"``.

    Examples
    --------
    A loop of two lines::

        with rs.Tracker(module.net, images, "run.parquet", labels=labels) as tracker:
            Trainer(max_epochs=10, callbacks=[rs.tracking.lightning_callback(tracker)]).fit(module, loader)
    """

    class TrackerCallback(_lightning().Callback):
        """Records after the training of an epoch."""

        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            """Record the weights as they are after the epoch."""
            del pl_module
            if trainer.is_global_zero and (trainer.current_epoch + 1) % every == 0:
                logged = _plain(trainer.callback_metrics)
                tracker.record(epoch=trainer.current_epoch, step=trainer.global_step, **logged)

    return TrackerCallback()


@read_arguments
def transformers_callback(tracker: Tracker, *, steps: Count | None = None) -> Any:
    """Return a callback for the ``Trainer`` of transformers that records after epochs or steps.

    Parameters
    ----------
    tracker : Tracker
        Of the model, or of the part of it to be tracked; for a model that returns a dict, of the inner module that
        computes the logits.
    steps : int, optional
        Number of steps from one record to the next; by default, a record follows every epoch.

    Returns
    -------
    transformers.TrainerCallback
        Values that the Trainer logged since the previous record are stored with the record. With several processes,
        the first one records.

    Raises
    ------
    ReluscopeError
        If transformers is not installed: ``pip install "reluscope[transformers]"``.

    Examples
    --------
    A loop of two lines::

        with rs.Tracker(model.net, images, "run.parquet", labels=labels) as tracker:
            callbacks = [rs.tracking.transformers_callback(tracker)]
            Trainer(model, arguments, train_dataset=data, callbacks=callbacks).train()
    """
    try:
        from transformers import TrainerCallback  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ReluscopeError(
            'expected the package transformers, and it is not installed: run pip install "reluscope[transformers]"'
        ) from error

    class Recording(TrainerCallback):
        """Records after epochs or steps."""

        def on_epoch_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
            """Record after an epoch."""
            del args, control, others
            if steps is None:
                _record(state)

        def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
            """Record after a step."""
            del args, control, others
            if steps is not None and state.global_step % steps == 0:
                _record(state)

    seen = 0

    def _record(state: Any) -> None:
        nonlocal seen
        if not state.is_world_process_zero:
            return
        logged: dict[str, Any] = {}
        for entry in state.log_history[seen:]:
            logged |= {name: value for name, value in entry.items() if name not in ("epoch", "step")}
        seen = len(state.log_history)
        tracker.record(epoch=state.epoch, step=state.global_step, **_plain(logged))

    return Recording()


def _plain(logged: Mapping[str, Any]) -> dict[str, float]:
    """Return what are numbers, always as fractions, so that a column stays of one kind; names of ours get a prefix."""
    numbers: dict[str, float] = {}
    for name, value in logged.items():
        try:
            number = plain(value)
        except InputError:
            continue
        if isinstance(number, int | float):
            numbers[f"{name}_logged" if name in ("epoch", "step", "self") else name] = float(number)
    return numbers


def _lightning() -> Any:
    """Return the Lightning that is in use: the two packages refuse each other's callbacks."""
    names = ("lightning.pytorch", "pytorch_lightning")
    for name in names:
        if sys.modules.get(name) is not None:
            return sys.modules[name]
    for name in names:
        try:
            __import__(name)
        except ImportError:
            continue
        return sys.modules[name]
    raise ReluscopeError(
        'expected the package lightning, and it is not installed: run pip install "reluscope[lightning]"'
    )
