"""All inputs that violate a property, as polyhedra, with their volume."""

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from reluscope.analyses.preimages.rounded_ends import finding_within
from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.verdict import check_fits
from reluscope.analyses.verification.violation_search import ViolationSearch
from reluscope.arguments import NonNegative, read_arguments, read_array, read_position
from reluscope.budget import Budget, RegionBudget
from reluscope.errors import InputError, ReluscopeError, ShapeError
from reluscope.files.named_arrays import load_arrays, save_arrays
from reluscope.files.sealed_files import not_as_written
from reluscope.files.stored import MALFORMED
from reluscope.findings import Claim, Finding
from reluscope.findings.data_frames import as_pandas
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.interruption import deferred
from reluscope.networks.network import Network

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

NUM_EXAMINED = 200_000
# Of the volume of all inputs.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Violations:
    """The inputs that violate a property, as polyhedra whose interiors do not meet; a table with a row for each.

    Parameters
    ----------
    pieces : tuple of Polyhedron
        In the space of inputs. Inputs that the property holds fixed fulfil equations.
    volumes : (p,) float64
        In the dimensions of the inputs that vary.
    witnesses : (p, n) float64
        A point strictly inside each.
    ends : (p, 2, n) float64
        The least box around each.
    cases, unsafe : (p,) int64
        The case of the property, and the polyhedron of unsafe outputs within it, that the outputs are in.
    is_box : (p,) bool
        Whether it is a box of several linear regions, all of whose outputs are unsafe; else it lies within one.
    open_boxes : (q, 2, n) float64
        Where nothing is known: no input outside of these and of the pieces violates the property beyond rounding.
    inputs : (2, n) float64
        The least box around all inputs of the property.
    total, undecided : float
        Volume of all inputs of the property, and of those that are not decided, at most.
    fingerprint : str
        Of the network.
    stopped : str
        Why work stopped early; empty if it did not.
    work : dict
        Boxes and regions examined.
    """

    pieces: tuple[Polyhedron, ...]
    volumes: Float[np.ndarray, " p"]
    witnesses: Float[np.ndarray, "p n"]
    ends: Float[np.ndarray, "p 2 n"]
    cases: Int[np.ndarray, " p"]
    unsafe: Int[np.ndarray, " p"]
    is_box: Bool[np.ndarray, " p"]
    open_boxes: Float[np.ndarray, "q 2 n"]
    inputs: Float[np.ndarray, "2 n"]
    total: float
    undecided: float
    fingerprint: str
    stopped: str = ""
    work: dict[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.pieces)

    @read_arguments
    def __getitem__(self, index: int) -> Polyhedron:
        return self.pieces[read_position(index, "index", len(self), "pieces")]

    def __repr__(self) -> str:
        pieces = "1 piece" if len(self) == 1 else f"{len(self):,} pieces"
        return f"Violations({pieces}, volume {self.volume()})"

    @property
    def claim(self) -> Claim:
        """What the volume claims: EXACT, or LOWER where boxes are left."""
        return self.volume().claim

    def volume(self) -> Finding:
        """Return the volume of all inputs that violate the property, between what is known and what is not ruled out.

        Returns
        -------
        Finding
            EXACT up to rounding if all inputs are decided; else LOWER. In the dimensions of the inputs that vary.
        """
        return self._finding(self._volume, self.undecided, self.total, "volume of violations", "volume of the inputs")

    def share(self) -> Finding:
        """Return the share of the property's inputs that violate it; see `volume`."""
        return self._finding(
            self._volume / self.total, self.undecided / self.total, 1.0, "share of violations", "share of the inputs"
        )

    @cached_property
    def _volume(self) -> float:
        return float(np.sort(self.volumes).sum())

    def _finding(self, value: float, undecided: float, most: float, name: str, what: str) -> Finding:
        value = min(value, most)
        return finding_within(
            value,
            value,
            min(most, value + undecided),
            rounding=ROUNDING * most,
            name=name,
            definition=f"{what} at which the property is violated",
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
        save_arrays(path, arrays, {"kind": "violations", **described})

    @staticmethod
    @read_arguments
    def load(path: str | os.PathLike[str]) -> "Violations":
        """Read what `save` wrote.

        Raises
        ------
        InputError
            If the file is missing, damaged, or holds something else.
        """
        arrays, described = load_arrays(path, "violations")
        try:
            parts = {}
            for rows, offsets in (("A", "b"), ("C", "d")):
                cuts = np.cumsum(arrays[f"num_{rows}"])[:-1]
                parts[rows], parts[offsets] = np.split(arrays[rows], cuts), np.split(arrays[offsets], cuts)
            number = len(arrays["volumes"])
            if number and not {len(part) for part in parts.values()} == {number}:
                raise ValueError("parts that do not fit together")
            pieces = tuple(
                Polyhedron(*(parts[name][index] for name in ("A", "b", "C", "d"))) for index in range(number)
            )
            return Violations(
                pieces, **{name: arrays[name] for name in _ARRAYS}, **{name: described[name] for name in _DESCRIBED}
            )
        except (*MALFORMED, ReluscopeError) as error:
            raise not_as_written(path, "violations", "save them again") from error


_ARRAYS = ("volumes", "witnesses", "ends", "cases", "unsafe", "is_box", "open_boxes", "inputs")
_DESCRIBED = ("total", "undecided", "fingerprint", "stopped", "work")


@read_arguments
def violations(network: Network, safe: Property, *, budget: RegionBudget | None = None) -> Violations:
    """Return all inputs that violate a property, as polyhedra, with their exact volume or an interval.

    Parameters
    ----------
    network : Network
    safe : Property
        From a file by `reluscope.verification.read_property`, or made of cases.
    budget : Budget, optional
        How many boxes and linear regions to examine, as its regions, 200,000 by default, or time.

    Returns
    -------
    Violations
        Where work ended early, or on Ctrl-C, with the boxes that are not decided.

    Raises
    ------
    ShapeError
        If the property has other numbers of inputs or outputs than the network.
    InputError
        If the property lets no input vary.

    Notes
    -----
    For up to about six inputs that vary; with more, only boxes are found all of whose inputs violate the property. An
    enclosure for each box, and a partition of each on which few units change their piece. Violations without an
    interior, where unsafe outputs are only touched, are left out, and so is what is thinner than 1e-9 of a box.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # relu(x_0) + relu(x_1)
    >>> unsafe = rs.Polyhedron([[-1.0]], [-1.0])  # at least 1
    >>> safe = rs.verification.Property([rs.verification.Case([-1.0, -1.0], [1.0, 1.0], [unsafe])])
    >>> found = rs.violations(net, safe)
    >>> found, found.contains([[0.9, 0.9], [0.1, 0.1]]).tolist()
    (Violations(1 piece, volume 0.5 (EXACT)), [True, False])
    """
    check_fits(network, safe)
    with deferred():
        search = ViolationSearch(network, safe)
        if not search.free.any():
            raise InputError(
                "expected a property that lets some input vary, got single points: ask rs.verify about them"
            )
        stopped = search.run(Budget(regions=NUM_EXAMINED) if budget is None else budget)
    pieces, open_boxes, num_inputs = search.pieces, search.open_boxes, network.num_inputs
    ends = [np.stack([box.lower, box.upper]) for box in open_boxes]
    return Violations(
        tuple(piece.polyhedron for piece in pieces),
        np.array([piece.volume for piece in pieces]),
        np.array([piece.witness for piece in pieces]).reshape(-1, num_inputs),
        np.array([piece.ends for piece in pieces]).reshape(-1, 2, num_inputs),
        np.array([piece.unsafe.case for piece in pieces], dtype=np.int64),
        np.array([piece.unsafe.place for piece in pieces], dtype=np.int64),
        np.array([piece.is_box for piece in pieces], dtype=bool),
        np.array(ends).reshape(-1, 2, num_inputs),
        np.stack([np.min([case.lower for case in safe.cases], 0), np.max([case.upper for case in safe.cases], 0)]),
        search.total,
        search.undecided,
        network.fingerprint,
        stopped,
        {"boxes": search.num_branches - search.num_regions, "regions": search.num_regions},
    )
