"""Sections kept on disk while a report is made, so that work that was stopped can go on.

They lie in a folder inside the report's folder, one file per finished section, beside a key of everything they depend
on: network, data, settings, version. The folder is removed once the report is complete.
"""

import hashlib
import json
import shutil
from dataclasses import asdict
from pathlib import Path

from reluscope.files.kept_results import KEY, KeptResults, Record
from reluscope.report.parts.document import SectionResult
from reluscope.report.parts.encoding import decode, encode
from reluscope.report.parts.subject import Subject
from reluscope.version import __version__

FOLDER = ".unfinished"
WHAT = "an unfinished report"


def has_unfinished(folder: Path) -> bool:
    """Whether a report was begun in a folder and not ended."""
    return (folder / FOLDER / KEY).is_file()


class KeptSections(KeptResults):
    """Finished sections of one report, each a file.

    Without ``resume`` a report is begun anew. Raises InputError if the files are damaged, or belong to another network,
    data, settings or version.
    """

    def __init__(self, folder: Path, subject: Subject, *, resume: bool = False) -> None:
        self._unfinished, key = folder / FOLDER, _key(subject)
        if not resume:
            self.close()
        super().__init__(self._unfinished, key, advice="give the same as then, or begin anew with --force")
        self.check()

    def to_record(self, value: SectionResult) -> Record:
        """Return a section in plain types."""
        return Record({"section": encode(value)})

    def from_record(self, name: str, record: Record) -> SectionResult:
        """Return the section that was taken apart."""
        del name
        return decode(record.plain["section"])

    def close(self) -> None:
        """Remove what was kept."""
        shutil.rmtree(self._unfinished, ignore_errors=True)


def _key(subject: Subject) -> dict[str, str]:
    """Everything that the sections depend on, in words and digests."""
    points = hashlib.sha256(subject.data.points.tobytes())
    for labels in (subject.data.labels, subject.data.targets):
        points.update(b"none" if labels is None else labels.tobytes())
    return {
        "version of reluscope": __version__,
        "model": f"{subject.model} {subject.network.fingerprint}",
        "samples": str(len(subject.data)),
        "data": f"{subject.data.name} {subject.data.points.shape} {points.hexdigest()}",
        "settings": json.dumps(asdict(subject.settings), sort_keys=True),
    }
