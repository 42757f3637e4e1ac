"""Arrow tables in files that a stranger may have written: all of a table is checked before anything in it is touched.

Arrow believes the offsets, lengths and texts that a file states, and whoever follows them may read anywhere in memory.
Every table that reluscope reads comes from here, where Arrow first compares all of it with the buffers that are there.
"""

import os
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

from reluscope.files.sealed_files import SEAL_KEY, UNSEALED, write_sealed

if TYPE_CHECKING:
    import pyarrow as pa


def checked_table(read: Callable[[], "pa.Table"], schema: "pa.Schema | None" = None) -> "pa.Table":
    """Return the table that a function reads, if it is within its buffers.

    ValueError if the read fails in any way, or offsets, lengths or texts are wrong. Names and types of columns must be
    those of the schema; metadata may differ.
    """
    try:
        table = read()
        table.validate(full=True)
    except Exception as error:  # Arrow has many of its own, and those of Python's codecs and allocators
        raise ValueError(str(error) or type(error).__name__) from error
    if schema is not None and not table.schema.equals(schema):
        raise ValueError(f"other columns: {table.schema.names}")
    return table


def stored_table(content: bytes, schema: "pa.Schema | None" = None) -> "pa.Table":
    """Return the table in the bytes of an Arrow file, or raise ValueError as `checked_table` does."""
    import pyarrow as pa
    import pyarrow.ipc

    return checked_table(lambda: pyarrow.ipc.open_file(pa.BufferReader(content)).read_all(), schema)


def parquet_table(content: bytes, schema: "pa.Schema | None" = None) -> "pa.Table":
    """Return the table in the bytes of a Parquet file, or raise ValueError as `checked_table` does."""
    import pyarrow as pa
    import pyarrow.parquet

    return checked_table(lambda: pyarrow.parquet.read_table(pa.BufferReader(content)), schema)


def write_sealed_parquet(path: str | os.PathLike[str], table: "pa.Table") -> None:
    """Write a table as a Parquet file with a digest of all its bytes.

    `read_sealed` and `parquet_table` read it. InputError if it cannot be written; nothing is left behind.
    """
    import pyarrow.parquet

    marked = table.replace_schema_metadata({**(table.schema.metadata or {}), SEAL_KEY: UNSEALED})

    def write(file: IO[bytes]) -> None:
        pyarrow.parquet.write_table(marked, file, compression="zstd")

    write_sealed(path, write)
