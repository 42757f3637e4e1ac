"""Table 3.5: sizes of deep networks that have learned parity after their units are removed one by one."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

import reluscope as rs
from reluscope.studies import Change, Outcome, Record, Setting, Size, StatementVerdict, Table
from reluscope_studies import pruning
from reluscope_studies.interruption import Interruption
from reluscope_studies.sattelberg2026_ch3._networks import first_networks
from reluscope_studies.sattelberg2026_ch3._parity import HOW, PROTOCOL, SAID_OF, learned, parity, per_cent, share_of
from reluscope_studies.sizes import planned
from reluscope_studies.verdicts import Rate, of_cases, same_rate

SENTENCE = "parity by deep networks, pruned unit by unit: which widths are left"
POSITION = 70
REPEATS = ("Table 3.5",)
DATA = None
CHANGES: dict[Change, str] = {"replicates": "networks", "epochs": "epochs"}

DEPTH = 5
QUOTED_WIDTHS = (15,) * 4
# Table 3.5: the best hidden widths, by digits.
PRINTED = {2: "2", 3: "2-2 or 3", 4: "2-2", 5: "2-2-2 or 2-3", 6: "2-2-2 or 2-3"}
# Of four digits, quoted in the text: about.
QUOTED = {
    "2 x 2 learns parity from first weights": "1 %",
    "15 x 4 (width by depth) learns parity": "100 %",
    "a pruning of 15 x 4 ends at 2-2 or less": "20 %",
}


@dataclass(frozen=True)
class Plan:
    """The size of the study: most digits, networks, prunings of each, epochs after a removal, networks for rates."""

    digits: int
    networks: int
    prunings: int
    epochs: int
    small_networks: int


PLANS: dict[Size, Plan] = {
    "small": Plan(5, 2, 3, 500, 300),
    "medium": Plan(6, 2, 5, 1_000, 300),
    "full": Plan(6, 4, 10, 1_000, 1_000),
}


def protocol(setting: Setting) -> Outcome:
    """Prune networks of 5n x 5 units on n digits, and those of the rates that are quoted."""
    plan = planned(setting, PLANS, CHANGES)
    work = [(digits, (5 * digits,) * DEPTH) for digits in range(2, plan.digits + 1)] + [(4, QUOTED_WIDTHS)]
    found: dict[tuple[int, tuple[int, ...]], list[Record]] = {}
    direct = None
    with Interruption() as ctrl_c:
        direct = _direct(setting, plan)
        for digits, widths in work:
            for number in range(plan.networks):
                found.setdefault((digits, widths), []).append(_pruned(setting, plan, digits, widths, number))
    tables = {digits: found.get((digits, (5 * digits,) * DEPTH), []) for digits in range(2, plan.digits + 1)}
    shares = _shares(direct, found.get((4, QUOTED_WIDTHS), []))
    best = [
        min((rs.Finding.from_dict(one) for one in _ends(records)), key=int)
        for records in tables.values()
        if _ends(records)
    ]
    return Outcome(
        tuple(_sentences(setting, plan)),
        (*best, *shares.values()),
        (_table(tables), _quoted(shares)),
        interrupted=ctrl_c.came,
        verdicts=tuple(_verdicts(tables, direct, found.get((4, QUOTED_WIDTHS), []))),
    )


def _sentences(setting: Setting, plan: Plan) -> Iterator[str]:
    yield PROTOCOL
    yield (
        f"{plan.networks} networks for every number of digits, each pruned {plan.prunings} times, one unit after the "
        f"other. After a removal what is left is trained for up to {plan.epochs:,} epochs, a number that the "
        "dissertation does not give, and stops once all inputs are right. How layers go it does not say either: here, "
        "where a layer has one unit left, taking that away multiplies the layer into the next, without its gate."
    )
    if setting.size == "small":
        yield "This is the small size: fewer digits, networks and epochs; the dissertation has 4 x 10 prunings."


def _seeds(setting: Setting, number: int, *about: int) -> list[int]:
    return np.random.default_rng([setting.seed, *about]).integers(2**31, size=number).tolist()


def _pruned(setting: Setting, plan: Plan, digits: int, widths: tuple[int, ...], number: int) -> Record:
    """Train one network and prune it some times."""
    name = f"digits-{digits}-{widths[0]}x{len(widths)}-network-{number}"
    kept = setting.records.get(name)
    if kept is not None:
        return kept
    seeds = _seeds(setting, 1 + plan.prunings, digits, *widths, number)
    trained = learned(first_networks(widths, num_inputs=digits, seeds=seeds[:1], device=setting.device), digits)
    widths_left: list[list[int]] = []
    units: list[rs.Finding] = []
    if trained.reached.all():
        title = f"Pruning {widths[0]} x {len(widths)} units, {digits} digits, network {number + 1} of {plan.networks}"
        many = trained.stack.take([0] * plan.prunings)
        pruned = pruning.prune_stochastically(
            many,
            *parity(digits),
            epochs=plan.epochs,
            seeds=seeds[1:],
            progress=lambda share: setting.progress(title, share),
            **HOW,
        )
        widths_left = [list(course[-1]) for course in pruned.widths]
        units = [pruned.findings.finding("fewest_units", row) for row in range(len(pruned))]
    plain = {"learned": bool(trained.reached.all()), "widths": widths_left, "units": [one.to_dict() for one in units]}
    setting.records[name] = Record(plain)
    return setting.records[name]


def _direct(setting: Setting, plan: Plan) -> Record:
    """Count how often two layers of two units learn four digits."""
    if "two-by-two" not in setting.records:
        seeds = _seeds(setting, plan.small_networks, 2, 2)
        trained = learned(first_networks((2, 2), num_inputs=4, seeds=seeds, device=setting.device), 4)
        setting.records["two-by-two"] = Record({"number": len(seeds), "learned": int(trained.reached.sum())})
    return setting.records["two-by-two"]


def _ends(records: list[Record]) -> list[Mapping[str, Any]]:
    return [one for record in records for one in record.plain["units"]]


def _widths(records: list[Record]) -> list[tuple[int, ...]]:
    return [tuple(one) for record in records for one in record.plain["widths"]]


def _table(tables: Mapping[int, list[Record]]) -> Table:
    rows = []
    for digits, records in tables.items():
        every = _widths(records)
        fewest = min((sum(one) for one in every), default=0)
        flattest = min((len(one) for one in every), default=0)
        rows.append(
            (
                str(digits),
                f"{5 * digits} x {DEPTH}",
                PRINTED[digits],
                _said(one for one in every if sum(one) == fewest),
                _said(one for one in every if len(one) == flattest),
                f"{np.median([sum(one) for one in every]):g}" if every else "-",
                str(min(prod(one) for one in every)) if every else "-",
                str(len(every)),
            )
        )
    columns = (
        "digits",
        "trained network",
        "paper, best",
        "fewest units",
        "fewest layers",
        "median units",
        "least product of widths",
        "prunings",
    )
    caption = (
        "Table 3.5: hidden widths that are left. Products of widths, which bound how often a network of that kind can "
        "change along a line, are at least the number of digits in the printed table."
    )
    return Table(columns, tuple(rows), caption)


def _verdicts(
    tables: Mapping[int, list[Record]], direct: Record | None, quoted: list[Record]
) -> Iterator[StatementVerdict]:
    """Return what becomes of Table 3.5 and of the rates beside it."""
    printed = {digits: min(map(_units, PRINTED[digits].split(" or "))) for digits in tables}
    fewest = {digits: min(map(sum, _widths(records))) for digits, records in tables.items() if _widths(records)}
    if fewest:
        yield of_cases(
            "the fewest units that pruning leaves",
            "Table 3.5",
            ", ".join(f"{printed[digits]} for {digits} digits" for digits in fewest),
            ", ".join(str(one) for one in fewest.values()),
            (fewest[digits] == printed[digits] for digits in fewest),
        )
    for (name, said), (some, number) in zip(QUOTED.items(), _counts(direct, quoted), strict=True):
        if number:
            share = float(said.removesuffix(" %")) / 100
            yield same_rate(f"{name} (four digits)", "section 3.4.4", share, Rate(some, number), SAID_OF)


def _units(widths: str) -> int:
    return sum(map(int, widths.split("-")))


def _said(every: Iterable[tuple[int, ...]]) -> str:
    return ", ".join(sorted({"-".join(map(str, widths)) for widths in every})) or "-"


def _counts(direct: Record | None, records: list[Record]) -> list[tuple[int, int]]:
    """Return successes and trials of what the text quotes, in its order."""
    ends = _widths(records)
    return [
        (0, 0) if direct is None else (direct.plain["learned"], direct.plain["number"]),
        (sum(one.plain["learned"] for one in records), len(records)),
        (sum(len(one) <= 2 and max(one) <= 2 for one in ends), len(ends)),
    ]


def _shares(direct: Record | None, records: list[Record]) -> dict[str, rs.Finding]:
    counts = zip(QUOTED, _counts(direct, records), strict=True)
    return {name: share_of(some, number, name) for name, (some, number) in counts if number}


def _quoted(shares: Mapping[str, rs.Finding]) -> Table:
    rows = tuple((name, f"about {said}", per_cent(shares.get(name))) for name, said in QUOTED.items())
    return Table(("four digits", "the dissertation", "here"), rows, "How often this succeeds, with 95 % intervals.")
