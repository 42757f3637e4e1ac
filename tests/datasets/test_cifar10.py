"""CIFAR-10 in both forms, and what is wrong with files."""

import io
import tarfile

import numpy as np
import pytest
from PIL import Image

from reluscope.datasets import cifar10, open_dataset
from reluscope.datasets.cifar10 import CIFAR10_CLASSES
from reluscope.errors import InputError


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, size=(10, 3, 32, 32), dtype=np.uint8)


def write_binary(folder, images, part="test"):
    folder.mkdir(exist_ok=True)
    rows = np.concatenate([np.arange(10, dtype=np.uint8)[:, None], images.reshape(10, -1)], axis=1)
    names = ["test_batch.bin"] if part == "test" else [f"data_batch_{number}.bin" for number in range(1, 6)]
    for name in names:
        (folder / name).write_bytes(rows.tobytes())
    return folder


def content(image, form):
    buffer = io.BytesIO()
    Image.fromarray(image.transpose(1, 2, 0)).save(buffer, form)
    return buffer.getvalue()


def write_folders(folder, images, form="PNG", suffix="png"):
    for one, image in zip(CIFAR10_CLASSES, images, strict=True):
        (folder / "test" / one).mkdir(parents=True)
        (folder / "test" / one / f"0.{suffix}").write_bytes(content(image, form))
    return folder


def test_the_binary_version(tmp_path, images):
    data = cifar10(write_binary(tmp_path / "c", images))
    assert data.points.shape == (10, 3, 32, 32)
    assert np.array_equal(data.points, images / 255.0)
    assert data.labels.tolist() == list(range(10))
    write_binary(tmp_path / "c", images, "train")
    assert len(open_dataset(f"cifar10-train:{tmp_path / 'c'}")) == 50


def test_folders_of_images_without_loss(tmp_path, images):
    data = open_dataset(f"cifar10:{write_folders(tmp_path / 'c', images)}")
    assert np.array_equal(data.points, images / 255.0)
    assert data.labels.tolist() == list(range(10))
    assert not data.notes


def test_an_archive_of_jpeg_says_that_it_is_lossy(tmp_path):
    ramps = np.broadcast_to(np.linspace(0, 255, 32).astype(np.uint8), (10, 3, 32, 32))
    write_folders(tmp_path / "c", ramps, "JPEG", "jpg")
    with tarfile.open(tmp_path / "c.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "c" / "test", "test")
    data = cifar10(tmp_path / "c.tar.xz")
    assert np.abs(data.points - ramps / 255.0).max() < 0.05
    assert "JPEG" in data.notes[0]


@pytest.mark.parametrize("form", ["archive", "folder"])
def test_what_is_not_there(tmp_path, form):
    place = tmp_path / "empty"
    place.mkdir()
    if form == "archive":
        with tarfile.open(tmp_path / "empty.tar", "w") as archive:
            archive.add(place, "x")
        place = tmp_path / "empty.tar"
    with pytest.raises(InputError, match="neither test_batch"):
        cifar10(place)


def test_bad_files(tmp_path, images):
    with pytest.raises(InputError, match="there is no"):
        cifar10(tmp_path / "nowhere")
    with pytest.raises(InputError, match="parts train and test"):
        cifar10(tmp_path, "validation")
    folder = write_binary(tmp_path / "c", images)
    (folder / "test_batch.bin").write_bytes(b"\0" * 3074)
    with pytest.raises(InputError, match="damaged"):
        cifar10(folder)
    write_binary(folder, images, "train")
    (folder / "data_batch_3.bin").unlink()
    with pytest.raises(InputError, match="not complete"):
        cifar10(folder, "train")
    (tmp_path / "no.tar").write_bytes(b"nothing")
    with pytest.raises(InputError, match="not a tar archive"):
        cifar10(tmp_path / "no.tar")
    pictures = write_folders(tmp_path / "p", images)
    (pictures / "test" / "cat" / "0.png").write_bytes(b"no image")
    with pytest.raises(InputError, match="is damaged"):
        cifar10(pictures)
    (pictures / "test" / "cat" / "0.png").write_bytes(content(images[0][:, :16], "PNG"))
    with pytest.raises(InputError, match="32 x 32"):
        cifar10(pictures)
    with pytest.raises(InputError, match="needs the folder"):
        open_dataset("cifar10")
