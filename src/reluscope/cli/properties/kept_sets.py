"""Sets that a command found, as files: rows in a table, all of it, a picture."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from reluscope.cli.terminal.outputs import PICTURES, Outputs, write_all, write_each
from reluscope.cli.terminal.picture_files import picture_file
from reluscope.cli.terminal.printed_results import to_json

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


class Kept(Protocol):
    """What has a table, and can be saved."""

    def to_table(self) -> "pa.Table":
        """Return the rows."""
        ...

    def save(self, path: Path) -> None:
        """Write all of it."""
        ...


def kinds_of(row: str, loaded_by: str) -> dict[str, str]:
    """Return the kinds of files, in words: what a row of the table stands for, and what loads all of it."""
    return {
        **dict.fromkeys(PICTURES, "a picture"),
        ".csv": f"a row for each {row}",
        ".parquet": f"a row for each {row}",
        ".arrow": f"all of it, for {loaded_by}",
        ".json": "what --json prints",
    }


def write_kept(
    planned: Outputs, found: Kept, plain: dict[str, Any], draw: Callable[[], "Figure"], name: str, *, hidden: bool
) -> list[Path]:
    """Write files, each of the kind that its suffix says; return those that Ctrl-C left time for."""
    return write_each(planned, lambda path: _write(path, found, plain, draw, name), hidden=hidden)


def _write(path: Path, found: Kept, plain: dict[str, Any], draw: Callable[[], "Figure"], name: str) -> None:
    suffix = path.suffix.lower()
    if suffix == ".json":
        write_all({path: to_json(plain) + "\n"})
    elif suffix == ".arrow":
        found.save(path)
    elif suffix in (".csv", ".parquet"):
        write_all({path: _rows(found, suffix)})
    else:
        write_all({path: picture_file(draw(), suffix, name)})


def _rows(found: Kept, suffix: str) -> bytes:
    import pyarrow.csv
    import pyarrow.parquet

    buffer = io.BytesIO()
    if suffix == ".csv":
        pyarrow.csv.write_csv(found.to_table(), buffer)
    else:
        pyarrow.parquet.write_table(found.to_table(), buffer)
    return buffer.getvalue()
