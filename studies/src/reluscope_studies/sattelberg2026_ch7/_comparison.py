"""Figures 7.8 to 7.17: all pairs of networks compared, some networks at a time, each time kept in the records."""

from collections.abc import Mapping
from itertools import combinations

import reluscope as rs
from reluscope.studies import Record, Setting
from reluscope_studies.labelled import Labelled
from reluscope_studies.sattelberg2026_ch7._plan import ComparisonPlan

METRICS = (
    "map_residual",
    "cka",
    "debiased_cka",
    "scaled_distance",
    "scaled_distance_absolute",
    "output_cross_entropy",
    "agreement",
)


def compared(
    setting: Setting, plan: ComparisonPlan, networks: Mapping[str, rs.Network], training: Labelled, testing: Labelled
) -> rs.Findings:
    """Return the similarities of all pairs on the test images, maps fitted on the training images."""
    groups = groups_of(tuple(networks), plan.at_once)
    parts = []
    for number, names in enumerate(groups):
        name = f"compared, {number + 1} of {len(groups)}"
        kept = setting.records.get(name)
        if kept is None:
            setting.progress(f"Comparing {len(names)} networks ({number + 1} of {len(groups)})", number / len(groups))
            found = rs.similarity.compare(
                {one: networks[one] for one in names},
                testing.points,
                testing.labels,
                fit_on=training.points,
                metrics=METRICS,
                budget=rs.Budget(memory=plan.memory),
            )
            kept = setting.records[name] = Record(found.to_dict())
        parts.append(rs.Findings.from_dict(kept.plain))
    return joined(tuple(networks), parts)


def groups_of(names: tuple[str, ...], at_once: int) -> list[tuple[str, ...]]:
    """Return groups of at most so many names, such that every two names are together in one.

    Examples
    --------
    >>> groups_of(("a", "b", "c", "d", "e"), 4)
    [('a', 'b', 'c', 'd'), ('a', 'b', 'e'), ('c', 'd', 'e')]
    """
    if len(names) <= at_once:
        return [names]
    half = at_once // 2
    halves = [names[start : start + half] for start in range(0, len(names), half)]
    return [first + second for first, second in combinations(halves, 2)]


def joined(names: tuple[str, ...], parts: list[rs.Findings]) -> rs.Findings:
    """Return all pairs of networks from those of groups; what several groups have is taken from the first."""
    every = rs.Findings.joined(parts)
    places: dict[tuple[str, str], int] = {}
    for place, pair in enumerate(zip(every.keys["first"].tolist(), every.keys["second"].tolist(), strict=True)):
        places.setdefault(pair, place)
    return every.rows([places[first, second] for first in names for second in names])
