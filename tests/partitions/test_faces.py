"""The table of all faces: against the facets and regions of partitions, and numbers of faces that are known."""

import itertools
from dataclasses import replace
from importlib import import_module
from math import comb

import numpy as np
import pytest

import reluscope as rs
from partitions import bodies
from reluscope.effort import Effort
from reluscope.partitions.complexes import incidence
from reluscope.partitions.faces import faces as faces_module
from reluscope.partitions.faces.face_walk import find_faces


def random_network(*sizes, seed):
    rng = np.random.default_rng(seed)
    return rs.load([(rng.standard_normal((m, n)), rng.standard_normal(m)) for n, m in itertools.pairwise(sizes)])


def facets_of(part):
    """Pairs of regions that share a facet, by the faces."""
    faces, dim = part.faces, part.dim
    cell = np.repeat(np.arange(faces.num_faces[dim]), np.diff(faces.offsets[-1]))
    order = np.argsort(faces.ids[-1], kind="stable")
    facet, cell = faces.ids[-1][order], faces.regions[cell[order]]
    shared = np.flatnonzero(facet[1:] == facet[:-1])
    pairs = np.sort(np.stack([cell[shared], cell[shared + 1]], axis=1), axis=1)
    return {tuple(pair) for pair in pairs.tolist() if pair[0] != pair[1]}


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
@pytest.mark.parametrize("most", [5, 10**6])
def test_faces_agree_with_regions_and_facets(dim, most, monkeypatch):
    monkeypatch.setattr(incidence, "_chunk_cells", lambda *_: most)
    part = rs.partition(random_network(dim, 6, 6, 1, seed=dim), rs.Box(-2, 2, dim))
    faces = part.faces
    assert faces.num_undecided == 0
    assert not faces.note
    assert sorted(faces.regions.tolist()) == list(range(len(part)))
    assert sum((-1) ** k * number for k, number in enumerate(faces.num_faces)) == 1
    assert facets_of(part) == {tuple(pair) for pair in np.argwhere(np.triu(part.adjacency().toarray())).tolist()}
    # The boundary of the box is a sphere of one dimension less.
    border = [int(one.sum()) for one in faces.is_border]
    assert sum((-1) ** k * number for k, number in enumerate(border)) == 1 - (-1) ** dim
    assert faces is part.faces


@pytest.mark.parametrize("dim", [2, 3, 4])
def test_generic_arrangements(dim):
    # Hyperplanes in general position: C(m, n - k) C(.., ..) faces of dimension k (Buck, 1943), all within a far box.
    units = 5
    net = random_network(dim, units, 1, seed=1)
    faces = rs.partition(net, rs.Space(dim)).faces
    inner = [int((~border).sum()) for border in faces.is_border]
    expected = [comb(units, dim - k) * sum(comb(units - dim + k, j) for j in range(k + 1)) for k in range(dim + 1)]
    assert inner == expected


def test_cells_that_max_gates_cut_are_of_one_region():
    part = rs.partition(bodies.by_maxima(bodies.FRAME), rs.Box([-2, -2, -2], [4.1, 4.2, 4.3]))
    assert part.faces.num_faces[3] >= len(part)
    assert set(part.faces.regions.tolist()) == set(range(len(part)))
    assert repr(part.faces).startswith("Faces(")


def test_the_faces_do_not_depend_on_chunks(monkeypatch):
    net, box = random_network(3, 7, 7, 1, seed=4), rs.Box(-2, 2, 3)
    whole = rs.partition(net, box).faces
    monkeypatch.setattr(incidence, "_chunk_cells", lambda *_: 7)
    parts = rs.partition(net, box).faces
    assert np.allclose(parts.vertices, whole.vertices, atol=1e-13)
    for one, other in zip((*parts.ids, *parts.is_border), (*whole.ids, *whole.is_border), strict=True):
        assert np.array_equal(one, other)


