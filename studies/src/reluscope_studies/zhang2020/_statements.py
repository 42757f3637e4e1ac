"""What becomes of what the paper says of its tables and its Figures 3, 4 and 6, from the findings of a comparison.

Figures 9, 10 and 12 and Table 4 are the same of convolutional networks.

A statement is about several networks, of each learning rate: it is confirmed where it holds for all, contradicted where
it holds for none, and left open between. Of numbers over points it holds, or does not, where 39 of 40 other draws of
these points say the same; of fewer than thirty points, and a network or a few, nothing is contradicted.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

import reluscope as rs
from reluscope.studies import StatementVerdict
from reluscope_studies.verdicts import CHANCE, of_pairs
from reluscope_studies.zhang2020._networks import KINDS

VANILLA, NORM, DROPOUT = KINDS
# Accuracies that differ by at most so much are similar; decision directions are near with a cosine above a half.
SIMILAR, NEAR = 0.02, 0.5
# The share of other draws of points that have to agree.
SURE = 39 / 40
# Fewer points decide nothing.
MANY = 30
# Where each measure stands, of dense networks and of convolutional ones.
INRADII = {place: f"median inradius, {place} regions" for place in ("manifold", "decision", "adversarial")}
CLASSES, DISTORTION, ACCURACY = "classes, the paper's test", "distortion", "test accuracy"
ANGLE, REGIONS = "mean angle between hyperplanes in degrees", "median number of regions along rays"
COSINE = "mean cosine of decision directions"
PLACES = {
    "dense": {
        **dict.fromkeys(INRADII.values(), "Figure 3"),
        **dict.fromkeys((CLASSES, DISTORTION), "Table 2"),
        **dict.fromkeys((REGIONS, COSINE), "Figure 6"),
        ACCURACY: "Table 1",
        ANGLE: "Figure 4",
    },
    "convolutional": {
        **dict.fromkeys(INRADII.values(), "Figure 9"),
        **dict.fromkeys((CLASSES, DISTORTION), "Table 4"),
        **dict.fromkeys((REGIONS, COSINE), "Figure 12"),
        ACCURACY: "section E.1",
        ANGLE: "Figure 10",
    },
}
# How numbers are shown; others with three digits.
FORMS = {ACCURACY: "{:.1%}", DISTORTION: "{:.1f}", ANGLE: "{:.2f}°", REGIONS: "{:,.0f}", COSINE: "{:.3f}"}


def verdicts(
    findings: Sequence[rs.Finding],
    rates: Sequence[float],
    redrawn: Sequence[Mapping[str, float]] = (),
    *,
    points: int = 1000,
    of: str = "dense",
    published: Mapping[tuple[str, float], Sequence[float]] | None = None,
) -> tuple[StatementVerdict, ...]:
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
    of : str
        Which networks: dense or convolutional.
    published : mapping of (measure, rate) to three numbers, optional
        What the paper prints, accuracies in per cent.
    """
    numbers = {finding.name: float(finding) for finding in findings}
    drawn = [list(_statements({**numbers, **draw}, rates)) for draw in redrawn]
    found = []
    for place, said in enumerate(_statements(numbers, rates)):
        holds = _holds(said, [one[place] for one in drawn], redrawn[0] if drawn else {}, rates, is_few=points < MANY)
        printed = {rate: (published or {}).get((said.measures[0], rate)) for rate in rates}
        found.append(
            StatementVerdict(
                f"{said.statement} ({', '.join(KINDS)})",
                PLACES[of][said.measures[0]],
                _printed(said.measures[0], {rate: values for rate, values in printed.items() if values}) or "in words",
                "; ".join(f"rate {rate:g}: {_ours(said.measures, rate, numbers)}" for rate in rates),
                all(holds) or (None if any(one is not False for one in holds) else False),
            )
        )
    return tuple(found)


@dataclass(frozen=True)
class _Said:
    """A statement, the measures that it is about, and whether it holds at each rate.

    Some are of one region of each network: at a rate they hold with a probability even if there is nothing to them.
    """

    statement: str
    measures: tuple[str, ...]
    holds: tuple[bool | None, ...]
    by_lot: float = 0.0


