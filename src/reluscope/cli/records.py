"""Records of a study on disk, so that work that was stopped can go on."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from reluscope.files.kept_results import KEY, KeptResults


def open_records(folder: Path, key: Mapping[str, str], *, resume: bool = False) -> KeptResults:
    """Return the records in a folder.

    Parameters
    ----------
    folder : Path
    key : mapping of words to words
        What the records depend on.
    resume : bool
        Go on with what is there; else begin anew.

    Raises
    ------
    InputError
        If what is there is damaged, or depends on something else.
    """
    if not (resume and (folder / KEY).is_file()):
        shutil.rmtree(folder, ignore_errors=True)
    advice = "give the same as then, another folder with -o, or begin anew with --force"
    records = KeptResults(folder, key, advice=advice)
    records.check()
    return records
