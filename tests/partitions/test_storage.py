"""Partitions on disk: the same after a round trip; what is not whole or of another network is refused."""

import errno
import os

import numpy as np
import pyarrow
import pytest

import reluscope as rs
from partitions.checking import check_structure, found_in
from reluscope.errors import InputError
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions import Partition
from reluscope.testing import default_network

SQUARE = rs.Box(-1, 1, 2)
PARAMETERS = default_network([2, 12, 12, 3], seed=1)


@pytest.fixture(scope="module")
def net():
    return from_arrays(PARAMETERS)


@pytest.fixture(scope="module")
def part(net):
    return rs.partition(net, SQUARE)


def domains():
    square = rs.Slice([0.1, 0.2], [[1.0, 0.5], [0.0, 2.0]], rs.Box([-1, -2], [1, 2]))
    triangle = rs.Polyhedron([[-1.0, 0], [0, -1], [1, 1]], [1.0, 1, 1])
    return [SQUARE, square, rs.Slice([0.0, 0], np.eye(2), triangle), rs.Segment([0, 0], [1, 1]), triangle]


@pytest.mark.parametrize("domain", domains(), ids=lambda domain: domain.describe())
@pytest.mark.parametrize(
    "options", [{}, {"budget": rs.Budget(regions=3)}, {"budget": rs.Budget(regions=0)}, "certified"], ids=str
)
def test_a_round_trip_keeps_everything(net, domain, options, tmp_path):
    certified = options == "certified"
    part = rs.certify(rs.partition(net, domain)) if certified else rs.partition(net, domain, **options)
    part.save(tmp_path / "part.arrow")
    again = Partition.load(tmp_path / "part.arrow", network=net)
    for name in ("claim", "num_undecided", "num_open", "tolerance", "certified", "fingerprint", "stop", "work"):
        assert getattr(again, name) == getattr(part, name), name
    assert again.codes == part.codes
    np.testing.assert_array_equal(again.vertices, part.vertices)
    np.testing.assert_array_equal(again.witnesses, part.witnesses)
    np.testing.assert_array_equal(again.volumes(), part.volumes())
    assert (again.adjacency() != part.adjacency()).nnz == 0
    assert again.domain.describe() == part.domain.describe()
    assert again.finding() == part.finding()
    if len(part):
        np.testing.assert_array_equal(again.maps.weight, part.maps.weight)
    if not options:
        check_structure(again)
        np.testing.assert_array_equal(again.facets.flips, part.facets.flips)


def test_a_network_without_gates_has_empty_codes(tmp_path):
    net = from_arrays([(np.array([[1.0, 2.0]]), np.zeros(1))])
    rs.partition(net, SQUARE).save(tmp_path / "part")
    again = Partition.load(tmp_path / "part", network=net)
    assert again.codes.words.shape == (1, 0)
    check_structure(again)


def test_without_a_network_geometry_is_there_and_maps_are_not(part, tmp_path):
    part.save(tmp_path / "part")
    again = Partition.load(tmp_path / "part")
    assert found_in(again) == found_in(part)
    with pytest.raises(InputError, match="network=net"):
        _ = again.maps
    with pytest.raises(InputError, match="network=net"):
        _ = again.outputs


def test_another_network_is_refused(part, tmp_path):
    part.save(tmp_path / "part")
    other = from_arrays([(weight, 2 * bias) for weight, bias in PARAMETERS])
    with pytest.raises(InputError, match=f"another network.*{part.fingerprint[:12]}.*{other.fingerprint[:12]}"):
        Partition.load(tmp_path / "part", network=other)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="no file"):
        Partition.load(tmp_path / "nowhere")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.999])
def test_a_truncated_file(part, tmp_path, share):
    path = tmp_path / "part"
    part.save(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match="damaged"):
        Partition.load(path)


def test_files_of_other_kinds(tmp_path):
    (tmp_path / "text").write_text("not a partition", encoding="utf-8")
    with pyarrow.OSFile(str(tmp_path / "table"), "wb") as file:
        table = pyarrow.table({"a": [1, 2]})
        with pyarrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    for name in ("text", "table"):
        with pytest.raises(InputError, match="not a file of kind 'partition'"):
            Partition.load(tmp_path / name)
    with pytest.raises(InputError):
        Partition.load(tmp_path)


@pytest.mark.parametrize("step", ["fsync", "replace", "write"])
def test_a_disk_that_fills_leaves_the_old_file_and_nothing_else(part, tmp_path, monkeypatch, step):
    path = tmp_path / "part"
    path.write_text("the old file", encoding="utf-8")

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if step == "write":
        monkeypatch.setattr("pyarrow.ipc.new_file", full)
    else:
        monkeypatch.setattr(os, step, full)
    with pytest.raises(InputError, match="No space left"):
        part.save(path)
    monkeypatch.undo()
    assert path.read_text(encoding="utf-8") == "the old file"
    assert os.listdir(tmp_path) == ["part"]
    part.save(path)
    assert len(Partition.load(path)) == len(part)


def test_ctrl_c_while_saving_leaves_the_old_file_and_nothing_else(part, tmp_path, monkeypatch):
    path = tmp_path / "part"
    path.write_text("the old file", encoding="utf-8")

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        part.save(path)
    assert path.read_text(encoding="utf-8") == "the old file"
    assert os.listdir(tmp_path) == ["part"]


def test_a_folder_that_is_not_there(part, tmp_path):
    with pytest.raises(InputError, match="could not write"):
        part.save(tmp_path / "nowhere" / "part")


def test_the_table_has_a_row_per_region(part):
    table = part.to_table()
    assert table.num_rows == len(part)
    np.testing.assert_array_equal(table["volume"].to_numpy(), part.volumes())
    np.testing.assert_array_equal(table["witness_1"].to_numpy(), part.witnesses[:, 1])
    assert table["num_corners"].to_pylist() == [len(region.vertices) for region in part]
    assert len(set(table["code"].to_pylist())) == len(part)
    assert table["code"][5].as_py() == part.codes.words[5].tobytes()
