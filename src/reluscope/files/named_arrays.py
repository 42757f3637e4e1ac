"""Named arrays and a description in one Arrow file with a digest, written whole or not at all."""

import json
import os
from collections.abc import Callable, Mapping
from typing import IO, Any, TypeVar

import numpy as np

from reluscope.errors import InputError, ReluscopeError
from reluscope.files.sealed_files import SEAL_KEY, UNSEALED, not_as_written, parse_json, read_sealed, write_sealed
from reluscope.files.stored import MALFORMED

FORMAT = "reluscope arrays 2"
T = TypeVar("T")


def save_arrays(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], description: Mapping[str, Any]) -> None:
    """Write arrays and a description; what was at the path stays until the new file is complete.

    Parameters
    ----------
    path : path
    arrays : mapping to arrays
        Of any shape and numeric type.
    description : mapping
        Goes into the file as JSON; its ``kind`` is checked by `load_arrays`.

    Raises
    ------
    InputError
        If the file cannot be written; nothing is left behind.
    """
    import pyarrow as pa
    import pyarrow.ipc

    columns = {
        "name": pa.array(list(arrays), pa.string()),
        "dtype": pa.array([array.dtype.str for array in arrays.values()], pa.string()),
        "shape": pa.array([list(array.shape) for array in arrays.values()], pa.list_(pa.int64())),
        "data": pa.array([np.ascontiguousarray(array).tobytes() for array in arrays.values()], pa.large_binary()),
    }
    described = json.dumps({"format": FORMAT, **description})
    table = pa.table(columns, metadata={SEAL_KEY: UNSEALED, "reluscope": described})

    def write(file: IO[bytes]) -> None:
        with pyarrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)

    write_sealed(path, write)


def load_arrays(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what `save_arrays` wrote.

    Raises
    ------
    InputError
        If the file is missing, damaged, or holds something of another kind.
    """
    import pyarrow as pa
    import pyarrow.ipc

    what, advice = _file_of(kind), "save it again"
    content = read_sealed(path, what, advice)
    try:
        table = pyarrow.ipc.open_file(pa.BufferReader(content)).read_all()
        described = parse_json((table.schema.metadata or {})[b"reluscope"], path, what, advice)
        arrays = {row["name"]: _array(row) for row in table.to_pylist()}
        found = described["format"], described["kind"]
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError) as error:
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
    """Read what `save_arrays` wrote, and make of it what was saved.

    Parameters
    ----------
    path : path
    kind : str
    make : callable
        From the arrays and the description; what is wrong with them is one of `stored.MALFORMED`.
    fingerprint : str, optional
        Of the network that the file must be about.

    Raises
    ------
    InputError
        If the file is missing, damaged, of another kind or content, or about another network.
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


def _array(row: Mapping[str, Any]) -> np.ndarray:
    kind = np.dtype(row["dtype"])
    if kind.hasobject:
        raise ValueError("arrays of objects are nothing that is saved")
    return np.frombuffer(row["data"], dtype=kind).reshape(row["shape"])
