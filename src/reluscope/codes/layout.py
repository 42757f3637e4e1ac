"""Where the bits of a code are: gate by gate, in each gate plane by plane, in each plane unit by unit.

A gate with p pieces takes ``ceil(log2 p)`` planes (at least one); plane k holds bit k of the piece of each unit,
little-endian, in whole 64-bit words. Bits past the last unit of a plane are zero, so that equal codes are equal words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int

from reluscope.arguments import Count, Natural, read_arguments, read_position, read_positions
from reluscope.errors import InputError
from reluscope.shown import Shown

WORD_BITS = 64
MAX_PIECES = 2**16


@read_arguments
@dataclass(frozen=True)
class GateLayout:
    """The part of a code that belongs to one gate.

    Parameters
    ----------
    name : str
        Of the gate in its network.
    num_units : int
        Units of the gate, in row-major order of its shape.
    num_pieces : int
        Largest number of pieces of a unit: 2 for ReLU, 3 for a clamp, k for a maximum over k candidates; at most
        65,536.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> import reluscope as rs
    >>> gate = rs.GateLayout("pool", num_units=100, num_pieces=4)
    >>> gate.num_planes, gate.words_per_plane, gate.num_words
    (2, 2, 4)
    """

    name: str
    num_units: Natural
    num_pieces: Count = 2

    def __post_init__(self) -> None:
        if self.num_units < 0 or not 1 <= self.num_pieces <= MAX_PIECES:
            raise InputError(
                f"Gate {self.name!r} must have 0 or more units of 1 to {MAX_PIECES:,} pieces, but has {self.num_units} "
                f"units of {self.num_pieces} pieces; split a unit with more pieces into several."
            )

    @property
    def num_planes(self) -> int:
        """Bits that the piece of one unit takes."""
        return max(1, (self.num_pieces - 1).bit_length())

    @property
    def words_per_plane(self) -> int:
        """Words that hold one bit of every unit."""
        return -(-self.num_units // WORD_BITS)

    @property
    def bytes_per_plane(self) -> int:
        """Bytes that hold one bit of every unit, before they are filled up to whole words."""
        return -(-self.num_units // 8)

    @property
    def num_words(self) -> int:
        """Words of the gate."""
        return self.num_planes * self.words_per_plane


@read_arguments
@dataclass(frozen=True, repr=False)
class CodeLayout(Shown):
    """The layout of the codes of a network: its gates in order of evaluation.

    Parameters
    ----------
    gates : tuple of GateLayout
        Names must differ. A network without gates has exactly one code, the empty code.

    Raises
    ------
    InputError
        If two gates have the same name.

    Examples
    --------
    >>> import reluscope as rs
    >>> layout = rs.CodeLayout((rs.GateLayout("relu", 70), rs.GateLayout("pool", 10, num_pieces=4)))
    >>> layout.num_units, layout.num_words, layout.words(1), layout.units(1)
    (80, 4, slice(2, 4, None), slice(70, 80, None))
    """

    gates: tuple[GateLayout, ...]

    def __post_init__(self) -> None:
        names = [gate.name for gate in self.gates]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise InputError(f"Gates must have different names, but {repeated[0]!r} came more than once; rename one.")

    def __iter__(self) -> Iterator[GateLayout]:
        return iter(self.gates)

    def __len__(self) -> int:
        return len(self.gates)

    @cached_property
    def _word_offsets(self) -> tuple[int, ...]:
        return tuple(np.cumsum([0, *(gate.num_words for gate in self.gates)]).tolist())

    @cached_property
    def _unit_offsets(self) -> tuple[int, ...]:
        return tuple(np.cumsum([0, *(gate.num_units for gate in self.gates)]).tolist())

    @property
    def num_words(self) -> int:
        """Words of one code."""
        return self._word_offsets[-1]

    @property
    def num_units(self) -> int:
        """Units of all gates: the largest possible distance of two codes."""
        return self._unit_offsets[-1]

    @property
    def is_binary(self) -> bool:
        """Whether no unit has more than two pieces."""
        return all(gate.num_planes == 1 for gate in self.gates)

    @property
    def piece_dtype(self) -> np.dtype:
        """The smallest unsigned integer that holds every piece: uint8, or uint16 beyond 256 pieces."""
        widest = max((gate.num_pieces for gate in self.gates), default=2)
        return np.dtype(np.uint8 if widest <= 256 else np.uint16)

    @read_arguments
    def words(self, gate: int) -> slice:
        """Return the columns of the words that belong to the gate of this index."""
        gate = read_position(gate, "gate", len(self.gates), "gates")
        return slice(self._word_offsets[gate], self._word_offsets[gate + 1])

    @read_arguments
    def units(self, gate: int) -> slice:
        """Return where the units of the gate of this index are among the units of all gates."""
        gate = read_position(gate, "gate", len(self.gates), "gates")
        return slice(self._unit_offsets[gate], self._unit_offsets[gate + 1])

    @read_arguments
    def positions(self, names: Sequence[str]) -> list[int]:
        """Return the indices of named gates, ascending.

        Raises
        ------
        InputError
            If no gate is named, or one that is not there.
        """
        known = [gate.name for gate in self.gates]
        missing = [name for name in names if name not in known]
        if missing or not names:
            raise InputError(
                f"Gates must be named as the network names them ({', '.join(known[:12])}{', …' * (len(known) > 12)}), "
                f"but {repr(missing[0]) if missing else 'no name'} came."
            )
        return sorted({known.index(name) for name in names})

    @read_arguments
    def locate_units(self, units: Int[np.ndarray, " u"]) -> tuple[Int[np.ndarray, " u"], Int[np.ndarray, " u"]]:
        """Return for numbers among all units the index of the gate and the number within that gate.

        Examples
        --------
        >>> import numpy as np, reluscope as rs
        >>> layout = rs.CodeLayout((rs.GateLayout("first", 3), rs.GateLayout("second", 2)))
        >>> layout.locate_units(np.array([0, 2, 3, 4]))
        (array([0, 0, 1, 1]), array([0, 2, 0, 1]))
        """
        offsets = np.asarray(self._unit_offsets)
        units = read_positions(units, "units", int(offsets[-1]), "units")
        gates = np.searchsorted(offsets, units, side="right") - 1
        return gates, units - offsets[gates]

    @read_arguments
    def is_compatible(self, other: "CodeLayout") -> bool:
        """Whether codes of the two layouts can be compared: equal numbers of units and pieces, names aside."""
        return [(gate.num_units, gate.num_pieces) for gate in self] == [
            (gate.num_units, gate.num_pieces) for gate in other
        ]

    def describe(self) -> str:
        """Return one short phrase for messages.

        Examples
        --------
        >>> import reluscope as rs
        >>> rs.CodeLayout((rs.GateLayout("relu", 70), rs.GateLayout("pool", 10, num_pieces=4))).describe()
        '80 units in 2 gates (70 of 2 pieces, 10 of 4 pieces)'
        """
        sizes = ", ".join(f"{gate.num_units:,} of {gate.num_pieces} pieces" for gate in self.gates[:6])
        more = f", and {len(self.gates) - 6} gates more" if len(self.gates) > 6 else ""
        return f"{self.num_units:,} units in {len(self.gates)} gates ({sizes}{more})"
