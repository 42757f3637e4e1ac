"""A number for every region of a picture: a declared quantity, pieces of a unit, or groups by the first gates."""

import numpy as np
from jaxtyping import Float, Int

from reluscope.codes.packed import Codes
from reluscope.explorer.exchange.answers import Answer, finding
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener
from reluscope.explorer.scene.asked_view import view_of
from reluscope.explorer.scene.planes import AnsweredView
from reluscope.explorer.scene.session import Session
from reluscope.findings import Finding
from reluscope.partitions.region_quantities import RegionQuantity, region_quantities

BLOCK = 4096
# What links and colours of the page call a quantity of regions.
SHORT = {"norm": "map_norm"}


def answer_values(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Return a number for every region."""
    view = view_of(session, asked)
    known = {entry.name: entry for entry in region_quantities() if not entry.why_not(view.part)}
    of = asked.choice("of", ("norm", "unit", "prefix", *known))
    if of == "unit":
        return _unit(view, asked)
    if of == "prefix":
        return _prefix(view, asked)
    asked.end()
    values = _values(known[SHORT.get(of, of)], view, listener)
    return Answer({"version": view.version, "of": of}, {"values": values.astype(np.float32)})


def _values(quantity: RegionQuantity, view: AnsweredView, listener: Listener) -> Float[np.ndarray, " r"]:
    """Return a declared quantity of every region, NaN for those not reached when the listener stopped waiting."""
    found = np.full(len(view.part), np.nan)
    for start in range(0, len(found), BLOCK):
        if listener.cancelled():
            break
        stop = min(start + BLOCK, len(found))
        found[start:stop] = quantity.values(view.part, slice(start, stop))
        listener.progress(stop / len(found), len(found))
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
