"""Every file that the project reads back: whatever byte of it changes, it is refused with one sentence."""

import json
import os
import zipfile
from importlib import import_module

import numpy as np
import pyarrow.ipc
import pyarrow.parquet
import pytest

from damaged_files.kinds import SEALED as KINDS
from damaged_files.kinds import (
    certificate,
    checkpoint,
    level_checkpoint,
    measured_samples,
    partition,
    proof,
    solid_partition,
    study_records,
    tracked_run,
)
from reluscope.errors import InputError
from reluscope.files.kept_results import KeptResults, Record
from reluscope.files.sealed_files import UNSEALED, is_whole, read_sealed, sealed, write_sealed

MAX_FLIPS = 300
SLOW = (checkpoint, certificate, level_checkpoint, measured_samples, proof, solid_partition)


def refused(read, what):
    try:
        read()
    except InputError as error:
        text = str(error)
        assert "\n" not in text
        assert not text.endswith(".")
    else:
        pytest.fail(f"was read: {what}")


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_byte_counts(kind, tmp_path):
    paths, read = kind(tmp_path)
    rng = np.random.default_rng(0)
    for path in paths:
        whole = path.read_bytes()
        places = range(len(whole))
        if len(whole) > MAX_FLIPS:
            ends = [*range(40), *range(len(whole) - 40, len(whole))]
            places = sorted({*ends, *rng.choice(len(whole), MAX_FLIPS, replace=False)})
        if kind in SLOW:  # by the same readers as others
            places = rng.choice(len(whole), 15, replace=False)
        for place in places:
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << rng.integers(8)]) + whole[place + 1 :])
            refused(read, f"{path.name} with another byte {place}")
        path.write_bytes(whole)
        read()


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_no_such_file_is_refused(kind, tmp_path):
    paths, read = kind(tmp_path)
    for path in paths:
        whole = path.read_bytes()
        others = {
            "nothing": b"",
            "half": whole[: len(whole) // 2],
            "all but the end": whole[:-1],
            "more": whole + b"\n",
            "twice": whole + whole,
            "text": b"something else",
            "without a digest": whole.replace(b"reluscope seal", b"reluscope deal"),
            "another file that is whole": sealed(f'{{"seal": "{UNSEALED}"}}'.encode()),
        }
        for what, content in others.items():
            path.write_bytes(content)
            refused(read, f"{path.name}, {what}")
        if len(paths) == 1:  # in a folder of results it is as good as none
            path.unlink()
            os.mkfifo(path)
            refused(read, f"{path.name}, a pipe")
            path.unlink()
        path.write_bytes(whole)


def test_a_version_that_comes_later_is_refused(tmp_path, monkeypatch):
    for module, kind in (
        ("files.named_arrays", partition),
        ("partitions.exact.certificates", certificate),
        ("files.kept_results", study_records),
        ("cli.studies.study_records", study_records),
        ("analyses.tracking.record_files", tracked_run),
    ):
        with monkeypatch.context() as later:
            later.setattr(import_module(f"reluscope.{module}"), "FORMAT", "reluscope something 99")
            (tmp_path / module).mkdir()
            _, read = kind(tmp_path / module)
        refused(read, module)


def test_other_tools_read_these_files(tmp_path):
    (path,), _ = partition(tmp_path)
    with pyarrow.OSFile(str(path)) as file:
        assert "words" in pyarrow.ipc.open_file(file).read_all()["name"].to_pylist()
    (path,), _ = certificate(tmp_path)
    assert json.loads(path.read_text(encoding="utf-8"))["format"].startswith("reluscope certificate")
    (path,), _ = tracked_run(tmp_path)
    assert pyarrow.parquet.read_table(path)["logged_loss"].to_pylist() == [0.5]
    (path, *_), _ = study_records(tmp_path)
    with np.load(path, allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["W"], np.arange(6.0))
        assert json.loads(archive["plain.json"])["plain"] == {"regions": 5}


@pytest.mark.parametrize("content", [f"{UNSEALED}", f"a {UNSEALED} b", f"{UNSEALED} and {UNSEALED}", UNSEALED * 3])
def test_contents_with_one_digest_or_more(content):
    whole = sealed(content.encode())
    assert len(whole) == len(content)
    assert is_whole(whole)
    for place in range(len(whole)):
        assert not is_whole(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])


def test_texts_that_look_like_a_digest_are_only_text():
    stranger = sealed(f"of another file {UNSEALED}".encode())
    assert is_whole(sealed(stranger + UNSEALED.encode()))
    assert is_whole(sealed(UNSEALED.encode() + stranger))
    assert not is_whole(stranger + UNSEALED.encode())


def test_large_files_are_sealed_in_place(tmp_path):
    content = np.random.default_rng(0).bytes(3_000_000)
    write_sealed(tmp_path / "large", lambda file: file.write(content + UNSEALED.encode() + content))
    assert read_sealed(tmp_path / "large", "a file", "write it again")[: len(content)] == content


def test_pickled_arrays_are_neither_kept_nor_read(tmp_path):
    kept = KeptResults(tmp_path, {})
    with pytest.raises(ValueError, match="Object arrays"):
        kept["a"] = Record({}, {"a": np.array([{}], dtype=object)})
    assert list(kept) == []
    kept["a"] = Record({}, {"a": np.zeros(2)})
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"
    for other in (b"'|O' ", b"'<f8'"):
        shape = b"(2,)" if other == b"'|O' " else b"(9,)"
        path = tmp_path / "a.npz"
        kept["a"] = Record({}, {"a": np.zeros(2)})
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        assert header in members["a.npy"]
        members["a.npy"] = members["a.npy"].replace(header, header.replace(b"'<f8'", other).replace(b"(2,)", shape))

        def write(file, members=members):
            with zipfile.ZipFile(file, "w") as archive:
                archive.comment = UNSEALED.encode()
                for name, content in members.items():
                    archive.writestr(name, content)

        write_sealed(path, write)
        refused(lambda: kept["a"], other)
