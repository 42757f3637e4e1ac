"""Images, covers and reachable sets as named arrays and plain types, and what a file says of them, checked."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reluscope.analyses.boxes.stored_boxes import form_arrays, read_forms
from reluscope.files import stored
from reluscope.files.named_arrays import prefixed, without_prefix
from reluscope.geometry.polyhedra.domain_arrays import domain_arrays
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.stored_partitions import read_stored, stored_domain
from reluscope.stopping import Stop, plain_stop

if TYPE_CHECKING:
    from reluscope.analyses.reachability.cover import Cover
    from reluscope.analyses.reachability.images import Image
    from reluscope.analyses.reachability.reachable_sets import ReachableSets

Arrays = Mapping[str, np.ndarray]
Parts = tuple[dict[str, np.ndarray], dict[str, Any]]
IMAGE, COVER, SETS = "image", "cover", "reachable sets"
_OF_COVER = ("inputs", "ends", "boxes", "reached", "errors")


def described_image(found: "Image") -> Parts:
    """Return the arrays of an image, and the rest of it as plain types."""
    arrays, described = found.partition.stored_parts()
    sizes = [len(corners) for corners in found.corners]
    own = {
        "image.corners": np.concatenate([np.zeros((0, len(found.outputs))), *found.corners]),
        "image.offsets": np.cumsum([0, *sizes]),
        "image.dims": found.dims,
        "image.errors": found.errors,
    }
    return {**arrays, **own}, {"kind": IMAGE, "outputs": list(found.outputs), "partition": described}


def read_image(arrays: Arrays, described: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file holds, as arguments of `Image`.

    ValueError, or another of `stored.MALFORMED`, if that is no image.
    """
    rest = {name: array for name, array in arrays.items() if not name.startswith("image.")}
    part = Partition(**read_stored(rest, described["partition"], None))
    outputs = described["outputs"]
    if type(outputs) is not list or not outputs or any(type(one) is not int or one < 0 for one in outputs):
        raise ValueError(f"{outputs!r} are no outputs")
    corners = stored.array(arrays, "image.corners", np.float64, (None, len(outputs)))
    offsets = stored.offsets(arrays, "image.offsets", len(part), len(corners))
    if not part.has_vertices or (np.diff(offsets) != np.diff(part.region_vertices[0])).any():
        raise ValueError("corners that are not those of regions")
    most = min(part.dim, len(outputs)) + 1
    dims = stored.array(arrays, "image.dims", np.int64, (len(part),), least=0, below=most)
    pieces = tuple(np.split(corners, offsets[1:-1])) if len(part) else ()
    errors = stored.array(arrays, "image.errors", np.float64, (len(part), len(outputs)), least=0)
    return {"partition": part, "outputs": tuple(outputs), "corners": pieces, "dims": dims, "errors": errors}


def described_cover(found: "Cover") -> Parts:
    """Return the arrays of a cover; nothing else is to say of it."""
    arrays = {f"cover.{name}": getattr(found, name) for name in _OF_COVER}
    arrays |= form_arrays("cover", found.forms, found.dim, found.inputs.shape[2])
    return arrays, {"kind": COVER}


def read_cover(arrays: Arrays) -> dict[str, Any]:
    """Return what a file holds, as arguments of `Cover`.

    ValueError, or another of `stored.MALFORMED`, if that is no cover.
    """
    number = len(stored.array(arrays, "cover.inputs", np.float64, (None, 2, None)))
    outputs = stored.array(arrays, "cover.ends", np.float64, (2, None)).shape[1]
    boxes = stored.array(arrays, "cover.boxes", np.float64, (number, 2, outputs))
    reached = stored.array(arrays, "cover.reached", np.float64, (None, outputs))
    stored.array(arrays, "cover.errors", np.float64, (len(reached), outputs), least=0)
    if (
        not number
        or not outputs
        or not np.array_equal(arrays["cover.ends"], np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)]))
    ):
        raise ValueError("ends that are not those of the boxes")
    forms = read_forms("cover", arrays, arrays["cover.inputs"], outputs)
    return {name: arrays[f"cover.{name}"] for name in _OF_COVER} | {"forms": forms}


def described_sets(found: "ReachableSets", parts: Sequence[Parts]) -> Parts:
    """Return the arrays of reachable sets, of which each step is described, and the rest as plain types."""
    arrays = domain_arrays(found.start)
    for step, (own, _) in enumerate(parts):
        arrays |= prefixed(f"{step}/", own)
    said = {"fingerprint": found.fingerprint, "stop": plain_stop(found.stop), "work": found.work}
    return arrays, {"kind": SETS, "steps": [described for _, described in parts], **said}


def read_sets(arrays: Arrays, described: Mapping[str, Any]) -> tuple[list[tuple[str, dict[str, Any]]], dict[str, Any]]:
    """Return the kinds of sets with their arguments by step, and the other arguments of `ReachableSets`.

    ValueError, or another of `stored.MALFORMED`, if these are no reachable sets.
    """
    sets = []
    for step, one in enumerate(described["steps"]):
        own = without_prefix(f"{step}/", arrays)
        kind = stored.text(one, "kind")
        if kind not in (IMAGE, COVER):
            raise ValueError(f"a step that is {kind!r}")
        sets.append((kind, read_image(own, one) if kind == IMAGE else read_cover(own)))
    return sets, {
        "start": stored_domain(arrays),
        "fingerprint": stored.text(described, "fingerprint"),
        "stop": Stop.from_dict(described["stop"]),
        "work": stored.numbers(described, "work"),
    }
