"""Codes: the pieces of all units at a batch of points, packed bit by bit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
from jaxtyping import Int, Shaped
from numpy.typing import ArrayLike

from reluscope import markup
from reluscope.arguments import Natural, read_arguments, read_position, read_positions
from reluscope.codes.distances import hamming_distances
from reluscope.codes.distinct import group_equal_rows
from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import pack_pieces, place_planes, unpack_pieces
from reluscope.errors import InputError, ShapeError

MAX_BYTES_COUNTED = 64 * 2**20


@dataclass(frozen=True, eq=False, repr=False)
class Codes:
    """The codes of s points: the piece that each unit of each gate uses at each point.

    Parameters
    ----------
    words : (s, w) uint64
        Packed codes, not copied and marked read-only; bits past the last unit of a plane are zero. Most callers
        need :meth:`from_pieces`.
    layout : CodeLayout
        Positions of the bits of each unit.

    Raises
    ------
    ShapeError
        If the words do not fit the layout.

    Notes
    -----
    Two codes are equal if and only if their words are equal. A ReLU unit takes one bit, a unit of p pieces
    ``ceil(log2 p)``.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.codes import CodeLayout, GateLayout
    >>> layout = CodeLayout((GateLayout("relu", 3), GateLayout("pool", 2, num_pieces=4)))
    >>> relu = np.array([[0, 1, 1], [0, 1, 0], [0, 1, 1]])
    >>> pool = np.array([[3, 0], [0, 0], [3, 0]])
    >>> codes = rs.Codes.from_pieces([relu, pool], layout)
    >>> codes
    Codes(3 codes of 5 units in 2 gates (3 of 2 pieces, 2 of 4 pieces))
    >>> codes.distance()
    array([[0, 2, 0],
           [2, 0, 2],
           [0, 2, 0]], dtype=uint16)
    >>> distinct, counts = codes.unique(return_counts=True)
    >>> distinct.to_array(), counts
    (array([[0, 1, 1, 3, 0],
           [0, 1, 0, 0, 0]], dtype=uint8), array([2, 1]))
    """

    words: np.ndarray
    layout: CodeLayout

    def __post_init__(self) -> None:
        words = np.asarray(self.words)
        if words.dtype != np.uint64 or words.ndim != 2 or words.shape[1] != self.layout.num_words:
            raise ShapeError(
                f"Words of codes of {self.layout.describe()} must be uint64 of shape (s, {self.layout.num_words}), but "
                f"came as {words.dtype} of shape {words.shape}; build codes with Codes.from_pieces."
            )
        words = words.view()
        words.flags.writeable = False
        object.__setattr__(self, "words", words)

    @classmethod
    @read_arguments
    def from_pieces(cls, pieces: Sequence[ArrayLike], layout: CodeLayout, *, num_codes: int | None = None) -> "Codes":
        """Pack pieces, given as one array (s, u) of booleans or whole numbers for each gate.

        Parameters
        ----------
        pieces : sequence of (s, u) arrays
            Piece of each unit: the number of breakpoints strictly below its pre-activation, or the index of the largest
            candidate.
        layout : CodeLayout
            One gate for each array.
        num_codes : int, optional
            Needed only for a layout without gates, where no array determines it.

        Raises
        ------
        ShapeError
            If the number of arrays or a shape does not fit the layout.
        InputError
            If a piece is not a whole number from 0 to the gate's number of pieces minus one.
        """
        return cls(pack_pieces(pieces, layout, num_codes), layout)

    @classmethod
    @read_arguments
    def from_planes(cls, planes: Sequence[ArrayLike], layout: CodeLayout, *, num_codes: int | None = None) -> "Codes":
        """Wrap packed bits: for each gate bytes (s, planes, ceil(u / 8)), little-endian.

        The middle dimension is optional for gates of one plane (ReLU). The bytes are those of ``np.packbits(bits,
        axis=-1, bitorder="little")``; bits past the last unit must be zero.

        Raises
        ------
        ShapeError
            If the number of arrays, a type or a shape does not fit the layout.
        InputError
            If a bit past the last unit is set.
        """
        return cls(place_planes(planes, layout, num_codes), layout)

    @classmethod
    @read_arguments
    def concatenate(cls, parts: Iterable["Codes"]) -> "Codes":
        """Join sets of codes of one layout, in order.

        Raises
        ------
        InputError
            If there is no part, or layouts differ.
        """
        parts = list(parts)
        if not parts:
            raise InputError(
                "Codes to join must come as at least one set, but none came; an empty set of codes is "
                "Codes.from_pieces of arrays without rows."
            )
        for part in parts[1:]:
            parts[0]._check_compatible(part)
        return cls(np.concatenate([part.words for part in parts]), parts[0].layout)

    def __len__(self) -> int:
        return len(self.words)

    @read_arguments
    def __getitem__(self, index: "SupportsIndex | slice | ArrayLike") -> "Codes":
        """Select codes as rows of an array are selected; a single number gives a set of one code."""
        if isinstance(index, SupportsIndex) and not isinstance(index, np.ndarray):
            number = read_position(index, "index", len(self), "codes")
            return Codes(self.words[number : number + 1], self.layout)
        rows = index if isinstance(index, slice) else np.atleast_1d(index)
        return Codes(self.words[read_positions(rows, "index", len(self), "codes")], self.layout)

    def __eq__(self, other: object) -> bool:
        """Whether two sets hold the same codes in the same order; names of gates do not matter."""
        if not isinstance(other, Codes):
            return NotImplemented
        return self.layout.is_compatible(other.layout) and np.array_equal(self.words, other.words)

    def __hash__(self) -> int:
        return hash((self.words.shape, self.words.tobytes()))

    def __repr__(self) -> str:
        return f"Codes({len(self):,} codes of {self.layout.describe()})"

    def _repr_html_(self) -> str:
        """Return the codes for a notebook: how many there are, and how many different ones, gate by gate."""
        is_small = self.words.nbytes <= MAX_BYTES_COUNTED
        rows = [
            (gate.name, gate.num_units, gate.num_pieces, len(alone.unique()) if is_small else "")
            for gate, alone in zip(self.layout, self.by_gate().values(), strict=True)
        ]
        entries: list[tuple[str, object]] = [("codes", len(self))]
        entries += [("different codes", len(self.unique()) if is_small else "not counted: unique() does"),
                    ("units", self.layout.num_units), ("bytes", self.words.nbytes)]  # fmt: skip
        gates = markup.table(("gate", "units", "pieces of a unit", "different codes"), rows) if rows else ""
        return markup.figure("Codes", markup.terms(entries), gates)

    def to_array(self) -> Shaped[np.ndarray, "s u"]:
        """Return the pieces of all units, gates side by side, as uint8 (uint16 beyond 256 pieces)."""
        return unpack_pieces(self.words, self.layout)

    def by_gate(self) -> dict[str, "Codes"]:
        """Return the codes of each gate by the gate's name, as views of the words.

        Examples
        --------
        >>> import numpy as np, reluscope as rs
        >>> from reluscope.codes import CodeLayout, GateLayout
        >>> layout = CodeLayout((GateLayout("first", 2), GateLayout("second", 1)))
        >>> codes = rs.Codes.from_pieces([np.array([[0, 1], [1, 1]]), np.array([[1], [1]])], layout)
        >>> {name: len(gate.unique()) for name, gate in codes.by_gate().items()}
        {'first': 2, 'second': 1}
        """
        return {
            gate.name: Codes(self.words[:, self.layout.words(index)], CodeLayout((gate,)))
            for index, gate in enumerate(self.layout)
        }

    @read_arguments
    def of_gates(self, *names: str) -> "Codes":
        """Return the codes of some gates together, in the order of the layout.

        Raises
        ------
        InputError
            If no gate is named, or a named gate does not exist.

        Examples
        --------
        >>> import numpy as np, reluscope as rs
        >>> from reluscope.codes import CodeLayout, GateLayout
        >>> layout = CodeLayout((GateLayout("first", 2), GateLayout("second", 1), GateLayout("third", 1)))
        >>> codes = rs.Codes.from_pieces([np.array([[0, 1]]), np.array([[1]]), np.array([[0]])], layout)
        >>> codes.of_gates("first", "third").to_array()
        array([[0, 1, 0]], dtype=uint8)
        """
        chosen = self.layout.positions(names)
        columns = [np.arange(self.layout.num_words)[self.layout.words(index)] for index in chosen]
        layout = CodeLayout(tuple(self.layout.gates[index] for index in chosen))
        return Codes(self.words[:, np.concatenate(columns)], layout)

    @overload
    def unique(
        self,
        *,
        return_index: Literal[False] = False,
        return_inverse: Literal[False] = False,
        return_counts: Literal[False] = False,
    ) -> "Codes": ...

    @overload
    def unique(
        self, *, return_index: Literal[True], return_inverse: bool = False, return_counts: bool = False
    ) -> tuple[Any, ...]: ...

    @overload
    def unique(
        self, *, return_index: bool = False, return_inverse: Literal[True], return_counts: bool = False
    ) -> tuple[Any, ...]: ...

    @overload
    def unique(
        self, *, return_index: bool = False, return_inverse: bool = False, return_counts: Literal[True]
    ) -> tuple[Any, ...]: ...

    @read_arguments
    def unique(
        self, *, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False
    ) -> "Codes | tuple[Any, ...]":
        """Return the distinct codes in order of first appearance.

        Parameters
        ----------
        return_index : bool
            Also return the first position of each distinct code, (g,) int64, ascending.
        return_inverse : bool
            Also return for each code its position among the distinct codes, (s,) int64.
        return_counts : bool
            Also return the count of each distinct code, (g,) int64.

        Returns
        -------
        Codes, or a tuple of Codes and what was asked for, in the order of the parameters
            Exact: codes are compared word by word.

        Notes
        -----
        Unlike ``np.unique``, the result keeps the order of the points. Cost: two passes over the words.
        """
        first, inverse, counts = group_equal_rows(self.words)
        distinct = self[first]
        asked = ((return_index, first), (return_inverse, inverse), (return_counts, counts))
        extras = tuple(array for wanted, array in asked if wanted)
        return (distinct, *extras) if extras else distinct

    def groups(self) -> Int[np.ndarray, " s"]:
        """Return the group number of each code; equal codes form a group, in order of first appearance.

        Returns
        -------
        (s,) int64
            The positions that ``unique(return_inverse=True)`` returns, without a copy of the distinct codes.

        Examples
        --------
        >>> import numpy as np, reluscope as rs
        >>> from reluscope.codes import CodeLayout, GateLayout
        >>> layout = CodeLayout((GateLayout("relu", 2),))
        >>> rs.Codes.from_pieces([np.array([[0, 1], [1, 1], [0, 1]])], layout).groups()
        array([0, 1, 0])
        """
        _, inverse, _ = group_equal_rows(self.words)
        return inverse

    @read_arguments
    def distance(self, other: "Codes | None" = None, threshold: Natural | None = None) -> Shaped[np.ndarray, "s t"]:
        """Return the Hamming distances of all pairs: the number of units on which two codes differ.

        Parameters
        ----------
        other : Codes, optional
            t codes of an equal layout; by default these codes themselves, for half the cost.
        threshold : int, optional
            Truncate: return ``min(distance, threshold)``. With 2, distance 1 identifies neighbours across one unit.

        Returns
        -------
        (s, t) uint16, or uint32 where a distance may exceed 65,535
            Exact. Unsigned: convert before subtracting.

        Raises
        ------
        InputError
            If the layouts differ, or the threshold is negative.

        Notes
        -----
        Cost: one exclusive or and one population count for each 64 units of each pair; memory for the result (200 MB
        for 10,000 by 10,000 codes).

        References
        ----------
        Truncation: Shepeleva, Zellinger, Lewandowski and Moser, "ReLU code space: a basis for rating network quality
        besides accuracy", 2020.
        """
        if other is not None:
            self._check_compatible(other)
        if threshold is not None and threshold < 0:
            raise InputError(
                f"A threshold for distances must be 0 or more, but {threshold} came; leave it out for plain distances."
            )
        return hamming_distances(self.words, None if other is None else other.words, self.layout, threshold)

    def _check_compatible(self, other: "Codes") -> None:
        if not self.layout.is_compatible(other.layout):
            raise InputError(
                f"Codes can be compared or joined if their gates have equal numbers of units and pieces, but these "
                f"have {self.layout.describe()} and those {other.layout.describe()}; compare gate by gate with "
                "by_gate() where parts of two networks agree."
            )
