"""Many properties, each decided for itself, on any executor: one row of Parquet each, kept as soon as it is there."""

import hashlib
import math
import os
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from reluscope.analyses.samples.pacing import until_interrupted
from reluscope.analyses.verification.deciding import verify
from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.verdict import Verdict, asked_network
from reluscope.arguments import Seed, holds_across_jumps, read_arguments
from reluscope.budget import RegionBudget, RegionBudgetForEach
from reluscope.errors import InputError
from reluscope.files import stored
from reluscope.files.arrow_tables import parquet_table, write_sealed_parquet
from reluscope.files.sealed_files import not_as_written, read_sealed
from reluscope.files.stored import MALFORMED
from reluscope.files.whole_files import make_folder
from reluscope.networks.network import Network
from reluscope.partitions.driver.parallel import Lost, run_tasks
from reluscope.progress import Progress, share_done
from reluscope.stopping import Stop, is_interrupted

NUMBERS = pa.list_(pa.float64())
SCHEMA = pa.schema(
    {
        "instance": pa.int64(),
        "verdict": pa.string(),
        "undecided": pa.float64(),
        "inputs": NUMBERS,
        "outputs": NUMBERS,
        "kind": pa.string(),
        "examined": pa.int64(),
        "seconds": pa.float64(),
        "stopped": pa.string(),
        "asked": pa.string(),
    }
)


@read_arguments
@holds_across_jumps
def verify_each(
    network: Network,
    properties: Sequence[Property],
    folder: str | os.PathLike[str],
    *,
    budget: RegionBudgetForEach | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
    seed: Seed = 0,
) -> pa.Table:
    """Decide many properties of a network, and store each verdict in a folder as soon as it is found.

    Parameters
    ----------
    network : Network
    properties : sequence of Property
    folder : path
        Stores one Parquet file per row. Stored verdicts are reused, so that interrupted work can be resumed, except
        those that a budget or Ctrl-C left OPEN.
    budget : Budget, optional
        For each property, as in `verify`.
    executor : concurrent.futures.Executor, optional
        Of processes or of dask; without one, properties are decided in this process, in order.
    progress : bool or callable
        Show progress; a callable receives the finished share, from 0 to 1.
    seed : int
        Of the random points of each attack.

    Returns
    -------
    pyarrow.Table
        One row per property: its number ``instance``, ``verdict``, an upper bound ``undecided``, ``inputs`` and
        ``outputs`` of a counterexample or null, ``kind`` and ``examined`` for what was examined and how many,
        ``seconds``, ``stopped``, and ``asked``, a digest of network and property. Properties not reached on Ctrl-C
        are missing.

    Raises
    ------
    InputError
        If the folder cannot be written, or contains rows of other properties or of another network, or damaged
        rows.
    ShapeError
        If a property has other numbers of inputs or outputs than the network.

    Examples
    --------
    >>> import tempfile, numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # |x|
    >>> def at_least(level):
    ...     return rs.verification.Property([rs.verification.Case([-1.0], [1.0], [rs.Polyhedron([[-1.0]], [-level])])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rs.verification.verify_each(net, [at_least(1.01), at_least(0.9)], folder)["verdict"].to_pylist()
    ['HOLDS', 'VIOLATED']
    """
    for safe in properties:
        asked_network(network, safe)
    place = Path(folder)
    make_folder(place)
    digests = [_digest(network, safe) for safe in properties]
    rows: dict[int, dict[str, Any]] = {}
    for index, digest in enumerate(digests):
        row = _kept(_file(place, index), network, index, digest)
        if row is not None and not row["stopped"]:
            rows[index] = row
    rest = [index for index in range(len(properties)) if index not in rows]
    tasks = [(network, properties[index], budget, seed) for index in rest]
    with share_done("properties", progress) as tell:
        report = None if progress is False else lambda done, every: tell(1 - (every - done) / max(1, len(properties)))

        def decide() -> None:
            with closing(run_tasks(_decide, tasks, executor, report=report)) as coming:  # pyright: ignore[reportArgumentType]
                for position, found in coming:
                    index = rest[position]
                    row, stop = _given_up(found) if isinstance(found, Lost) else found
                    rows[index] = {"instance": index, "asked": digests[index], **row}
                    _keep(place, rows[index])
                    if is_interrupted(stop):
                        return

        until_interrupted(decide, rows)
    return _table([rows[index] for index in sorted(rows)])


