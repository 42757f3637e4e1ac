"""A level set as named arrays and a description, and what a file says of one, checked."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from reluscope.codes.checked_words import check_words
from reluscope.codes.packed import Codes
from reluscope.files import stored
from reluscope.geometry.polyhedra.domain_arrays import domain_arrays
from reluscope.partitions.levels.level_walls import Walls
from reluscope.partitions.table.stored_partitions import read_place
from reluscope.stopping import Stop, plain_stop
from reluscope.tolerance import Tolerance

if TYPE_CHECKING:
    from reluscope.partitions.levels.level_sets import LevelSet

KIND = "level set"
_ARRAYS = ("vertices", "blur", "offsets", "ids", "normals", "witnesses", "solid_witnesses", "border")
_SAID = ("level", "plateaus", "num_undecided", "num_open", "fingerprint", "work")


def described_level(found: "LevelSet") -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays of a level set, and the rest of it as plain types."""
    arrays = {name: getattr(found, name) for name in _ARRAYS}
    arrays |= {"words": found.codes.words, "solid_words": found.solid_cells.words}
    arrays |= {"apex": found.walls.apex, "cones": found.walls.cones, **domain_arrays(found.domain)}
    description = {name: getattr(found, name) for name in _SAID}
    description |= {
        "kind": KIND,
        "stop": plain_stop(found.stop),
        "outputs": list(found.outputs),
        "tolerance": asdict(found.tolerance),
    }
    description["tolerance"] = asdict(found.tolerance)
    description["gates"] = [[gate.name, gate.num_units, gate.num_pieces] for gate in found.codes.layout]
    return arrays, description


def read_level(arrays: Mapping[str, np.ndarray], described: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file holds, as arguments of `LevelSet`.

    Raises ValueError, or another of `stored.MALFORMED`, if the file is no level set.
    """
    domain, layout = read_place(described, arrays)
    dim = domain.dim
    if dim not in (2, 3):
        raise ValueError(f"a level set in {dim} dimensions")
    number, num_solid = len(arrays["normals"]), len(arrays["solid_witnesses"])
    num_vertices = len(stored.array(arrays, "vertices", np.float64, (None, dim)))
    stored.array(arrays, "blur", np.float64, (num_vertices,), least=0)
    ids = stored.array(arrays, "ids", np.int64, (None,), least=0, below=num_vertices)
    counts = np.diff(stored.offsets(arrays, "offsets", number, len(ids)))
    if (counts < dim).any() or (dim == 2 and (counts > 2).any()):
        raise ValueError("pieces with too few vertices, or too many")
    stored.array(arrays, "border", np.int64, (None, dim - 1), least=0, below=num_vertices)
    for name, rows in (("normals", number), ("witnesses", number), ("solid_witnesses", num_solid)):
        stored.array(arrays, name, np.float64, (rows, dim))
    for name, rows in (("words", number), ("solid_words", num_solid)):
        check_words(stored.array(arrays, name, np.uint64, (rows, layout.num_words)), layout)
    walls = stored.array(arrays, "apex", np.float64, (dim,)), stored.array(arrays, "cones", np.float64, (3,), least=0)
    outputs, level, plateaus = described["outputs"], described["level"], stored.text(described, "plateaus")
    is_choice = type(outputs) is list and len(outputs) in (1, 2) and len(set(outputs)) == len(outputs)
    if not is_choice or any(type(one) is not int or one < 0 for one in outputs):
        raise ValueError(f"{outputs!r} are no outputs")
    if plateaus not in ("below", "above"):
        raise ValueError(f"plateaus {plateaus!r}")
    return {
        "domain": domain,
        "level": stored.numbers({"level": {"level": level}}, "level")["level"],
        "outputs": tuple(outputs),
        "plateaus": plateaus,
        **{name: arrays[name] for name in _ARRAYS},
        "codes": Codes(arrays["words"], layout),
        "solid_cells": Codes(arrays["solid_words"], layout),
        "walls": Walls(*walls),
        "num_undecided": stored.whole(described, "num_undecided"),
        "num_open": stored.whole(described, "num_open"),
        "tolerance": Tolerance(**stored.numbers(described, "tolerance")),
        "fingerprint": stored.text(described, "fingerprint"),
        "stop": Stop.from_dict(described["stop"]),
        "work": stored.numbers(described, "work"),
    }
