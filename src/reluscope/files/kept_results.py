"""Results written to a folder as soon as they are computed, so that interrupted work can be resumed.

Beside a key of everything they depend on (``key.json``) each result is a file of its own: a NumPy archive of its
arrays, with its plain values as JSON in the member ``plain.json``. Every file is written whole, carries a digest, and
says of which work and of which name it is.
"""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from reluscope.errors import InputError
from reluscope.files.numpy_files import read_npy
from reluscope.files.sealed_files import (
    UNSEALED,
    not_as_written,
    parse_json,
    read_sealed,
    read_sealed_json,
    to_sealed_json,
    write_sealed,
)
from reluscope.files.stored import MALFORMED
from reluscope.files.whole_files import make_folder, write_files
from reluscope.shown import Shown

FORMAT = "reluscope results 1"
KEY, PLAIN = "key.json", "plain.json"
WHAT, ADVICE = "a kept result", "remove that file, and its result is computed again"


@dataclass(frozen=True, eq=False, repr=False)
class Record(Shown):
    """A result as plain types and arrays, ready to be written.

    Parameters
    ----------
    plain : mapping
        Plain types.
    arrays : mapping of names to arrays
    """

    plain: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)


class KeptResults(MutableMapping[str, Any]):
    """Results by name, on disk, for one key of what they depend on.

    Subclasses for results other than `Record` define ``to_record`` and ``from_record``. A folder of something else, or
    not writable, raises InputError; a damaged result does so when it is asked for.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        key: Mapping[str, str],
        *,
        advice: str = "give the same as then, or another folder",
    ) -> None:
        self._folder = Path(folder)
        there = _listed(self._folder)
        if KEY in there:
            self._check(key, advice)
        elif there:
            raise InputError(
                f"expected an empty folder, or one in which results were kept, but {self._folder} holds {there[0]}: "
                "name another one"
            )
        else:
            make_folder(self._folder)
            write_files({self._folder / KEY: to_sealed_json({"format": FORMAT, **key}, indent=1)})
        self._work = hashlib.blake2b(json.dumps(dict(key), sort_keys=True).encode(), digest_size=16).hexdigest()

    def to_record(self, value: Any) -> Record:
        """Return a result as it is written."""
        assert isinstance(value, Record)
        return value

    def from_record(self, name: str, record: Record) -> Any:
        """Return what `to_record` took apart; ValueError, or another of `stored.MALFORMED`, if it is none."""
        del name
        return record

    def __getitem__(self, name: str) -> Any:
        path = self._path(name)
        if not path.is_file():
            raise KeyError(name)
        content = read_sealed(path, WHAT, ADVICE)
        with self._reading(name):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                if any(one.compress_type != zipfile.ZIP_STORED or one.flag_bits & 1 for one in archive.infolist()):
                    raise ValueError("nothing is compressed or encrypted here")
                described = parse_json(archive.read(PLAIN), path, WHAT, ADVICE)
                arrays = {
                    member.filename.removesuffix(".npy"): _read_array(archive, member)
                    for member in archive.infolist()
                    if member.filename != PLAIN
                }
            whose = described["format"], described["of"], described["name"]
            plain = described["plain"]
            if not isinstance(plain, dict):
                raise ValueError("plain values have names")
        if whose != (FORMAT, self._work, name):
            raise InputError(f"{path} holds the result of something else: {ADVICE}")
        with self._reading(name):
            return self.from_record(name, Record(plain, arrays))

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """Within, whatever does not find in a result what belongs there makes it an InputError about its file."""
        try:
            yield
        except (*MALFORMED, OSError, zipfile.BadZipFile) as error:
            if isinstance(error, InputError):
                raise
            raise not_as_written(self._path(name), WHAT, ADVICE) from error

    def __setitem__(self, name: str, value: Any) -> None:
        record = self.to_record(value)
        described = {"format": FORMAT, "of": self._work, "name": name, "plain": record.plain}

        def write(file: IO[bytes]) -> None:
            with zipfile.ZipFile(file, "w") as archive:
                archive.comment = UNSEALED.encode()
                archive.writestr(zipfile.ZipInfo(PLAIN), json.dumps(described))
                for part, array in record.arrays.items():
                    with archive.open(zipfile.ZipInfo(f"{part}.npy"), "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)

        write_sealed(self._path(name), write)

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._path(name).unlink()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(name.removesuffix(".npz") for name in _listed(self._folder) if name.endswith(".npz")))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._path(name).is_file()

    def check(self) -> None:
        """Read every result, so that damage raises InputError before work goes on."""
        for name in self:
            self[name]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.npz"

    def _check(self, key: Mapping[str, str], advice: str) -> None:
        path = self._folder / KEY
        there = read_sealed_json(path, "the key of kept results", f"remove {self._folder}, or name another folder")
        if there.get("format") != FORMAT:
            raise InputError(
                f"expected results in the format {FORMAT!r} in {self._folder}, got {there.get('format')!r}: {advice}"
            )
        differing = [what for what, value in key.items() if there.get(what) != value]
        if differing:
            raise InputError(f"what is in {self._folder} was begun with another {differing[0]}: {advice}")


def _listed(folder: Path) -> list[str]:
    """Return what is in a folder, but for files that were being written when a process ended."""
    try:
        return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(
            f"expected a folder to keep results in, got {folder} ({error.strerror or error}): name another one"
        ) from error


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(member) as file:
        return read_npy(file, member.file_size)
