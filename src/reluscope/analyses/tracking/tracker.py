"""The tracker: measures a model in training at each record, and keeps the records in a file.

The model is traced once, from a copy; later only its weights are read. Nothing of the training is touched: not the
model, its mode or gradients, nor the global random state.
"""

import os
import time
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import nn

from reluscope.analyses.codespace.sampled import SampleCodes
from reluscope.analyses.tracking.kept_weights import arrays_of, save_weights
from reluscope.analyses.tracking.lock import Lock
from reluscope.analyses.tracking.measurement import Measurement, measure
from reluscope.analyses.tracking.plan import NAMES, draw_rows, first_rows, make_plan
from reluscope.analyses.tracking.record_files import (
    ADVICE,
    LOGGED,
    WHAT,
    column_kind,
    plain,
    read_rows,
    row_of,
    write_rows,
)
from reluscope.analyses.tracking.records import Records
from reluscope.analyses.tracking.sinks import numbers_of
from reluscope.arguments import Count, Natural, Positive, Seed, Share, read_arguments, refuse_jumps
from reluscope.budget import Budget, RegionBudgetForEach
from reluscope.codes.checked_words import check_words
from reluscope.codes.layout import CodeLayout
from reluscope.codes.packed import Codes
from reluscope.errors import InputError, ShapeError
from reluscope.files.sealed_files import not_as_written
from reluscope.files.stored import MALFORMED
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.interruption import deferred
from reluscope.networks.evaluation.pass_time import region_seconds
from reluscope.networks.graph.points import Points
from reluscope.networks.models.load import load
from reluscope.networks.network import Network
from reluscope.partitions.partition_in_memory import Partition

# Regions of a plane at most, and as many as take so many seconds, but some.
PLANE_REGIONS, PLANE_SECONDS, FEWEST_REGIONS = 50_000, 10.0, 1_000
CHECKED_AT = 64
# What is to be written beside the file: partitions, and weights by name.
Waiting = Partition | dict[str, np.ndarray]


