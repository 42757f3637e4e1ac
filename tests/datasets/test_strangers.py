"""Data from strangers: what would grow beyond measure, lie about its size or reach outside is one sentence, at once."""

import gzip
import io
import struct
import tarfile
import time
import tracemalloc
import zipfile
import zlib
from importlib import import_module

import numpy as np
import pytest
from PIL import Image

from reluscope.datasets.cifar10 import cifar10 as read_cifar10
from reluscope.datasets.files import read_arrays
from reluscope.datasets.mnist import read_idx
from reluscope.errors import InputError

MAX_MEMORY, MAX_SECONDS = 2**26, 10.0  # far from what these files stand for


def refused(words, read, *arguments):
    tracemalloc.start()
    began = time.process_time()
    try:
        with pytest.raises(InputError, match=words) as caught:
            read(*arguments)
        assert tracemalloc.get_traced_memory()[1] < MAX_MEMORY
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < MAX_SECONDS
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2_100


def npy(header):
    text = repr(header).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize("shape", [(2**40, 2), (2**62, 2**62), (-1, 2), (10**30,)])
def test_npy_files_of_absurd_shapes(tmp_path, shape):
    (tmp_path / "x.npy").write_bytes(npy({"descr": "<f8", "fortran_order": False, "shape": shape}) + bytes(64))
    refused("damaged or not a .npy file .*shape", read_arrays, tmp_path / "x.npy")


def test_pickled_arrays(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "x.npz", x=np.array([{}], dtype=object), allow_pickle=True)
    for name in ("x.npy", "x.npz"):
        refused("pickled objects, which reluscope does not load", read_arrays, tmp_path / name)


@pytest.mark.slow
def test_zip_bombs(tmp_path):
    zeros = bytes(2**20)
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as file:
        file.write(npy({"descr": "<f8", "fortran_order": False, "shape": (300 * 2**17,)}))
        for _ in range(300):
            file.write(zeros)
    assert (tmp_path / "x.npz").stat().st_size < 2**20
    refused("would grow to .*save it uncompressed", read_arrays, tmp_path / "x.npz")


def test_names_in_archives_lead_nowhere(tmp_path):
    content = io.BytesIO()
    np.save(content, np.zeros((2, 2)))
    for name in ("../x", "/x", "x" * 60_000):
        with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
            archive.writestr(f"{name}.npy", content.getvalue())
            archive.writestr(f"{name}2.npy", content.getvalue())
        refused("must hold points named x", read_arrays, tmp_path / "x.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["x.npz"]


def test_arrays_of_an_archive_are_read_as_numpy_reads_them(tmp_path):
    x = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "x.npz", x=x, y=np.arange(4))
        points, labels = read_arrays(tmp_path / "x.npz")
        np.testing.assert_array_equal(points, x)
        np.testing.assert_array_equal(labels, np.arange(4))


@pytest.mark.parametrize("shape", [(2**31, 2**31, 2**31), (2**32 - 1,) * 255, (0, 1)])
def test_idx_files_of_absurd_shapes(tmp_path, shape):
    content = struct.pack(f">4B{len(shape)}I", 0, 0, 8, len(shape), *shape)
    (tmp_path / "images").write_bytes(content + bytes(10))
    refused("is truncated: its header promises", read_idx, tmp_path / "images")


def test_gzip_bombs(tmp_path, monkeypatch):
    monkeypatch.setattr(import_module("reluscope.datasets.mnist"), "MAX_BYTES", 2**20)
    (tmp_path / "images.gz").write_bytes(gzip.compress(struct.pack(">4BI", 0, 0, 8, 1, 2**24) + bytes(2**24)))
    refused("holds more than 1,048,576 bytes", read_idx, tmp_path / "images.gz")


def image(width, height, kind="PNG"):
    content = io.BytesIO()
    Image.new("1", (width, height)).save(content, kind)
    return content.getvalue()


def test_image_bombs(tmp_path):
    folder = tmp_path / "test" / "cat"
    folder.mkdir(parents=True)
    small = image(32, 32)
    for width, height in ((30_000, 30_000), (12_000, 12_000), (33, 32)):
        header = struct.pack(">II", width, height)
        changed = bytearray(small)
        changed[16:24] = header
        changed[29:33] = struct.pack(">I", zlib.crc32(bytes(changed[12:29])))
        (folder / "a.png").write_bytes(bytes(changed))
        refused("images of CIFAR-10 are 32 x 32, got cat/a.png", read_cifar10, tmp_path)
    (folder / "a.png").write_bytes(small[:45])
    refused("is damaged", read_cifar10, tmp_path)


def tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))


def test_paths_and_links_in_archives_lead_nowhere(tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(image(32, 32))
    tar(
        tmp_path / "a.tar.gz",
        {
            "test/cat/link.png": str(secret),
            "test/cat/circle.png": "circle.png",
            "test/cat/up.png": "../../../secret.png",
            "../../test/dog/outside.png": image(32, 32),
            "/test/frog/absolute.png": image(32, 32),
        },
    )
    before = sorted(path.name for path in tmp_path.iterdir())
    data = read_cifar10(tmp_path / "a.tar.gz")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert data.labels is not None
    assert data.labels.tolist() == [5, 6]  # what is in the archive itself, and nothing else


def test_archives_of_large_members(tmp_path, monkeypatch):
    monkeypatch.setattr(import_module("reluscope.datasets.cifar10"), "MAX_BYTES", 2**20)
    for name in ("test/cat/a.png", "something/else"):
        tar(tmp_path / "a.tar.gz", {name: bytes(2**23)})
        refused("have a few thousand bytes, got .* of 8,388,608", read_cifar10, tmp_path / "a.tar.gz")
    (tmp_path / "test" / "cat").mkdir(parents=True)
    (tmp_path / "test" / "cat" / "a.png").symlink_to("/dev/zero")
    refused("holds neither test_batch.bin nor images", read_cifar10, tmp_path)