def _holds(
    said: _Said, drawn: Sequence[_Said], some: Mapping[str, float], rates: Sequence[float], *, is_few: bool
) -> list[bool | None]:
    """Return what a statement is at each rate; what too many other draws of the points contradict is left open."""
    if said.by_lot ** len(rates) > CHANCE:
        return [None] * len(rates)
    holds = list(said.holds)
    for place, rate in enumerate(rates):
        by_chance = [some[name] for name in _names(said.measures, rate) if name in some]
        if by_chance and is_few:
            holds[place] = None
        agreeing = sum(one.holds[place] is holds[place] for one in drawn)
        if by_chance and (np.isnan(by_chance).any() or agreeing < SURE * len(drawn)):
            holds[place] = None
    return holds


def _printed(measure: str, values: Mapping[float, Sequence[float]]) -> str:
    """Return what the paper prints of a measure at each rate."""
    unit = " %" if measure == ACCURACY else ""
    return "; ".join(f"rate {rate:g}: {', '.join(f'{one:g}' for one in found)}{unit}" for rate, found in values.items())


def _ours(measures: Sequence[str], rate: float, numbers: Mapping[str, float]) -> str:
    """Return the numbers of all kinds of networks, with the names of the measures where there are several."""
    said = []
    for measure in measures:
        form = FORMS.get(measure, "{:.3g}")
        values = ", ".join(form.format(numbers[name]).replace("%", " %") for name in _names([measure], rate))
        said.append(f"{measure.removeprefix('median inradius, ')} {values}" if len(measures) > 1 else values)
    return ", ".join(said)


def _names(measures: Sequence[str], rate: float) -> list[str]:
    return [f"{measure}: {kind}, rate {rate:g}" for measure in measures for kind in KINDS]


def _statements(numbers: Mapping[str, float], rates: Sequence[float]) -> Iterator[_Said]:
    """Yield the statements about measures that all networks have."""

    def of(measure: str, kind: str, rate: float) -> float:
        return numbers[f"{measure}: {kind}, rate {rate:g}"]

    def asked(
        statement: str, measures: Sequence[str], holds: Callable[[float], bool | None], by_lot: float = 0.0
    ) -> Iterator[_Said]:
        if all(name in numbers for rate in rates for name in _names(measures, rate)):
            found = (holds(rate) for rate in rates)
            yield _Said(statement, tuple(measures), tuple(None if one is None else bool(one) for one in found), by_lot)

    manifold, decision, adversarial = INRADII.values()
    yield from asked(
        "batch norm leads to the smallest inradii",
        [manifold],
        lambda rate: of(manifold, NORM, rate) == min(of(manifold, kind, rate) for kind in KINDS),
    )
    yield from asked(
        "decision regions are narrower than manifold regions, most so with dropout",
        [decision, manifold],
        lambda rate: (
            all(of(decision, kind, rate) < of(manifold, kind, rate) for kind in KINDS)
            and min(KINDS, key=lambda kind: of(decision, kind, rate) / of(manifold, kind, rate)) == DROPOUT
        ),
    )
    yield from asked(
        "adversarial regions resemble manifold regions more than decision regions do",
        [adversarial, manifold, decision],
        lambda rate: all(
            abs(of(adversarial, kind, rate) - of(manifold, kind, rate))
            <= abs(of(decision, kind, rate) - of(manifold, kind, rate))
            for kind in KINDS
        ),
    )
    yield from asked(
        "dropout leaves fewest classes in a region",
        [CLASSES],
        lambda rate: _is_least([of(CLASSES, kind, rate) for kind in (DROPOUT, VANILLA, NORM)]),
    )
    yield from asked(
        "batch norm decreases the distortion",
        [DISTORTION],
        lambda rate: of(DISTORTION, NORM, rate) < of(DISTORTION, VANILLA, rate),
    )
    yield from asked(
        f"accuracies are similar, within {100 * SIMILAR:g} points",
        [ACCURACY],
        lambda rate: np.ptp([of(ACCURACY, kind, rate) for kind in KINDS]) <= SIMILAR,
    )
    yield from asked(
        "batch norm makes hyperplanes more orthogonal, dropout less",
        [ANGLE],
        lambda rate: (
            abs(of(ANGLE, NORM, rate) - 90) < abs(of(ANGLE, VANILLA, rate) - 90) < abs(of(ANGLE, DROPOUT, rate) - 90)
        ),
        by_lot=1 / 6,
    )
    yield from asked(
        "there are more regions around a point with batch norm",
        [REGIONS],
        lambda rate: of(REGIONS, NORM, rate) > of(REGIONS, VANILLA, rate),
    )
    yield from asked(
        "decision directions of a region are near to those of surrounding ones",
        [COSINE],
        lambda rate: min(of(COSINE, kind, rate) for kind in KINDS) > NEAR,
    )
    yield from asked(
        "batch norm reduces this slightly",
        [COSINE],
        lambda rate: of(COSINE, NORM, rate) < of(COSINE, VANILLA, rate),
    )


