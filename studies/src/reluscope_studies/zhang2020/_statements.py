"""What becomes of what the paper says of its tables and its Figures 3, 4 and 6, from the findings of a comparison.

Figures 9, 10 and 12 are the same of convolutional networks.

A statement is about several networks, of each learning rate: it is confirmed where it holds for all, contradicted where
it holds for none, and left open between.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

import reluscope as rs
from reluscope.studies import Verdict
from reluscope_studies.verdicts import of_cases
from reluscope_studies.zhang2020._networks import KINDS

VANILLA, NORM, DROPOUT = KINDS
# Accuracies that differ by at most so much are similar; decision directions are near with a cosine above a half.
SIMILAR, NEAR = 0.02, 0.5


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

    def asked(
        statement: str, place: str, measures: Sequence[str], holds: Callable[[float], bool | None]
    ) -> Iterator[Verdict]:
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
                all(said) or (None if any(one is not False for one in said) else False),
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
        lambda rate: _is_least([of(tested, kind, rate) for kind in (DROPOUT, VANILLA, NORM)]),
    )
    yield from asked(
        "batch norm decreases the distortion",
        "Tables 2 and 4",
        ["distortion"],
        lambda rate: of("distortion", NORM, rate) < of("distortion", VANILLA, rate),
    )

    accuracy, angle = "test accuracy", "mean angle between hyperplanes in degrees"
    yield from asked(
        f"accuracies are similar, within {100 * SIMILAR:g} points",
        "Table 1, section E.1",
        [accuracy],
        lambda rate: bool(np.ptp([of(accuracy, kind, rate) for kind in KINDS]) <= SIMILAR),
    )
    yield from asked(
        "batch norm makes hyperplanes more orthogonal, dropout less",
        "Figures 4 and 10",
        [angle],
        lambda rate: (
            abs(of(angle, NORM, rate) - 90) < abs(of(angle, VANILLA, rate) - 90) < abs(of(angle, DROPOUT, rate) - 90)
        ),
    )
    regions, cosine = "median number of regions along rays", "mean cosine of decision directions"
    yield from asked(
        "there are more regions around a point with batch norm",
        "Figures 6 and 12",
        [regions],
        lambda rate: of(regions, NORM, rate) > of(regions, VANILLA, rate),
    )
    yield from asked(
        "decision directions of a region are near to those of surrounding ones",
        "Figures 6 and 12",
        [cosine],
        lambda rate: min(of(cosine, kind, rate) for kind in KINDS) > NEAR,
    )
    yield from asked(
        "batch norm reduces this slightly",
        "Figures 6 and 12",
        [cosine],
        lambda rate: of(cosine, NORM, rate) < of(cosine, VANILLA, rate),
    )


def _is_least(numbers: Sequence[float]) -> bool | None:
    """Return whether the first number is the only least one; None where others are as small."""
    first, *others = numbers
    return None if first == min(others) else first < min(others)


def more_regions(counts: Mapping[str, rs.Finding], place: str) -> Verdict:
    """Return what becomes of the statement that batch norm and dropout make many more regions of a plane.

    Parameters
    ----------
    counts : mapping of kinds of networks to Finding
    place : str
        A figure.
    """
    numbers = {kind: int(count) for kind, count in counts.items()}
    is_exact = all(count.claim is rs.Claim.EXACT for count in counts.values())
    others = [kind for kind in (NORM, DROPOUT) if kind in numbers]
    return of_cases(
        "batch norm and dropout make many more regions",
        place,
        "drawn",
        ", ".join(f"{kind} {number:,}" for kind, number in numbers.items()),
        (numbers[kind] > numbers[VANILLA] for kind in others) if is_exact and VANILLA in numbers else (),
    )
