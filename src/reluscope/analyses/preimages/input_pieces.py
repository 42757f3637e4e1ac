"""Inputs with outputs as asked, as polyhedra that do not overlap, with their volume: what a search over boxes finds."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from reluscope.arguments import NonNegative, read_arguments, read_array, read_position
from reluscope.errors import ShapeError
from reluscope.files import stored
from reluscope.files.named_arrays import load_as, save_arrays
from reluscope.findings import Claim, Finding
from reluscope.findings.claims import largest_error
from reluscope.findings.data_frames import as_pandas
from reluscope.findings.derived import Ends, at_an_end
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.tolerance import EPSILON

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class InputPieces:
    """Inputs with the required outputs, as polyhedra with disjoint interiors; a table with one row each.

    Parameters
    ----------
    pieces : tuple of Polyhedron
        In the space of inputs. Inputs that are held fixed satisfy equations.
    volumes : (p,) float64
        In the dimensions of the inputs that vary.
    errors : (p,) float64
        Error bound of each volume.
    witnesses : (p, n) float64
        A point strictly inside each piece.
    ends : (p, 2, n) float64
        Bounding box of each piece.
    cases, unsafe : (p,) int64
        The case of the property, and the polyhedron of its outputs that contains the outputs.
    is_box : (p,) bool
        Whether the piece is a box of several linear regions with all outputs as required; otherwise it lies within
        one region.
    open_boxes : (q, 2, n) float64
        Undecided boxes: outside these and the pieces no outputs are as required, beyond rounding.
    boxes : (k, 2, n) float64
        The boxes of inputs that were examined, which may overlap. Nothing is claimed outside them.
    total, undecided : float
        Volume of all examined inputs, and an upper bound on the volume of the undecided ones.
    fingerprint : str
        Of the network.
    stopped : str
        Reason for an early stop; empty if there was none.
    work : dict
        Boxes and regions examined.
    """

    pieces: tuple[Polyhedron, ...]
    volumes: Float[np.ndarray, " p"]
    errors: Float[np.ndarray, " p"]
    witnesses: Float[np.ndarray, "p n"]
    ends: Float[np.ndarray, "p 2 n"]
    cases: Int[np.ndarray, " p"]
    unsafe: Int[np.ndarray, " p"]
    is_box: Bool[np.ndarray, " p"]
    open_boxes: Float[np.ndarray, "q 2 n"]
    boxes: Float[np.ndarray, "k 2 n"]
    total: float
    undecided: float
    fingerprint: str
    stopped: str = ""
    work: dict[str, float] = field(default_factory=dict)

    # What they are called, when they are that, and what their files say that they hold.
    named: ClassVar[str] = "inputs"
    where: ClassVar[str] = "the outputs are as asked"
    short: ClassVar[str] = "as asked"
    kind: ClassVar[str] = "input pieces"

    def __len__(self) -> int:
        return len(self.pieces)

    @read_arguments
    def __getitem__(self, index: int) -> Polyhedron:
        return self.pieces[read_position(index, "index", len(self), "pieces")]

    def __repr__(self) -> str:
        pieces = "1 piece" if len(self) == 1 else f"{len(self):,} pieces"
        return f"{type(self).__name__}({pieces}, volume {self.volume()})"

    @property
    def inputs(self) -> Float[np.ndarray, "2 n"]:
        """The least box around all inputs that were looked at."""
        return np.stack([self.boxes[:, 0].min(axis=0), self.boxes[:, 1].max(axis=0)])

    @property
    def claim(self) -> Claim:
        """What the volume claims: EXACT, or LOWER where boxes are left."""
        return self.volume().claim

    def volume(self) -> Finding:
        """Return the volume of all inputs whose outputs are as asked, between what is known and what is not ruled out.

        Returns
        -------
        Finding
            EXACT if all inputs are decided and rounding moves little; else LOWER, or an ESTIMATE with an interval. In
            the dimensions of the inputs that vary.
        """
        return self._finding(1.0, "volume")

    def share(self) -> Finding:
        """Return the share of all inputs that were looked at; see `volume`."""
        return self._finding(self.total, "share")

    @cached_property
    def _volume(self) -> float:
        return float(np.sort(self.volumes).sum())

    @cached_property
    def _error(self) -> float:
        return float(self.errors.sum()) + len(self) * EPSILON * self._volume

    def _finding(self, unit: float, what: str) -> Finding:
        most = self.total / unit
        lower, value = (max(0.0, min(self._volume - error, self.total)) / unit for error in (self._error, 0.0))
        upper = min(most, (self._volume + self._error + self.undecided) / unit)
        return Finding.of(
            at_an_end(Ends(value, lower, max(value, upper)), float(largest_error(value, most))).value,
            lower,
            max(value, upper),
            scale=most,
            name=f"{what} of {self.named}",
            definition=f"{what} of the inputs at which {self.where}",
            method="halved boxes with affine bounds, and exact linear regions",
            work={**self.work, "pieces": len(self)},
            stopped=self.stopped,
        )

    @read_arguments
    def contains(self, x: ArrayLike, tolerance: NonNegative = 0.0) -> Bool[np.ndarray, "..."]:
        """Return which points (..., n) lie in some piece, up to a distance per row."""
        points = read_array(x, "x")
        num_inputs = self.ends.shape[2]
        if points.ndim == 0 or points.shape[-1] != num_inputs:
            raise ShapeError(f"expected points of {num_inputs} inputs, got shape {points.shape}")
        flat = points.reshape(-1, num_inputs)
        found = np.zeros(len(flat), dtype=bool)
        margin = 2 * tolerance + 1e-12 * np.abs(self.ends).max(initial=1.0)
        for piece, (low, high) in zip(self.pieces, self.ends, strict=True):
            near = np.flatnonzero(~found & ((flat >= low - margin) & (flat <= high + margin)).all(axis=1))
            if len(near):
                found[near] = piece.contains(flat[near], tolerance)
        return found.reshape(points.shape[:-1])

    def to_table(self) -> "pa.Table":
        """Return one row per piece.

        ``case`` and ``unsafe``, ``is_box``, ``volume``, ``num_half_spaces``, and for each input i ``witness_i``,
        ``lower_i`` and ``upper_i``, the ends of the least box around it.

        Returns
        -------
        pyarrow.Table
        """
        import pyarrow as pa

        columns: dict[str, Any] = {
            "case": self.cases,
            "unsafe": self.unsafe,
            "is_box": self.is_box,
            "volume": self.volumes,
            "num_half_spaces": np.array([len(piece.A) for piece in self.pieces], dtype=np.int64),
        }
        for axis in range(self.ends.shape[2]):
            columns[f"witness_{axis}"] = self.witnesses[:, axis]
            columns[f"lower_{axis}"], columns[f"upper_{axis}"] = self.ends[:, 0, axis], self.ends[:, 1, axis]
        return pa.table(columns)

    def to_pandas(self) -> "pd.DataFrame":
        """Return `to_table` as a data frame of pandas."""
        return as_pandas(self.to_table())

    @read_arguments
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to an Arrow file, whole or not at all.

        Raises
        ------
        InputError
            If the file cannot be written; what was there before stays.
        """
        arrays: dict[str, np.ndarray] = {name: getattr(self, name) for name in _ARRAYS}
        num_inputs = self.ends.shape[2]
        for rows, offsets in (("A", "b"), ("C", "d")):
            tables = [getattr(piece, rows) for piece in self.pieces]
            arrays[rows] = np.concatenate([np.zeros((0, num_inputs)), *tables])
            arrays[offsets] = np.concatenate([np.zeros(0), *(getattr(piece, offsets) for piece in self.pieces)])
            arrays[f"num_{rows}"] = np.array([len(table) for table in tables], dtype=np.int64)
        described = {name: getattr(self, name) for name in _DESCRIBED}
        save_arrays(path, arrays, {"kind": self.kind, **described})

    @classmethod
    @read_arguments
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote.

        Raises
        ------
        InputError
            If the file is missing, damaged, or holds something else.
        """
        return load_as(path, cls.kind, cls._read)

    @classmethod
    def _read(cls, arrays: dict[str, np.ndarray], described: dict[str, Any]) -> Self:
        number, num_inputs = arrays["witnesses"].shape
        shapes = {
            "volumes": (number,),
            "errors": (number,),
            "witnesses": (number, num_inputs),
            "ends": (number, 2, num_inputs),
        }
        found = {name: stored.array(arrays, name, np.float64, shape) for name, shape in shapes.items()}
        for name in ("open_boxes", "boxes"):
            found[name] = stored.array(arrays, name, np.float64, (None, 2, num_inputs))
        for name in ("cases", "unsafe"):
            found[name] = stored.array(arrays, name, np.int64, (number,), least=0)
        found["is_box"] = stored.array(arrays, "is_box", np.bool_, (number,))
        total, undecided = (stored.number(described, name) for name in ("total", "undecided"))
        if min(total, undecided, *found["volumes"], *found["errors"]) < 0:
            raise ValueError("a volume below 0")
        return cls(
            tuple(_stored_pieces(arrays, number, num_inputs)),
            **found,
            total=total,
            undecided=undecided,
            fingerprint=stored.text(described, "fingerprint"),
            stopped=stored.text(described, "stopped"),
            work=stored.numbers(described, "work"),
        )


_ARRAYS = ("volumes", "errors", "witnesses", "ends", "cases", "unsafe", "is_box", "open_boxes", "boxes")
_DESCRIBED = ("total", "undecided", "fingerprint", "stopped", "work")


def _stored_pieces(arrays: dict[str, np.ndarray], number: int, num_inputs: int) -> Iterator[Polyhedron]:
    """Yield the polyhedra whose rows lie one after the other."""
    parts = {}
    for rows, sides in (("A", "b"), ("C", "d")):
        lengths = stored.array(arrays, f"num_{rows}", np.int64, (number,), least=0, below=2**31)
        total = int(lengths.sum())
        cuts = np.cumsum(lengths)[:-1]
        parts[rows] = np.split(stored.array(arrays, rows, np.float64, (total, num_inputs)), cuts)
        parts[sides] = np.split(stored.array(arrays, sides, np.float64, (total,)), cuts)
    for index in range(number):
        yield Polyhedron(*(parts[name][index] for name in ("A", "b", "C", "d")))
