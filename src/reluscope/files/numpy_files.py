"""Arrays in NumPy's own format, read safely: nothing is unpickled, and no array is larger than the file says it holds.

NumPy makes an array of the shape that a header states before it reads the first number; here the header has to agree
with the size of the file first.
"""

import math
import tokenize
import zipfile
from typing import IO

import numpy as np

# An archive that grows to more than this by more than the factor is no data, or can be saved uncompressed.
MAX_EXPANDED, MAX_FACTOR = 2**28, 200


def read_npy(file: IO[bytes], size: int) -> np.ndarray:
    """Return the array of a ``.npy`` file of so many bytes, which is at its beginning.

    ValueError if it holds pickled objects, is no such file, or has more or fewer numbers than its header states.
    """
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"version {version[0]}.{version[1]} of the format holds no plain numbers")
    try:
        shape, by_column, kind = readers[version](file)
    except (
        tokenize.TokenError,
        SyntaxError,
        RecursionError,
        MemoryError,
    ) as error:  # of the parser of Python's literals
        raise ValueError(f"a header that cannot be parsed ({error})") from error
    if kind.hasobject:
        raise ValueError("Object arrays cannot be loaded when allow_pickle=False")
    needed, there = math.prod(shape) * kind.itemsize, size - file.tell()
    if any(not 0 <= length < 2**63 for length in shape) or needed > there:
        raise ValueError(f"a header states the shape {_short(shape)}, {needed:,} bytes, and {there:,} are there")
    content = bytearray(file.read(needed))
    if len(content) != needed:
        raise ValueError("the numbers end early")
    return np.frombuffer(content, dtype=kind).reshape(shape, order="F" if by_column else "C")


def open_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a member of an archive; ValueError if it would expand beyond a limit.

    KeyError if there is no such member.
    """
    info = archive.getinfo(name)
    if info.file_size > MAX_EXPANDED and info.file_size > MAX_FACTOR * max(1, info.compress_size):
        raise ValueError(
            f"{info.compress_size:,} bytes in it would grow to {info.file_size:,}; if that is meant, save it "
            "uncompressed"
        )
    return archive.open(info)


def _short(shape: tuple[int, ...]) -> str:
    text = " x ".join(map(str, shape))
    return text if len(text) < 60 else f"{text[:60]}..."
