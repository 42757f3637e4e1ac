"""The four kinds of preimages, how they are decided, and the table of them for many outputs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from jaxtyping import Bool, Float, Int, Int8

from reluscope.analyses.preimages.kind_certificates import Certificate
from reluscope.arguments import read_arguments, read_position, read_positions
from reluscope.findings import Finding
from reluscope.shown import Shown


class PreimageKind(IntEnum):
    """What a preimage is, as a set.

    The published names "finite" and "infinite volume" are avoided: an unbounded preimage can have no volume at all.
    """

    EMPTY = 0
    SINGLETON = 1
    COMPACT = 2
    UNBOUNDED = 3


class Decider(IntEnum):
    """What decided a kind.

    EQUATIONS: the equations have no solution, or the only one violates an inequality. RANK: the equations have full
    rank. DIRECTION: a direction of recession, or a second point in a box, found without a linear program. COMBINATION:
    positive weights found by least squares, without a linear program. PROGRAM: a linear program.
    """

    EQUATIONS = 0
    RANK = 1
    DIRECTION = 2
    COMBINATION = 3
    PROGRAM = 4


# One entry for every output.
COLUMNS = ("kinds", "deciders", "is_proved", "dims", "num_equations", "points")


@dataclass(frozen=True, eq=False, repr=False)
class Preimages(Shown):
    """The preimages of some outputs of a layer, by kind, with a certificate of each kind.

    Not a table of `Findings`, since kinds have no ends; `count` returns the number of preimages of a kind, with
    ends.

    Parameters
    ----------
    kinds : (s,) int8
        As `PreimageKind`.
    deciders : (s,) int8
        As `Decider`.
    is_proved : (s,) bool
        Whether the kind is proved beyond rounding; otherwise the kind holds within the tolerance.
    dims : (s,) int64
        Dimension k of the null space of the equations.
    num_equations : (s,) int64
        Units with an equation: for a ReLU, units with a positive output.
    points : (s, n) float64
        A point of each preimage; NaN where it is empty.
    certificates : tuple of tuples
        Proof of the kind of each output, to be checked against its system.
    gate : str
        Name of the gate.
    is_in_box : bool
        Whether the input was bounded by a box.
    tolerance : float
        Threshold for zero, relative to the sizes of the summands.
    seconds : float
    """

    kinds: Int8[np.ndarray, " s"]
    deciders: Int8[np.ndarray, " s"]
    is_proved: Bool[np.ndarray, " s"]
    dims: Int[np.ndarray, " s"]
    num_equations: Int[np.ndarray, " s"]
    points: Float[np.ndarray, "s n"]
    certificates: tuple[tuple[Certificate, ...], ...]
    gate: str
    is_in_box: bool
    tolerance: float
    seconds: float

    def __len__(self) -> int:
        return len(self.kinds)

    @read_arguments
    def take(self, rows: Int[np.ndarray, " k"]) -> "Preimages":
        """Return those in some rows."""
        rows = read_positions(rows, "rows", len(self), "preimages")
        columns = {name: getattr(self, name)[rows] for name in COLUMNS}
        return replace(self, **columns, certificates=tuple(self.certificates[row] for row in rows))

    @read_arguments
    def kind(self, position: int) -> PreimageKind:
        """Return the kind of one preimage."""
        position = read_position(position, "position", len(self), "preimages")
        return PreimageKind(int(self.kinds[position]))

    @read_arguments
    def decider(self, position: int) -> Decider:
        """Return what decided one kind."""
        position = read_position(position, "position", len(self), "preimages")
        return Decider(int(self.deciders[position]))

    @read_arguments
    def decided_by(self, decider: Decider) -> int:
        """Return how many were decided in one way."""
        return int((self.deciders == decider).sum())

    @read_arguments
    def count(self, kind: PreimageKind) -> Finding:
        """Return how many preimages are of a kind: EXACT if all kinds are proved, else between ends."""
        is_kind = self.kinds == kind
        value, open_ = int(is_kind.sum()), int((~self.is_proved).sum())
        proved = int((is_kind & self.is_proved).sum())
        return Finding.of(
            value,
            proved,
            proved + open_,
            resolution=self.tolerance,
            name=f"{kind.name.lower()} preimages",
            definition="preimages of single outputs under one layer",
            domain="box of inputs" if self.is_in_box else "all inputs of the layer",
            method="rank of the equations; positive combinations and directions of recession by least squares",
            source="behrmann2018",
            num_undecided=open_,
            work={decider.name.lower(): float(self.decided_by(decider)) for decider in Decider}
            | {"seconds": self.seconds},
        )


def joined(parts: Sequence[Preimages]) -> Preimages:
    """Join the preimages of outputs of one layer that were decided in parts, at least one."""
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
    return replace(
        parts[0],
        **columns,
        certificates=tuple(one for part in parts for one in part.certificates),
        seconds=sum(part.seconds for part in parts),
    )
