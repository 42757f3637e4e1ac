"""MNIST in its original IDX files, from a folder of the user's: 28 x 28 images, scaled to [0, 1], ten classes."""

import gzip
import math
import os
import struct
import zlib
from itertools import islice
from pathlib import Path

import numpy as np

from reluscope.arguments import read_arguments
from reluscope.datasets.dataset import Dataset, dataset_of
from reluscope.errors import InputError

# Twice as much as the larger file.
MAX_BYTES, _PART = 100_000_000, 2**20
PREFIXES = {"train": "train", "test": "t10k"}


@read_arguments
def mnist(folder: str | os.PathLike[str], part: str = "test") -> Dataset:
    """Read MNIST, or another dataset in the same file format (Fashion-MNIST, KMNIST).

    Parameters
    ----------
    folder : path
        Contains ``t10k-images-idx3-ubyte`` and its three companions, gzipped or not.
    part : {"test", "train"}
        10,000 or 60,000 images.

    Returns
    -------
    Dataset
        Points ``(s, 1, 28, 28)``: the original whole numbers 0 to 255, divided by 255.

    Raises
    ------
    InputError
        If the folder or a file is missing or damaged.
    """
    folder = Path(folder)
    if part not in PREFIXES:
        raise InputError(f"MNIST has the parts train and test, got {part!r}")
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}: name the one that holds the MNIST files, as in mnist:DIR")
    images = read_idx(_find(folder, f"{PREFIXES[part]}-images", "idx3-ubyte"))
    labels = read_idx(_find(folder, f"{PREFIXES[part]}-labels", "idx1-ubyte"))
    return dataset_of(images[:, None] / 255.0, labels, name=f"MNIST ({part} part)", labels_name="the MNIST labels")


def read_idx(path: Path) -> np.ndarray:
    """Read one IDX file of bytes: a magic number, the sizes of the axes, then the entries row-major."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            parts = islice(iter(lambda: file.read(_PART), b""), MAX_BYTES // _PART + 1)
            content = b"".join(parts)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} is damaged or truncated ({error}): fetch it again") from error
    if len(content) < 4 or content[:3] != b"\x00\x00\x08":
        raise InputError(f"{path} is not an IDX file of bytes: fetch it again")
    if len(content) > MAX_BYTES:
        raise InputError(f"{path} holds more than {MAX_BYTES:,} bytes, which no file of MNIST does: fetch it again")
    num_axes = content[3]
    start = 4 + 4 * num_axes
    shape = struct.unpack(f">{num_axes}I", content[4:start]) if len(content) >= start else ()
    expected = math.prod(shape)
    if not shape or len(content) - start != expected:
        raise InputError(
            f"{path} is truncated: its header promises {expected:,} entries, it holds {max(0, len(content) - start):,}"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


def _find(folder: Path, stem: str, kind: str) -> Path:
    names = [f"{stem}{mark}{kind}{suffix}" for mark in "-." for suffix in (".gz", "")]
    for name in names:
        if (folder / name).exists():
            return folder / name
    raise InputError(f"there is no file {names[0]} (or {names[1]}) in {folder}: put the MNIST files there")
