"""A checker of proofs by sets of regions: units that are held to pieces, and dual numbers that rule the rest out.

A proof says what the units see on the whole box, and then, for each unsafe polyhedron, a tree of sets. A set is split
at a unit's breakpoint, is empty, or is ruled out: some mixture of the polyhedron's rows is missed by a bound that
`reluscope.checking.dual_bounds` finds exactly from the set's duals. Ranges are proved in the same way, one row each.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from reluscope.checking.demand import Watch, demand
from reluscope.checking.dual_bounds import DualBounds, Seen
from reluscope.checking.whole_numbers import Whole

if TYPE_CHECKING:
    from reluscope.checking.proofs import SetNode, SetTrees
    from reluscope.networks.network import Network

# Rows that are bounded together.
NUM_TOGETHER = 64


def check_sets(trees: "SetTrees", network: "Network", case: Any, what: str, watch: Watch) -> None:
    """Check that no input of a case leads to unsafe outputs; raise CertificateError at the first fault."""
    demand(hasattr(trees, "ranges") and hasattr(trees, "trees"), f"{what} has neither boxes nor sets")
    bounds = DualBounds(network, case.lower, case.upper)
    seen = _ranges(trees, bounds, what, watch) if len(trees.ranges) else bounds.unknown()
    demand(len(trees.trees) == len(case.unsafe), f"{what} has {len(trees.trees)} trees, not {len(case.unsafe)}")
    for number, (unsafe, tree) in enumerate(zip(case.unsafe, trees.trees, strict=True)):
        check_tree(tree, bounds, seen, unsafe, f"{what}, unsafe outputs {number}", watch)


def check_tree(
    tree: "dict[str, SetNode]", bounds: DualBounds, seen: list[Seen], unsafe: Any, what: str, watch: Watch
) -> None:
    """Check that no input of a box leads to outputs in a polyhedron.

    `tree` holds sets of regions by their paths; `seen` is what the units of each gate see on the box.
    """
    A, b = np.concatenate([unsafe.A, unsafe.C, -unsafe.C]), np.concatenate([unsafe.b, unsafe.d, -unsafe.d])
    gates = range(len(bounds.gates))
    first = [np.zeros(bounds.num_units(gate), dtype=np.int64) for gate in gates]
    last = [one + bounds.num_pieces(gate) - 1 for gate, one in zip(gates, first, strict=True)]
    waiting = [("", first, last)]
    while waiting:
        path, first, last = waiting.pop()
        where = f"{what}, set {path or 'at the root'}"
        demand(path in tree, f"{where} is missing")
        node = tree[path]
        demand(_is_node(node), f"{where} has other entries than numbers")
        if node.gate >= 0:
            demand(node.gate in gates and node.unit in range(len(first[node.gate])), f"{where} splits no unit")
            low, high = first[node.gate][node.unit], last[node.gate][node.unit]
            demand(low <= node.level < high, f"{where} is split at no breakpoint of its unit")
            waiting.append((path + "0", first, _changed(last, node, node.level)))
            waiting.append((path + "1", _changed(first, node, node.level + 1), last))
            continue
        held = [bounds.held(gate, seen[gate], first[gate], last[gate]) for gate in gates]
        if not any(one.is_empty for one in held):
            watch.bounded()
            demand(_is_missed(bounds, A, b, node, held), f"{where} may reach unsafe outputs")


def _ranges(trees: "SetTrees", bounds: DualBounds, what: str, watch: Watch) -> list[Seen]:
    """Return what the units of all gates see on the box, as the proof says, after checking that."""
    demand(len(trees.ranges) == len(bounds.gates), f"{what} has ranges of {len(trees.ranges)} gates")
    seen: list[Seen] = []
    for gate, claimed in enumerate(trees.ranges):
        units, where = bounds.num_units(gate), f"{what}, ranges of gate {gate}"
        demand(all(_are_numbers(end, (units,)) for end in claimed[:2]), f"{where} are not of its units")
        ends = [np.asarray(end, dtype=np.float64) for end in claimed[:2]]
        for sign, end, duals in ((1.0, ends[0], claimed.below), (-1.0, -ends[1], claimed.above)):
            _demand_shapes(duals, bounds, units, gate, where)
            for start in range(0, units, NUM_TOGETHER):
                part = slice(start, min(units, start + NUM_TOGETHER))
                watch.look()
                rows = Whole.of(sign * np.eye(units)[part])
                tables = [np.asarray(one[part], dtype=np.float64) for one in duals]
                least = bounds.least(rows, tables, seen, bounds.seen_by(gate))
                room = least - Whole.of(end[part])
                wrong = np.flatnonzero(room.numbers < 0)
                demand(not len(wrong), f"{where}: unit {start + int(wrong[:1].sum())} may see more")
        seen.append(Seen(*ends))
    return seen


def _is_missed(bounds: DualBounds, A: np.ndarray, b: np.ndarray, node: "SetNode", held: list[Seen]) -> bool:
    """Return whether a mixture of rows is missed by all outputs of a set."""
    if len(node.multipliers) != len(A) or not all(0 <= one < float("inf") for one in node.multipliers):
        return False
    duals: list[Any] = [np.array([one], dtype=object) if isinstance(one, tuple) else one for one in node.duals]
    _demand_shapes(duals, bounds, 1, len(bounds.gates), "a set")
    mix = Whole.of(np.array(node.multipliers, dtype=object if _are_whole(node.multipliers) else np.float64))
    row = (Whole.of(A.T) * mix[None]).sum()
    found = bounds.least(row[None], duals, held)
    return bool((found - (Whole.of(b) * mix).sum()[None]).numbers[0] > 0)


def _demand_shapes(duals: Any, bounds: DualBounds, rows: int, gates: int, what: str) -> None:
    shapes = [(rows, bounds.num_units(gate)) for gate in range(gates)]
    fits = len(duals) == gates and all(_are_numbers(one, shape) for one, shape in zip(duals, shapes, strict=True))
    demand(fits, f"{what}: duals are not of the units before it")


def _are_numbers(array: Any, shape: tuple[int, ...]) -> bool:
    if not isinstance(array, np.ndarray) or array.shape != shape:
        return False
    return (
        _are_whole((*array.flat,))
        if array.dtype == object
        else array.dtype.kind == "f" and bool(np.isfinite(array).all())
    )


def _are_whole(entries: Any) -> bool:
    return isinstance(entries, tuple) and all(type(entry) is int for entry in entries)


def _is_node(node: Any) -> bool:
    """Return whether a set of a proof has what one has: its duals are looked at where they are used."""
    has_places = all(isinstance(getattr(node, name, None), int) for name in ("gate", "unit", "level"))
    return has_places and all(isinstance(m, float | int) for m in node.multipliers)


def _changed(pieces: list[np.ndarray], node: "SetNode", piece: int) -> list[np.ndarray]:
    """Return pieces with that of one unit changed."""
    own = pieces[node.gate].copy()
    own[node.unit] = piece
    return [*pieces[: node.gate], own, *pieces[node.gate + 1 :]]
