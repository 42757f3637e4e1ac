"""Rows that memory need not hold, in files by their keys: whoever asks for one share of the keys has all their rows."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from jaxtyping import UInt64

# Into so many files rows go, so that each fits into memory: of 10^9 rows of 24 bytes 750 MB.
SHARES = 32


class SpilledRows:
    """Rows of one type, spread over files by the lowest bits of their keys.

    The folder is made here; nothing else may write to it.
    """

    def __init__(self, folder: Path, dtype: np.dtype) -> None:
        folder.mkdir()
        self._dtype = dtype
        self._paths = [folder / f"{share:02d}" for share in range(SHARES)]

    def add(self, keys: UInt64[np.ndarray, " r"], rows: np.ndarray) -> Callable[[], None]:
        """Return what writes some rows; until then nothing has changed, and after it no memory was asked for."""
        shares = (keys % np.uint64(SHARES)).astype(np.int64)
        order = np.argsort(shares, kind="stable")
        ends = np.cumsum(np.bincount(shares, minlength=SHARES))[:-1]
        contents = [part.tobytes() for part in np.split(rows[order], ends)]

        def write() -> None:
            for path, content in zip(self._paths, contents, strict=True):
                if content:
                    with open(path, "ab", buffering=0) as file:
                        file.write(content)

        return write

    def __iter__(self) -> Iterator[np.ndarray]:
        for path in self._paths:
            yield np.fromfile(path, self._dtype) if path.exists() else np.zeros(0, self._dtype)
