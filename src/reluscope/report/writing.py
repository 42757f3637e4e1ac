"""Putting a report on disk: every file whole or not at all."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from reluscope.errors import InputError
from reluscope.report.document import Report
from reluscope.report.page import render

PAGE, NUMBERS = "report.html", "report.json"


def check_folder(folder: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Check, before any work, that a report may be written to a folder.

    Parameters
    ----------
    folder : path
        Made when the report is written, if it is not there.
    force : bool
        Allow an earlier report to be replaced.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If the folder holds a report already, is a file, or cannot be written to.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"the report needs a folder, but {folder} is a file: name another with -o DIR")
    present = [name for name in (PAGE, NUMBERS) if (folder / name).exists()]
    if present and not force:
        raise InputError(f"{folder / present[0]} is there already: add --force to replace it, or name another -o DIR")
    nearest = next((path for path in (folder, *folder.absolute().parents) if path.exists()), folder)
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError(f"the folder {nearest} cannot be written to: name another with -o DIR")
    return folder


def write_report(report: Report, folder: str | os.PathLike[str]) -> Path:
    """Write the page and the numbers.

    Parameters
    ----------
    report : Report
    folder : path
        Made if it is not there.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    InputError
        If the files cannot be written, for instance because the disk is full; earlier ones stay as they were.
    """
    folder = Path(folder)
    numbers = json.dumps(report.to_dict(), indent=1, allow_nan=False) + "\n"
    write_files(folder, {PAGE: render(report), NUMBERS: numbers})
    return folder / PAGE


def write_files(folder: Path, contents: Mapping[str, str]) -> None:
    """Write text files: first all under temporary names, then all renamed.

    Raises
    ------
    InputError
        If that cannot be done; what was at these names before is there still.
    """
    waiting: list[tuple[str, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in contents.items():
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=folder, prefix=f".{name}.", delete=False
            ) as file:
                waiting.append((file.name, folder / name))
                file.write(text)
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
