"""A single measured number with its claim.

A finding carries its claim beside its value: EXACT, a LOWER or UPPER bound, or an ESTIMATE. Analyses make findings;
geometry and networks return plain results.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from math import inf
from typing import Any

from reluscope.arguments import read_arguments
from reluscope.findings.claims import Claim, claim_of, largest_error
from reluscope.findings.read_findings import finding_fields, reading
from reluscope.stopping import Explained, Stop


@dataclass(frozen=True)
class Finding(Explained):
    """A measured number with its claim and context; made by `Finding.of` or `Finding.estimate`.

    Parameters
    ----------
    value : int or float
        The number.
    claim : Claim
        Relation of the number to the true value.
    name : str
        Name of the quantity in text.
    interval : (2,) numbers, optional
        Contains the true value; infinite at an end where nothing is known. EXACT numbers have none.
    definition, domain, method, source : str
        The definition of the quantity, the domain of the measurement, the method of computation, and the source
        publication.
    tolerance : float, optional
        For EXACT real numbers the largest error; for counts the resolution.
    num_undecided : int
        Number of signs that neither rounding bounds nor rational arithmetic decided.
    work : mapping
        Cost: seconds, vertices, linear programs.
    stop : Stop, optional
        Why work ended early; `stopped` says it in a few words: the budget that was spent, or "interrupted".
    num_samples : int, optional
        Number of samples, of paths between samples, or of other table rows that the number refers to; None if it
        refers to one of them, or to something else.
    is_share : bool
        Whether the number is a share, preferably displayed in percent.
    unit : str
        Whose unit applies, as for the quantity; degrees are displayed with their sign.

    Examples
    --------
    >>> import reluscope as rs
    >>> finding = rs.Finding.of(5, name="regions")
    >>> int(finding), str(finding)
    (5, '5 (EXACT)')
    """

    value: int | float
    claim: Claim
    name: str = ""
    interval: tuple[float, float] | None = None
    definition: str = ""
    domain: str = ""
    method: str = ""
    source: str = ""
    tolerance: float | None = None
    num_undecided: int = 0
    num_samples: int | None = None
    work: Mapping[str, float] = field(default_factory=dict)
    stop: Stop | None = None
    is_share: bool = False
    unit: str = ""

    @staticmethod
    def of(
        value: float,
        lower: float | None = None,
        upper: float | None = None,
        *,
        scale: float | None = None,
        resolution: float | None = None,
        **fields: Any,
    ) -> "Finding":
        """Return a number whose claim follows from its ends; without ends it is exact.

        Parameters
        ----------
        value : int or float
        lower, upper : int or float, optional
            Certain bounds on the true value; by default the value. An unknown end is infinite.
        scale : float, optional
            Scale of the question (`reluscope.findings.claims`): a real number is EXACT if its error is at most 1e-6 of
            the value, or at most 1e-9 of the scale. By default 1 for shares, and 0 for others. Whole numbers are EXACT
            only if their ends are equal.
        resolution : float, optional
            Of a count; becomes its tolerance.
        **fields
            Name, definition and so on, as in the class.

        Raises
        ------
        ValueError
            If the value is not between its ends.

        Examples
        --------
        >>> import reluscope as rs
        >>> from math import inf
        >>> print(rs.Finding.of(5), rs.Finding.of(5, upper=9), rs.Finding.of(5, -inf), rs.Finding.of(0.5, 0.4, 0.7))
        5 (EXACT) 5 (LOWER, in [5, 9]) 5 (UPPER) 0.5 (ESTIMATE, in [0.4, 0.7])
        """
        low, high = value if lower is None else lower, value if upper is None else upper
        if not low <= value <= high:
            raise ValueError(f"expected a value between its ends, got {value} and {low} to {high}")
        if scale is None:
            scale = 1.0 if fields.get("is_share") else 0.0
        claim = claim_of(value, low, high, 0.0 if isinstance(value, int) else float(largest_error(value, scale)))
        if claim is Claim.EXACT:
            exactly = resolution if isinstance(value, int) else None
            error = max(high - value, value - low) if low != high else exactly
            return Finding(value, claim, tolerance=error, **fields)
        # Of a bare upper bound, and of a bare estimate, there is nothing else to say.
        is_bare = low == -inf and high in (value, inf)
        return Finding(value, claim, interval=None if is_bare else (low, high), tolerance=resolution, **fields)

    @staticmethod
    def within(
        value: float, error: float, *, least: float = 0.0, scale: float | None = None, **fields: Any
    ) -> "Finding":
        """Return a real number with a bounded error: EXACT if the error leaves only one number.

        Parameters
        ----------
        value, error : float
        least : float
            Lower bound on the quantity.
        scale : float, optional
            As in `of`.
        **fields
            As in the class; the error is the tolerance.

        Examples
        --------
        >>> import reluscope as rs
        >>> print(rs.Finding.within(0.5, 1e-12), rs.Finding.within(0.5, 0.1))
        0.5 (EXACT) 0.5 (ESTIMATE, in [0.4, 0.6])
        """
        found = Finding.of(float(value), min(value, max(least, value - error)), value + error, scale=scale, **fields)
        return replace(found, tolerance=error) if found.claim is Claim.EXACT else found

    @staticmethod
    def estimate(value: float, interval: tuple[float, float] | None = None, **fields: Any) -> "Finding":
        """Return a number of which nothing is certain: at most an interval that holds it with some probability.

        Examples
        --------
        >>> import reluscope as rs
        >>> print(rs.Finding.estimate(0.5, (0.4, 0.7)))
        0.5 (ESTIMATE, in [0.4, 0.7])
        """
        return Finding(value, Claim.ESTIMATE, interval=interval, **fields)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        number = f"{self.value:,}" if isinstance(self.value, int) else f"{self.value:.6g}"
        if self.interval is not None and inf not in map(abs, self.interval) and self.claim is not Claim.EXACT:
            low, high = (f"{end:,}" if isinstance(end, int) else f"{end:.6g}" for end in self.interval)
            return f"{number} ({self.claim}, in [{low}, {high}])"
        return f"{number} ({self.claim})"

    def __repr__(self) -> str:
        return f"Finding({self.name}{': ' * bool(self.name)}{self})"

    def _repr_html_(self) -> str:
        """Return the finding for a notebook: value and claim, then what a reader needs to judge them."""
        number, claim = str(self).split(" ", 1)
        border = "border:1px solid currentColor;border-radius:.3em;padding:0 .35em;font-size:.8em;white-space:nowrap"
        title = f"{escape(self.name)}: " if self.name else ""
        entries: list[tuple[str, object]] = [
            (key, getattr(self, key))
            for key in ("definition", "domain", "method", "source", "stopped")
            if getattr(self, key)
        ]
        if self.tolerance is not None:
            entries.append(("tolerance", f"{self.tolerance:g}"))
        if self.num_undecided:
            entries.append(("undecided", f"{self.num_undecided:,}"))
        entries += [(name.replace("_", " "), f"{value:.6g}") for name, value in self.work.items()]
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left;font-weight:normal;opacity:.75">{escape(name)}</th>'
            f'<td style="text-align:left">{escape(str(value))}</td></tr>'
            for name, value in entries
        )
        details = f"<table><tbody>{rows}</tbody></table>" if rows else ""
        badge = f'<span style="{border}">{escape(claim.strip("()"))}</span>'
        return f"<div><p>{title}<strong>{escape(number)}</strong> {badge}</p>{details}</div>"

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain types, ready for JSON; empty fields are left out.

        JSON has no infinity: open ends of intervals are null, and infinite values ``"inf"`` and ``"-inf"``.
        """
        value = str(self.value) if abs(self.value) == inf else self.value
        plain: dict[str, Any] = {"name": self.name, "value": value, "claim": str(self.claim)}
        if self.interval is not None:
            plain["interval"] = [None if abs(end) == inf else end for end in self.interval]
        for key in ("definition", "domain", "method", "source", "num_undecided", "stopped"):
            if entry := getattr(self, key):
                plain[key] = entry
        if self.stop is not None:
            plain["stop"] = self.stop.to_dict()
        if self.num_samples is not None:
            plain["num_samples"] = self.num_samples
        if self.tolerance is not None:
            plain["tolerance"] = self.tolerance
        if self.work:
            plain["work"] = dict(self.work)
        if self.is_share:
            plain["is_share"] = True
        return plain

    @staticmethod
    @read_arguments
    def from_dict(plain: Mapping[str, Any]) -> "Finding":
        """Return the finding that `to_dict` wrote.

        Raises
        ------
        InputError
            If an entry is missing, invalid, or contradicts the claim.

        Examples
        --------
        >>> import reluscope as rs
        >>> from math import inf
        >>> found = rs.Finding.of(5, upper=inf, name="regions", work={"seconds": 1.0})
        >>> rs.Finding.from_dict(found.to_dict()) == found
        True
        """
        with reading("a finding as Finding.to_dict writes it"):
            return Finding(**finding_fields(plain))