def by_places(faces):
    """The faces of a line or plane, by the rounded places of their vertices."""
    found = [
        {tuple(place): bool(border) for place, border in zip(faces.vertices.round(9), faces.is_border[0], strict=True)}
    ]
    sets = [frozenset([tuple(place)]) for place in faces.vertices.round(9).tolist()]
    for offsets, ids, is_border in zip(faces.offsets, faces.ids, faces.is_border[1:], strict=True):
        rows = [ids[start:stop].tolist() for start, stop in itertools.pairwise(offsets)]
        sets = [frozenset().union(*(sets[row] for row in one)) for one in rows]
        found.append(dict(zip(sets, is_border.tolist(), strict=True)))
        assert len(found[-1]) == len(rows)
    return found


@pytest.mark.parametrize("dim", [1, 2])
def test_lines_and_planes_have_the_faces_that_a_walk_finds(dim):
    net, box = random_network(dim, 7, 6, 1, seed=dim), rs.Box(-2, 2, dim)
    part = rs.partition(net, box)
    assert by_places(part.faces) == by_places(find_faces(net, box, effort=Effort()))
    assert np.array_equal(part.faces.words, part.codes.words)


def test_a_certified_plane_has_the_faces_of_its_regions(tmp_path):
    # Lines that floats cannot tell apart.
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1e-14], [0.0, 1.0]])
    net = rs.load([(rows, np.array([0.0, 1e-15, 0.0, 0.1])), (np.ones((1, 4)), np.zeros(1))])
    part = rs.certify(rs.partition(net, rs.Box(-1, 1, 2)))
    vertices, edges, cells = part.faces.num_faces
    assert (cells, vertices - edges + cells) == (len(part), 1)
    assert len(part) == rs.testing.check_certificate(part.certificate, net) > len(rs.partition(net, rs.Box(-1, 1, 2)))
    part.save(tmp_path / "part.arrow")
    assert rs.Partition.load(tmp_path / "part.arrow").faces.num_faces == (vertices, edges, cells)


def test_a_cell_that_is_lost_leaves_doubt():
    """A facet inside the domain that has one cell alone is counted as undecided."""
    patches = []
    real = faces_module.assemble_faces
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incidence, "_chunk_cells", lambda *_: 5)
        patch.setattr(
            import_module("reluscope.partitions.faces.face_walk"),
            "assemble_faces",
            lambda parts, *rest: (patches.append((list(parts), rest)), real(parts, *rest))[1],
        )
        find_faces(random_network(2, 6, 6, 1, seed=2), rs.Box(-2, 2, 2), effort=Effort())
    parts, rest = patches[0]
    assert len(parts) > 2
    assert real(parts, *rest).num_undecided == 0
    assert real(parts[1:], *rest).num_undecided > 0
    # Vertices of one name that lie apart.
    moved = replace(parts[0], points=parts[0].points + 0.01)
    assert real([moved, *parts[1:]], *rest).num_undecided > 0
    # Cells on which floats wrongly call a function zero.
    thin = [replace(part, num_thin=place) for place, part in enumerate(parts)]
    assert real(thin, *rest).num_undecided == sum(range(len(parts)))
    lost = real(parts[1:], *rest).num_undecided
    assert real(thin[1:], *rest).num_undecided == lost + sum(range(len(parts)))


def test_sides_of_facets_may_be_regions_in_any_order():
    """Two triangles; the first one is on the right of what they share."""
    vertices = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    left, right = np.array([0, 0, 1, 1, 1]), np.array([-1, -1, -1, -1, 0])
    ends = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [2, 0]])
    faces = faces_module.faces_of_facets(
        vertices, np.zeros(4), left, right, ends, np.arange(2, dtype=np.uint64)[:, None]
    )
    assert [one.tolist() for one in faces.is_border] == [[True] * 4, [True] * 4 + [False], [False] * 2]
    cells = [sorted(faces.ids[1][start:stop].tolist()) for start, stop in itertools.pairwise(faces.offsets[1])]
    assert cells == [[0, 1, 4], [2, 3, 4]]
    assert faces.ids[0].reshape(-1, 2).tolist() == ends.tolist()
