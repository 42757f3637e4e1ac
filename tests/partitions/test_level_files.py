"""Files of level sets: read back by trimesh and by readers of their own, colours, and what cannot be written."""

import itertools
import json
import struct
import sys

import numpy as np
import pytest

import reluscope as rs
from partitions import bodies
from partitions.test_level_sets import AROUND, random_network
from reluscope.errors import InputError, ReluscopeError

BALL = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
SURFACE = rs.level_set(random_network(3, 8, 8, 1, seed=1), rs.Box(-1, 1, 3))


def read_ply(path):
    """Return vertices, polygons and colours of a binary PLY file, face by face."""
    head, body = path.read_bytes().split(b"end_header\n", 1)
    lines = head.decode().splitlines()
    number, faces = (int(line.split()[2]) for line in lines if line.startswith("element"))
    has_colors = "property uchar red" in lines
    vertices = np.frombuffer(body, "<f8", 3 * number).reshape(-1, 3)
    place, polygons, colors = 24 * number, [], []
    for _ in range(faces):
        count = body[place]
        polygons.append(struct.unpack_from(f"<{count}i", body, place + 1))
        place += 1 + 4 * count
        if has_colors:
            colors.append(tuple(body[place : place + 3]))
            place += 3
    assert place == len(body)
    return vertices, polygons, colors


