"""Named arrays in one Arrow file, written whole or not at all."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from reluscope.errors import InputError
from reluscope.geometry.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedron import Polyhedron

FORMAT = "reluscope arrays 1"


def save(path: str | os.PathLike[str], arrays: dict[str, np.ndarray], description: dict[str, Any]) -> None:
    """Write arrays and a description; what was at the path stays until the new file is complete.

    Parameters
    ----------
    path : path
    arrays : dict of arrays
        Of any shape and numeric type.
    description : dict
        Goes into the file as JSON; its ``kind`` is checked by `load`.

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
    table = pa.table(columns, metadata={"reluscope": json.dumps({"format": FORMAT, **description})})

    def write(file: IO[bytes]) -> None:
        with pyarrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)

    write_whole(path, write)


def write_whole(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> None:
    """Write a file; what was at the path stays until the new file is complete.

    Parameters
    ----------
    path : path
    write : callable
        Writes the content to an open file.

    Raises
    ------
    InputError
        If the file cannot be written; nothing is left behind.
    """
    target = Path(path)
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            temporary = file.name
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise InputError(f"could not write {target}: {error.strerror or error}; nothing was changed there") from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def load(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what `save` wrote.

    Raises
    ------
    InputError
        If the file is missing, damaged, or holds something of another kind.
    """
    import pyarrow as pa
    import pyarrow.ipc

    try:
        with pa.OSFile(os.fspath(path), "rb") as file:
            table = pyarrow.ipc.open_file(file).read_all()
        described = json.loads((table.schema.metadata or {})[b"reluscope"])
        arrays = {
            row["name"]: np.frombuffer(row["data"], dtype=row["dtype"]).reshape(row["shape"])
            for row in table.to_pylist()
        }
        found = described["format"], described["kind"]
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}") from error
    except (pa.ArrowInvalid, OSError, KeyError, ValueError, TypeError) as error:
        raise InputError(f"{path} is not a {kind} saved by reluscope, or it is damaged: save it again") from error
    if found != (FORMAT, kind):
        raise InputError(f"expected a {kind} in the format {FORMAT!r} in {path}, got {found[1]} in {found[0]!r}")
    return arrays, described


def domain_arrays(domain: Domain) -> dict[str, np.ndarray]:
    """Return a domain as named arrays."""
    if isinstance(domain, Slice):
        return {"domain.origin": domain.origin, "domain.basis": domain.basis, **domain_arrays(domain.window)}
    if isinstance(domain, Box):
        return {"domain.lo": domain.lo, "domain.hi": domain.hi}
    if isinstance(domain, Space):
        return {"domain.dim": np.array([domain.dim])}
    return {"domain.A": domain.A, "domain.b": domain.b}


def read_domain(arrays: dict[str, np.ndarray]) -> Domain:
    """Return the domain that `domain_arrays` took apart."""
    if "domain.dim" in arrays:
        return Space(int(arrays["domain.dim"][0]))
    if "domain.A" in arrays:
        window = Polyhedron(arrays["domain.A"], arrays["domain.b"])
    else:
        window = Box(arrays["domain.lo"], arrays["domain.hi"])
    if "domain.origin" in arrays:
        return Slice(arrays["domain.origin"], arrays["domain.basis"], window)
    return window
