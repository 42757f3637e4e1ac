"""Inputs with outputs as asked, as polyhedra that do not overlap, with their volume: what a search over boxes finds."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from jaxtyping import Bool, Float, Int

from reluscope.budget import Budget
from reluscope.files import stored
from reluscope.findings import Claim, Finding
from reluscope.findings.derived import Ends
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.geometry.polyhedra.domain_arrays import polyhedra_arrays, read_polyhedra
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.unions.union_of_polyhedra import UnionOfPolyhedra, bounded_finding, numbered_columns
from reluscope.stopping import Explained, Stop, plain_stop
from reluscope.tolerance import EPSILON

# Boxes and regions that a search examines by default.
EXAMINED = Budget(regions=200_000)

# Of all inputs the volume by which an EXACT set may differ from the true one.
MOVED = 1e-7


@dataclass(frozen=True, eq=False)
class InputPieces(UnionOfPolyhedra, Explained):
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
    stop : Stop, optional
        Why work stopped early, if it did; `stopped` says it in words.
    work : dict
        Boxes and regions examined.

    Notes
    -----
    Columns of the table: ``case`` and ``unsafe``, ``is_box``, ``volume``, ``num_half_spaces``, and for each input i
    ``witness_i``, ``lower_i`` and ``upper_i``, the ends of the least box around the piece.
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
    stop: Stop | None = None
    work: dict[str, float] = field(default_factory=dict)

    # What they are called, when they are that, and what their files say that they hold.
    named: ClassVar[str] = "inputs"
    where: ClassVar[str] = "the outputs are as asked"
    short: ClassVar[str] = "as asked"
    kind: ClassVar[str] = "input pieces"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._number()}, volume {self.volume()})"

    @property
    def dim(self) -> int:
        """Number of inputs."""
        return self.ends.shape[2]

    @property
    def inputs(self) -> Float[np.ndarray, "2 n"]:
        """The least box around all inputs that were looked at."""
        return np.stack([self.boxes[:, 0].min(axis=0), self.boxes[:, 1].max(axis=0)])

    @property
    def claim(self) -> Claim:
        """What the volume claims: EXACT, or LOWER where boxes are left.

        An ESTIMATE where rounding may move sides of pieces by more than a ten-millionth of all inputs, LOWER where as
        much is undecided, or a box however small.
        """
        claim = self.volume().claim
        if claim is not Claim.EXACT:
            return claim
        if self._error > MOVED * self.total:
            return Claim.ESTIMATE
        return Claim.LOWER if len(self.open_boxes) or self.undecided > MOVED * self.total else claim

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
        # Coordinates of float64 do not tell less than a step from nothing.
        upper = min(most, (self._volume + self._error + self.undecided) / unit + EPSILON * most)
        return bounded_finding(
            Ends(value, lower, upper),
            most,
            name=f"{what} of {self.named}",
            definition=f"{what} of the inputs at which {self.where}",
            method="halved boxes with affine bounds, and exact linear regions",
            work={**self.work, "pieces": len(self)},
            stop=self.stop,
        )

    def _boxes(self, reach: float) -> Float[np.ndarray, "p 2 n"]:
        margin = 2 * reach + SUMS * np.abs(self.ends).max(initial=1.0)
        return self.ends + np.array([[-margin], [margin]])

    def _columns(self) -> dict[str, Any]:
        return {
            "case": self.cases,
            "unsafe": self.unsafe,
            "is_box": self.is_box,
            "volume": self.volumes,
            "num_half_spaces": np.array([len(piece.A) for piece in self.pieces], dtype=np.int64),
            **numbered_columns({"witness": self.witnesses, "lower": self.ends[:, 0], "upper": self.ends[:, 1]}),
        }

    def stored_parts(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return what `save` writes, as named arrays and plain types."""
        arrays = {name: getattr(self, name) for name in _ARRAYS} | polyhedra_arrays(self.pieces, self.dim)
        return arrays, {
            "kind": self.kind,
            "stop": plain_stop(self.stop),
            **{name: getattr(self, name) for name in _DESCRIBED},
        }

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
            tuple(read_polyhedra(arrays, number, num_inputs)),
            **found,
            total=total,
            undecided=undecided,
            fingerprint=stored.text(described, "fingerprint"),
            stop=Stop.from_dict(described["stop"]),
            work=stored.numbers(described, "work"),
        )


_ARRAYS = ("volumes", "errors", "witnesses", "ends", "cases", "unsafe", "is_box", "open_boxes", "boxes")
_DESCRIBED = ("total", "undecided", "fingerprint", "work")
