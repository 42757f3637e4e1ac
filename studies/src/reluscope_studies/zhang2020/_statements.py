"""What becomes of what the paper says of its tables and its Figures 3, 4 and 6, from the findings of a comparison.

Figures 9, 10 and 12 are the same of convolutional networks.

A statement is about several networks, of each learning rate: it is confirmed where it holds for all, contradicted where
it holds for none, and left open between. Of numbers over points it holds, or does not, where 39 of 40 other draws of
these points say the same; of fewer than thirty points, and a network or a few, nothing is contradicted.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

import reluscope as rs
from reluscope.studies import Verdict
from reluscope_studies.verdicts import of_cases
from reluscope_studies.zhang2020._networks import KINDS

VANILLA, NORM, DROPOUT = KINDS
# Accuracies that differ by at most so much are similar; decision directions are near with a cosine above a half.
SIMILAR, NEAR = 0.02, 0.5
# The share of other draws of points that have to agree.
SURE = 39 / 40
# Fewer points contradict nothing.
MANY = 30


def verdicts(
    findings: Sequence[rs.Finding],
    rates: Sequence[float],
    redrawn: Sequence[Mapping[str, float]] = (),
    *,
    points: int = 1000,
) -> tuple[Verdict, ...]:
    """Return what becomes of the paper's statements about batch norm and dropout.

    Parameters
    ----------
    findings : sequence of Finding
        Of a comparison, by the names that it gives.
    rates : sequence of float
        Learning rates.
    redrawn : sequence of mappings
        Numbers over other draws of points, by the same names; those that are not there are not left to chance.
    points : int
        How many there are.
    """
    numbers = {finding.name: float(finding) for finding in findings}
    drawn = [list(_statements({**numbers, **draw}, rates)) for draw in redrawn]
    return tuple(
        _verdict(said, [one[place] for one in drawn], redrawn[0] if drawn else {}, numbers, rates, is_few=points < MANY)
        for place, said in enumerate(_statements(numbers, rates))
    )


@dataclass(frozen=True)
class _Said:
    """A statement, the measures that it is about, the first of which is shown, and whether it holds at each rate."""

    statement: str
    place: str
    measures: tuple[str, ...]
    holds: tuple[bool | None, ...]


def _verdict(
    said: _Said,
    drawn: Sequence[_Said],
    some: Mapping[str, float],
    numbers: Mapping[str, float],
    rates: Sequence[float],
    *,
    is_few: bool,
) -> Verdict:
    """Return what becomes of a statement; what too many other draws of the points contradict is left open."""
    holds = list(said.holds)
    for place, rate in enumerate(rates):
        by_chance = [some[name] for name in _names(said.measures, rate) if name in some]
        if by_chance and is_few:
            holds[place] = holds[place] or None
        agreeing = sum(one.holds[place] is holds[place] for one in drawn)
        if by_chance and (np.isnan(by_chance).any() or agreeing < SURE * len(drawn)):
            holds[place] = None
    shown = "; ".join(
        f"rate {rate:g}: " + ", ".join(f"{numbers[name]:.3g}" for name in _names(said.measures[:1], rate))
        for rate in rates
    )
    return Verdict(
        f"{said.statement} ({', '.join(KINDS)})",
        said.place,
        "in words",
        shown,
        all(holds) or (None if any(one is not False for one in holds) else False),
    )


def _names(measures: Sequence[str], rate: float) -> list[str]:
    return [f"{measure}: {kind}, rate {rate:g}" for measure in measures for kind in KINDS]


def _statements(numbers: Mapping[str, float], rates: Sequence[float]) -> Iterator[_Said]:
    """Yield the statements about measures that all networks have."""

    def of(measure: str, kind: str, rate: float) -> float:
        return numbers[f"{measure}: {kind}, rate {rate:g}"]

    def asked(
        statement: str, place: str, measures: Sequence[str], holds: Callable[[float], bool | None]
    ) -> Iterator[_Said]:
        if all(name in numbers for rate in rates for name in _names(measures, rate)):
            found = (holds(rate) for rate in rates)
            yield _Said(statement, place, tuple(measures), tuple(None if one is None else bool(one) for one in found))

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
        lambda rate: np.ptp([of(accuracy, kind, rate) for kind in KINDS]) <= SIMILAR,
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


def more_uniform(areas: Mapping[str, Float[np.ndarray, " r"]], place: str) -> Verdict:
    """Return what becomes of the statement that regions are more uniform in size with batch norm than with dropout.

    Parameters
    ----------
    areas : mapping of kinds of networks to (r,) float64
        Of all regions of a plane.
    place : str
        A figure.
    """
    uneven = {kind: gini(every) for kind, every in areas.items()}
    return of_cases(
        "regions with batch norm are more uniform in size than those with dropout",
        place,
        "drawn",
        "Gini coefficients of areas, 0 for equal ones: "
        + ", ".join(f"{kind} {number:.2f}" for kind, number in uneven.items()),
        (uneven[NORM] < uneven[DROPOUT],) if {NORM, DROPOUT} <= set(uneven) else (),
    )


def gini(sizes: Float[np.ndarray, " r"]) -> float:
    """Return the mean difference of two sizes by twice their mean: 0 for equal ones, near to 1 where one has all.

    Examples
    --------
    >>> gini(np.ones(5)), gini(np.array([0.0, 0.0, 0.0, 8.0]))
    (0.0, 0.75)
    """
    order = np.arange(1, len(sizes) + 1)
    return float((2 * order - len(sizes) - 1) @ np.sort(sizes) / (len(sizes) * sizes.sum()))
