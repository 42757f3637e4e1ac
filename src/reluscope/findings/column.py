"""One column of a table of findings: a value between two ends at every row, and what each of them claims."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from reluscope.findings.claims import AGREEMENT, Claim, claim_of, largest_error
from reluscope.findings.finding import Finding
from reluscope.findings.quantities import Quantity


@dataclass(frozen=True, eq=False)
class Column:
    """One quantity, at every row.

    Parameters
    ----------
    quantity : Quantity
    value, lower, upper : (k,) float64
        The truth lies between the ends, with the confidence if there is one, else for certain. NaN where there is none.
    scale : (k,) float64
        Scale of the question (`reluscope.findings.claims`).
    method : str
        How it was computed.
    given : str
        What the definition leaves open, as the norm of a distance: in the title and in the definition.
    confidence : float
        Of the ends: 1 where they are certain.
    """

    quantity: Quantity
    value: Float[np.ndarray, " k"]
    lower: Float[np.ndarray, " k"]
    upper: Float[np.ndarray, " k"]
    scale: Float[np.ndarray, " k"]
    method: str = ""
    given: str = ""
    confidence: float = 1.0

    @staticmethod
    def of(
        quantity: Quantity,
        value: Any,
        lower: Any = None,
        upper: Any = None,
        *,
        scale: Any = None,
        method: str = "",
        given: str = "",
        confidence: float = 1.0,
    ) -> "Column":
        """Return a column; without ends, values are exact.

        Parameters
        ----------
        quantity : Quantity
        value, lower, upper : (k,) arrays
        scale : float or (k,) array, optional
            Scale of the question (`reluscope.findings.claims`): a real number is EXACT if its error is at most 1e-6 of
            the value, or at most 1e-9 of the scale. By default the largest absolute value that the quantity may have, 0
            where there is none.
        method, given : str
        confidence : float

        Raises
        ------
        ValueError
            If ends are not on their side of the value, or outside what the quantity may be.

        Examples
        --------
        >>> from reluscope.findings import Column, declare
        >>> inradius = declare("inradius", "radius of a largest ball in the linear region", unit="input")
        >>> [str(claim) for claim in Column.of(inradius, [1.0, 2.0], [1.0, 1.5]).claims]
        ['EXACT', 'UPPER']
        """
        value = np.array(value, dtype=np.float64)
        low = value if lower is None else np.array(lower, dtype=np.float64)
        high = value if upper is None else np.array(upper, dtype=np.float64)
        if not ((low <= value) & (value <= high) | np.isnan(value)).all():
            raise ValueError(f"{quantity}: expected a value between its ends")
        # Infinite ends say that nothing is known, whatever the quantity may be.
        is_above, is_below = (low >= quantity.least) | (low == -np.inf), (high <= quantity.most) | (high == np.inf)
        if not (is_above & is_below | np.isnan(value)).all():
            raise ValueError(f"{quantity}: expected ends from {quantity.least:g} to {quantity.most:g}")
        scales = np.array(np.broadcast_to(quantity.scale if scale is None else scale, value.shape), dtype=np.float64)
        for array in (value, low, high, scales):
            array.setflags(write=False)
        return Column(quantity, value, low, high, scales, method, given, confidence)

    @staticmethod
    def estimate(quantity: Quantity, value: Any, *, method: str = "", given: str = "") -> "Column":
        """Return a column of numbers of which nothing is certain.

        Examples
        --------
        >>> from reluscope.findings import Column, Kind, declare
        >>> tone = declare("example_brightness", "brightness of a picture", kind=Kind.SHARE)
        >>> [str(claim) for claim in Column.estimate(tone, [0.5, 1.0]).claims]
        ['ESTIMATE', 'ESTIMATE']
        """
        value = np.array(value, dtype=np.float64)
        unknown = np.where(np.isnan(value), np.nan, np.inf)
        return Column.of(quantity, value, -unknown, unknown, method=method, given=given)

    @staticmethod
    def of_findings(
        quantity: Quantity, findings: "Sequence[Finding | None]", *, method: str = "", given: str = ""
    ) -> "Column":
        """Return a column of numbers that were measured one by one, with the ends that hold them for certain.

        Parameters
        ----------
        quantity : Quantity
        findings : sequence of Finding or None
            None where there is no such number.
        method : str
            By default what the findings say.
        given : str

        Examples
        --------
        >>> from reluscope.findings import Column, Finding, Kind, declare
        >>> pages = declare("example_pages", "pages of a book", kind=Kind.COUNT)
        >>> [str(claim) for claim in Column.of_findings(pages, [Finding.of(3), Finding.of(5, upper=9)]).claims]
        ['EXACT', 'LOWER']
        """
        cells = np.array([_cell(quantity, one) for one in findings], dtype=np.float64).reshape(-1, 4)
        value, low, high, error = cells.T
        # What is EXACT stays so.
        scale = np.maximum(quantity.scale, error / AGREEMENT)
        said = method or " or ".join(dict.fromkeys(one.method for one in findings if one is not None and one.method))
        return Column.of(quantity, value, low, high, scale=scale, method=said, given=given)

    @staticmethod
    def joined(parts: "Sequence[Column]", missing: int = 0) -> "Column":
        """Return columns of one quantity one below the other, and rows without a value below them."""
        below = {"value": np.nan, "lower": np.nan, "upper": np.nan, "scale": 0.0}
        tables = {
            name: np.concatenate([*(getattr(part, name) for part in parts), np.full(missing, entry)])
            for name, entry in below.items()
        }
        for array in tables.values():
            array.setflags(write=False)
        return replace(parts[0], **tables, method=" or ".join(dict.fromkeys(part.method for part in parts)))

    @property
    def definition(self) -> str:
        """What it is, with what the quantity leaves open."""
        return self.quantity.definition + (f", {self.given}" if self.given else "")

    @property
    def title(self) -> str:
        """The name in words, with what the quantity leaves open."""
        return self.quantity.title + (f" {self.given}" if self.given else "")

    def __getitem__(self, rows: Any) -> "Column":
        parts = {name: getattr(self, name)[rows] for name in ("value", "lower", "upper", "scale")}
        return replace(self, **parts)

    def __len__(self) -> int:
        return len(self.value)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """What each cell claims."""
        if self.confidence < 1:
            return (Claim.ESTIMATE,) * len(self)
        cells = zip(self.value.tolist(), self.lower.tolist(), self.upper.tolist(), self.tolerance.tolist(), strict=True)
        return tuple(claim_of(*cell) for cell in cells)

    @property
    def tolerance(self) -> Float[np.ndarray, " k"]:
        """The largest error of each cell at which it is EXACT: 0 for counts and truths."""
        return np.zeros(len(self)) if self.quantity.is_discrete else largest_error(self.value, self.scale)

    @property
    def has_default_scale(self) -> bool:
        """Whether scales are those of a column that was made without any."""
        return bool((self.scale == self.quantity.scale).all())

    @property
    def is_exact(self) -> Bool[np.ndarray, " k"]:
        """Which cells are EXACT."""
        return np.array([claim is Claim.EXACT for claim in self.claims], dtype=bool)


def _cell(quantity: Quantity, finding: Finding | None) -> tuple[float, float, float, float]:
    """Return a value, its ends, and the error at which it is EXACT."""
    if finding is None:
        return np.nan, np.nan, np.nan, 0.0
    value = float(finding.value)
    if finding.claim is not Claim.EXACT:
        bare = {Claim.LOWER: (value, inf), Claim.UPPER: (-inf, value), Claim.ESTIMATE: (-inf, inf)}[finding.claim]
        low, high = bare if finding.interval is None else finding.interval
        return value, float(low), float(high), 0.0
    error = 0.0 if quantity.is_discrete or finding.tolerance is None else finding.tolerance
    low, high = max(value - error, quantity.least), min(value + error, quantity.most)
    return value, low, high, error
