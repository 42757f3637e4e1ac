"""The sides of a region within a window: who is beyond, and which unit changes its piece there."""

from typing import Any

import numpy as np

from reluscope.explorer.scene.planes import AnsweredView
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.network import Network


def sides_of(view: AnsweredView, row: int) -> tuple[list[dict[str, Any]], bool]:
    """Return the sides of a region, counter-clockwise, and whether the window's border is among them."""
    part = view.part
    outline, facets = part.facets_with_ends, part.facets
    center = part.witnesses[row]
    made: list[tuple[float, dict[str, Any]]] = []
    mine = pieces_of(part.codes[row : row + 1])
    for facet in np.flatnonzero((facets.left == row) | (facets.right == row)).tolist():
        neighbor = int(facets.right[facet] if facets.left[facet] == row else facets.left[facet])
        flips = facets.flips_at(facet)
        theirs = pieces_of(part.codes[neighbor : neighbor + 1])
        ends = part.vertices[facets.vertices[facet]]
        gate, unit = (int(entry) for entry in flips[0])
        more = f" and {len(flips) - 1} more" if len(flips) > 1 else ""
        said = flip_said(view.network, gate, unit, int(mine[gate][0, unit]), int(theirs[gate][0, unit]))
        made.append(_side(view, center, ends, neighbor, gate, unit, said + more))
    border = np.flatnonzero((outline.left == row) & (outline.right < 0))
    for facet in border.tolist():
        made.append(_side(view, center, part.vertices[outline.known_ends[facet]], -1, -1, -1, "the window ends here"))
    made.sort(key=lambda pair: pair[0])
    return [side for _, side in made], bool(len(border))


def flip_said(network: Network, gate: int, unit: int, here: int, beyond: int) -> str:
    """Return what a unit does when one crosses a side, in words."""
    one = network.gates[gate]
    if isinstance(network.stages[gate].gate, Max):
        return f"unit {unit} of {one.name} takes candidate {beyond} in place of {here}"
    if one.num_pieces == 2:
        return f"unit {unit} of {one.name} turns {'on' if beyond > here else 'off'}"
    return f"unit {unit} of {one.name} goes from piece {here} to {beyond}"


def _side(
    view: AnsweredView, center: np.ndarray, ends: np.ndarray, neighbor: int, gate: int, unit: int, said: str
) -> tuple[float, dict[str, Any]]:
    """Return the direction in which a side lies, and what is said of it."""
    middle = ends.mean(axis=0) - center
    side = {
        "neighbor": neighbor,
        "gate": gate,
        "unit": unit,
        "flips": said,
        "length": float(np.linalg.norm(ends[1] - ends[0])),
        "ends": (ends / view.scale).tolist(),
    }
    return float(np.arctan2(middle[1], middle[0])), side
