"""Files written together: all whole, or all as they were."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from reluscope.errors import InputError


def write_files(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    """Write files, text as UTF-8: first all under temporary names, then all renamed.

    Raises
    ------
    InputError
        If that cannot be done; what was at these names before is there still.
    """
    waiting: list[tuple[str, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{name}.", delete=False) as file:
                waiting.append((file.name, folder / name))
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(file.name, 0o644)
        for temporary, target in waiting:
            os.replace(temporary, target)
    except OSError as error:
        raise InputError(
            f"the report could not be written to {folder} ({error.strerror or error}): free some space or name another "
            "folder with -o DIR"
        ) from error
    finally:
        for temporary, _ in waiting:
            if os.path.exists(temporary):
                os.unlink(temporary)
