"""Images and reachable sets through files: the same answers, and one sentence for files that are none."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError
from reluscope.files.named_arrays import load_arrays, save_arrays
from reluscope.testing import default_network

Image, ReachableSets = rs.reachability.Image, rs.reachability.ReachableSets


@pytest.fixture(scope="module")
def image():
    return rs.image(rs.load(default_network([2, 6, 5, 3], seed=1)), rs.Box(-1, 1, 2), outputs=[2, 0])


@pytest.fixture(scope="module")
def sets():
    """Two exact steps, then covers, from flat first states."""
    net = rs.load(default_network([2, 5, 1], seed=2))
    plant = rs.reachability.Plant([[1.0, 0.1], [0.0, 1.0]], [[0.0], [0.5]])
    return rs.reach(net, plant, rs.Segment([-1.0, -1.0], [1.0, 0.5]), 3, budget=rs.Budget(regions=4))


def test_images_come_back(image, tmp_path):
    image.save(tmp_path / "image.arrow")
    again = Image.load(tmp_path / "image.arrow")
    assert (repr(again), again.outputs, again.claim) == (repr(image), (2, 0), "EXACT")
    assert str(again.volume()) == str(image.volume())
    assert again.to_table().equals(image.to_table())
    assert again.count(image.corners[3]).tolist() == image.count(image.corners[3]).tolist()
    part = image.partition
    empty = Image(
        rs.partition(part.network, part.domain, budget=rs.Budget(regions=0)),
        (0,),
        (),
        np.zeros(0, int),
        np.zeros((0, 1)),
    )
    empty.save(tmp_path / "none.arrow")
    assert len(Image.load(tmp_path / "none.arrow")) == 0


def test_reachable_sets_come_back(sets, tmp_path):
    assert sets.num_exact < len(sets)
    sets.save(tmp_path / "sets.arrow")
    again = ReachableSets.load(tmp_path / "sets.arrow")
    assert (repr(again), again.stopped, again.work) == (repr(sets), sets.stopped, sets.work)
    assert again.to_table().equals(sets.to_table())
    assert [str(one) for one in again.maximum([1.0, -2.0])] == [str(one) for one in sets.maximum([1.0, -2.0])]
    assert again[3].contains(sets[3].reached).all()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("image.corners", lambda table: table[:-1]),
        ("image.corners", lambda table: np.where(np.arange(len(table)) < 1, np.nan, table.T).T),
        ("image.offsets", lambda table: table[::-1]),
        ("image.dims", lambda table: table + 1),
        ("image.dims", lambda table: table[:-1]),
        ("image.errors", lambda table: -1 - table),
        ("words", lambda table: table[:-1]),
    ],
)
def test_changed_images_are_refused(image, tmp_path, name, change):
    _refuses(Image, image, tmp_path, name, change)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("3/cover.boxes", lambda table: table * 0.5),  # boxes that no longer hold all states
        ("3/cover.boxes", lambda table: table[..., :1]),
        ("3/cover.noise", lambda table: table[:-1]),
        ("3/cover.form_errors", lambda table: -1 - table),
        ("3/cover.inputs", lambda table: table[:0]),
        ("0/image.corners", lambda table: table[:, :1]),
        ("domain.origin", lambda table: np.append(table, 0.0)),
    ],
)
def test_changed_sets_are_refused(sets, tmp_path, name, change):
    _refuses(ReachableSets, sets, tmp_path, name, change)


def _refuses(kind, found, folder, name, change):
    """Check that a file is refused with a change of an array whose digest is right."""
    path = folder / "file.arrow"
    found.save(path)
    arrays, described = load_arrays(path, "image" if kind is Image else "reachable sets")
    save_arrays(path, {**arrays, name: change(arrays[name])}, described)
    with pytest.raises(InputError, match="save it again"):
        kind.load(path)


def test_files_of_others_and_damaged_ones(image, sets, tmp_path):
    path = tmp_path / "file.arrow"
    sets.save(path)
    with pytest.raises(InputError, match="of kind 'image'"):
        Image.load(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="save it again"):
        ReachableSets.load(path)
    path.write_bytes(content.replace(b"claim", b"cla1m", 1))
    with pytest.raises(InputError):
        ReachableSets.load(path)