def _is_least(numbers: Sequence[float]) -> bool | None:
    """Return whether the first number is the only least one; None where others are as small."""
    first, *others = numbers
    return None if first == min(others) else first < min(others)


def more_regions(counts: Sequence[Mapping[str, rs.Finding]], place: str) -> StatementVerdict:
    """Return what becomes of the statement that batch norm and dropout make many more regions of a plane.

    Parameters
    ----------
    counts : sequence of mappings of kinds of networks to Finding
        One for each of several first weights.
    place : str
        A figure.
    """
    exact = [one for one in counts if all(count.claim is rs.Claim.EXACT for count in one.values())]

    def holds(one: Mapping[str, rs.Finding]) -> bool | None:
        more = {int(one[kind]) > int(one[VANILLA]) for kind in (NORM, DROPOUT)}
        return more.pop() if len(more) == 1 else None

    return of_pairs(
        "batch norm and dropout make many more regions",
        place,
        "drawn",
        _ranges([{kind: int(count) for kind, count in one.items()} for one in counts], ",d"),
        (holds(one) for one in exact if set(KINDS) <= set(one)),
    )


def more_uniform(areas: Sequence[Mapping[str, Float[np.ndarray, " r"]]], place: str) -> StatementVerdict:
    """Return what becomes of the statement that regions are more uniform in size with batch norm than with dropout.

    Parameters
    ----------
    areas : sequence of mappings of kinds of networks to (r,) float64
        Of all regions of a plane, one for each of several first weights.
    place : str
        A figure.
    """
    uneven = [{kind: gini(every) for kind, every in one.items()} for one in areas]
    return of_pairs(
        "regions with batch norm are more uniform in size than those with dropout",
        place,
        "drawn",
        f"Gini coefficients of areas, 0 for equal ones: {_ranges(uneven, '.2f')}",
        (one[NORM] < one[DROPOUT] for one in uneven if {NORM, DROPOUT} <= set(one)),
    )


def _ranges(numbers: Sequence[Mapping[str, float]], form: str) -> str:
    """Return the number of every kind of network, or the least and the largest where there are several."""
    every = {kind: [one[kind] for one in numbers if kind in one] for kind in KINDS}
    ends = {
        kind: dict.fromkeys(f"{end:{form}}" for end in (min(found), max(found)))
        for kind, found in every.items()
        if found
    }
    return ", ".join(f"{kind} {' to '.join(found)}" for kind, found in ends.items())


def gini(sizes: Float[np.ndarray, " r"]) -> float:
    """Return the mean difference of two sizes by twice their mean: 0 for equal ones, near to 1 where one has all.

    Examples
    --------
    >>> gini(np.ones(5)), gini(np.array([0.0, 0.0, 0.0, 8.0]))
    (0.0, 0.75)
    """
    order = np.arange(1, len(sizes) + 1)
    return float((2 * order - len(sizes) - 1) @ np.sort(sizes) / (len(sizes) * sizes.sum()))
