"""The records of a run as arrays over records, each number with its claim."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from reluscope.analyses.tracking.complexity import num_squares
from reluscope.analyses.tracking.kept_weights import network_with_weights
from reluscope.analyses.tracking.record_files import CODES, LOGGED, logged_names, read_rows, to_table
from reluscope.analyses.tracking.record_quantities import QUANTITIES
from reluscope.arguments import read_arguments, read_position
from reluscope.budget import RegionBudgetForEach
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Finding
from reluscope.findings.data_frames import as_pandas
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import Progress, share_done

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

# A share of a shorter training says nothing: what is done once weighs most in it.
LONG_TRAINING = 60.0
# What is measured at the samples of the Jacobians only.
AT_JACOBIANS = ("spectral_norm", "frobenius_norm", "crossing_units", "square_regions", "kink_density")


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a tracker: the rows of its file, which may still grow.

    A record has numbers of the network, of each gate and of each segment, which do not form one table: `findings`
    returns one quantity, each value with its claim.

    Parameters
    ----------
    path : Path
        Of the file.
    rows : sequence of mappings
        One per record, by column.
    settings : mapping
        What every record measures; see `Plan`.

    Examples
    --------
    >>> import numpy as np, tempfile, torch, reluscope as rs
    >>> model, file = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()), tempfile.mkdtemp() + "/run.parquet"
    >>> with rs.Tracker(model, np.eye(2), file) as tracker:
    ...     tracker.record(epoch=0, loss=0.5)
    >>> records = rs.tracking.read_records(file)
    >>> records, records.epochs, records.logged, records.findings("changed_samples")
    (Records(1 record of run.parquet), array([0.]), {'loss': [0.5]}, (None,))
    """

    path: Path
    rows: Sequence[Mapping[str, Any]]
    settings: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Records({len(self)} record{'s' * (len(self) != 1)} of {self.path.name})"

    @property
    def gates(self) -> tuple[str, ...]:
        """Names of the gates, in order of evaluation."""
        return tuple(gate[0] for gate in self.settings["gates"])

    @property
    def num_samples(self) -> int:
        """How many samples every record looks at."""
        return len(self.settings["samples"])

    @cached_property
    def epochs(self) -> Float[np.ndarray, " records"]:
        """The epoch of every record."""
        return np.array([float(row["epoch"]) for row in self.rows])

    @property
    def logged(self) -> dict[str, list[Any]]:
        """What the user logged, by name; None where a record has none of it."""
        names = logged_names(self.rows)
        return {name.removeprefix(LOGGED): [row.get(name) for row in self.rows] for name in names}

    @property
    def notes(self) -> tuple[tuple[int, str], ...]:
        """What could not be measured: number of the record and why."""
        return tuple((row["record"], row["note"]) for row in self.rows if row.get("note"))

    @property
    def partition_files(self) -> tuple[tuple[float, Path], ...]:
        """Epochs and files of the partitions that a tracker with ``plane=`` saved; `Partition.load` opens them."""
        found = [(float(row["epoch"]), self.path.parent / row["partition"]) for row in self.rows if row["partition"]]
        return tuple((epoch, path) for epoch, path in found if path.is_file())

    @property
    def has_weights(self) -> tuple[bool, ...]:
        """Of which records the weights are there."""
        return tuple(bool(row.get("weights")) and (self.path.parent / row["weights"]).is_file() for row in self.rows)

    @read_arguments
    def network(self, record: int, network: Network) -> Network:
        """Return the network as it was at a record of a tracker that kept weights.

        Parameters
        ----------
        record : int
            Position among the records.
        network : Network
            The trained model, or any other state of it, as `reluscope.load` returns it.

        Returns
        -------
        Network

        Raises
        ------
        InputError
            If the record has no weights, their file is missing or damaged, or the weights are not those of this
            network.

        Examples
        --------
        >>> import numpy as np, tempfile, torch, reluscope as rs
        >>> model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
        >>> file = tempfile.mkdtemp() + "/run.parquet"
        >>> with rs.Tracker(model, np.eye(2), file, keep_weights=True) as tracker:
        ...     tracker.record()
        ...     model[0].weight.data *= 2
        ...     tracker.record()
        >>> then = rs.tracking.read_records(file).network(0, rs.load(model))
        >>> then.fingerprint == tracker.records.rows[0]["fingerprint"]
        True
        """
        row = self.rows[read_position(record, "record", len(self), "records")]
        if not row.get("weights"):
            raise InputError(
                f"record {record} of {self.path.name} holds no weights: open the tracker with keep_weights=True"
            )
        return network_with_weights(network, self.path.parent / row["weights"], row["fingerprint"])

    @read_arguments
    def partitions(
        self,
        plane: Slice | Box,
        network: Network,
        *,
        budget: RegionBudgetForEach | None = None,
        progress: Progress = False,
    ) -> Iterator[Partition]:
        """Partition a plane by the network of every record that has weights, one after the other.

        `reluscope.plots.training_animation` makes an animation of the partitions.

        Parameters
        ----------
        plane : Slice or Box
            Any domain; it need not be chosen before the training.
        network : Network
            The trained model, or any other state of it, as `reluscope.load` returns it.
        budget : Budget, optional
            Of each partition.
        progress : bool or callable
            Show progress; a callable receives the finished share, from 0 to 1.

        Returns
        -------
        iterator of Partition
            Each partition is computed on request, so that only one exists at a time. Their epochs are
            ``records.epochs[list(records.has_weights)]``.

        Raises
        ------
        InputError, ShapeError
            If the plane lies in another space, no record has weights, or, on the turn of a record, its file is damaged
            or of another model.

        Examples
        --------
        >>> import numpy as np, tempfile, torch, reluscope as rs
        >>> model = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.ReLU())
        >>> file = tempfile.mkdtemp() + "/run.parquet"
        >>> with rs.Tracker(model, np.eye(2), file, keep_weights=True) as tracker:
        ...     for shift in (0.0, 9.0):
        ...         _ = model[0].bias.data.fill_(shift)
        ...         tracker.record()
        >>> records = rs.tracking.read_records(file)
        >>> [len(part) for part in records.partitions(rs.Box(-1, 1, 2), rs.load(model))]
        [2, 1]
        """
        read_domain(plane, network.num_inputs)
        there = [place for place, is_there in enumerate(self.has_weights) if is_there]
        if not there:
            raise InputError(
                f"no record of {self.path.name} holds weights: open the tracker with keep_weights=True, so that there "
                "is something to look at after the training"
            )
        return self._parts(there, plane, network, Effort.of(budget, None, progress))

    def _parts(self, there: list[int], plane: Slice | Box, network: Network, effort: Effort) -> Iterator[Partition]:
        with share_done("partitions", effort.progress) as tell:
            for number, place in enumerate(there):
                part = partition(self.network(place, network), plane, budget=effort.budget)
                tell((number + 1) / len(there))
                yield part

    @read_arguments
    def __getitem__(self, name: str) -> Float[np.ndarray, "records ..."]:
        """Return a quantity over records, NaN where it is not there: (r,), or (r, gates) or (r, segments).

        Raises
        ------
        InputError
            If there is no such quantity.
        """
        _check(name)
        each = {"network": (), "gate": (len(self.gates),), "segment": (len(self.settings["segments"]),)}
        shape = each[QUANTITIES[name].per]
        found = np.full((len(self), *shape), np.nan)
        for place, row in enumerate(self.rows):
            values = row.get(name)
            if values is not None:
                found[place] = np.array(values, dtype=np.float64)  # None becomes NaN
        return found

    @read_arguments
    def findings(self, name: str) -> tuple[Any, ...]:
        """Return a quantity as findings, one or a tuple of them per record, None where it is not there.

        Raises
        ------
        InputError
            If there is no such quantity.
        """
        _check(name)
        return tuple(self._finding(name, row) for row in self.rows)

    @property
    def seconds(self) -> tuple[float, float]:
        """Seconds of recording and writing, and seconds between records, which are those of training."""
        spent = sum(row["seconds"] + (row["seconds_writing"] or 0.0) for row in self.rows)
        return spent, sum(row["seconds_between"] for row in self.rows)

    def cost(self) -> tuple[Finding, ...]:
        """Return what recording cost, as it is told: in seconds, and as a share where training took over a minute.

        Returns
        -------
        tuple of Finding
            ESTIMATE, as times are; none before there is a record.
        """
        spent, between = self.seconds
        if not self.rows:
            return ()
        seconds = Finding.estimate(
            spent,
            name="recording time",
            definition="seconds of recording and writing",
            domain=f"{len(self)} records",
            method="wall clock",
        )
        share = self.overhead() if between > LONG_TRAINING else None
        return (seconds,) if share is None else (seconds, share)

    def overhead(self) -> Finding | None:
        """Return the time of recording over the time between records, which is that of training.

        Returns
        -------
        Finding or None
            ESTIMATE, as times are; None before there is a record. Where training takes seconds, most of it is what is
            done once; see `cost`.
        """
        spent, between = self.seconds
        if not between > 0:
            return None
        return Finding.estimate(
            spent / between,
            name="overhead",
            definition="time of recording and writing over the time between records, which is that of training",
            domain=f"{len(self)} records",
            method=f"wall clock: {spent:.3g} s of {spent + between:.3g} s",
            is_share=True,
        )

    def to_table(self) -> "pa.Table":
        """Return the records as an Arrow table, one row each, without the packed codes."""
        return to_table(self.rows, self.settings).drop_columns(list(CODES))

    def to_pandas(self) -> "pd.DataFrame":
        """Return `to_table` as a data frame of pandas, which has to be installed."""
        return as_pandas(self.to_table())

    def _finding(self, name: str, row: Mapping[str, Any]) -> Any:
        quantity = QUANTITIES[name]
        values, claims, intervals = (row.get(f"{name}{ending}") for ending in ("", "_claim", "_interval"))
        if values is None:
            return None
        number = len(self.settings["jacobians"]) if name in AT_JACOBIANS else self.num_samples
        if name == "square_regions":
            number = num_squares(number, sum(gate[2] for gate in self.settings["gates"]))
        domain = {
            "segment_regions": f"{len(self.settings['segments'])} segments",
            "median_segment_regions": f"{len(self.settings['segments'])} segments",
            "plane_regions": self.settings["plane"],
        }.get(name)
        about = {"domain": f"{number:,} samples", "num_samples": number} if domain is None else {"domain": domain}

        def one(value: Any, claim: Any, interval: Any) -> Finding | None:
            if value is None:
                return None
            plain = {
                "name": quantity.title,
                "value": value,
                "claim": claim,
                "definition": quantity.definition,
                "is_share": quantity.is_share,
            }
            ends = {} if interval is None else {"interval": interval}
            return Finding.from_dict(plain | ends | about)

        if quantity.per == "network":
            return one(values, claims, intervals)
        return tuple(map(one, values, claims or (), intervals or ()))


@read_arguments
def read_records(path: str | os.PathLike[str]) -> Records:
    """Read the records of a tracker, even while it is running.

    Parameters
    ----------
    path : path

    Returns
    -------
    Records

    Raises
    ------
    InputError
        If the file is missing, damaged, or has other content.
    """
    path = Path(path)
    rows, settings = read_rows(path)
    return Records(path, tuple(rows), settings)


def _check(name: str) -> None:
    if name not in QUANTITIES:
        raise InputError(f"expected one of {', '.join(QUANTITIES)}, got {name!r}")
