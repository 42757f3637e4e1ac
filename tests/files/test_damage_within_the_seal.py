"""Files that are damaged inside their seal: whatever is wrong, reading ends in an object or in one sentence.

`damaged_files.kinds` makes, reads and uses every kind of file, `damaged_files.damage` changes bytes, offsets, lengths,
types, indices and numbers, and seals the file again. All are read in a process of its own, which a wrong offset may
take down.
"""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest

import reluscope as rs
from damaged_files.damage import MARK
from damaged_files.kinds import KINDS, NET, SQUARE
from reluscope.errors import InputError
from reluscope.files.sealed_files import UNSEALED, sealed

TESTS = Path(__file__).parents[1]


def read_all(cases, seed, tmp_path):
    """Damage every kind of file so often; return what went wrong."""
    journal = tmp_path / "journal"
    options = ["--cases", str(cases), "--seed", str(seed), "--journal", str(journal)]
    sources = [str(Path(rs.__file__).parents[1]), str(TESTS)]
    done = subprocess.run(
        [sys.executable, "-m", "damaged_files.running", *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sources)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"ended in {journal.read_text().strip()}: {done.stderr[-3000:]}"
    report = json.loads(done.stdout)
    assert report["tried"] == cases * len(KINDS)
    return report["failed"]


def test_damaged_files_end_in_an_object_or_a_sentence(tmp_path):
    assert read_all(2, 0, tmp_path) == []


@pytest.mark.nightly
def test_many_damaged_files_end_in_an_object_or_a_sentence(tmp_path, seed_of_day):
    assert read_all(100, seed_of_day, tmp_path) == []


@pytest.mark.parametrize("column", ["name", "shape", "data"])
def test_offsets_beyond_their_buffers_are_refused(column, tmp_path):
    path = tmp_path / "part.arrow"
    rs.partition(NET, SQUARE).save(path)
    raw = MARK.sub(UNSEALED.encode(), path.read_bytes())
    table = pyarrow.ipc.open_file(pa.BufferReader(raw)).read_all()
    kind = "<i8" if column == "data" else "<i4"
    offsets = np.frombuffer(table[column].chunk(0).buffers()[1], kind)[: len(table) + 1]
    assert raw.count(offsets.tobytes()) == 1
    forged = offsets.copy()
    forged[1] = 0x7FFFFFF0
    path.write_bytes(sealed(raw.replace(offsets.tobytes(), forged.tobytes())))
    with pytest.raises(InputError, match="as this version of reluscope writes it, or it is damaged"):
        rs.Partition.load(path)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("two.csv", b"a,a\n1,2\n3,4\n", "the name 'a' twice"),
        ("none.csv", b"a,,\n1,2,3\n", "columns without names"),
        ("label.csv", b"label,label\n1,2\n", "the name 'label' twice"),
        ("open.npy", b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, }\n", "header"),
        ("deep.npy", b"{'shape': " + b"(" * 5000 + b"\n", "header"),
        ("long.npy", b"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 18446744073709551616)}\n", "shape"),
    ],
)
def test_small_files_that_no_reader_understands(name, content, words, tmp_path):
    if name.endswith(".npy"):
        content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(content)) + content + bytes(32)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words):
        rs.datasets.open_dataset(tmp_path / name)
