"""CIFAR-10 from the user's own files: 32 x 32 images in three colours, scaled to [0, 1], ten classes.

Two forms are read: the binary version of the originals (``data_batch_1.bin`` and so on), and JPEG images in one folder
per class, in a directory or a tar archive. JPEG is lossy, which the data set's notes say.
"""

import io
import lzma
import os
import struct
import tarfile
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from reluscope.arguments import read_arguments
from reluscope.datasets.dataset import Dataset, dataset_of
from reluscope.errors import InputError

CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
BINARY = {"train": tuple(f"data_batch_{number}.bin" for number in range(1, 6)), "test": ("test_batch.bin",)}
SHAPE = (3, 32, 32)
MAX_BYTES = 2**24
IMAGES = (".jpg", ".jpeg", ".png")


@read_arguments
def cifar10(place: str | os.PathLike[str], part: str = "test") -> Dataset:
    """Read CIFAR-10.

    Parameters
    ----------
    place : path
        A folder with the binary version (``test_batch.bin``, ``data_batch_1.bin`` to ``data_batch_5.bin``), or with
        images in ``test/airplane/`` and so on; or a tar archive of such images, compressed or not.
    part : {"test", "train"}
        10,000 or 50,000 images, if all are present.

    Returns
    -------
    Dataset
        Points ``(s, 3, 32, 32)``: whole numbers 0 to 255, divided by 255. Classes in the original order, airplane
        to truck. Images from folders are ordered by class, then by name.

    Raises
    ------
    InputError
        If files are missing or damaged.
    """
    place = Path(place)
    if part not in BINARY:
        raise InputError(f"CIFAR-10 has the parts train and test, got {part!r}")
    if not place.exists():
        raise InputError(f"there is no {place}: name the folder or archive that holds CIFAR-10, as in cifar10:DIR")
    name = f"CIFAR-10 ({part} part)"
    if place.is_dir() and (place / BINARY[part][0]).exists():
        images, labels = _binary([place / file for file in BINARY[part]])
        return dataset_of(images / 255.0, labels, name=name, labels_name="the CIFAR-10 labels")
    decoded = {file: _decoded(content, file) for file, content in _image_files(place, part)}
    if not decoded:
        raise InputError(
            f"{place} holds neither {BINARY[part][0]} nor images in {part}/airplane/ and so on: put CIFAR-10 there"
        )
    order = sorted(decoded)
    labels = np.array([CIFAR10_CLASSES.index(file.split("/")[0]) for file in order])
    is_lossy = any(not file.endswith(".png") for file in order)
    notes = ("read from JPEG images, which differ a little from the originals",) if is_lossy else ()
    images = np.stack([decoded[file] for file in order])
    return dataset_of(images / 255.0, labels, name=name, notes=notes, labels_name="the CIFAR-10 labels")


def _binary(files: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    """Read records of one byte for the class and 3,072 for the image, colour after colour."""
    size = 1 + int(np.prod(SHAPE))
    rows = []
    for file in files:
        try:
            content = np.frombuffer(file.read_bytes(), dtype=np.uint8)
        except OSError as error:
            raise InputError(f"there is no file {file}, or it cannot be read: CIFAR-10 is not complete") from error
        if not len(content) or len(content) % size or content.reshape(-1, size)[:, 0].max() >= len(CIFAR10_CLASSES):
            raise InputError(f"{file} is damaged: it is not made of records of {size:,} bytes; fetch it again")
        rows.append(content.reshape(-1, size))
    table = np.concatenate(rows)
    return table[:, 1:].reshape(-1, *SHAPE), table[:, 0].astype(np.int64)


def _image_files(place: Path, part: str) -> Iterator[tuple[str, bytes]]:
    """Return names ``class/file`` and contents of a part's images."""
    if place.is_dir():
        for one in CIFAR10_CLASSES:
            for file in sorted((place / part / one).glob("*")):
                if file.suffix.lower() in IMAGES and file.is_file():
                    _check_size(file.stat().st_size, str(file))
                    yield f"{one}/{file.name}", file.read_bytes()
        return
    try:
        with tarfile.open(place) as archive:
            for member in archive:
                *_, kind, one, file = ("", "", *Path(member.name).parts)[-3:]
                # Nothing is written to disk, and links are not followed.
                _check_size(member.size, member.name)
                wanted = (
                    kind == part and one in CIFAR10_CLASSES and Path(file).suffix.lower() in IMAGES and member.isreg()
                )
                stream = archive.extractfile(member) if wanted else None
                if stream is not None:
                    yield f"{one}/{file}", stream.read()
    except (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{place} is not a tar archive, or it is damaged ({error}): fetch it again") from error


def _check_size(size: int, file: str) -> None:
    if size > MAX_BYTES:
        raise InputError(f"images of CIFAR-10 have a few thousand bytes, got {file} of {size:,}: fetch it again")


def _decoded(content: bytes, file: str) -> np.ndarray:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content)) as image:
                width, height = image.size
                # Before it is decoded: a few bytes can stand for any number of pixels.
                if (height, width) != SHAPE[1:]:
                    raise InputError(f"images of CIFAR-10 are 32 x 32, got {file} of {width} x {height}")
                pixels = np.asarray(image.convert("RGB"))
    except Image.DecompressionBombError as error:
        raise InputError(f"images of CIFAR-10 are 32 x 32, got {file}, which is far larger") from error
    except (OSError, ValueError, SyntaxError, EOFError, zlib.error, struct.error) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the image {file} is damaged ({error}): fetch it again") from error
    return pixels.transpose(2, 0, 1)
