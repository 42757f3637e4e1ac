"""Sections kept on disk while a report is made, so that work that was stopped can go on.

They lie in a folder inside the report's folder, one file per finished section, beside a key of everything they depend
on: network, data, settings, version. The folder is removed once the report is complete.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, MutableMapping
from dataclasses import asdict
from pathlib import Path

from reluscope.errors import InputError
from reluscope.report.document import SectionResult
from reluscope.report.encoding import decode, encode
from reluscope.report.files import write_files
from reluscope.report.subject import Subject
from reluscope.version import __version__

FOLDER, KEY = ".unfinished", "key.json"


def has_unfinished(folder: Path) -> bool:
    """Whether a report was begun in a folder and not ended."""
    return (folder / FOLDER / KEY).is_file()


class KeptSections(MutableMapping[str, SectionResult]):
    """Finished sections of one report, each a file.

    Parameters
    ----------
    folder : Path
        Of the report.
    subject : Subject
    resume : bool
        Go on with what is there; else begin anew.

    Raises
    ------
    InputError
        If there is nothing to go on with, or it belongs to another network, data, settings or version.

    Examples
    --------
    >>> import reluscope as rs, numpy as np, tempfile
    >>> from reluscope.datasets.dataset import dataset_of
    >>> data = dataset_of(np.eye(2))
    >>> subject = Subject(rs.load([(np.eye(2), np.zeros(2))]), data, "identity")
    >>> folder = Path(tempfile.mkdtemp())
    >>> kept = KeptSections(folder, subject)
    >>> kept["a"] = SectionResult("a", "A", "done")
    >>> list(KeptSections(folder, subject, resume=True)), has_unfinished(folder)
    (['a'], True)
    >>> kept.close()
    >>> has_unfinished(folder)
    False
    """

    def __init__(self, folder: Path, subject: Subject, *, resume: bool = False) -> None:
        self._folder = folder / FOLDER
        key = _key(subject)
        if resume:
            _check(folder, key)
            for name in self:  # a file that cannot be read is as good as none
                try:
                    self[name]
                except InputError:
                    del self[name]
            return
        self.close()
        write_files(self._folder, {KEY: json.dumps(key, indent=1)})

    def __getitem__(self, name: str) -> SectionResult:
        path = self._path(name)
        if not path.is_file():
            raise KeyError(name)
        return decode(path.read_text(encoding="utf-8"))

    def __setitem__(self, name: str, result: SectionResult) -> None:
        write_files(self._folder, {f"{name}.section": encode(result)})

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._path(name).unlink()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(path.stem for path in self._folder.glob("*.section")))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._path(name).is_file()

    def close(self) -> None:
        """Remove what was kept."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.section"


def _key(subject: Subject) -> dict[str, str]:
    """Everything that the sections depend on, in words and digests."""
    points = hashlib.sha256(subject.data.points.tobytes())
    for labels in (subject.data.labels, subject.data.targets):
        points.update(b"none" if labels is None else labels.tobytes())
    return {
        "version of reluscope": __version__,
        "model": f"{subject.model} {subject.network.fingerprint}",
        "data": f"{subject.data.name} {subject.data.points.shape} {points.hexdigest()}",
        "settings": json.dumps(asdict(subject.settings), sort_keys=True),
    }


def _check(folder: Path, key: dict[str, str]) -> None:
    try:
        there = json.loads((folder / FOLDER / KEY).read_text(encoding="utf-8"))
    except ValueError:
        there = {}
    differing = [what for what, value in key.items() if there.get(what) != value]
    if differing:
        raise InputError(
            f"the unfinished report in {folder} was begun with another {differing[0]}: give the same as then, or begin "
            "anew with --force"
        )
