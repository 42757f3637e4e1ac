"""All numbers of a level set as a table of one row."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reluscope.findings import Column, Finding, Findings, Kind, Quantity, declare

if TYPE_CHECKING:
    from reluscope.partitions.levels.level_sets import LevelSet

PIECES = declare("level_set_pieces", "polygons of a level set in space, segments in the plane", kind=Kind.COUNT)
VERTICES = declare("level_set_vertices", "vertices of a level set", kind=Kind.COUNT)
EULER = declare("level_set_euler_characteristic", "vertices less edges plus polygons of a level set", least=-np.inf)
COMPONENTS = declare("level_set_components", "connected components of a level set", kind=Kind.COUNT)
OPEN_EDGES = declare("level_set_open_edges", "edges with a single polygon, ends in the plane", kind=Kind.COUNT)
PINCHED = declare("level_set_pinched_vertices", "vertices around which pieces are not one fan", kind=Kind.COUNT)
SOLID = declare("cells_on_level", "cells on which the function equals the level identically", kind=Kind.COUNT)


class _Measures(NamedTuple):
    size: Quantity
    enclosed: Quantity
    below: Quantity
    above: Quantity


IN_SPACE = _Measures(
    declare("level_set_area", "area of a level set in space"),
    declare("level_set_enclosed_volume", "volume that a closed level set encloses"),
    declare("level_set_volume_below", "volume of the domain below the level"),
    declare("level_set_volume_above", "volume of the domain above the level"),
)
IN_THE_PLANE = _Measures(
    declare("level_set_length", "length of a level set in the plane"),
    declare("level_set_enclosed_area", "area that a closed level set encloses in the plane"),
    declare("level_set_area_below", "area of the domain below the level, in the plane"),
    declare("level_set_area_above", "area of the domain above the level, in the plane"),
)


def numbers_of(found: "LevelSet") -> Findings:
    """Return the size, the measures and the topology of a level set, as far as they have a meaning."""
    measures = IN_SPACE if found.dim == 3 else IN_THE_PLANE
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
        measures.size: found.area_finding(),
        **{what: Finding.of(number) if is_whole else Finding.estimate(number) for what, number in counts.items()},
    }
    if not found.num_open:
        known |= {measures.below: found.volume_finding("below"), measures.above: found.volume_finding("above")}
    if found.is_closed:
        known |= {measures.enclosed: found.volume_finding()}
    return Findings.of(
        *(Column.of_findings(what, [finding]) for what, finding in known.items()),
        domain=found.domain.describe(),
        stop=found.stop,
        seconds=float(found.work.get("seconds", 0.0)),
    )