@read_arguments
class Tracker:
    """Records of a model in training: codes of samples, regions on segments, Jacobians, and more.

    Parameters
    ----------
    model : torch.nn.Module
        The model in training. It is traced at construction, from a copy in evaluation mode, and is not changed.
    data : (s, *input_shape) or (s, n)
        Points from which the samples are drawn.
    file : path
        A Parquet file. An existing file is continued if it was begun with the same settings.
    labels : (s,) integers, optional
        Classes of the points, for accuracy, cross-entropy and codes of correct samples.
    input_shape : int or tuple of int, optional
        Shape of one point, if neither the data nor a first linear layer determines it.
    samples : int
        Number of points drawn; all, if there are fewer.
    segments : int
        Number of segments between samples of one class, and as many between different classes; without labels, of
        all segments.
    segment_share : float, optional
        Length of a segment, as a share of the distance to the other sample. By default the whole distance in
        networks of up to 128 units, and 128 over the number of units in larger ones: the cost then hardly depends
        on the network.
    jacobians : int
        Number of samples at which norms of the Jacobian are computed.
    plane : Plane, Box, or three rows of the data, optional
        Partitioned exactly at every record; partitions are saved in a folder beside the file.
    budget : Budget, optional
        Of each partition; by default 50,000 regions, fewer for large networks. A count that the budget ends is
        LOWER.
    complexity_radius : float, optional
        Radius of local complexity around the samples of the Jacobians, by three definitions: units that cross a
        cross-polytope (`sensitivity.cross_polytope_complexity`), regions in a square of a random plane, and the
        density of bends (`sensitivity.kink_density`).
    keep_weights : bool
        Store the weights of every record in a folder beside the file, for `Records.network`, `Records.partitions`
        of any plane, animations of them (`plots.training_animation`), and the epochs of the explorer. Records of
        the same network share one file.
    sinks : sequence of callable
        Further outputs of each record's numbers: ``sink(numbers, epoch=, step=)`` is called after each completed
        record. `tracking.tensorboard_sink` and `tracking.wandb_sink` return sinks. A sink that fails causes a
        warning.
    seed : int
        Of the random draws.
    device : str
        Device on which the samples are evaluated.
    overwrite : bool
        Start a new file; existing records and partitions are lost.

    Raises
    ------
    InputError, ShapeError
        If the model, data, labels or file cannot be used, or the file was begun with other settings.

    Notes
    -----
    At default settings a record costs a few forward passes over 500 samples in float64; `overhead` is the share of
    the training time spent.

    Examples
    --------
    >>> from torch import nn
    >>> import numpy as np, tempfile, reluscope as rs
    >>> model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> points = np.random.default_rng(0).normal(size=(50, 2))
    >>> with rs.Tracker(model, points, tempfile.mkdtemp() + "/run.parquet") as tracker:
    ...     for epoch in range(3):
    ...         tracker.record(epoch=epoch)
    >>> tracker.records["changed_samples"]
    array([nan,  0.,  0.])
    """

    def __init__(
        self,
        model: nn.Module,
        data: Points,
        file: str | os.PathLike[str],
        *,
        labels: Any = None,
        input_shape: int | Sequence[int] | None = None,
        samples: Count = 500,
        segments: Natural = 4,
        segment_share: Share | None = None,
        jacobians: Natural = 16,
        plane: Slice | Box | Sequence[int] | None = None,
        budget: RegionBudgetForEach | None = None,
        complexity_radius: Positive | None = None,
        keep_weights: bool = False,
        sinks: Sequence[Callable[..., None]] = (),
        seed: Seed = 0,
        device: torch.device | str = "cpu",
        overwrite: bool = False,
    ) -> None:
        if samples < 1 or segments < 0 or jacobians < 0:
            raise InputError(
                f"expected samples of 1 or more, and segments and jacobians of 0 or more, got {samples}, {segments} "
                f"and {jacobians}"
            )
        self._path = Path(file).resolve()  # one lock, whatever the file is called
        self._folder = self._path.with_name(f"{self._path.stem}.partitions")
        self._weights_folder = self._path.with_name(f"{self._path.stem}.weights")
        self._keeps_weights = keep_weights
        self._sinks = tuple(sinks)
        self._lock: Lock | None = Lock(self._path)
        try:
            self._model = getattr(model, "_orig_mod", model)  # what torch.compile wrapped
            network = load(model, input_shape, data=first_rows(data, CHECKED_AT))
            refuse_jumps("Tracker", network)
            self._network = network.to(device)
            self._plan = make_plan(
                network,
                data,
                draw_rows(data, network.input_shape, samples, seed),
                labels=labels,
                segments=segments,
                segment_share=segment_share,
                jacobians=jacobians,
                plane=plane,
                budget=budget or _plane_budget(network),
                complexity_radius=complexity_radius,
                seed=seed,
            )
            self._rows: tuple[dict[str, Any], ...] = ()
            self._before: SampleCodes | None = None
            self._waiting: dict[str, Waiting] = {}
            self._is_written = True
            self._names = set(_state(self._model))
            if self._path.exists():
                self._go_on(overwrite)
            else:
                write_rows(self._path, self._rows, self._plan.settings)
        except BaseException:
            self._lock.release()
            raise
        self._ended = time.perf_counter()

    @property
    def records(self) -> Records:
        """What was recorded so far, those of an earlier run that this one goes on with included."""
        return Records(self._path, self._rows, self._plan.settings)

    @property
    def overhead(self) -> Finding | None:
        """The time of recording over the time between records; see `Records.overhead`."""
        return self.records.overhead()

    @read_arguments
    def record(self, epoch: float | None = None, *, step: Natural | None = None, **logged: Any) -> None:
        """Measure the model in its current state, and write a record.

        Parameters
        ----------
        epoch : number, optional
            By default one more than at the last record, and 0 at the first.
        step : int, optional
            Training step.
        **logged : number, text, or truth value
            Stored with the record, in columns ``logged_NAME``.

        Raises
        ------
        InputError
            If the tracker is closed, or a logged value is not plain, or of another kind than before.
        ShapeError
            If the model has changed its shape.

        Notes
        -----
        Weights that are not finite cause a record without measurements, and a warning: a diverged training may recover,
        and its records show when it diverged. If the file cannot be written, a warning is given, and the record is
        written with the next one, or by `close`. Ctrl-C leaves file and tracker unchanged.
        """
        if self._lock is None:
            raise InputError(f"the tracker of {self._path} is closed: open it again to record more")
        began = time.perf_counter()
        row: dict[str, Any] = {"record": len(self._rows), **self._said(epoch, step, logged)}
        found, fingerprint, state = self._look()
        for note in found.notes:
            warnings.warn(f"record {row['record']}: {note}", stacklevel=2)
        notes = list(found.notes)
        if any((one["epoch"], one["step"]) == (row["epoch"], row["step"]) for one in self._rows):
            notes.append("this epoch was recorded before")
        waiting = dict(self._waiting)
        if found.part is not None:
            row["partition"] = f"{self._folder.name}/record-{row['record']:05d}.arrow"
            waiting[row["partition"]] = found.part
        if self._keeps_weights and state is not None:
            row["weights"] = self._place_of_weights(fingerprint)
            if row["weights"] is None:
                row["weights"] = f"{self._weights_folder.name}/record-{row['record']:05d}.arrow"
                waiting[row["weights"]] = arrays_of(state)
        counts = {"gate": len(self._network.gates), "segment": len(self._plan.starts)}
        row |= {
            "partition": row.get("partition"),
            "time": datetime.now(UTC),
            "num_samples": len(self._plan.points),
            "fingerprint": fingerprint,
            "note": "; ".join(notes) or None,
            "seconds_between": began - self._ended,
            **row_of(found.findings, counts),
            **_packed(found.sampled),
            "seconds": time.perf_counter() - began,
        }
        # Only the last codes are needed to go on.
        earlier = [{**one, "codes": None, "doubtful": None} for one in self._rows]
        with deferred():  # file and tracker change together
            self._write((*earlier, row), waiting)
            self._before = found.sampled
            self._ended = time.perf_counter()
        self._tell(row)
        self._ended = time.perf_counter()
        row["seconds_writing"] = self._ended - began - row["seconds"]  # in the file from the next record on

    def close(self) -> None:
        """Write what could not be written yet, and let others have the file.

        Raises
        ------
        InputError
            If it still cannot be written; the tracker stays open, so that closing can be tried again.
        """
        if self._lock is None:
            return
        if not self._is_written:
            self._flush(self._rows, self._waiting)
        self._lock.release()
        self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        try:
            self.close()
        except InputError as error:
            if kind is None:
                raise
            # The training failed for a reason of its own, which is not to be hidden.
            warnings.warn(str(error), stacklevel=2)
        finally:
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def __repr__(self) -> str:
        state = "closed" if self._lock is None else "open"
        return f"Tracker({self._path.name}, {len(self._rows)} records, {state})"

    def _go_on(self, overwrite: bool) -> None:
        """Take up the records of an earlier run, or begin anew."""
        rows, settings = read_rows(self._path)
        if overwrite:
            write_rows(self._path, (), self._plan.settings)
            for folder in (self._folder, self._weights_folder):
                for path in folder.glob("record-*.arrow"):
                    path.unlink()
            return
        for key, name in NAMES.items():
            if settings.get(key) != self._plan.settings.get(key):
                raise InputError(
                    f"expected the {name} that {self._path} was begun with, got another: give the same, name another "
                    "file, or begin anew with overwrite=True"
                )
        self._rows = tuple(rows)
        if rows:
            try:
                self._before = _unpacked(rows[-1], len(self._plan.points), self._network.layout)
            except MALFORMED as error:
                raise not_as_written(self._path, WHAT, ADVICE) from error

    def _said(self, epoch: Any, step: Any, logged: dict[str, Any]) -> dict[str, Any]:
        """Return what the user says of a record, checked against what was said of those before."""
        if epoch is None:
            epoch = self._rows[-1]["epoch"] + 1 if self._rows else 0
        said: dict[str, Any] = {}
        given = {"epoch": epoch, "step": step, **{LOGGED + name: value for name, value in logged.items()}}
        for name, value in given.items():
            try:
                said[name] = plain(value)
                wanted = {"epoch": ("int64", "double"), "step": ("int64",)}.get(name)
                if wanted and (column_kind([said[name]]) not in wanted or not np.isfinite(said[name] or 0)):
                    raise InputError(f"expected a {'whole ' * (name == 'step')}number, got {value!r}")
                column_kind([*(row.get(name) for row in self._rows), said[name]])
            except InputError as error:
                raise InputError(f"{name.removeprefix(LOGGED)} cannot be recorded: {error}") from None
        return said

    def _look(self) -> tuple[Measurement, str | None, dict[str, torch.Tensor] | None]:
        """Measure the model as it is now; the fingerprint is that of its network, which has these weights."""
        state = _state(self._model)
        advice = "name another file and open a tracker for the model as it is now"
        if set(state) != self._names:
            changed = sorted(set(state) ^ self._names)[0]
            raise ShapeError(
                f"expected the weights that the tracker was opened with, but {changed} is new or gone: {advice}"
            )
        bad = [name for name, value in state.items() if not bool(torch.isfinite(value).all())]
        if bad:
            return (
                Measurement({}, notes=(f"the weights in {bad[0]} are not finite, so nothing was measured",)),
                None,
                None,
            )
        try:
            network = self._network.with_parameters(state)
        except InputError as error:
            raise ShapeError(f"expected the model that the tracker was opened with, but {error}: {advice}") from error
        return measure(network, self._plan, self._before), network.fingerprint, state

    def _tell(self, row: dict[str, Any]) -> None:
        """Give the numbers of a record to the sinks; none of them is worth a training."""
        if not self._sinks:
            return
        numbers = numbers_of(row, tuple(gate.name for gate in self._network.gates))
        step = row["record"] if row["step"] is None else row["step"]
        for sink in self._sinks:
            try:
                sink(numbers, epoch=float(row["epoch"]), step=step)
            except Exception as error:
                warnings.warn(f"a sink could not take record {row['record']} ({error})", stacklevel=3)

    def _place_of_weights(self, fingerprint: str | None) -> str | None:
        """Return the file of an earlier record of the same network, if it is there or will be."""
        same = (one.get("weights") for one in self._rows if one["fingerprint"] == fingerprint)
        for name in filter(None, same):
            if name in self._waiting or (self._path.parent / name).is_file():
                return name
        return None

    def _write(self, rows: tuple[dict[str, Any], ...], waiting: dict[str, Waiting]) -> None:
        """Write a record, or keep it for the next time."""
        try:
            self._flush(rows, waiting)
        except InputError as error:
            warnings.warn(f"{error}; the record is kept, and written with the next one", stacklevel=3)
            self._rows, self._waiting, self._is_written = rows, waiting, False

    def _flush(self, rows: tuple[dict[str, Any], ...], waiting: dict[str, Waiting]) -> None:
        """Write what lies beside the file first, so that no record names something that is not there."""
        for name, found in waiting.items():
            path = self._path.parent / name
            try:
                path.parent.mkdir(exist_ok=True)
            except OSError as error:
                raise InputError(f"could not make the folder {path.parent}: {error.strerror or error}") from error
            if isinstance(found, Partition):
                found.save(path)
            else:
                save_weights(path, found)
        write_rows(self._path, rows, self._plan.settings)
        self._rows, self._waiting, self._is_written = rows, {}, True


