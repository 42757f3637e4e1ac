"""Findings as sentences: a value in the words of its claim, rounded to the side on which the sentence stays true."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from math import inf, isfinite

from reluscope.findings import Claim, Finding
from reluscope.findings.written_findings import ends_in_words, number, written

DIGITS, FEW_DIGITS = 3, 2
# Fewer samples than these make no headline: one odd sample would decide it.
FEW = 10


@dataclass(frozen=True)
class Sentence:
    """What a section says in plain words.

    Surprise is how far this is from what `reluscope.report.parts.references` has seen: 0 within, up to 2 outside, more
    where a reader has to know it first.
    """

    text: str  # with its full stop; true as it stands
    surprise: float = 0.0
    samples: int | None = None  # from how many it follows, where it is about samples

    @property
    def is_headline(self) -> bool:
        """Whether it may open a report: not from a few samples alone."""
        return self.samples is None or self.samples >= FEW


def said(finding: Finding) -> str:
    """Return a value in the words of its claim."""
    words = {Claim.EXACT: "", Claim.LOWER: "at least ", Claim.UPPER: "at most ", Claim.ESTIMATE: "about "}
    rounding = {Claim.LOWER: ROUND_FLOOR, Claim.UPPER: ROUND_CEILING}.get(finding.claim)
    value = finding.value if rounding is None else _rounded(finding, rounding)
    return words[finding.claim] + (written(finding, value) if finding.is_share else _plain(finding, value))


def ends_of(finding: Finding) -> tuple[float, float]:
    """Return between which ends the truth lies: the value where it is EXACT, infinite ones where none is known."""
    if finding.claim is Claim.EXACT:
        return finding.value, finding.value
    low, high = finding.interval or (-inf, inf)
    if finding.claim is Claim.LOWER:
        return finding.value, high
    return low, finding.value if finding.claim is Claim.UPPER else high


def roughly(value: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a number with few digits, rounded down or up where it is an end."""
    return number(float(Context(prec=FEW_DIGITS, rounding=rounding).create_decimal(Decimal(value))))


def located(finding: Finding, verb: str) -> str:
    """Return where something happens as a distance: bounds as what is certain, an estimate as one."""
    if finding.claim is Claim.EXACT:
        return f"{verb} at {said(finding)}"
    low, high = finding.interval or (-inf, inf)
    if finding.claim is Claim.ESTIMATE and isfinite(finding.value):
        between = f" ({ends_in_words(finding)})" if isfinite(low) or isfinite(high) else ""
        return f"{verb} {said(finding)} away{between}"
    earliest = f"no earlier than {_plain(finding, _rounded(finding, ROUND_FLOOR, low))}" if low > 0 else ""
    latest = f"no later than {_plain(finding, _rounded(finding, ROUND_CEILING, high))}" if isfinite(high) else ""
    where = " and ".join(filter(None, (earliest, latest)))
    return f"{verb} {where} away" if where else f"{verb} at a distance of which nothing is certain"


def several(count: int, noun: str) -> str:
    """Return a number and what it counts."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _rounded(finding: Finding, rounding: str, value: float | None = None) -> float:
    """Return an end with a few digits, on the side on which it is still an end."""
    value = finding.value if value is None else value
    if isinstance(value, int) or not isfinite(value):
        return value
    if finding.is_share:
        return float(Decimal(value).quantize(Decimal("0.001"), rounding=rounding))
    if float(value).is_integer():
        return value
    return float(Context(prec=DIGITS, rounding=rounding).create_decimal(Decimal(value)))


def _plain(finding: Finding, value: float) -> str:
    if abs(value) < 1e-3 and value:
        return f"{value:.{DIGITS}g}"
    return number(value, DIGITS) + "°" * (finding.unit == "degrees")
