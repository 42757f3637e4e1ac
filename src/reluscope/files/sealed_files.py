"""Files that carry a digest of all their bytes, by which changes and damage are noticed.

The digest (BLAKE2b, 256 bits) stands where its kind of file has room for a remark, so that other tools can read the
file: in the metadata of an Arrow or Parquet file, under a key of a JSON object, in the comment of a zip archive. It is
taken while zeros stand in its place, and it is checked before anything in the file is parsed. It tells damage, and not
who wrote the file: whoever forges a file can seal it as well.
"""

import hashlib
import io
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from reluscope.errors import InputError
from reluscope.files.whole_files import write_files

_MARK, _DIGITS = b"reluscope seal blake2b:", 64
#: What a writer puts where the digest is to stand, and the key or name to put it under, where one is needed.
SEAL_KEY = "seal"
UNSEALED = (_MARK + b"0" * _DIGITS).decode()
# Files are read in blocks of so many bytes: they may be larger than memory.
BLOCK = 2**22


def sealed(content: bytes) -> bytes:
    """Return content with its digest in place of `UNSEALED`."""
    writable = io.BytesIO(content)
    _seal(writable)
    return writable.getvalue()


def is_whole(content: bytes) -> bool:
    """Whether the digest in some content is that of the content."""
    return _is_whole(io.BytesIO(content))


def write_sealed(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> None:
    """Write a file with its digest; an existing file stays until the new one is complete.

    `write` writes the content, with `UNSEALED` in it, to an open file. If that fails, InputError is raised and nothing
    is left behind.
    """

    def write_and_seal(file: IO[bytes]) -> None:
        write(file)
        _seal(file)

    write_files({Path(path): write_and_seal})


def read_sealed(path: str | os.PathLike[str], what: str, advice: str) -> bytes:
    """Return the content of a file if it is as it was written.

    InputError if it is missing, damaged, of another kind, or without a digest. `what` names the file's kind, such as "a
    partition"; `advice` says what to do.
    """
    with _opened(path, advice) as file:
        content = file.read()
    if not is_whole(content):
        raise not_as_written(path, what, advice)
    return content


def check_sealed(path: str | os.PathLike[str], what: str, advice: str) -> None:
    """Read a file that may be larger than memory, and refuse it if it is not as it was written.

    It raises InputError where `read_sealed` does.
    """
    with _opened(path, advice) as file:
        is_as_written = _is_whole(file)
    if not is_as_written:
        raise not_as_written(path, what, advice)


@contextmanager
def _opened(path: str | os.PathLike[str], advice: str) -> Iterator[IO[bytes]]:
    """Open a file that has an end; what cannot be read there is an InputError."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError(f"expected a file at {path}, got something that has no end: {advice}")
            yield file
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}: check the path") from error
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}): {advice}") from error


def not_as_written(path: str | os.PathLike[str], what: str, advice: str) -> InputError:
    """Return the error about a file that is damaged, of another kind, or of a version without digests."""
    return InputError(f"{path} is not {what} as this version of reluscope writes it, or it is damaged: {advice}")


def to_sealed_json(plain: Mapping[str, Any], **options: Any) -> str:
    """Return plain types as JSON with the digest under the key ``seal``.

    `plain` must say what it is; options are those of `json.dumps`.
    """
    return sealed(json.dumps({SEAL_KEY: UNSEALED, **plain}, **options).encode()).decode()


def read_sealed_json(path: str | os.PathLike[str], what: str, advice: str) -> dict[str, Any]:
    """Return the object that `to_sealed_json` wrote, without the digest; errors are as in `read_sealed`."""
    return parse_json(read_sealed(path, what, advice), path, what, advice)


def parse_json(content: bytes | str, path: str | os.PathLike[str], what: str, advice: str) -> dict[str, Any]:
    """Return a JSON object, without its digest; InputError if the content is something else."""
    try:
        plain = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise not_as_written(path, what, advice) from error
    if not isinstance(plain, dict):
        raise not_as_written(path, what, advice)
    plain.pop(SEAL_KEY, None)
    return plain


def _seal(file: IO[bytes]) -> None:
    """Put the digest wherever `UNSEALED` stands."""
    places = list(_places(file, UNSEALED.encode()))
    assert places, "nowhere to put the digest"
    digest = _digest(file, b"0" * _DIGITS)
    for start in places:
        file.seek(start + len(_MARK))
        file.write(digest)
    file.flush()


def _is_whole(file: IO[bytes]) -> bool:
    # A text that somebody put into the file may look like a digest: that of the file is the first or the last.
    places = list(_places(file, _MARK))
    for start in {*places[:1], *places[-1:]}:
        file.seek(start + len(_MARK))
        digest = file.read(_DIGITS)
        if _digest(file, digest) == digest:
            return True
    return False


def _digest(file: IO[bytes], digest: bytes) -> bytes:
    """Return the digest of a file, taken with zeros wherever a digest stands in it."""
    total, begin = hashlib.blake2b(digest_size=_DIGITS // 2), 0
    for start in [*_places(file, _MARK + digest), None]:
        file.seek(begin)
        left = None if start is None else start - begin
        while block := file.read(BLOCK if left is None else min(BLOCK, left)):
            total.update(block)
            left = None if left is None else left - len(block)
        if start is not None:
            total.update(UNSEALED.encode())
            begin = start + len(UNSEALED)
    return total.hexdigest().encode()


def _places(file: IO[bytes], what: bytes) -> Iterator[int]:
    """Yield where some bytes stand in a file, also across two blocks of it."""
    file.seek(0)
    read, before = 0, b""
    while block := file.read(BLOCK):
        window = before + block
        start = window.find(what)
        while start >= 0:
            yield read - len(before) + start
            start = window.find(what, start + len(what))
        read += len(block)
        before = window[len(window) - len(what) + 1 :] if len(window) >= len(what) else window


def _open_at_once(path: str, flags: int) -> int:
    # A pipe that nobody writes to would be waited for.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
