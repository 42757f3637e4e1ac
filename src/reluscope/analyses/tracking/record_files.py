"""Records as a Parquet file: one row per record, three columns per quantity, settings in the schema's metadata.

A quantity has its value, its claim, and an interval where the claim is no proof of one number; those per gate or
segment are lists. The last row has the packed codes too, so that changes are known when a run goes on.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reluscope.analyses.tracking.measurement import Found
from reluscope.analyses.tracking.record_quantities import QUANTITIES, TrackedQuantity, quantities_of
from reluscope.analyses.tracking.stored_records import check_rows
from reluscope.errors import InputError
from reluscope.files.arrow_tables import parquet_table, write_sealed_parquet
from reluscope.files.sealed_files import not_as_written, parse_json, read_sealed
from reluscope.files.stored import MALFORMED
from reluscope.findings import Finding
from reluscope.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "reluscope tracking 2"
LOGGED = "logged_"
WHAT, ADVICE = "a file of a Tracker's records", "name another file, or remove this one"
# Read by position nowhere: the order is that of a reader who opens the file with something else.
PLAIN = {
    "record": "int64",
    "step": "int64",
    "time": "time",
    "num_samples": "int64",
    "fingerprint": "string",
    "seconds": "double",
    "seconds_writing": "double",
    "seconds_between": "double",
    "note": "string",
    "partition": "string",
}
CODES = ("codes", "doubtful")
WEIGHTS = "weights"


def row_of(findings: Mapping[str, Found], counts: Mapping[str, int]) -> dict[str, Any]:
    """Return findings as entries of a row, None where there are none.

    ``counts`` says how many gates and segments there are, for lists of what is not known.
    """
    row: dict[str, Any] = {}
    for name, quantity in QUANTITIES.items():
        found = findings.get(name)
        if found is None:
            entries = (None,) * counts.get(quantity.per, 1)
        else:
            entries = found if isinstance(found, tuple) else (found,)
        columns = {
            name: [None if one is None else one.value for one in entries],
            f"{name}_claim": [None if one is None else str(one.claim) for one in entries],
            f"{name}_interval": [_interval(one) for one in entries],
        }
        row |= {key: entries[0] if quantity.per == "network" else entries for key, entries in columns.items()}
    return row


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> None:
    """Write a whole file; what was there stays until the new one is complete.

    InputError if that cannot be done, for instance because the disk is full.
    """
    write_sealed_parquet(path, to_table(rows, settings))


def to_table(rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> "pa.Table":
    """Return rows as an Arrow table with the settings in its metadata."""
    import pyarrow as pa

    names = {"int64": pa.int64(), "string": pa.string(), "double": pa.float64(), "time": pa.timestamp("us", "UTC")}
    fields = [(name, names[kind]) for name, kind in PLAIN.items()]
    fields.insert(1, ("epoch", names[column_kind([row["epoch"] for row in rows])]))
    measured = quantities_of(settings)
    for quantity in measured.values():
        fields += _fields(quantity)
    kinds = {**names, "bool": pa.bool_()}
    for name in logged_names(rows):
        fields.append((name, kinds[column_kind([row.get(name) for row in rows])]))
    # Files of trackers that keep no weights are as they were before there were any to keep.
    if any(row.get(WEIGHTS) is not None for row in rows):
        fields.append((WEIGHTS, names["string"]))
    fields += [(name, pa.binary()) for name in CODES]
    described = {
        "format": FORMAT,
        "version": __version__,
        "settings": dict(settings),
        "definitions": {name: quantity.definition for name, quantity in measured.items()},
    }
    schema = pa.schema(fields, metadata={"reluscope": json.dumps(described)})
    return pa.table({name: [row.get(name) for row in rows] for name, _ in fields}, schema=schema)


def read_rows(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the rows and the settings of a file.

    InputError if it is missing, damaged, or no records of a tracker.
    """
    content = read_sealed(path, WHAT, ADVICE)
    try:
        table = parquet_table(content)
        described = parse_json((table.schema.metadata or {})[b"reluscope"], path, WHAT, ADVICE)
        found, settings = described["format"], described["settings"]
        if found == FORMAT:
            rows = table.to_pylist()
            check_rows(rows, settings)
            if not table.schema.equals(to_table(rows, settings).schema):
                raise ValueError("other columns")
            return rows, settings
    except MALFORMED as error:
        raise not_as_written(path, WHAT, ADVICE) from error
    raise InputError(f"expected records in the format {FORMAT!r} in {path}, got {found!r}: use the same version")


def logged_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns of what the user logged, in the order in which they came."""
    return list(dict.fromkeys(name for row in rows for name in row if name.startswith(LOGGED)))


def column_kind(values: Sequence[Any]) -> str:
    """Return the type of a column of plain values.

    Whole and other numbers go together, nothing else does: InputError if values are of types that do not.
    """
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int}:
        return "int64"
    if kinds <= {int, float}:
        return "double"
    if kinds == {str}:
        return "string"
    if kinds == {bool}:
        return "bool"
    listed = " and ".join(sorted(kind.__name__ for kind in kinds))
    raise InputError(f"got {listed}: give numbers, or text, or True and False, and the same kind every time")


def plain(value: Any) -> Any:
    """Return a number, text or truth value as Python's own.

    Scalars of NumPy and PyTorch are taken for what they are. InputError if it is anything else.
    """
    if isinstance(value, bool | int | float | str) or value is None:
        return value if isinstance(value, bool) or value is None else _own(value)
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():
        return plain(item())
    raise InputError(f"got a {type(value).__name__}: give a number, text or True and False")


def _own(value: int | float | str) -> int | float | str:
    """Return a value without the subclass it may be of."""
    return next(kind(value) for kind in (int, float, str) if isinstance(value, kind))


def _interval(finding: Finding | None) -> list[float | None] | None:
    if finding is None or finding.interval is None or str(finding.claim) == "EXACT":
        return None
    return [float(end) if np.isfinite(end) else None for end in finding.interval]


def _fields(quantity: TrackedQuantity) -> list[tuple[str, Any]]:
    import pyarrow as pa

    def listed(kind: Any) -> Any:
        return kind if quantity.per == "network" else pa.list_(kind)

    number = pa.int64() if quantity.is_count else pa.float64()
    return [
        (quantity.name, listed(number)),
        (f"{quantity.name}_claim", listed(pa.string())),
        (f"{quantity.name}_interval", listed(pa.list_(pa.float64()))),
    ]
