"""Why a property holds: boxes that were halved, or sets of regions that were split, and what rules each of them out.

Everything in a proof can be checked without the search that made it: `reluscope.checking.property_proofs` does so.
"""

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.arguments import read_arguments
from reluscope.files.sealed_files import not_as_written, read_sealed_json, to_sealed_json
from reluscope.files.stored import MALFORMED
from reluscope.files.whole_files import write_files
from reluscope.shown import Shown

FORMAT = "reluscope proof 1"


class SetNode(NamedTuple):
    """A set of regions of a proof: split, ruled out, or, with nothing said of it, empty.

    Duals that are whole numbers, with whole multipliers, prove what is missed by less than rounding.
    """

    gate: int = -1  # of the unit that is split; -1 if none is
    unit: int = -1
    level: int = -1  # last piece that the lower half may have
    multipliers: tuple[float, ...] | tuple[int, ...] = ()  # of the unsafe rows: the sum that is missed
    duals: tuple[Float[np.ndarray, "1 _"] | tuple[int, ...], ...] = ()  # (1, u) for each gate, that prove the miss


class ProofBox(NamedTuple):
    """A box of a proof.

    Multipliers in ``ruled_out`` are of the rows ``A y <= b``, ``C y <= d`` and ``-C y <= -d`` of each unsafe
    polyhedron: that sum of rows is missed on the whole box.
    """

    ruled_out: dict[int, tuple[float, ...]]  # multipliers, by numbers of unsafe polyhedra
    axis: int = -1  # along which the box is halved; -1 if it is not
    place: float = 0.0  # where it is halved
    by_sets: Mapping[int, dict[str, SetNode]] = MappingProxyType({})  # trees of sets by paths, by unsafe polyhedra


class SeenOnBox(NamedTuple):
    """What the units of a gate see on a box, and the duals of all gates before it that prove it."""

    low: Float[np.ndarray, " u"]
    high: Float[np.ndarray, " u"]
    below: tuple[Float[np.ndarray, "u _"], ...]  # (u, u_j) for each gate j before; prove the least values
    above: tuple[Float[np.ndarray, "u _"], ...]  # (u, u_j) for each gate j before; of the opposite


class SetTrees(NamedTuple):
    """A proof by sets of regions that nothing unsafe is reached from a box.

    Each tree holds the sets of one unsafe polyhedron by their paths: "" is all regions, "0" and "1" are its halves of
    lower and of higher pieces, and so on.
    """

    ranges: tuple[SeenOnBox, ...]  # for each gate; none where nothing is known
    trees: tuple[dict[str, SetNode], ...]  # for each unsafe polyhedron


