"""What becomes of what the paper says of its Figures 3 and 4 and Tables 2 and 4, from the findings of a comparison.

A statement is about several networks, of each learning rate: it is confirmed where it holds for all, contradicted where
it holds for none, and left open between.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import reluscope as rs
from reluscope.studies import Verdict
from reluscope_studies.zhang2020._networks import KINDS

VANILLA, NORM, DROPOUT = KINDS


def verdicts(findings: Sequence[rs.Finding], rates: Sequence[float]) -> tuple[Verdict, ...]:
    """Return what becomes of the paper's statements about batch norm and dropout.

    Parameters
    ----------
    findings : sequence of Finding
        Of a comparison, by the names that it gives.
    rates : sequence of float
        Learning rates.
    """
    numbers = {finding.name: float(finding) for finding in findings}
    return tuple(_verdicts(numbers, rates))


def _verdicts(numbers: Mapping[str, float], rates: Sequence[float]) -> Iterator[Verdict]:
    def of(measure: str, kind: str, rate: float) -> float:
        return numbers[f"{measure}: {kind}, rate {rate:g}"]

    def asked(statement: str, place: str, measures: Sequence[str], holds: Callable[[float], bool]) -> Iterator[Verdict]:
        wanted = [f"{measure}: {kind}, rate {rate:g}" for measure in measures for kind in KINDS for rate in rates]
        if all(name in numbers for name in wanted):
            said = [holds(rate) for rate in rates]
            shown = "; ".join(
                f"rate {rate:g}: " + ", ".join(f"{of(measures[0], kind, rate):.3g}" for kind in KINDS) for rate in rates
            )
            yield Verdict(
                f"{statement} ({', '.join(KINDS)})",
                place,
                "in words",
                shown,
                all(said) or (None if any(said) else False),
            )

    manifold, decision, adversarial = (
        f"median inradius, {place} regions" for place in ("manifold", "decision", "adversarial")
    )
    yield from asked(
        "batch norm leads to the smallest inradii",
        "Figure 3",
        [manifold],
        lambda rate: of(manifold, NORM, rate) == min(of(manifold, kind, rate) for kind in KINDS),
    )
    yield from asked(
        "decision regions are narrower than manifold regions, most so with dropout",
        "Figure 3",
        [decision, manifold],
        lambda rate: (
            all(of(decision, kind, rate) < of(manifold, kind, rate) for kind in KINDS)
            and min(KINDS, key=lambda kind: of(decision, kind, rate) / of(manifold, kind, rate)) == DROPOUT
        ),
    )
    yield from asked(
        "adversarial regions resemble manifold regions more than decision regions do",
        "Figure 3",
        [adversarial, manifold, decision],
        lambda rate: all(
            abs(of(adversarial, kind, rate) - of(manifold, kind, rate))
            <= abs(of(decision, kind, rate) - of(manifold, kind, rate))
            for kind in KINDS
        ),
    )
    tested = "classes, the paper's test"
    yield from asked(
        "dropout leaves fewest classes in a region",
        "Tables 2 and 4",
        [tested],
        lambda rate: of(tested, DROPOUT, rate) == min(of(tested, kind, rate) for kind in KINDS),
    )
    yield from asked(
        "batch norm decreases the distortion",
        "Tables 2 and 4",
        ["distortion"],
        lambda rate: of("distortion", NORM, rate) < of("distortion", VANILLA, rate),
    )
