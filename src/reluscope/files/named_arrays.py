"""Named arrays and a description in one Arrow file with a digest, written whole or not at all."""

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np

from reluscope.errors import InputError, ReluscopeError
from reluscope.files import stored
from reluscope.files.arrow_tables import stored_table
from reluscope.files.sealed_files import SEAL_KEY, UNSEALED, not_as_written, parse_json, read_sealed, write_sealed
from reluscope.files.stored import MALFORMED

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "reluscope arrays 2"
# Truth values, whole numbers and real numbers, by the names that NumPy has for them.
_NUMBERS = r"\|b1|[<>|][iuf][1248]"
T = TypeVar("T")


def save_arrays(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], description: Mapping[str, Any]) -> None:
    """Write arrays and a description; an existing file stays until the new one is complete.

    The description goes into the file as JSON; `load_arrays` checks its ``kind``. If the file cannot be written,
    InputError is raised and nothing is left behind.
    """
    import pyarrow as pa
    import pyarrow.ipc

    rows = [
        {"name": name, "dtype": array.dtype.str, "shape": array.shape, "data": np.ascontiguousarray(array).tobytes()}
        for name, array in arrays.items()
    ]
    described = json.dumps({"format": FORMAT, **description})
    schema = _schema().with_metadata({SEAL_KEY: UNSEALED, "reluscope": described})
    table = pa.Table.from_pylist(rows, schema=schema)

    def write(file: IO[bytes]) -> None:
        with pyarrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)

    write_sealed(path, write)


def prefixed(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return arrays with longer names, for a file that holds several things."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def without_prefix(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays that `prefixed` gave their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def load_arrays(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read the arrays and the description that `save_arrays` wrote.

    InputError if the file is missing, damaged or of another kind.
    """
    what, advice = _file_of(kind), "save it again"
    content = read_sealed(path, what, advice)
    try:
        table = stored_table(content, _schema())
        described = parse_json((table.schema.metadata or {})[b"reluscope"], path, what, advice)
        arrays = {stored.text(row, "name"): _array(row) for row in table.to_pylist()}
        if len(arrays) != table.num_rows:
            raise ValueError("two arrays of one name")
        found = described["format"], described["kind"]
    except MALFORMED as error:
        raise not_as_written(path, what, advice) from error
    if found != (FORMAT, kind):
        raise InputError(f"expected {what} in the format {FORMAT!r}, got {path} with {found[1]!r} in {found[0]!r}")
    return arrays, described


def load_as(
    path: str | os.PathLike[str],
    kind: str,
    make: Callable[[dict[str, np.ndarray], dict[str, Any]], T],
    fingerprint: str | None = None,
) -> T:
    """Read a file of `save_arrays`, and make of it the object that was saved.

    `make` raises one of `stored.MALFORMED` on wrong contents; `fingerprint` is that of the network the file must be
    about. Either misfit, or a missing or damaged file, raises InputError.
    """
    arrays, described = load_arrays(path, kind)
    there = described.get("fingerprint")
    if fingerprint is not None and fingerprint != there:
        raise InputError(
            f"{path} holds a {kind} of another network (fingerprint {str(there)[:12]}, "
            f"the network given has {fingerprint[:12]}): give the network it was made with"
        )
    try:
        return make(arrays, described)
    except (*MALFORMED, ReluscopeError) as error:
        raise not_as_written(path, _file_of(kind), "save it again") from error


def _file_of(kind: str) -> str:
    return f"a file of kind {kind!r}"


def _schema() -> "pa.Schema":
    import pyarrow as pa

    columns = {"name": pa.string(), "dtype": pa.string(), "shape": pa.list_(pa.int64()), "data": pa.large_binary()}
    return pa.schema(list(columns.items()))


def _array(row: Mapping[str, Any]) -> np.ndarray:
    if re.fullmatch(_NUMBERS, stored.text(row, "dtype")) is None:
        raise ValueError(f"arrays of {row['dtype']} are nothing that is saved")
    array = np.frombuffer(row["data"], dtype=np.dtype(row["dtype"]))
    shape = tuple(row["shape"])
    if math.prod(shape) != array.size or any(length < 0 for length in shape):
        raise ValueError(f"{array.size} entries of shape {shape}")
    return array.reshape(shape)