@dataclass(frozen=True, eq=False, repr=False)
class Proof(Shown):
    """What shows that a property holds for a network.

    Parameters
    ----------
    fingerprint : str
        Of the network.
    trees : tuple
        For each case its boxes, a dict by their paths: "" is the case's own, "0" and "1" are its lower and upper half,
        and so on; or its sets of regions, as `SetTrees`.
    """

    fingerprint: str
    trees: tuple[dict[str, ProofBox] | SetTrees, ...]

    def __len__(self) -> int:
        cases = [one for case in self.trees for one in ([case] if isinstance(case, dict) else case.trees)]
        within = [
            tree
            for case in cases
            for one in case.values()
            if isinstance(one, ProofBox)
            for tree in one.by_sets.values()
        ]
        return sum(map(len, cases)) + sum(map(len, within))

    @property
    def kind(self) -> str:
        """What it is made of: boxes, or sets."""
        return "boxes" if all(isinstance(case, dict) for case in self.trees) else "sets"

    @read_arguments
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the proof to a JSON file with a digest, whole or not at all.

        Notes
        -----
        Arrays are written as base64 of float32, its lowest byte first; whole numbers to the base 16.
        """
        trees = [_boxes(case) if isinstance(case, dict) else _sets(case) for case in self.trees]
        plain = {"format": FORMAT, "fingerprint": self.fingerprint, "trees": trees}
        write_files({Path(path): to_sealed_json(plain, separators=(",", ":"))})

    @staticmethod
    @read_arguments
    def load(path: str | os.PathLike[str]) -> "Proof":
        """Read a proof that `save` wrote; whether it is right is for `rs.testing.check_proof`.

        Raises
        ------
        InputError
            If the file is missing, damaged, or something else.
        """
        what, advice = "a proof", "save it again"
        plain = read_sealed_json(path, what, advice)
        try:
            if plain["format"] != FORMAT:
                raise ValueError("another format")
            trees = tuple(_read_sets(case) if "ranges" in case else _read_boxes(case) for case in plain["trees"])
            return Proof(str(plain["fingerprint"]), trees)
        except MALFORMED as error:
            raise not_as_written(path, what, advice) from error


def _boxes(tree: dict[str, ProofBox]) -> dict[str, Any]:
    return {
        path: [
            sorted(one.ruled_out.items()),
            one.axis,
            float(one.place).hex(),
            *([[[number, _sets_of(within)] for number, within in sorted(one.by_sets.items())]] if one.by_sets else []),
        ]
        for path, one in tree.items()
    }


def _read_boxes(plain: dict[str, Any]) -> dict[str, ProofBox]:
    return {
        str(path): ProofBox(
            {int(number): tuple(map(float, rows)) for number, rows in out},
            int(axis),
            float.fromhex(place),
            {int(number): _read_sets_of(within) for part in by_sets for number, within in part},
        )
        for path, (out, axis, place, *by_sets) in plain.items()
    }


def _sets(case: SetTrees) -> dict[str, Any]:
    ranges = [
        [_text(one.low), _text(one.high), [*map(_text, one.below)], [*map(_text, one.above)]] for one in case.ranges
    ]
    return {"ranges": ranges, "trees": [*map(_sets_of, case.trees)]}


def _sets_of(tree: dict[str, SetNode]) -> dict[str, Any]:
    return {path: [*one[:3], [*map(_number, one.multipliers)], [*map(_text, one.duals)]] for path, one in tree.items()}


def _read_sets(plain: dict[str, Any]) -> SetTrees:
    ranges = tuple(
        SeenOnBox(low := _array(bottom), _array(top), _arrays(below, len(low)), _arrays(above, len(low)))
        for bottom, top, below, above in plain["ranges"]
    )
    return SetTrees(ranges, tuple(map(_read_sets_of, plain["trees"])))


def _read_sets_of(plain: dict[str, Any]) -> dict[str, SetNode]:
    return {
        str(path): SetNode(int(gate), int(unit), int(level), tuple(map(_read_number, rows)), _duals(duals))
        for path, (gate, unit, level, rows, duals) in plain.items()
    }


def _number(number: float) -> float | str:
    """Return a float, or the digits of a whole number to the base 16, of which there may be many."""
    return number if isinstance(number, float) else f"{number:x}"


def _read_number(written: float | str) -> float | int:
    return int(written, 16) if isinstance(written, str) else float(written)


def _duals(written: list[str | list[str]]) -> tuple[np.ndarray | tuple[int, ...], ...]:
    return tuple(
        _array(one).reshape(1, -1) if isinstance(one, str) else tuple(int(entry, 16) for entry in one)
        for one in written
    )


def _text(array: np.ndarray | tuple[int, ...]) -> str | list[str]:
    if isinstance(array, tuple):
        return [f"{entry:x}" for entry in array]
    return base64.b64encode(np.asarray(array, dtype="<f4").tobytes()).decode()


def _array(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float32)


def _arrays(texts: list[str], rows: int) -> tuple[np.ndarray, ...]:
    """Return arrays of so many rows."""
    return tuple(_array(text).reshape(rows, -1) for text in texts)
