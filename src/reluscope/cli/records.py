"""Records of a study on disk, so that work that was stopped can go on: two small files each, written whole.

They lie in a folder beside a key of everything they depend on.
"""

import io
import json
import shutil
import zipfile
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path

import numpy as np

from reluscope.errors import InputError
from reluscope.report.document import finite
from reluscope.report.files import write_files
from reluscope.studies.study import Record

KEY = "key.json"


class KeptRecords(MutableMapping[str, Record]):
    """Records by name, each a JSON file and, where it has arrays, a ``.npz`` file.

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
        If what is there depends on something else.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "records"
    >>> kept = KeptRecords(folder, {"seed": "0"})
    >>> kept["a"] = Record({"regions": 5}, {"W": np.eye(2)})
    >>> KeptRecords(folder, {"seed": "0"}, resume=True)["a"].plain
    {'regions': 5}
    """

    def __init__(self, folder: Path, key: Mapping[str, str], *, resume: bool = False) -> None:
        self._folder = folder
        if resume and (folder / KEY).is_file():
            _check(folder, key)
            for name in self:  # a file that cannot be read is as good as none
                if name not in self:
                    self._remove(name)
            return
        shutil.rmtree(folder, ignore_errors=True)
        write_files(folder, {KEY: json.dumps(dict(key), indent=1) + "\n"})

    def __getitem__(self, name: str) -> Record:
        try:
            plain = json.loads(self._path(name).read_text(encoding="utf-8"))
            arrays = {}
            if plain["arrays"]:
                with np.load(io.BytesIO(self._path(name, ".npz").read_bytes()), allow_pickle=False) as stored:
                    arrays = {part: stored[part] for part in plain["arrays"]}
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            raise KeyError(name) from error
        return Record(plain["plain"], arrays)

    def __setitem__(self, name: str, record: Record) -> None:
        plain = {"plain": record.plain, "arrays": sorted(record.arrays)}
        contents: dict[str, str | bytes] = {}
        if record.arrays:
            buffer = io.BytesIO()
            np.savez(buffer, allow_pickle=False, **record.arrays)
            contents[f"{name}.npz"] = buffer.getvalue()
        contents[f"{name}.json"] = json.dumps(finite(plain), indent=1, allow_nan=False) + "\n"
        write_files(self._folder, contents)

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._remove(name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(path.stem for path in self._folder.glob("*.json") if path.name != KEY))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _remove(self, name: str) -> None:
        for suffix in (".json", ".npz"):
            self._path(name, suffix).unlink(missing_ok=True)

    def _path(self, name: str, suffix: str = ".json") -> Path:
        return self._folder / f"{name}{suffix}"


def _check(folder: Path, key: Mapping[str, str]) -> None:
    try:
        there = json.loads((folder / KEY).read_text(encoding="utf-8"))
        differing = [what for what, value in key.items() if there.get(what) != value]
    except (ValueError, AttributeError):
        differing = list(key)
    if differing:
        raise InputError(
            f"what is in {folder.parent} was begun with another {differing[0]}: give the same as then, another folder "
            "with -o, or begin anew with --force"
        )