def read_obj(path):
    """Return vertices, polygons and names of materials of an OBJ file, line by line."""
    vertices, polygons, materials, material = [], [], [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        word, *rest = line.split()
        if word == "v":
            vertices.append([float(one) for one in rest])
        elif word == "usemtl":
            material = rest[0]
        elif word == "f":
            polygons.append(tuple(int(one.split("//")[0]) - 1 for one in rest))
            materials.append(material)
    return np.array(vertices), polygons, materials


def polygons_of(found):
    return [tuple(found.ids[i:j].tolist()) for i, j in itertools.pairwise(found.offsets)]


@pytest.mark.parametrize("color", [None, "region", "normal", "classes"])
def test_polygons_come_back_with_all_digits(tmp_path, color):
    given = np.arange(len(SURFACE)) % 3 if color == "classes" else color
    SURFACE.write(tmp_path / "it.ply", color=given)
    SURFACE.write(tmp_path / "it.obj", color=given)
    vertices, polygons, colors = read_ply(tmp_path / "it.ply")
    assert np.array_equal(vertices, SURFACE.vertices)
    assert polygons == polygons_of(SURFACE)
    assert len(colors) == (0 if color is None else len(SURFACE))
    vertices, polygons, materials = read_obj(tmp_path / "it.obj")
    assert np.array_equal(vertices, SURFACE.vertices)
    assert sorted(polygons) == sorted(polygons_of(SURFACE))
    assert (tmp_path / "it.mtl").exists() == (color is not None)
    if color is not None:
        named = dict(zip(polygons, materials, strict=True))
        for polygon, rgb in zip(polygons_of(SURFACE), colors, strict=True):
            assert named[polygon] == "color_" + bytes(rgb).hex()
            assert named[polygon] in (tmp_path / "it.mtl").read_text(encoding="utf-8")
    if color == "region":
        of_code = {}
        for row, rgb in enumerate(colors):
            assert of_code.setdefault(SURFACE.codes.words[row].tobytes(), rgb) == rgb
        assert len(set(colors)) > 5
    if color == "classes":
        assert len(set(colors)) == 3


def test_many_corners_are_counted_by_more_than_a_byte(tmp_path):
    turn = np.linspace(0, 2 * np.pi, 300, endpoint=False)
    sides = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    prism = rs.Polyhedron(np.r_[sides, [[0, 0, 1.0], [0, 0, -1]]], np.ones(302))
    found = rs.level_set(rs.load([(np.array([[0.0, 0, 1]]), np.zeros(1))]), prism)
    assert np.diff(found.offsets).tolist() == [300]
    trimesh = pytest.importorskip("trimesh")
    for suffix in (".ply", ".obj", ".stl", ".glb"):
        found.write(tmp_path / f"disc{suffix}")
        mesh = trimesh.load(tmp_path / f"disc{suffix}", force="mesh")
        assert mesh.area == pytest.approx(found.area, rel=1e-6)


@pytest.mark.few(5)
@pytest.mark.parametrize("suffix", [".ply", ".obj", ".glb", ".stl"])
@pytest.mark.parametrize("name", list(bodies.KNOWN))
def test_trimesh_opens_them(tmp_path, name, suffix):
    trimesh = pytest.importorskip("trimesh")
    boxes, area, volume, characteristic, _ = bodies.KNOWN[name]
    found = rs.level_set(bodies.by_maxima(boxes), AROUND)
    found.write(tmp_path / f"body{suffix}", color="normal")
    if suffix == ".ply" and len(set(np.diff(found.offsets))) > 1:
        # The reader of trimesh takes polygons of one number of corners alone.
        vertices, polygons, _ = read_ply(tmp_path / "body.ply")
        triangles = [(one[0], one[k], one[k + 1]) for one in polygons for k in range(1, len(one) - 1)]
        mesh = trimesh.Trimesh(vertices, triangles, process=False)
    else:
        mesh = trimesh.load(tmp_path / f"body{suffix}", force="mesh")
        mesh.merge_vertices(merge_norm=True, merge_tex=True)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.euler_number == characteristic
    assert mesh.area == pytest.approx(area, rel=1e-6)
    assert mesh.volume == pytest.approx(volume, rel=1e-6)


def test_to_trimesh(monkeypatch):
    trimesh = pytest.importorskip("trimesh")
    found = rs.level_set(BALL, rs.Box(-2, 2, 3))
    mesh = found.to_trimesh(color="normal")
    assert isinstance(mesh, trimesh.Trimesh)
    assert np.array_equal(mesh.vertices, found.vertices)
    assert np.array_equal(mesh.faces, found.triangles())
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(4 / 3)
    assert len(np.unique(mesh.visual.face_colors, axis=0)) == 8
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(ReluscopeError, match=r"reluscope\[mesh\]"):
        found.to_trimesh()


def test_a_glb_file_is_as_its_specification_says(tmp_path):
    SURFACE.write(tmp_path / "it.glb", color="region")
    content = (tmp_path / "it.glb").read_bytes()
    magic, version, length, size, kind = struct.unpack_from("<4sIII4s", content)
    assert (magic, version, length, kind) == (b"glTF", 2, len(content), b"JSON")
    described = json.loads(content[20 : 20 + size])
    assert size % 4 == 0
    assert described["accessors"][0]["count"] == len(SURFACE.ids)
    assert described["accessors"][3]["count"] == 3 * len(SURFACE.triangles())
    binary = content[28 + size :]
    assert len(binary) == described["buffers"][0]["byteLength"]
    points = np.frombuffer(binary, "<f4", 3 * len(SURFACE.ids)).reshape(-1, 3)
    assert np.allclose(points, SURFACE.vertices[SURFACE.ids], atol=1e-6)
    assert described["accessors"][0]["max"] == points.max(0).tolist()


def test_vertices_that_fall_together_in_32_bits_are_said(tmp_path):
    tiny = rs.load([(np.r_[np.eye(3), -np.eye(3)], -np.tile([1.0, 1.0, 1.0], 2)), (np.ones((1, 6)), -np.full(1, 1e-9))])
    found = rs.level_set(tiny, rs.Box(-2, 2, 3))
    assert len(np.unique(found.vertices.astype(np.float32), axis=0)) < len(found.vertices)
    for suffix in (".stl", ".glb"):
        with pytest.warns(UserWarning, match=r"falls? together with others in 32-bit floats: a \.ply or an \.obj"):
            found.write(tmp_path / f"tiny{suffix}")
    found.write(tmp_path / "tiny.ply")
    huge = rs.level_set(rs.load([(np.eye(3)[:1], np.zeros(1))]), rs.Box(-1e39, 1e39, 3))
    with pytest.raises(InputError, match="too large for the 32-bit floats"):
        huge.write(tmp_path / "huge.stl")


def test_an_empty_surface_has_files_too(tmp_path):
    found = rs.level_set(BALL, rs.Box(-2, 2, 3), level=100)
    for suffix in (".ply", ".obj", ".glb", ".stl"):
        found.write(tmp_path / f"none{suffix}", color="region")
        assert (tmp_path / f"none{suffix}").stat().st_size


def test_refusals(tmp_path):
    with pytest.raises(InputError, match=r"ends in \.ply .*, got 'ball\.png'"):
        SURFACE.write(tmp_path / "ball.png")
    with pytest.raises(InputError, match="could not write"):
        SURFACE.write(tmp_path / "nowhere" / "ball.ply")
    with pytest.raises(InputError, match="a class for each of the"):
        SURFACE.write(tmp_path / "ball.ply", color=np.zeros(2, dtype=int))
    plane = rs.level_set(rs.load([(np.eye(2)[:1], np.zeros(1))]), rs.Box(-1, 1, 2))
    with pytest.raises(InputError, match="in the plane"):
        plane.write(tmp_path / "ball.ply")
    with pytest.raises(InputError, match="in the plane"):
        plane.to_trimesh()
    assert not list(tmp_path.iterdir())
