"""Writing several files together: either all are complete, or all stay as they were.

Each is written under a temporary name in its folder and takes its place when all are on the disk.
"""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from reluscope.errors import InputError

# What goes into a file: bytes, text (as UTF-8), or a function that writes to the open file.
Filling = bytes | str | Callable[[IO[bytes]], object]


def check_writable(place: Path, advice: str) -> None:
    """Check, before any work, that a folder can be written to or made, by making a file and removing it.

    Where the folder is missing, the nearest one above it is tried. InputError, with the advice, if it cannot.
    """
    nearest = next(path for path in (place.absolute(), *place.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise InputError(f"{place} cannot be written, because {nearest} is a file: {advice}")
    try:
        # Permissions do not say it all: there are file systems that let nobody write.
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise InputError(f"the folder {nearest} cannot be written to ({error.strerror or error}): {advice}") from error


def write_files(fillings: Mapping[Path, Filling]) -> None:
    """Write files; those that were there before stay until all are complete.

    Contents are bytes, text, or functions that write to an open file. On failure InputError is raised, the earlier
    files are still there, and nothing is left beside them.
    """
    waiting: list[tuple[str, Path]] = []
    target = Path()
    try:
        for target, filling in fillings.items():
            with tempfile.NamedTemporaryFile("w+b", dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
                waiting.append((file.name, target))
                if callable(filling):
                    filling(file)
                else:
                    file.write(filling.encode() if isinstance(filling, str) else filling)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(file.name, 0o644)
        for temporary, target in waiting:
            os.replace(temporary, target)
    except OSError as error:
        raise InputError(
            f"could not write {target} ({error.strerror or error}): free some space or name another place; nothing was "
            "changed there"
        ) from error
    finally:
        for temporary, _ in waiting:
            if os.path.exists(temporary):
                os.unlink(temporary)


def make_folder(folder: Path) -> None:
    """Make a folder, if it is not there; InputError if that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"could not make the folder {folder} ({error.strerror or error}): name another") from error