def _given_up(found: Lost) -> tuple[dict[str, Any], Stop]:
    return {"verdict": "OPEN", "undecided": 1.0, "stopped": str(found.stop)}, found.stop


def _keep(place: Path, row: dict[str, Any]) -> None:
    """Write a row to its file."""
    write_sealed_parquet(_file(place, row["instance"]), _table([row]))


def _file(place: Path, index: int) -> Path:
    return place / f"{index:06d}.parquet"


def _decide(
    network: Network, safe: Property, budget: RegionBudget | None, seed: int
) -> tuple[dict[str, Any], Stop | None]:
    """Return what becomes of a property, as a row, and why the search ended early."""
    began = time.perf_counter()
    found = verify(network, safe, budget=budget, seed=seed)
    ((kind, examined),) = found.undecided.work.items()
    one = found.counterexample
    row = {
        "verdict": str(found),
        "undecided": float(found.undecided.value),
        "inputs": None if one is None else one.point.tolist(),
        "outputs": None if one is None else one.outputs.tolist(),
        "kind": kind,
        "examined": int(examined),
        "seconds": time.perf_counter() - began,
        "stopped": found.stopped,
    }
    return row, found.stop


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _kept(path: Path, network: Network, index: int, digest: str) -> dict[str, Any] | None:
    """Return the row of a file, None if there is none."""
    if not path.exists():
        return None
    what, advice = "a row of verify_each", "delete it, or give another folder"
    content = read_sealed(path, what, advice)
    try:
        (row,) = parquet_table(content, SCHEMA).to_pylist()
        _check_row(row, network, index)
    except MALFORMED as error:
        raise not_as_written(path, what, advice) from error
    if row["asked"] != digest:
        raise InputError(
            f"{path} is of another network or property: give the ones that were asked about, or another folder"
        )
    return row


def _check_row(row: dict[str, Any], network: Network, index: int) -> None:
    """Raise ValueError, or another of `stored.MALFORMED`, unless a row says what `_row` may say of a property."""
    verdict, undecided = Verdict(stored.text(row, "verdict")), row["undecided"]
    if row["instance"] != index or not 0 <= undecided <= 1 or (undecided > 0) > (verdict is Verdict.OPEN):
        raise ValueError(f"{verdict} with {undecided} undecided, in row {row['instance']}")
    for numbers, length in ((row["inputs"], network.num_inputs), (row["outputs"], network.num_outputs)):
        is_there = numbers is not None and len(numbers) == length and all(map(math.isfinite, numbers))
        if is_there != (verdict is Verdict.VIOLATED):
            raise ValueError(f"{verdict} at {numbers}")
    if not stored.text(row, "stopped"):  # rows of work that was ended are asked again
        stored.text(row, "kind")
        stored.whole(row, "examined")
        if not 0 <= row["seconds"] < math.inf:
            raise ValueError(f"{row['seconds']} seconds")


def _digest(network: Network, safe: Property) -> str:
    """Return a digest of a network and a property."""
    digest = hashlib.sha256(network.fingerprint.encode())
    for case in safe.cases:
        digest.update(b"case")
        for table in (case.lower, case.upper):
            digest.update(table.tobytes())
        for one in case.unsafe:
            digest.update(b"unsafe")
            for table in (one.A, one.b, one.C, one.d):
                digest.update(f"{table.shape}".encode() + table.tobytes())
    return digest.hexdigest()
