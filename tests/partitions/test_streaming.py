"""Partitions in files: as in memory, whatever the network; interrupted, starved, on full disks, damaged, changed."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import reluscope as rs
from partitions import hostile
from partitions.layered import network_of
from reluscope.errors import IncompletePartitionError, InputError, ShapeError
from reluscope.files import spilled_rows
from reluscope.findings import Claim
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions import streamed_files
from reluscope.partitions.cells import cellwise
from reluscope.partitions.complexes import incidence
from reluscope.partitions.streams import staged_regions, streaming
from reluscope.partitions.table import region_rows
from reluscope.testing import default_network

SQUARE = rs.Box(-1, 1, 2)
NET = from_arrays(default_network([2, 16, 16, 1], seed=2))
PLANE = rs.Plane([0.0, 0, 0, 0], [1.0, 0, 0, 0], [0, 1.0, 1, 0])
TRIANGLE = rs.Polyhedron([[1.0, 1], [-1, 0], [0, -1]], [1.0, 0, 0])
DOMAINS = {
    "box": ([2, 16, 16, 1], SQUARE, "auto"),
    "triangle": ([2, 16, 16, 1], TRIANGLE, "auto"),
    "line": ([2, 16, 16, 1], rs.Segment([-1, -1], [1, 1]), "auto"),
    "plane": ([4, 12, 12, 1], PLANE, "auto"),
    "plane, cell by cell": ([4, 12, 12, 1], PLANE, "cellwise"),
    "solid": ([3, 8, 8, 1], rs.Box(-1, 1, 3), "auto"),
    "space": ([3, 7, 7, 1], rs.Space(3), "auto"),
    "tree": ([3, 7, 7, 1], rs.Space(3), "tree"),
    "no gates": ([2, 1], SQUARE, "auto"),
}


@pytest.fixture
def small_groups(monkeypatch, chunks_of):
    """Seams everywhere, and several row groups."""
    chunks_of(12)
    monkeypatch.setattr(cellwise, "BATCH", 8)
    monkeypatch.setattr(streamed_files, "MAX_ROWS", 24)
    monkeypatch.setattr(streamed_files, "MIN_ROWS", 24)


def check_same(part, streamed):
    """The file holds the regions of a partition, and claims what it claims."""
    rows = streamed.take(np.arange(len(streamed)))
    place = {row.tobytes(): index for index, row in enumerate(part.codes.words)}
    order = [place.pop(row.tobytes()) for row in rows.words]
    assert not place
    one, other = part.finding(), streamed.finding()
    assert (str(one), one.interval, one.method) == (str(other), other.interval, other.method)
    assert (part.num_undecided, part.num_open) == (streamed.num_undecided, streamed.num_open)
    assert part.work.get("cells_left_out", 0) == streamed.work.get("cells_left_out", 0)
    if rows.volumes is not None:
        np.testing.assert_allclose(rows.volumes, part.volumes()[order], rtol=1e-9, atol=1e-12)
    return rows


@pytest.mark.few(3)
@pytest.mark.parametrize("name", DOMAINS)
def test_a_file_holds_what_memory_holds(name, tmp_path, small_groups):
    sizes, domain, method = DOMAINS[name]
    net = from_arrays(default_network(sizes, seed=2))
    # What "auto" chooses for a file: the engine "incidence" on lines and planes alone.
    chosen = "cellwise" if name == "solid" else method
    part = rs.partition(net, domain, method=chosen)
    streamed = rs.stream(net, domain, tmp_path / "part.parquet", method=method)
    assert os.listdir(tmp_path) == ["part.parquet"]
    again = rs.StreamedPartition.load(tmp_path / "part.parquet", net)
    assert (repr(again), str(again.domain), again.work) == (repr(streamed), str(streamed.domain), streamed.work)
    rows = streamed.take(np.arange(len(streamed)))
    assert {row.tobytes() for row in rows.words} == {row.tobytes() for row in part.codes.words}
    assert str(streamed.finding()) == str(part.finding())
    assert streamed.has_volumes == (method == "auto" and domain.dim <= 2)
    if streamed.has_volumes:
        check_same(part, streamed)
    np.testing.assert_array_equal(again.locate(rows.witnesses), np.arange(len(again)))
    inner = streamed.network_on_domain
    np.testing.assert_array_equal(inner.codes(rows.witnesses).words, rows.words)
    assert sum(map(len, again.blocks())) == len(part)


REGIMES = (None, hostile.cancelling, hostile.far_away, hostile.nearly_parallel, hostile.badly_scaled)


@pytest.mark.few(10)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kinds", [("relu",), ("max", "abs"), ("max",)], ids="-".join)
def test_degenerate_networks(seed, kinds, tmp_path, chunks_of):
    """Equal codes in several cells, seams that max gates cut on one side, and signs that stay undecided."""
    chunks_of(4)
    layers, box = hostile.example(REGIMES[seed % len(REGIMES)], seed, kinds)
    net = network_of(layers, 2)
    check_same(rs.partition(net, box), rs.stream(net, box, tmp_path / "part.parquet"))


def test_pieces_of_one_region_are_one_row(tmp_path, chunks_of, monkeypatch):
    """Of a max of three planes and cells of one each: pieces join, and their areas add up."""
    chunks_of(1)
    layers = [("affine", np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), np.zeros(4)), ("max", [[0, 1, 2, 3]])]
    net = network_of([*layers, ("affine", np.ones((1, 1)), np.zeros(1))], 2)
    staged = []
    monkeypatch.setattr(
        streaming.StagedRegions,
        "repeated",
        lambda self, of=staged_regions.StagedRegions.repeated: staged.append(of(self)) or staged[-1],
    )
    streamed = rs.stream(net, SQUARE, tmp_path / "part.parquet")
    assert len(staged[0]) > 0
    assert (len(streamed), streamed.claim) == (4, Claim.EXACT)
    np.testing.assert_allclose(streamed.take([0, 1, 2, 3]).volumes, 1.0)
    assert sorted(streamed.locate([[0.5, 0.1], [-0.5, 0.1], [0.1, 0.5], [0.1, -0.5]]).tolist()) == [0, 1, 2, 3]


@pytest.mark.few(2)
@pytest.mark.parametrize("method", ["auto", "cellwise", "tree"])
def test_budgets_and_executors(method, tmp_path, small_groups):
    whole = rs.partition(NET, SQUARE, method=method)
    streamed = rs.stream(NET, SQUARE, tmp_path / "some.parquet", method=method, budget=rs.Budget(regions=40))
    assert streamed.claim is Claim.LOWER
    assert streamed.note == "budget of 40 regions"
    assert 40 <= len(streamed) <= int(streamed.finding()) < len(whole)
    with pytest.raises(IncompletePartitionError, match="larger budget"):
        streamed.require_complete("an average")
    with ThreadPoolExecutor(2) as executor:
        shared = rs.stream(NET, SQUARE, tmp_path / "all.parquet", method=method, executor=executor)
    assert (shared.claim, len(shared)) == (Claim.EXACT, len(whole))
    nothing = rs.stream(NET, SQUARE, tmp_path / "none.parquet", method=method, budget=rs.Budget(regions=0))
    assert (len(nothing), nothing.claim, nothing.locate([[0.0, 0.0]]).tolist()) == (0, Claim.LOWER, [-1])
    assert len(nothing.take([]).words) == 0


def fails(monkeypatch, owner, name, after, error):
    faithful, calls = getattr(owner, name), iter(range(10**6))

    def failing(*arguments, **options):
        if next(calls) == after:
            raise error
        return faithful(*arguments, **options)

    monkeypatch.setattr(owner, name, failing)


@pytest.mark.parametrize("place", ["walk", "digests", "staged", "spilled"])
def test_lack_of_memory_keeps_what_is_finished(place, tmp_path, small_groups, monkeypatch):
    where = {
        "walk": (incidence, "cut"),
        "digests": (staged_regions, "digests"),
        "staged": (pa, "compress"),
        "spilled": (spilled_rows.SpilledRows, "add"),
    }[place]
    whole = {row.tobytes() for row in rs.partition(NET, SQUARE).codes.words}
    fails(monkeypatch, *where, 12, MemoryError())
    streamed = rs.stream(NET, SQUARE, tmp_path / "part.parquet")
    assert (streamed.claim, streamed.note) == (Claim.LOWER, "out of memory")
    found = {row.tobytes() for row in streamed.take(np.arange(len(streamed))).words}
    assert found < whole
    assert 0 < len(found) == len(streamed) < int(streamed.finding()) <= len(whole)


@pytest.mark.parametrize("after", [3, 20])
def test_ctrl_c_keeps_what_is_finished(after, tmp_path, small_groups, monkeypatch):
    fails(monkeypatch, incidence, "cut", after, KeyboardInterrupt())
    with pytest.warns(UserWarning, match="interrupted: the partition holds the regions finished so far"):
        streamed = rs.stream(NET, SQUARE, tmp_path / "part.parquet")
    assert (streamed.claim, streamed.note) == (Claim.LOWER, "interrupted")
    again = rs.StreamedPartition.load(tmp_path / "part.parquet", NET)
    assert (repr(again), again.note, again.num_open) == (repr(streamed), "interrupted", streamed.num_open)


@pytest.mark.parametrize("place", ["staged", "spilled", "end"])
def test_a_full_disk_leaves_nothing_behind(place, tmp_path, small_groups, monkeypatch):
    (tmp_path / "part.parquet").write_text("what was there", encoding="utf-8")
    full = OSError(28, "No space left on device")
    where = {
        "staged": (staged_regions.StagedRegions, "extend"),
        "spilled": (spilled_rows.SpilledRows, "add"),
        "end": (streamed_files.np, "ascontiguousarray"),
    }[place]
    fails(monkeypatch, *where, 1, full)
    with pytest.raises(
        InputError, match=r"could not write .*part.parquet \(No space left on device\): free some space"
    ):
        rs.stream(NET, SQUARE, tmp_path / "part.parquet")
    assert os.listdir(tmp_path) == ["part.parquet"]
    assert (tmp_path / "part.parquet").read_text(encoding="utf-8") == "what was there"


def test_what_cannot_be_written_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(incidence, "walk", lambda *_, **__: pytest.fail("work began"))
    for path, why in ((tmp_path / "no" / "part.parquet", "could not write"), (tmp_path, "is a folder")):
        with pytest.raises(InputError, match=why):
            rs.stream(NET, SQUARE, path)
    with pytest.raises(InputError, match="3 dimensions in a stream"):
        rs.stream(from_arrays(default_network([3, 4, 1])), rs.Box(-1, 1, 3), tmp_path / "x", method="incidence")


def test_damage_and_change_are_noticed(tmp_path, small_groups):
    path = tmp_path / "part.parquet"
    streamed = rs.stream(NET, SQUARE, path)
    with pytest.raises(InputError, match="another network"):
        rs.StreamedPartition.load(path, from_arrays(default_network([2, 16, 16, 1], seed=3)))
    with pytest.raises(InputError, match="loaded without one"):
        rs.StreamedPartition.load(path).locate([[0.0, 0.0]])
    with pytest.raises(ShapeError, match="2 coordinates"):
        streamed.locate([[0.0, 0.0, 0.0]])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged: make it again"):
        rs.StreamedPartition.load(path)
    path.unlink()
    with pytest.raises(InputError, match="not there any more"):
        streamed.locate([[0.0, 0.0]])
    rs.stream(NET, SQUARE, path, budget=rs.Budget(regions=10))
    with pytest.raises(InputError, match="changed since it was opened"):
        streamed.take([len(streamed) - 1])


def test_other_tools_read_the_file(tmp_path, small_groups):
    path = tmp_path / "part.parquet"
    part, _ = rs.partition(NET, SQUARE), rs.stream(NET, SQUARE, path)
    table = pyarrow.parquet.read_table(path)
    assert table.column_names == ["code", "witness_0", "witness_1", "volume"]
    assert sorted(table.column("code").to_pylist()) == sorted(part.to_table().column("code").to_pylist())
    assert table.column("volume").to_numpy().sum() == pytest.approx(4.0)
    assert pyarrow.parquet.read_metadata(path).num_row_groups > 3


def test_memory_does_not_grow_with_the_regions(tmp_path, small_groups, monkeypatch):
    """Never are more regions in memory than one row group and one part of the walk hold."""
    most = []
    together = region_rows.RegionRows.together
    monkeypatch.setattr(
        region_rows.RegionRows,
        "together",
        staticmethod(lambda parts: most.append(sum(map(len, parts))) or together(parts)),
    )
    streamed = rs.stream(NET, SQUARE, tmp_path / "part.parquet")
    assert len(streamed) > 100
    assert max(most) <= 24


def test_a_raster_shows_every_pixel_in_its_region(tmp_path, small_groups):
    streamed = rs.stream(NET, SQUARE, tmp_path / "part.parquet", budget=rs.Budget(regions=60))
    for color in ("activation_rate", "area", "random"):
        figure = rs.plots.raster(streamed, color=color, pixels=16)
        (image,) = figure.axes[0].images
        step = (np.arange(16) + 0.5) / 8 - 1
        points = np.stack(np.meshgrid(step, step), axis=-1).reshape(-1, 2)
        seen = np.asarray(image.get_array())[..., 3].reshape(-1) > 0
        assert (seen == (streamed.locate(points) >= 0)).all()
        assert 0 < seen.sum() < 256
    with pytest.raises(InputError, match="a raster shows a bounded plane"):
        rs.plots.raster(rs.stream(NET, rs.Space(2), tmp_path / "space.parquet"))
