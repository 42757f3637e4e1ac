"""Arrays from files: .npy, .npz, .csv and .parquet; files that would have to be unpickled are refused.

Every reader returns points and, where the file holds them, labels; checking their content is left to the dataset.
"""

import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.files.arrow_tables import checked_table
from reluscope.files.numpy_files import open_member, read_npy

POINT_NAMES = ("x", "points", "data", "inputs", "images", "features")
LABEL_NAMES = ("y", "label", "labels", "target", "targets", "class", "classes")

Arrays = tuple[np.ndarray, np.ndarray | None]


@read_arguments
def read_arrays(path: str | os.PathLike[str]) -> Arrays:
    """Read points, and labels if there are any, from a file.

    Parameters
    ----------
    path : path
        ``.npy``: one array. ``.npz``: one array, or points named like ``x`` and labels like ``y``. ``.csv`` and
        ``.parquet``: one row per sample, one number per column, with labels in a column named like ``label`` or ``y``;
        in Parquet points may also be one column of lists.

    Returns
    -------
    points : array
    labels : array or None

    Raises
    ------
    InputError
        If the file is missing, unreadable, truncated, of an unknown format, or does not contain such arrays.

    Notes
    -----
    Pickled arrays are refused, because unpickling can run any code.
    """
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        kinds = ", ".join(READERS)
        raise InputError(
            f"data must be a file of kind {kinds} or a named problem, got {path}: save it with numpy.save, for instance"
        )
    if path.is_dir():
        raise InputError(f"expected a data file, but {path} is a folder")
    if not path.exists():
        raise InputError(f"there is no file {path}: check the path")
    if path.stat().st_size == 0:
        raise InputError(f"the file {path} is empty: write it again")
    try:
        return reader(path)
    except PermissionError as error:
        raise InputError(f"the file {path} cannot be read: {error.strerror}") from error


def _read_npy(path: Path) -> Arrays:
    try:
        with path.open("rb") as file:
            return read_npy(file, path.stat().st_size), None
    except (ValueError, EOFError, OSError) as error:
        raise _unreadable(path, error, "numpy.save") from error


def _read_npz(path: Path) -> Arrays:
    try:
        # NumPy leaves a damaged archive open if it opens the file itself.
        with zipfile.ZipFile(path) as archive:
            names = {name.removesuffix(".npy").lower(): name for name in archive.namelist()}
            points = _choose(names, POINT_NAMES)
            labels = _choose(names, LABEL_NAMES)
            if points is None and len(names) == 1:
                points, labels = next(iter(names.values())), None
            if points is None:
                held = ", ".join(name.removesuffix(".npy") for name in archive.namelist()) or "nothing"
                raise InputError(f"{path} must hold points named x and labels named y (or one array), got {held}")
            return _member(archive, points), None if labels is None else _member(archive, labels)
    except (RuntimeError, NotImplementedError, ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, InputError):
            raise
        raise _unreadable(path, error, "numpy.savez") from error


def _member(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with open_member(archive, name) as file:
        return read_npy(file, archive.getinfo(name).file_size)


def _read_csv(path: Path) -> Arrays:
    try:
        with path.open(encoding="utf-8") as file:
            first = file.readline().strip()
    except UnicodeDecodeError as error:
        raise _unreadable(path, error, "numpy.savetxt with delimiter ','") from error
    delimiter = next((mark for mark in (",", ";", "\t") if mark in first), ",")
    has_header = not all(map(_is_number, first.split(delimiter)))

    def read() -> pa.Table:
        return pyarrow.csv.read_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(autogenerate_column_names=not has_header),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter),
        )

    return _from_table(read, path, "numpy.savetxt with delimiter ','")


def _read_parquet(path: Path) -> Arrays:
    with path.open("rb") as file:
        return _from_table(lambda: pyarrow.parquet.read_table(file), path, "pyarrow.parquet.write_table")


def _from_table(read: Callable[[], pa.Table], path: Path, writer: str) -> Arrays:
    try:
        table = checked_table(read)
    except ValueError as error:
        raise _unreadable(path, error, writer) from error
    repeated = [name for name, times in Counter(table.column_names).items() if times > 1]
    if repeated:
        held = f"the name {repeated[0]!r} twice" if repeated[0] else "columns without names"
        raise InputError(f"expected columns of different names in {path}, got {held}: name each for itself")
    if table.num_rows == 0:
        raise InputError(f"{path} holds no samples, only column names: give at least one row")
    names = {name.strip().lower(): name for name in table.column_names}
    label = _choose(names, LABEL_NAMES) if len(names) > 1 else None
    labels = None if label is None else _column(table, label, path)
    columns = [name for name in table.column_names if name != label]
    if not columns:
        raise InputError(f"expected a column of numbers in {path}, got none: write at least one")
    lists = [name for name in columns if _is_list(table.schema.field(name).type)]
    if lists:
        chosen = _choose({name.lower(): name for name in lists}, POINT_NAMES) or lists[0]
        return _list_column(table, chosen, path), labels
    return np.stack([_column(table, name, path) for name in columns], axis=1), labels


def _column(table: pa.Table, name: str, path: Path) -> np.ndarray:
    column = table.column(name)
    kind = column.type
    if column.null_count:
        raise InputError(
            f"column {name!r} of {path} has {column.null_count:,} missing entries: fill them in or drop those rows"
        )
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        example = str(column[0].as_py())[:40]
        raise InputError(f"column {name!r} of {path} must hold numbers, got {kind} (for instance {example!r})")
    return column.to_numpy()


def _list_column(table: pa.Table, name: str, path: Path) -> np.ndarray:
    rows = table.column(name).to_pylist()
    try:
        return np.asarray(rows, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(f"the lists in column {name!r} of {path} must be numbers, equally many in each row") from error


def _choose(names: dict[str, str], wanted: Sequence[str]) -> str | None:
    return next((names[name] for name in wanted if name in names), None)


def _is_list(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _unreadable(path: Path, error: Exception, writer: str) -> InputError:
    reason = str(error).split("\n")[0].split(". ")[0].strip().rstrip(".") or type(error).__name__
    if "allow_pickle" in reason and path.read_bytes()[:1] in (b"\x93", b"P"):
        return InputError(
            f"{path} holds pickled objects, which reluscope does not load because unpickling can run any code: "
            "save a plain array of numbers"
        )
    if "pickle" in reason:  # what NumPy takes for a pickle because it is nothing else
        reason = "unknown content"
    return InputError(f"{path} is damaged or not a {path.suffix} file ({reason}): write it again with {writer}")


READERS: dict[str, Callable[[Path], Arrays]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
