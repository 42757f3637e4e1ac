"""Meshes of flat convex polygons in space as files that other programs open: PLY, OBJ, GLB and STL.

PLY (binary, float64) and OBJ (text, all digits) hold the polygons with shared vertices. GLB and STL hold triangles
with 32-bit coordinates, in which vertices that are close fall together.
"""

import json
import struct
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reluscope.errors import InputError
from reluscope.files.whole_files import Filling, write_files

KINDS = {
    ".ply": "polygons with all digits",
    ".obj": "polygons as text, with its colours in a file .mtl",
    ".glb": "triangles, for browsers",
    ".stl": "triangles, for printers",
}
_JSON_CHUNK, _BINARY_CHUNK, _FLOAT, _WHOLE = 0x4E4F534A, 0x004E4942, 5126, 5125


@dataclass(frozen=True, eq=False)
class PolygonMesh:
    """Convex polygons in space with shared vertices.

    Polygon i has the vertices ``ids[offsets[i] : offsets[i + 1]]``, counter-clockwise seen from where its normal
    points.
    """

    vertices: np.ndarray  # (v, 3) float64
    offsets: np.ndarray  # (p + 1,) int64
    ids: np.ndarray  # (offsets[-1],) int64
    normals: np.ndarray  # (p, 3) float64
    fans: np.ndarray  # (t, 3) int64, triangles: corners as places in ``ids``
    pieces: np.ndarray  # (t,) int64, the polygon of each triangle
    colors: np.ndarray | None = None  # (p, 3) uint8, red, green and blue

    def __len__(self) -> int:
        return len(self.normals)


def check_mesh_file(path: Path) -> None:
    """Raise InputError unless the name of a file ends as that of a mesh."""
    if path.suffix.lower() not in KINDS:
        known = ", ".join(f"{suffix} ({what})" for suffix, what in KINDS.items())
        raise InputError(f"expected the name of a file that ends in {known}, got {path.name!r}")


def write_mesh(path: Path, mesh: PolygonMesh) -> None:
    """Write a mesh in the form of the path's suffix; an existing file stays until it is complete.

    InputError for other suffixes, files that cannot be written, and coordinates too large for 32-bit floats.
    """
    check_mesh_file(path)
    write_files(_WRITERS[path.suffix.lower()](path, mesh))


def ply(path: Path, mesh: PolygonMesh) -> Mapping[Path, Filling]:
    """Return a binary PLY file, by its path."""
    counts = np.diff(mesh.offsets)
    size = "uchar" if counts.max(initial=0) < 256 else "int"
    color = () if mesh.colors is None else tuple(f"property uchar {name}" for name in ("red", "green", "blue"))
    lines = (
        "ply",
        "format binary_little_endian 1.0",
        "comment a level set of a network, by reluscope",
        f"element vertex {len(mesh.vertices)}",
        *(f"property double {axis}" for axis in "xyz"),
        f"element face {len(mesh)}",
        f"property list {size} int vertex_indices",
        *color,
        "end_header\n",
    )
    head = "\n".join(lines).encode() + np.ascontiguousarray(mesh.vertices, dtype="<f8").tobytes()
    width = 1 if size == "uchar" else 4
    # Faces of one number of corners have one form: they go where they belong together.
    starts = np.concatenate([[0], np.cumsum(width + 4 * counts + len(color))])
    body = np.zeros(starts[-1], dtype=np.uint8)
    for count in np.unique(counts):
        rows = np.flatnonzero(counts == count)
        form = np.dtype([("n", "u1" if width == 1 else "<i4"), ("ids", "<i4", (count,)), ("rgb", "u1", (len(color),))])
        faces = np.zeros(len(rows), dtype=form)
        faces["n"] = count
        faces["ids"] = mesh.ids[mesh.offsets[rows][:, None] + np.arange(count)]
        if mesh.colors is not None:
            faces["rgb"] = mesh.colors[rows]
        body[starts[rows][:, None] + np.arange(form.itemsize)] = faces.view(np.uint8).reshape(len(rows), -1)
    return {path: head + body.tobytes()}


