"""Packed codes in less memory: neighbours differ in few units, so that what waits for its use takes a tenth of it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt64


@dataclass(frozen=True)
class CompressedWords:
    """Rows of words, compressed."""

    content: bytes  # by LZ4
    shape: tuple[int, int]

    @classmethod
    def of(cls, words: UInt64[np.ndarray, "r w"]) -> "CompressedWords":
        """Compress the rows of an array."""
        import pyarrow as pa

        return cls(pa.compress(words.tobytes(), "lz4", asbytes=True), words.shape)

    @property
    def words(self) -> UInt64[np.ndarray, "r w"]:
        """The array, made anew."""
        import pyarrow as pa

        size = 8 * self.shape[0] * self.shape[1]
        return np.frombuffer(pa.decompress(self.content, size, "lz4", asbytes=True), np.uint64).reshape(self.shape)

    def __len__(self) -> int:
        return self.shape[0]
