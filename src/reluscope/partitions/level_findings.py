"""All numbers of a level set as a table of one row."""

from typing import TYPE_CHECKING

import numpy as np

from reluscope.findings import Column, Finding, Findings, Kind, declare

if TYPE_CHECKING:
    from reluscope.partitions.level_sets import LevelSet

PIECES = declare("level_set_pieces", "polygons of a level set in space, segments in the plane", kind=Kind.COUNT)
VERTICES = declare("level_set_vertices", "vertices of a level set", kind=Kind.COUNT)
AREA = declare("level_set_area", "area of a level set in space, length in the plane")
ENCLOSED = declare("level_set_enclosed", "volume that a closed level set encloses in space, area in the plane")
BELOW = declare("level_set_volume_below", "volume of the domain below the level, in the plane area")
ABOVE = declare("level_set_volume_above", "volume of the domain above the level, in the plane area")
EULER = declare("level_set_euler_characteristic", "vertices less edges plus polygons of a level set", least=-np.inf)
COMPONENTS = declare("level_set_components", "connected components of a level set", kind=Kind.COUNT)
OPEN_EDGES = declare("level_set_open_edges", "edges with a single polygon, ends in the plane", kind=Kind.COUNT)
PINCHED = declare("level_set_pinched_vertices", "vertices around which pieces are not one fan", kind=Kind.COUNT)
SOLID = declare("cells_on_level", "cells on which the function equals the level identically", kind=Kind.COUNT)


def numbers_of(found: "LevelSet") -> Findings:
    """Return the size, the measures and the topology of a level set, as far as they have a meaning."""
    counts = {
        VERTICES: len(found.vertices),
        EULER: found.euler_characteristic,
        COMPONENTS: found.num_components,
        OPEN_EDGES: len(found.boundary_edges),
        PINCHED: len(found.pinched_vertices),
        SOLID: len(found.solid_cells),
    }
    # Of a part of the mesh, or one with a doubtful sign, nothing is known of the whole.
    is_whole = found.finding().claim == "EXACT"
    known = {
        PIECES: found.finding(),
        AREA: found.area_finding(),
        **{what: Finding.of(number) if is_whole else Finding.estimate(number) for what, number in counts.items()},
    }
    if not found.num_open:
        known |= {BELOW: found.volume_finding("below"), ABOVE: found.volume_finding("above")}
    if found.is_closed:
        known |= {ENCLOSED: found.volume_finding()}
    return Findings.of(
        *(Column.of_findings(what, [finding]) for what, finding in known.items()),
        domain=found.domain.describe(),
        stopped=found.note,
        seconds=float(found.work.get("seconds", 0.0)),
    )
