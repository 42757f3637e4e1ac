"""A number for every region of a picture: norms, pieces of a unit, groups by the first gates, radii."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from reluscope.codes.packed import Codes
from reluscope.explorer.exchange.answers import Answer, finding
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener
from reluscope.explorer.scene.pictures import view_of
from reluscope.explorer.scene.planes import AnsweredView
from reluscope.explorer.scene.session import Session
from reluscope.findings import Finding
from reluscope.networks.evaluation.held_maps import held_maps
from reluscope.partitions.table.largest_discs import largest_discs

BLOCK = 4096


def answer_values(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Return a number for every region."""
    view = view_of(session, asked)
    of = asked.choice("of", ("norm", "unit", "prefix", "inradius"))
    if of == "unit":
        return _unit(view, asked)
    if of == "prefix":
        return _prefix(view, asked)
    asked.end()
    made: dict[str, Callable[[], np.ndarray]] = {
        "norm": lambda: norms(view, listener),
        "inradius": lambda: largest_discs(view.part.vertices, *view.part.region_vertices),
    }
    return Answer({"version": view.version, "of": of}, {"values": made[of]().astype(np.float32)})


def norms(view: AnsweredView, listener: Listener) -> Float[np.ndarray, " r"]:
    """Return the largest factor by which the map of every region stretches lengths along the plane.

    Those that were not reached when the listener stopped waiting are NaN.
    """
    found = np.full(len(view.part), np.nan)
    network = view.part.network_on_domain
    for start in range(0, len(found), BLOCK):
        if listener.cancelled():
            break
        rows = slice(start, start + BLOCK)
        weight, _ = held_maps(network, view.part.codes[rows])
        listener.progress(min(1.0, (start + BLOCK) / len(found)), len(found))
        # Two columns: the larger root of the characteristic polynomial of their Gram matrix.
        scale = np.abs(weight).max(axis=(1, 2), initial=0.0)
        first, second = (weight / np.where(scale > 0, scale, 1.0)[:, None, None]).transpose(2, 0, 1)
        one, two, both = ((a * b).sum(axis=1) for a, b in ((first, first), (second, second), (first, second)))
        found[rows] = scale * np.sqrt((one + two) / 2 + np.hypot((one - two) / 2, both))
    return found


def pieces_of_unit(codes: Codes, gate: int, unit: int) -> Int[np.ndarray, " r"]:
    """Return the piece of one unit in every code."""
    layout = codes.layout.gates[gate]
    words = codes.words[:, codes.layout.words(gate)]
    found = np.zeros(len(codes), dtype=np.int64)
    for plane in range(layout.num_planes):
        column = words[:, plane * layout.words_per_plane + unit // 64]
        found |= ((column >> np.uint64(unit % 64)) & np.uint64(1)).astype(np.int64) << plane
    return found


def groups_by_first_gates(codes: Codes, gates: int) -> Int[np.ndarray, " r"]:
    """Return which codes agree in the first gates, as numbers of groups in order of first appearance."""
    if not gates:
        return np.zeros(len(codes), dtype=np.int64)
    stop = codes.layout.words(gates - 1).stop
    layout = type(codes.layout)(codes.layout.gates[:gates])
    return Codes(codes.words[:, :stop], layout).groups()


def _unit(view: AnsweredView, asked: Asked) -> Answer:
    layout = view.part.codes.layout
    gate = asked.whole("gate", 0, len(layout) - 1)
    unit = asked.whole("unit", 0, layout.gates[gate].num_units - 1)
    asked.end()
    values = pieces_of_unit(view.part.codes, gate, unit).astype(np.int32)
    header = {
        "version": view.version,
        "of": "unit",
        "gate": gate,
        "unit": unit,
        "gate_name": layout.gates[gate].name,
        "pieces": layout.gates[gate].num_pieces,
    }
    return Answer(header, {"values": values})


def _prefix(view: AnsweredView, asked: Asked) -> Answer:
    gates = asked.whole("gates", 0, len(view.part.codes.layout))
    asked.end()
    values = groups_by_first_gates(view.part.codes, gates)
    number = int(values.max()) + 1 if len(values) else 0
    is_whole = not view.part.num_open and not view.part.num_undecided
    found = Finding.of(
        number,
        upper=number if is_whole else float("inf"),
        resolution=view.part.tolerance.resolution,
        definition=f"regions of the network up to its gate {gates}, of {len(view.part.codes.layout)}",
    )
    header = {"version": view.version, "of": "prefix", "gates": gates, "num_groups": finding(found)}
    return Answer(header, {"values": values.astype(np.int32)})
