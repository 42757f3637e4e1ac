"""Named problems: digits, MNIST's files, and the embedded network."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

import reluscope as rs
from reluscope.datasets import demo
from reluscope.datasets.digits import digits
from reluscope.datasets.mnist import mnist, read_idx
from reluscope.datasets.opened_data import open_dataset
from reluscope.errors import InputError

SHARED = Path(__file__).parents[3] / "shared" / "data" / "mnist"


def test_digits_are_split_without_overlap():
    whole, train, test = digits(), digits("train"), digits("test")
    assert (len(train), len(test)) == (1437, 360)
    assert np.array_equal(whole.points[::5], test.points)
    assert np.array_equal(np.sort(np.r_[train.points, test.points], axis=0), np.sort(whole.points, axis=0))
    assert whole.points.min() == 0.0
    assert whole.points.max() == 1.0


@pytest.mark.parametrize("name", ["digits:test", "digits:train"])
def test_parts_of_digits_by_name(name):
    assert len(open_dataset(name)) == len(digits(name.partition(":")[2]))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("digits:validation", "two parts, got 'validation'"),
        ("mnist", "needs the folder of its files"),
        ("mnist:/nowhere/at/all", "there is no folder"),
    ],
)
def test_names_that_say_too_little(name, words):
    with pytest.raises(InputError, match=words):
        open_dataset(name)


def idx(array):
    return b"\x00\x00\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


@pytest.mark.parametrize("mark", ["-", "."])
@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_mnist_files_in_their_usual_forms(tmp_path, mark, pack):
    images = np.arange(3 * 28 * 28, dtype=np.uint8).reshape(3, 28, 28)
    suffix = ".gz" if pack is gzip.compress else ""
    (tmp_path / f"t10k-images{mark}idx3-ubyte{suffix}").write_bytes(pack(idx(images)))
    (tmp_path / f"t10k-labels{mark}idx1-ubyte{suffix}").write_bytes(pack(idx(np.array([7, 0, 9], dtype=np.uint8))))
    data = mnist(tmp_path)
    assert data.points.shape == (3, 1, 28, 28)
    assert np.array_equal(data.points[:, 0] * 255, images)
    assert data.labels is not None
    assert data.labels.tolist() == [7, 0, 9]
    with pytest.raises(InputError, match=r"there is no file train-images-idx3-ubyte\.gz"):
        mnist(tmp_path, "train")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (idx(np.zeros((4, 4), dtype=np.uint8))[:-3], "promises 16 entries, it holds 13"),
        (b"something else", "not an IDX file"),
        (b"\x00\x00\x08\x03", "truncated"),
        (b"", "not an IDX file"),
    ],
)
def test_damaged_idx_files(tmp_path, content, words):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_idx(path)


def test_truncated_gzip(tmp_path):
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(idx(np.zeros((40, 40), dtype=np.uint8)))[:-20])
    with pytest.raises(InputError, match="damaged or truncated"):
        read_idx(path)


@pytest.mark.shared
def test_mnist_itself():
    if not SHARED.is_dir():
        pytest.skip("MNIST is not beside the checkout")
    data = open_dataset(f"mnist:{SHARED}")
    assert data.labels is not None
    assert np.bincount(data.labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


def test_the_embedded_network_is_as_accurate_as_its_file_says():
    path = Path(demo.__file__).with_name(demo.WEIGHTS)
    assert path.stat().st_size < 200_000
    with safe_open(path, "pt") as file:
        stated = float(file.metadata()["test_accuracy"])
    data = digits("test")
    net = rs.load(demo.demo_network(), data=data.points)
    right = net(data.points).argmax(1).numpy() == data.labels
    assert right.mean() == pytest.approx(stated, abs=1e-3)
    assert stated > 0.97
    assert {gate.kind for gate in net.gates} == {"relu", "max_pool"}
