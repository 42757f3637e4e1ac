"""Why a property holds: boxes that were halved, and what rules unsafe outputs out on each.

Everything in a proof can be checked without the search that made it: `reluscope.checking.property_proofs` does so.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from reluscope.arguments import read_arguments
from reluscope.files.sealed_files import not_as_written, read_sealed_json, to_sealed_json
from reluscope.files.stored import MALFORMED
from reluscope.files.whole_files import write_files
from reluscope.shown import Shown

FORMAT = "reluscope proof 1"


class Node(NamedTuple):
    """A box of a proof.

    Parameters
    ----------
    ruled_out : dict
        Of unsafe polyhedra by their numbers in the case, multipliers of their rows ``A y <= b`` and of ``C y <= d`` and
        ``-C y <= -d``: the sum of rows that is missed on the whole box.
    axis : int
        Along which the box is halved if more is to be ruled out, else -1.
    place : float
        Where.
    """

    ruled_out: dict[int, tuple[float, ...]]
    axis: int = -1
    place: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Proof(Shown):
    """What shows that a property holds for a network.

    Parameters
    ----------
    fingerprint : str
        Of the network.
    trees : tuple of dict
        For each case its boxes by their paths: "" is the case's own, "0" and "1" are its lower and upper half, and so
        on.
    """

    fingerprint: str
    trees: tuple[dict[str, Node], ...]

    def __len__(self) -> int:
        return sum(map(len, self.trees))

    @read_arguments
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the proof to a JSON file with a digest, whole or not at all."""
        trees = [
            {name: [sorted(one.ruled_out.items()), one.axis, float(one.place).hex()] for name, one in tree.items()}
            for tree in self.trees
        ]
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
            trees = tuple(
                {
                    str(name): Node(_multipliers(out), int(axis), float.fromhex(at))
                    for name, (out, axis, at) in tree.items()
                }
                for tree in plain["trees"]
            )
            return Proof(str(plain["fingerprint"]), trees)
        except MALFORMED as error:
            raise not_as_written(path, what, advice) from error


def _multipliers(plain: list[tuple[int, list[float]]]) -> dict[int, tuple[float, ...]]:
    return {int(number): tuple(map(float, rows)) for number, rows in plain}
