"""Level sets on disk, whole and in parts: the same after a round trip, after a stop, and for any number of workers."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import fields

import numpy as np
import pytest

import reluscope as rs
from partitions import bodies
from partitions.test_level_sets import AROUND, random_network, same_mesh, small_integers
from reluscope.errors import InputError, NotApplicableError
from reluscope.files.named_arrays import load_arrays, save_arrays
from reluscope.partitions.complexes import incidence
from reluscope.partitions.levels.level_checkpoints import KEPT

NET = random_network(3, 12, 12, 1, seed=4)
BOX = rs.Box(-1, 1, 3)


def same(one, other):
    """Two level sets are equal in every array."""
    for field in fields(one):
        mine, its = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, np.ndarray):
            assert np.array_equal(mine, its), field.name
    assert one.codes == other.codes
    assert one.solid_cells == other.solid_cells
    assert np.array_equal(one.walls.cones, other.walls.cones)
    assert np.array_equal(one.walls.apex, other.walls.apex)


def surfaces():
    triangle = rs.Polyhedron([[-1.0, 0], [0, -1], [1, 1]], [1.0, 1, 1])
    plane = rs.Slice(np.array([0.0, 0.0, 0.1]), np.eye(3)[:2], rs.Box(-1, 1, 2))
    return [
        rs.level_set(NET, BOX),
        rs.level_set(NET, BOX, budget=rs.Budget(regions=30)),
        rs.level_set(NET, plane, level=0.1),
        rs.level_set(rs.load(small_integers(2, 5, 4, 2, seed=1)), triangle, output=(0, 1), plateaus="above"),
        rs.level_set(bodies.by_units(bodies.CUBE), AROUND),
        rs.level_set(NET, BOX, level=100.0),
    ]


@pytest.mark.parametrize("found", surfaces(), ids=repr)
def test_a_round_trip_keeps_everything(found, tmp_path):
    found.save(tmp_path / "surface.arrow")
    again = rs.LevelSet.load(tmp_path / "surface.arrow")
    same(again, found)
    for name in (
        "level",
        "outputs",
        "plateaus",
        "num_undecided",
        "num_open",
        "tolerance",
        "fingerprint",
        "stop",
        "work",
    ):
        assert getattr(again, name) == getattr(found, name), name
    assert repr(again) == repr(found)
    assert again.finding() == found.finding()
    assert again.area == found.area


def test_what_is_not_a_level_set_of_the_network_is_refused(tmp_path):
    path = tmp_path / "surface.arrow"
    rs.level_set(NET, BOX).save(path)
    assert len(rs.LevelSet.load(path, NET))
    with pytest.raises(InputError, match="of another network"):
        rs.LevelSet.load(path, random_network(3, 12, 12, 1, seed=5))
    with pytest.raises(InputError):
        rs.LevelSet.load(tmp_path / "nothing")
    rs.partition(NET, BOX).save(tmp_path / "part.arrow")
    with pytest.raises(InputError, match="expected a file of kind 'level set'"):
        rs.LevelSet.load(tmp_path / "part.arrow")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError):
        rs.LevelSet.load(path)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("ids", lambda array: array + 1),
        ("offsets", lambda array: array[:-1]),
        ("offsets", lambda array: np.concatenate([[0, 1], array[2:]])),
        ("vertices", lambda array: array * np.nan),
        ("vertices", lambda array: array[:, :2]),
        ("words", lambda array: ~array),
        ("border", lambda array: array - array.max() - 1),
        ("blur", lambda array: -array - 1),
        ("normals", lambda array: array[:-1]),
        ("cones", lambda array: array[:2]),
        ("outputs", lambda _: [0, 0]),
        ("outputs", lambda _: "0"),
        ("plateaus", lambda _: "beside"),
        ("level", lambda _: None),
        ("num_open", lambda _: -1),
        ("gates", lambda _: [["relu", 3, 2]]),
    ],
)
def test_forged_content_is_refused(name, make, tmp_path):
    path = tmp_path / "surface.arrow"
    rs.level_set(NET, BOX).save(path)
    arrays, described = load_arrays(path, "level set")
    (arrays if name in arrays else described)[name] = make((arrays if name in arrays else described)[name])
    save_arrays(path, arrays, described)
    with pytest.raises(InputError, match="level set"):
        rs.LevelSet.load(path)


def many_chunks(monkeypatch, cells=12, tasks=8):
    monkeypatch.setattr(incidence, "_chunk_cells", lambda *_: cells)
    monkeypatch.setattr(incidence, "TASKS", tasks)


@pytest.mark.slow
@pytest.mark.parametrize("degenerate", [False, True])
def test_work_goes_on_from_a_checkpoint(tmp_path, monkeypatch, degenerate):
    network = rs.load(small_integers(3, 10, 8, 1, seed=5)) if degenerate else NET
    whole = rs.level_set(network, BOX)
    many_chunks(monkeypatch, cells=8 if degenerate else 12, tasks=4 if degenerate else 8)
    kept, folder = 0, tmp_path
    for regions in range(20, 1000, 20):
        folder = tmp_path / f"{regions}"
        begun = rs.level_set(network, BOX, checkpoint=folder, budget=rs.Budget(regions=regions))
        assert begun.num_open
        if kept := len(list(folder.glob("*.npz"))):
            break
    again = rs.level_set(network, BOX, checkpoint=folder)
    assert again.work[KEPT] == kept
    same_mesh(again, whole)
    assert again.claim is rs.Claim.EXACT
    assert again.volume("below") == pytest.approx(whole.volume("below"))
    third = rs.level_set(network, BOX, checkpoint=folder)
    assert third.work[KEPT] > kept
    same(third, again)
    with ThreadPoolExecutor(2) as executor:
        same(
            rs.level_set(network, BOX, checkpoint=tmp_path / "other", executor=executor),
            fresh := rs.level_set(network, BOX, checkpoint=tmp_path / "third"),
        )
    same_mesh(fresh, whole)


@pytest.mark.slow
def test_the_mesh_is_the_same_for_any_number_of_workers(monkeypatch):
    many_chunks(monkeypatch)
    found = []
    for workers in (1, 2, 3):
        with ThreadPoolExecutor(workers) as executor:
            found.append(rs.level_set(NET, BOX, executor=executor))
    for one in found[1:]:
        same(one, found[0])
    same_mesh(rs.level_set(NET, BOX), found[0])


@pytest.mark.slow
def test_the_mesh_is_the_same_in_other_processes():
    network = random_network(3, 24, 24, 24, 1, seed=1)
    whole = rs.level_set(network, BOX)
    with ProcessPoolExecutor(2) as executor:
        same_mesh(rs.level_set(network, BOX, executor=executor), whole)


@pytest.mark.slow
def test_a_checkpoint_of_something_else_is_refused(tmp_path, monkeypatch):
    many_chunks(monkeypatch)
    folder = tmp_path / "kept"
    rs.level_set(NET, BOX, checkpoint=folder)
    for what, call in {
        "network": lambda: rs.level_set(random_network(3, 12, 12, 1, seed=5), BOX, checkpoint=folder),
        "domain": lambda: rs.level_set(NET, rs.Box(-1, 0.5, 3), checkpoint=folder),
        "level": lambda: rs.level_set(NET, BOX, level=0.25, checkpoint=folder),
        "tolerance": lambda: rs.level_set(NET, BOX, tolerance=rs.Tolerance(1e-10), checkpoint=folder),
    }.items():
        with pytest.raises(InputError, match=f"begun with another {what}"):
            call()
    largest = max(folder.glob("*.npz"), key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    with pytest.raises(InputError, match="remove that file"):
        rs.level_set(NET, BOX, checkpoint=folder)
    largest.unlink()
    same_mesh(rs.level_set(NET, BOX, checkpoint=folder), rs.level_set(NET, BOX))


def test_networks_with_max_gates_have_no_checkpoint(tmp_path):
    with pytest.raises(NotApplicableError, match="max gates"):
        rs.level_set(bodies.by_maxima(bodies.TWO), AROUND, checkpoint=tmp_path / "kept")