def _state(model: nn.Module) -> dict[str, torch.Tensor]:
    """Return weights and buffers by name, those buffers included that a state dict leaves out."""
    state = {**dict(model.named_buffers()), **model.state_dict()}
    return {name: value.detach() for name, value in state.items() if isinstance(value, torch.Tensor)}


def _packed(sampled: SampleCodes | None) -> dict[str, bytes | None]:
    if sampled is None:
        return {"codes": None, "doubtful": None}
    return {"codes": sampled.codes.words.tobytes(), "doubtful": np.packbits(sampled.doubtful, axis=1).tobytes()}


def _unpacked(row: dict[str, Any], number: int, layout: CodeLayout) -> SampleCodes | None:
    """Return the codes of the last record, if it has any."""
    if row["codes"] is None:
        return None
    words = np.frombuffer(row["codes"], dtype=np.uint64).reshape(number, layout.num_words)
    check_words(words, layout)
    packed = np.frombuffer(row["doubtful"], dtype=np.uint8).reshape(number, -(-len(layout) // 8))
    doubtful = np.unpackbits(packed, axis=1, count=len(layout)).astype(bool)
    return SampleCodes(Codes(words, layout), doubtful, 0.0)


def _plane_budget(network: Network) -> Budget:
    regions = int(PLANE_SECONDS / region_seconds(network))
    return Budget(regions=max(FEWEST_REGIONS, min(PLANE_REGIONS, regions)))
