"""A level set or decision surface in space as a mesh that other programs know, with colours that mean something."""

from typing import TYPE_CHECKING, Any

import numpy as np

from reluscope.arguments import describe
from reluscope.errors import InputError, ReluscopeError
from reluscope.files.mesh_files import PolygonMesh
from reluscope.palette import CATEGORIES, mixed_with_white
from reluscope.partitions.complexes.vertex_names import mixed
from reluscope.partitions.levels.level_polygons import fan_pieces, fans

if TYPE_CHECKING:
    from trimesh import Trimesh

    from reluscope.partitions.levels.piece_geometry import PieceGeometry

# Neighbouring regions are rarely of one colour where there are so many.
SHADES = (1.0, 0.75, 0.5)
# Normals have colours in so many steps from 0 to 255, so that a file has few materials.
STEP = 17


def as_mesh(found: "PieceGeometry", color: Any) -> PolygonMesh:
    """Return pieces in space as a mesh.

    Raises InputError if they lie in the plane, or there is not one class for each polygon.
    """
    if found.dim != 3:
        raise InputError("a mesh is a surface in space, got pieces in the plane: look at them with plots.level_set")
    return PolygonMesh(
        found.vertices,
        found.offsets,
        found.ids,
        found.normals,
        fans(found.vertices, found.offsets, found.ids),
        fan_pieces(found.offsets),
        _colors(found, color),
    )


def as_trimesh(mesh: PolygonMesh) -> "Trimesh":
    """Return a mesh for trimesh, with vertices and triangles as they are.

    Raises ReluscopeError if trimesh is not installed.
    """
    try:
        import trimesh
    except ImportError as error:
        raise ReluscopeError(
            'expected trimesh, and it is not installed: run pip install "reluscope[mesh]", or write a file with '
            "its method write"
        ) from error
    colors = None if mesh.colors is None else mesh.colors[mesh.pieces]
    return trimesh.Trimesh(mesh.vertices, mesh.ids[mesh.fans], face_colors=colors, process=False)


def _colors(found: "PieceGeometry", color: Any) -> np.ndarray | None:
    """Return the colours (p, 3) of polygons, if they are to have any."""
    if color is None:
        return None
    if isinstance(color, str) and color == "normal":
        return (STEP * np.rint((found.normals + 1) / 2 * 255 / STEP)).astype(np.uint8)
    palette = np.array([_rgb(mixed_with_white(one, share)) for share in SHADES for one in CATEGORIES], dtype=np.uint8)
    if isinstance(color, str):
        names = np.zeros(len(found), dtype=np.uint64)
        for word in found.codes.words.T:
            names = mixed(names + word)
        return palette[names % np.uint64(len(palette))]
    if len(color) != len(found):
        raise InputError(
            f"color must be a class for each of the {len(found):,} polygons, got {describe(color)}: take those of the "
            "witnesses"
        )
    return palette[np.asarray(color) % len(palette)]


def _rgb(color: str) -> list[int]:
    return [int(color[place : place + 2], 16) for place in (1, 3, 5)]
