"""Figures 7.8 to 7.17: all pairs of networks compared, some networks at a time, each time kept in the records."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import reluscope as rs
from reluscope.studies import Record, Setting
from reluscope_studies.labelled import Labelled
from reluscope_studies.records import finding_of
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
) -> rs.similarity.Similarities:
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
            kept = setting.records[name] = Record(plain_similarities(found))
        parts.append(similarities_of(kept.plain))
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


def joined(names: tuple[str, ...], parts: list[rs.similarity.Similarities]) -> rs.similarity.Similarities:
    """Return the tables of all networks from those of groups; what several groups have is taken from the first."""
    tables = {}
    for name, table in parts[0].tables.items():
        cells: dict[tuple[str, str], rs.Finding | None] = {}
        for part in parts:
            for first in part.networks:
                for second in part.networks:
                    cells.setdefault((first, second), part[name][first, second])
        rows = tuple(tuple(cells[first, second] for second in names) for first in names)
        tables[name] = rs.similarity.PairTable(
            name, table.title, names, rows, table.is_symmetric, table.grows_with_likeness
        )
    own: dict[str, tuple[rs.Finding, rs.Finding]] = {}
    for part in parts:
        assert part.accuracies is not None
        assert part.conditions is not None
        for name, *both in zip(part.networks, part.accuracies, part.conditions, strict=True):
            own.setdefault(name, (both[0], both[1]))
    accuracies, conditions = zip(*(own[name] for name in names), strict=True)
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return rs.similarity.Similarities(names, tables, accuracies, conditions, notes)


def plain_similarities(found: rs.similarity.Similarities) -> dict[str, Any]:
    """Return similarities as plain types."""
    assert found.accuracies is not None
    assert found.conditions is not None
    return {
        "networks": list(found.networks),
        "tables": {
            name: {
                "title": table.title,
                "is_symmetric": table.is_symmetric,
                "grows_with_likeness": table.grows_with_likeness,
                "findings": [[None if one is None else one.to_dict() for one in row] for row in table.findings],
            }
            for name, table in found.tables.items()
        },
        "accuracies": [one.to_dict() for one in found.accuracies],
        "conditions": [one.to_dict() for one in found.conditions],
        "notes": list(found.notes),
    }


def similarities_of(plain: Mapping[str, Any]) -> rs.similarity.Similarities:
    """Return the similarities that `plain_similarities` wrote."""
    names = tuple(plain["networks"])
    tables = {
        name: rs.similarity.PairTable(
            name,
            table["title"],
            names,
            tuple(tuple(None if one is None else finding_of(one) for one in row) for row in table["findings"]),
            table["is_symmetric"],
            table["grows_with_likeness"],
        )
        for name, table in plain["tables"].items()
    }
    accuracies, conditions = (tuple(finding_of(one) for one in plain[name]) for name in ("accuracies", "conditions"))
    return rs.similarity.Similarities(names, tables, accuracies, conditions, tuple(plain["notes"]))
