"""The card of a region: what the network is there, what bounds it, and which samples lie in it.

Maps are those of the region's code, not of a point: a region may be thinner than floats can name a point of.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from reluscope.codes.packed import Codes
from reluscope.errors import InputError
from reluscope.explorer.exchange.answers import Answer, finding
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener
from reluscope.explorer.scene.asked_view import read_row, view_of
from reluscope.explorer.scene.planes import AnsweredView
from reluscope.explorer.scene.programs import region_program
from reluscope.explorer.scene.session import Session
from reluscope.explorer.scene.sides import sides_of
from reluscope.findings import Finding
from reluscope.networks.evaluation.decisions import scores
from reluscope.networks.evaluation.held_maps import held_maps, logits
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.network import Network
from reluscope.partitions.table.largest_discs import largest_discs

MOST_OUTPUTS, MOST_SAMPLES = 10, 50
# A click is as exact as a screen, in units of half the window's height.
NEAR = 0.01


def answer_region(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Describe one region of a picture, and the network at one of its points."""
    del listener
    view = view_of(session, asked)
    row = read_row(asked, view)
    point = np.array(asked.numbers("point", 2, 1e6)) if asked.has("point") else None
    asked.end()
    if point is not None and not is_near(view, row, point):
        raise InputError(f"the point must lie in region {row}, and is elsewhere: leave it out, or ask with locate")
    return card(session, view, row, point)


def card(session: Session, view: AnsweredView, row: int, point: Float[np.ndarray, "2"] | None) -> Answer:
    """Return the card of a region, with outputs at a point given relative to the window, or at its witness."""
    region = view.part[row]
    place = region.witness if point is None else point * view.scale
    on_plane, at_center = held_maps(view.part.network_on_domain, region.code)
    outputs = on_plane[0] @ place + at_center[0]
    ranking = outputs
    if session.is_classifier:
        ranking = logits(scores(outputs[None], view.network.decision))[0]
        outputs = logits(outputs[None])[0]
    ranked = np.argsort(-ranking, kind="stable")
    winner, second = int(ranked[0]), int(ranked[1]) if len(ranked) > 1 else int(ranked[0])
    weight, bias = map_on_inputs(session, view, region.code, winner, second)
    sides, is_cut = sides_of(view, row)
    radius = largest_discs(region.vertices, np.array([0, len(region.vertices)]), np.arange(len(region.vertices)))[0]
    inside = samples_with_code(session, view.network, region.code)
    header: dict[str, Any] = {
        "version": view.version,
        "row": row,
        "class": winner if session.is_classifier else None,
        "class_name": session.class_name(winner) if session.is_classifier else None,
        "outputs_at_point": [
            {"index": int(one), "name": session.class_name(int(one)) if session.is_classifier else f"output {one}",
             "value": float(outputs[one])}
            for one in ranked[:MOST_OUTPUTS]
        ],
        "margin": float(ranking[winner] - ranking[second]) if len(outputs) > 1 else None,
        "point": (place / view.scale).tolist(),
        "code": gate_summaries(region.code),
        "code_hex": region.code.words.astype(">u8").tobytes().hex(),
        "is_cut": is_cut,
        "area": finding(_measure(region.volume, is_cut, "area of the region in the plane")),
        "inradius": finding(_measure(float(radius), is_cut, "radius of a largest disc in the region, in the plane")),
        "num_sides": len(sides),
        "sides": sides,
        "samples_inside": inside[:MOST_SAMPLES].tolist(),
        "num_samples_inside": len(inside),
        "python": region_program(view, row),
        "bias_winner": float(bias[0]),
        "bias_second": float(bias[1]),
    }  # fmt: skip
    arrays = {
        "weight_winner": weight[0].astype(np.float32),
        "weight_second": weight[1].astype(np.float32),
        "weight_margin": (weight[0] - weight[1]).astype(np.float32),
    }
    return Answer(header, arrays)


def is_near(view: AnsweredView, row: int, point: Float[np.ndarray, "2"]) -> bool:
    """Tell whether a point lies in a region, or as near to it as drawn places are from true ones."""
    corners = view.part[row].vertices / view.scale
    sides = np.roll(corners, -1, axis=0) - corners
    away = sides[:, 0] * (point - corners)[:, 1] - sides[:, 1] * (point - corners)[:, 0]
    return bool((away >= -NEAR * np.linalg.norm(sides, axis=1)).all())


def map_on_inputs(
    session: Session, view: AnsweredView, code: Codes, winner: int, second: int
) -> tuple[Float[np.ndarray, "2 n"], Float[np.ndarray, "2"]]:
    """Return the maps of two classes on input space; a single output is the logit of class 1, and 0 that of class 0."""
    is_single = session.is_classifier and view.network.num_outputs == 1
    wanted = [0] if is_single else sorted({winner, second})
    weight, bias = (table[0] for table in held_maps(view.network.scores, code, wanted))
    if is_single:
        weight, bias = np.concatenate([0 * weight, weight]), np.concatenate([0 * bias, bias])
        wanted = [0, 1]
    order = [wanted.index(winner), wanted.index(second)]
    return weight[order], bias[order]


def gate_summaries(code: Codes) -> list[dict[str, Any]]:
    """Return for every gate how many of its units are active: on another piece than their first."""
    return [
        {"gate": gate.name, "active": int((pieces > 0).sum()), "units": gate.num_units, "pieces": gate.num_pieces}
        for gate, pieces in zip(code.layout, pieces_of(code), strict=True)
    ]


def samples_with_code(session: Session, network: Network, code: Codes) -> Int[np.ndarray, " k"]:
    """Return the samples in the region of a code, in the whole input space."""
    if not len(session.points):
        return np.zeros(0, dtype=np.int64)
    words = session.codes_of(network).words
    return np.flatnonzero((words == code.words[0]).all(axis=1))


def _measure(value: float, is_cut: bool, definition: str) -> Finding:
    """Return a size of a region: of one that the window cuts, at least so much."""
    if is_cut:
        return Finding.of(value, upper=float("inf"), definition=f"{definition}, as far as the window shows it")
    return Finding.of(value, definition=definition)
