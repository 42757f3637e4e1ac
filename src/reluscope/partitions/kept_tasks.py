"""What finished tasks have counted, in a file: a run that was killed goes on where it was.

One line of JSON says what the file belongs to, then each task has a line, with a checksum. A line that was cut short or
damaged is as good as none: its task is done again.
"""

import json
import os
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reluscope.errors import InputError

FORMAT = "reluscope tasks 1"


class KeptTasks:
    """The results of tasks by their numbers, on disk as soon as they are known.

    Parameters
    ----------
    path : path
        Of a file that was made this way, or that is not there yet.
    key : mapping of words to words
        All that the results depend on.

    Raises
    ------
    InputError
        If the file belongs to something else, is no such file, or cannot be written.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "count.jsonl"
    >>> KeptTasks(path, {"network": "a"}).keep(3, {"regions": 5})
    >>> KeptTasks(path, {"network": "a"}).results
    {3: {'regions': 5}}
    >>> KeptTasks(path, {"network": "b"})
    Traceback (most recent call last):
    reluscope.errors.InputError: ...count.jsonl was begun with another network: give the same as then, or another file
    """

    def __init__(self, path: str | os.PathLike[str], key: Mapping[str, str]) -> None:
        self._path = Path(path)
        self.results: dict[int, dict[str, Any]] = {}
        head = json.dumps({"format": FORMAT, **key}) + "\n"
        try:
            lines = self._path.read_bytes().splitlines() if self._path.exists() else []
        except OSError as error:
            raise self._failure("read", error) from error
        if lines:
            self._check(lines[0], key)
            self.results = dict(filter(None, map(_read, lines[1:])))
        # Written anew, so that what is added does not follow half a line.
        self._replace(head + "".join(_line(task, result) for task, result in self.results.items()))

    def keep(self, task: int, result: dict[str, Any]) -> None:
        """Add the result of a task.

        Parameters
        ----------
        task : int
        result : dict
            Of plain types.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        self.results[task] = result
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(_line(task, result))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise self._failure("write", error) from error

    def _check(self, line: bytes, key: Mapping[str, str]) -> None:
        try:
            there = json.loads(line)
        except ValueError:
            there = None
        if not isinstance(there, dict) or there.get("format") != FORMAT:
            raise InputError(f"expected results of tasks in {self._path}, got another file: name one that is not there")
        differing = [what for what, value in key.items() if there.get(what) != value]
        if differing:
            raise InputError(
                f"{self._path} was begun with another {differing[0]}: give the same as then, or another file"
            )

    def _replace(self, text: str) -> None:
        temporary = None
        try:
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=self._path.parent, prefix=f".{self._path.name}.", delete=False
            ) as file:
                temporary = file.name
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, self._path)
        except OSError as error:
            raise self._failure("write", error) from error
        finally:
            if temporary is not None and os.path.exists(temporary):
                os.unlink(temporary)

    def _failure(self, what: str, error: OSError) -> InputError:
        return InputError(
            f"could not {what} {self._path} ({error.strerror or error}): free some space or name another file; what "
            "was kept there before is there still"
        )


def _line(task: int, result: dict[str, Any]) -> str:
    text = json.dumps([task, result])
    return json.dumps([zlib.crc32(text.encode()), task, result]) + "\n"


def _read(line: bytes) -> tuple[int, dict[str, Any]] | None:
    """Return what a line says, or None if it is damaged."""
    try:
        check, task, result = json.loads(line)
        is_whole = zlib.crc32(json.dumps([task, result]).encode()) == check
    except (ValueError, TypeError):
        return None
    return (task, result) if is_whole else None
