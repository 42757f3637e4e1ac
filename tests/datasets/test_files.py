"""Readers return what was written, and damaged files give one sentence."""

import pickle
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reluscope.datasets.files import read_arrays
from reluscope.datasets.opened_data import open_dataset
from reluscope.errors import InputError

X = np.random.default_rng(0).normal(size=(20, 5))
Y = np.arange(20) % 3


def write(path):
    """Write X, and Y where the kind of file holds labels."""
    table = pa.table({**{f"p{i}": X[:, i] for i in range(5)}, "label": Y})
    name = path.name
    if name == "plain.npy":
        np.save(path, X)
    elif name == "named.npz":
        np.savez(path, y=Y, x=X)
    elif name == "compressed.npz":
        np.savez_compressed(path, labels=Y, data=X)
    elif name == "single.npz":
        np.savez(path, anything=X)
    elif name == "header.csv":
        header = ",".join(table.column_names)
        np.savetxt(path, np.c_[X, Y], delimiter=",", header=header, comments="", fmt="%.17g")
    elif name == "bare.csv":
        np.savetxt(path, X, delimiter=",", fmt="%.17g")
    elif name == "semicolon.csv":
        np.savetxt(path, X, delimiter=";", fmt="%.17g")
    elif name == "columns.parquet":
        pq.write_table(table, path)
    elif name == "lists.parquet":
        pq.write_table(pa.table({"y": Y, "x": X.tolist()}), path)
    else:
        raise AssertionError(name)
    return path


WITH_LABELS = ["named.npz", "compressed.npz", "header.csv", "columns.parquet", "lists.parquet"]
WITHOUT = ["plain.npy", "single.npz", "bare.csv", "semicolon.csv"]


@pytest.mark.parametrize("name", WITH_LABELS + WITHOUT)
def test_what_was_written_comes_back(tmp_path, name):
    points, labels = read_arrays(write(tmp_path / name))
    assert np.array_equal(points, X)
    if name in WITH_LABELS:
        assert np.array_equal(labels, Y)
    else:
        assert labels is None


@pytest.mark.parametrize("name", WITH_LABELS + WITHOUT)
def test_labels_come_from_a_file_of_their_own(tmp_path, name):
    np.save(tmp_path / "labels.npy", 2 - Y)
    data = open_dataset(write(tmp_path / name), tmp_path / "labels.npy")
    assert data.labels is not None
    assert data.labels.tolist() == (2 - Y).tolist()
    assert any("labels were taken from labels.npy" in note for note in data.notes) == (name in WITH_LABELS)


@pytest.mark.parametrize("keep", [0.0, 0.02, 0.5, 0.9])
@pytest.mark.parametrize("name", ["plain.npy", "named.npz", "compressed.npz", "columns.parquet", "lists.parquet"])
def test_truncated_files_are_named(tmp_path, name, keep):
    path = write(tmp_path / name)
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content))])
    with pytest.raises(InputError, match=f"{re.escape(name)}.*write it again"):
        read_arrays(path)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".parquet"])
def test_files_of_another_kind_are_named(tmp_path, suffix):
    path = tmp_path / f"junk{suffix}"
    path.write_bytes(bytes(range(256)) * 8)
    with pytest.raises(InputError, match=f"junk{re.escape(suffix)} is damaged or not a {re.escape(suffix)} file"):
        read_arrays(path)


class Explosive:
    def __reduce__(self):
        return (pytest.fail, ("something was unpickled",))


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_nothing_is_unpickled(tmp_path, suffix):
    array = np.array([Explosive()], dtype=object)
    path = tmp_path / f"objects{suffix}"
    (np.save if suffix == ".npy" else np.savez)(path, array, allow_pickle=True)
    with pytest.raises(InputError, match=r"pickled objects.*can run any code"):
        read_arrays(path)
    path.write_bytes(pickle.dumps(Explosive()))
    with pytest.raises(InputError, match="damaged or not"):
        read_arrays(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,foo\n", r"column .b. of .*bad.csv must hold numbers, got string \(for instance 'foo'\)"),
        ("1,2,3\n4,5\n", r"Expected 3 columns, got 2"),
        ("a,b\n", r"holds no samples, only column names"),
        ("a,b\n1,\n2,3\n", r"column .b. of .*bad.csv has 1 missing entries"),
    ],
)
def test_tables_that_hold_something_else(tmp_path, content, words):
    path = tmp_path / "bad.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_arrays(path)


def test_names_in_an_archive_must_be_clear(tmp_path):
    np.savez(tmp_path / "two.npz", first=X, second=X)
    with pytest.raises(InputError, match=r"points named x and labels named y .*, got first, second"):
        read_arrays(tmp_path / "two.npz")


def test_lists_must_be_of_one_length(tmp_path):
    pq.write_table(pa.table({"x": [[1.0], [1.0, 2.0]]}), tmp_path / "ragged.parquet")
    with pytest.raises(InputError, match="equally many in each row"):
        read_arrays(tmp_path / "ragged.parquet")


@pytest.mark.parametrize(
    ("name", "words"),
    [("none.npy", "there is no file"), ("none.txt", "must be a file of kind"), ("d.npy", "is a folder")],
)
def test_paths_that_lead_nowhere(tmp_path, name, words):
    (tmp_path / "d.npy").mkdir()
    with pytest.raises(InputError, match=words):
        read_arrays(tmp_path / name)
