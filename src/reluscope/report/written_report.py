"""Writing a report to a folder, which is checked before the work begins."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reluscope.errors import InputError
from reluscope.files.whole_files import check_writable, make_folder, write_files
from reluscope.report.apart import apart
from reluscope.report.conclusions import conclusions_of
from reluscope.report.keeping import has_unfinished
from reluscope.report.page import differences_of, render, render_beside
from reluscope.report.parts.content import Attachment
from reluscope.report.parts.document import Report

PAGE, NUMBERS = "report.html", "report.json"


def check_folder(folder: str | os.PathLike[str], *, force: bool = False, resume: bool = False) -> Path:
    """Check, before any work, that a report may be written to a folder.

    A missing folder is made only when the report is written. Raises InputError if it holds a report already, is a file,
    or cannot be written to; ``force`` and ``resume`` allow replacing or completing one.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"the report needs a folder, but {folder} is a file: name another with -o DIR")
    present = [name for name in (PAGE, NUMBERS) if (folder / name).exists()]
    if has_unfinished(folder):
        if not (force or resume):
            raise InputError(
                f"{folder} holds an unfinished report: go on with --resume, begin anew with --force, or name another "
                "-o DIR"
            )
    elif resume:
        raise InputError(f"there is no unfinished report in {folder} to go on with: leave --resume out")
    elif present and not force:
        raise InputError(f"{folder / present[0]} is there already: add --force to replace it, or name another -o DIR")
    check_writable(folder, "name another with -o DIR")
    return folder


def write_report(report: Report, folder: str | os.PathLike[str]) -> Path:
    """Write the page, the numbers and the files that sections attach; return the path of the page.

    Raises InputError if the files cannot be written, for instance because the disk is full; earlier ones stay as they
    were.
    """
    return _write(folder, [report], render(report), report_to_dict(report))


def write_reports(reports: Sequence[Report], folder: str | os.PathLike[str]) -> Path:
    """Write one page, and one file of numbers, of several models on the same data.

    Returns the path of the page; raises InputError as `write_report`.
    """
    return _write(folder, told := apart(reports), render_beside(told), reports_to_dict(reports))


def report_to_dict(report: Report) -> dict[str, Any]:
    """Return a report as plain types, ready for JSON, with what its findings mean."""
    conclusions = conclusions_of(report.sections, report.subject.noun)
    return {**report.to_dict(), "conclusions": [asdict(one) for one in conclusions]}


def reports_to_dict(reports: Sequence[Report]) -> dict[str, Any]:
    """Return several reports as plain types, ready for JSON, with what differs between them."""
    plain = [report_to_dict(report) for report in reports]
    return {"format": "reluscope reports 1", "reports": plain, "differences": list(differences_of(reports))}


def _write(folder: str | os.PathLike[str], reports: Sequence[Report], page: str, plain: dict[str, Any]) -> Path:
    folder = Path(folder)
    blocks = [block for report in reports for block in report.blocks]
    attachments = {block.name: block.data for block in blocks if isinstance(block, Attachment)}
    contents = {PAGE: page, NUMBERS: json.dumps(plain, indent=1, allow_nan=False) + "\n", **attachments}
    make_folder(folder)
    write_files({folder / name: content for name, content in contents.items()})
    return folder / PAGE