def obj(path: Path, mesh: PolygonMesh) -> Mapping[Path, Filling]:
    """Return an OBJ file and, if the mesh has colours, the file of materials beside it, by their paths."""
    lines = ["# a level set of a network, by reluscope"]
    files: dict[Path, Filling] = {}
    colors = np.zeros((len(mesh), 3), dtype=np.uint8) if mesh.colors is None else mesh.colors
    distinct, material = np.unique(colors, axis=0, return_inverse=True)
    names: list[str] = []
    if mesh.colors is not None:
        library = path.with_suffix(".mtl")
        names = [f"color_{red:02x}{green:02x}{blue:02x}" for red, green, blue in distinct.tolist()]
        files[library] = "\n".join(
            f"newmtl {name}\nKd {' '.join(f'{part / 255:.4f}' for part in parts)}"
            for name, parts in zip(names, distinct.tolist(), strict=True)
        )
        lines.append(f"mtllib {library.name}")
    lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"vn {x!r} {y!r} {z!r}" for x, y, z in mesh.normals.tolist()]
    ids, offsets = (mesh.ids + 1).tolist(), mesh.offsets.tolist()
    last = -1
    for piece in np.argsort(material.reshape(-1), kind="stable").tolist():
        if mesh.colors is not None and (one := int(material.reshape(-1)[piece])) != last:
            lines.append(f"usemtl {names[one]}")
            last = one
        corners = ids[offsets[piece] : offsets[piece + 1]]
        lines.append("f " + " ".join(f"{corner}//{piece + 1}" for corner in corners))
    return {path: "\n".join(lines) + "\n", **files}


def glb(path: Path, mesh: PolygonMesh) -> Mapping[Path, Filling]:
    """Return a binary glTF 2.0 file, by its path; each polygon has corners of its own, so that it is flat in light."""
    piece = np.repeat(np.arange(len(mesh)), np.diff(mesh.offsets))
    colors = np.full((len(mesh), 3), 200, dtype=np.uint8) if mesh.colors is None else mesh.colors
    points = _single(mesh.vertices)[mesh.ids]
    columns = {
        "POSITION": points,
        "NORMAL": mesh.normals.astype("<f4")[piece],
        "COLOR_0": _linear(colors)[piece],
    }
    parts = [*columns.values(), mesh.fans.astype("<u4").reshape(-1)]
    accessors, views, start = [], [], 0
    for part in parts:
        is_index = part.ndim == 1
        views.append(
            {"buffer": 0, "byteOffset": start, "byteLength": part.nbytes, "target": 34963 if is_index else 34962}
        )
        accessor = {
            "bufferView": len(accessors),
            "componentType": _WHOLE if is_index else _FLOAT,
            "count": len(part),
            "type": "SCALAR" if is_index else "VEC3",
        }
        if part is points and len(part):
            accessor |= {"min": part.min(axis=0).tolist(), "max": part.max(axis=0).tolist()}
        accessors.append(accessor)
        start += part.nbytes
    description: dict[str, object] = {"asset": {"version": "2.0", "generator": "reluscope"}}
    if len(mesh):
        primitive = {"attributes": {name: row for row, name in enumerate(columns)}, "indices": 3, "material": 0}
        description |= {
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [primitive]}],
            "materials": [
                {"doubleSided": True, "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.8}}
            ],
            "accessors": accessors,
            "bufferViews": views,
            "buffers": [{"byteLength": start}],
        }
    text = json.dumps(description).encode()
    text += b" " * (-len(text) % 4)
    content = struct.pack("<II", len(text), _JSON_CHUNK) + text
    if len(mesh):
        binary = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
        content += struct.pack("<II", len(binary), _BINARY_CHUNK) + binary
    return {path: b"glTF" + struct.pack("<II", 2, 12 + len(content)) + content}


def stl(path: Path, mesh: PolygonMesh) -> Mapping[Path, Filling]:
    """Return a binary STL file, by its path."""
    points = _single(mesh.vertices)
    form = np.dtype([("normal", "<f4", (3,)), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    faces = np.zeros(len(mesh.fans), dtype=form)
    faces["normal"], faces["corners"] = mesh.normals[mesh.pieces], points[mesh.ids[mesh.fans]]
    head = b"a level set of a network, by reluscope; 32-bit coordinates".ljust(80)
    return {path: head + struct.pack("<I", len(faces)) + faces.tobytes()}


_WRITERS: Mapping[str, Callable[[Path, PolygonMesh], Mapping[Path, Filling]]] = {
    ".ply": ply,
    ".obj": obj,
    ".glb": glb,
    ".stl": stl,
}


def _single(vertices: np.ndarray) -> np.ndarray:
    """Return vertices as 32-bit floats; warn where different ones fall together."""
    with np.errstate(over="ignore"):
        found = vertices.astype("<f4")
    if not np.isfinite(found).all():
        raise InputError("coordinates are too large for the 32-bit floats of this file: write a .ply or an .obj")
    merged = len(np.unique(vertices, axis=0)) - len(np.unique(found, axis=0))
    if merged:
        what = f"{merged:,} vertices fall" if merged > 1 else "one vertex falls"
        warnings.warn(f"{what} together with others in 32-bit floats: a .ply or an .obj keeps them apart", stacklevel=6)
    return found


def _linear(colors: np.ndarray) -> np.ndarray:
    """Return colours of screens (sRGB) as amounts of light, which glTF asks for."""
    share = colors / 255.0
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4).astype("<f4")
