"""Table 3.4, Figure 3.10: the fewest units of a trained layer that still learn parity, by all its subnetworks."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import comb

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Record, Setting, Size, StatementVerdict, Table
from reluscope_studies import plots, pruning, stacked
from reluscope_studies.interruption import Interruption
from reluscope_studies.records import plain_findings
from reluscope_studies.sattelberg2026_ch3._networks import LEAK, first_networks
from reluscope_studies.sattelberg2026_ch3._parity import (
    EPOCHS,
    HOW,
    PROTOCOL,
    SAID_OF,
    learned,
    parity,
    per_cent,
    share_of,
)
from reluscope_studies.sizes import planned
from reluscope_studies.verdicts import Rate, same_rate

SENTENCE = "parity by one hidden layer: the smallest subnetworks of trained networks, all of them tried"
POSITION = 60
REPEATS = ("Table 3.4", "Figure 3.10")
DATA = None
CHANGES: dict[Change, str] = {"replicates": "networks"}

TRIALS = 4
LEAKY_DIGITS, LEAKY_SIZES = 3, (2, 3)
# Table 3.4 as printed, by digits: (pruned width, subnetworks that learn parity), from the first width with an entry on.
PRINTED = {
    1: (2, [(1, 1), (1, 2), (1, 2), (1, 3), (1, 3), (1, 4), (1, 5), (1, 7), (1, 5), (1, 6), (1, 5), (1, 3), (1, 5)]),
    2: (3, [(2, 3), (2, 3), (2, 8), (2, 4), (2, 8), (2, 5), (2, 8), (2, 8), (2, 13), (2, 24), (2, 12), (2, 25)]),
    3: (3, [(3, 1), (3, 3), (3, 8), (3, 18), (3, 26), (3, 41), (3, 66), (3, 95), (3, 143), (3, 166), (3, 245),
            (3, 278)]),
    4: (3, [(3, 1), (4, 1), (4, 3), (3, 1), (3, 3), (3, 5), (3, 3), (3, 4), (3, 4), (3, 9), (3, 5), (3, 10)]),
    5: (6, [(5, 1), (5, 3), (5, 4), (5, 4), (4, 1), (4, 1), (4, 2), (4, 5), (5, 22)]),
    6: (6, [(6, 1), (6, 1), (6, 2), (5, 1), (5, 2), (5, 1), (5, 2), (5, 4), (5, 3)]),
}  # fmt: skip
# Quoted in the text, of four digits: approximate.
QUOTED = {
    "width 6 learns parity": "65 %",
    "a subnetwork of 3 units of such a network does": "15 %",
    "both": "10 %",
    "width 3 learns parity from first weights": "2 %",
    "subnetworks of 3 units that do, of 20, where one does": "1.5",
}
TAKEN = (
    f"Of {TRIALS} first weights the first that learn parity are taken; subnetworks of 1, 2, ... units are fine-tuned "
    "as long, all of a size at once, up to the first size with a success. How many of them learn parity depends on "
    "that one network, in the dissertation as here. Of how many networks its approximate rates are it does not say: "
    f"they are read as those of {SAID_OF}. Its 1/128 of width 9, six digits, must be 1/126."
)


@dataclass(frozen=True)
class Plan:
    """The size of the study: most digits, largest widths, and networks from which rates are counted."""

    digits: int
    widths: int
    networks: int


PLANS: dict[Size, Plan] = {"small": Plan(5, 10, 200), "full": Plan(6, 14, 1_000)}


def protocol(setting: Setting) -> Outcome:
    """Prune networks of all widths, and count how often training and pruning succeed on four digits."""
    plan = planned(setting, PLANS, CHANGES)
    cells = [(width, digits) for width in range(2, plan.widths + 1) for digits in range(1, plan.digits + 1)]
    found: dict[tuple[int, int], Record] = {}
    leaky: dict[int, Record] = {}
    rates = None
    with Interruption() as ctrl_c:
        rates = _kept(setting, "rates", lambda: _rates(setting, plan))
        for width, digits in cells:
            setting.progress(f"Subnetworks of width {width}, {digits} digits", len(found) / len(cells))
            found[width, digits] = _kept(
                setting, f"width-{width}-digits-{digits}", lambda w=width, d=digits: _cell(setting, w, d)
            )
        for width in range(4, plan.widths + 1):
            setting.progress(f"Leaky subnetworks of width {width}")
            leaky[width] = _kept(setting, f"leaky-width-{width}", lambda w=width: _leaky_cell(setting, w))
    sentences = (
        PROTOCOL,
        TAKEN,
        *(("This is the small size: fewer widths, digits and networks.",) if setting.size == "small" else ()),
    )
    units = [rs.Finding.from_dict(one.plain["units"]) for one in found.values() if one.plain["units"]]
    shares = {} if rates is None else _shares(rates)
    pictures = [] if rates is None else list(_pictures(rates))
    return Outcome(
        sentences,
        (*shares.values(), *units),
        (_table(plan, found), _by_leak(plan, found, leaky), _quoted(rates, shares)),
        tuple(pictures),
        interrupted=ctrl_c.came,
        verdicts=tuple(_verdicts(plan, rates, found, leaky)),
    )


def _kept(setting: Setting, name: str, make: Callable[[], Record]) -> Record:
    if name not in setting.records:
        setting.records[name] = make()
    return setting.records[name]


def _seeds(setting: Setting, number: int, *about: int) -> list[int]:
    return np.random.default_rng([setting.seed, *about]).integers(2**31, size=number).tolist()


def _learner(setting: Setting, width: int, digits: int, leak: float = 0.0) -> stacked.Stack | None:
    """Return the first network of a width that learns parity, None if none of them does."""
    seeds = _seeds(setting, TRIALS, width, digits)
    first = first_networks((width,), num_inputs=digits, seeds=seeds, leak=leak, device=setting.device)
    trained = learned(first, digits)
    rows = trained.reached.nonzero()[:, 0].tolist()
    return trained.stack.take(rows[:1]) if rows else None


def _cell(setting: Setting, width: int, digits: int) -> Record:
    """Prune the first network of a width that learns parity."""
    stack = _learner(setting, width, digits)
    if stack is None:
        return Record({"units": None})
    found = pruning.prune_exhaustively(stack, *parity(digits), epochs=EPOCHS, **HOW)
    assert found.num_units is not None
    plain = {"successes": found.num_successes, "choices": len(found.kept), **plain_findings({"units": found.num_units})}
    return Record(plain)


def _leaky_cell(setting: Setting, width: int) -> Record:
    """Count the subnetworks of two and of three leaky units that learn three digits."""
    stack = _learner(setting, width, LEAKY_DIGITS, LEAK)
    if stack is None:
        return Record({"of": {}})
    tuned = {size: learned(_of_size(stack, size), LEAKY_DIGITS).reached for size in LEAKY_SIZES}
    return Record({"of": {str(size): [int(one.sum()), one.numel()] for size, one in tuned.items()}})


def _rates(setting: Setting, plan: Plan) -> Record:
    """Count successes of width 6, of its subnetworks of width 3, and of width 3 itself, on four digits."""
    seeds = _seeds(setting, plan.networks, 0)
    wide, narrow = (
        learned(
            first_networks((width,), num_inputs=4, seeds=seeds, device=setting.device),
            4,
            lambda share, width=width: setting.progress(f"Width {width}", share),
        )
        for width in (6, 3)
    )
    solved = wide.reached.nonzero()[:, 0].tolist()
    if not solved:
        return Record({"networks": plan.networks, "wide": 0, "narrow": int(narrow.reached.sum()), "of_each": []})
    parts = stacked.concatenate([_of_size(wide.stack.take([row]), 3) for row in solved])
    tuned = learned(parts, 4, lambda share: setting.progress("Subnetworks of width 3", share))
    of_each = tuned.reached.reshape(len(solved), -1).sum(dim=1)
    losses = _losses(wide.stack.take([solved[int(of_each.argmax())]]))
    plain = {
        "networks": plan.networks,
        "wide": len(solved),
        "narrow": int(narrow.reached.sum()),
        "of_each": of_each.tolist(),
    }
    return Record(plain, losses)


def _of_size(stack: stacked.Stack, size: int) -> stacked.Stack:
    every = stacked.subnetworks(stack)
    return every.take((every.kept[0].sum(dim=1) == size).nonzero()[:, 0]).compact()


def _losses(stack: stacked.Stack) -> dict[str, np.ndarray]:
    """Return the losses in training of all subnetworks of one, two and three units, epoch by epoch."""
    found = {}
    for size in (1, 2, 3):
        kept: list[Tensor] = []

        def keep(outputs: Tensor, targets: Tensor, kept: list[Tensor] = kept) -> Tensor:
            kept.append(binary_cross_entropy_with_logits(outputs, targets, reduction="none").mean(dim=(1, 2)).cpu())
            return torch.zeros(len(outputs), dtype=torch.bool, device=outputs.device)

        chosen = _of_size(stack, size)
        stacked.train(chosen, *parity(4), epochs=EPOCHS, goal=keep, chunk=len(chosen), **HOW)
        found[str(size)] = torch.stack(kept, dim=1).numpy()
    return found


def _shares(rates: Record) -> dict[str, rs.Finding]:
    plain = rates.plain
    networks, wide, good = plain["networks"], plain["wide"], sum(one > 0 for one in plain["of_each"])
    names = list(QUOTED)
    counts = [(wide, networks), (good, wide), (good, networks), (plain["narrow"], networks)]
    return {name: share_of(some, number, name) for name, (some, number) in zip(names, counts, strict=False) if number}


def _verdicts(
    plan: Plan, rates: Record | None, found: Mapping[tuple[int, int], Record], leaky: Mapping[int, Record]
) -> Iterator[StatementVerdict]:
    """Return what becomes of the rates that are quoted, and of Table 3.4."""
    if rates is not None:
        plain = rates.plain
        networks, wide, good = plain["networks"], plain["wide"], sum(one > 0 for one in plain["of_each"])
        place = "section 3.4.4"
        yield same_rate("width 6 learns four digits", place, 0.65, Rate(wide, networks), SAID_OF)
        if wide:
            yield same_rate(
                "such a network has a subnetwork of 3 units that does", place, 0.15, Rate(good, wide), SAID_OF
            )
        yield same_rate("both", place, 0.10, Rate(good, networks), SAID_OF)
        yield same_rate("width 3 learns four digits", place, 0.02, Rate(plain["narrow"], networks), SAID_OF)
    widths = {cell: int(rs.Finding.from_dict(one.plain["units"])) for cell, one in found.items() if one.plain["units"]}
    printed = {
        (width, digits): entries[width - first][0]
        for digits, (first, entries) in PRINTED.items()
        for width in range(first, plan.widths + 1)
        if digits <= plan.digits
    }
    both = [cell for cell in printed if cell in widths]
    if both:
        same = sum(widths[cell] == printed[cell] for cell in both)
        yield StatementVerdict(
            "the fewest units that are left, for widths and digits",
            "Table 3.4",
            "one network each",
            f"the same for {same} of {len(both)}, fewer for {sum(widths[one] < printed[one] for one in both)}",
            None if same < len(both) else True,
        )
    first, entries = PRINTED[LEAKY_DIGITS]
    counts = {
        "ReLU": {
            width: (record.plain["successes"], record.plain["choices"])
            for (width, digits), record in found.items()
            if digits == LEAKY_DIGITS and width > LEAKY_DIGITS and widths.get((width, digits)) == 3
        },
        f"leak {LEAK:g}": {width: one.plain["of"]["3"] for width, one in leaky.items() if one.plain["of"]},
    }
    for name, of_three in counts.items():
        if of_three:
            said = Rate(sum(entries[width - first][1] for width in of_three), sum(comb(width, 3) for width in of_three))
            rate = Rate(*map(sum, zip(*of_three.values(), strict=True)))
            yield StatementVerdict(
                f"most subnetworks of 3 units learn three digits ({name}, widths {min(of_three)} to {max(of_three)})",
                "Table 3.4",
                str(said),
                str(rate),
                rate.share > 0.5,
            )
    two = [one.plain["of"]["2"][0] for one in leaky.values() if one.plain["of"]]
    if two:
        yield StatementVerdict(
            f"three digits need 3 units (leak {LEAK:g})",
            "Table 3.4",
            "3 for every width",
            f"subnetworks of 2 units learn them for {sum(one > 0 for one in two)} of {len(two)} widths",
            not any(two),
        )


def _by_leak(plan: Plan, found: Mapping[tuple[int, int], Record], leaky: Mapping[int, Record]) -> Table:
    rows = tuple(
        (
            str(width),
            _printed(width, LEAKY_DIGITS),
            _cell_text(found.get((width, LEAKY_DIGITS))),
            *("/".join(map(str, record.plain["of"][str(size)])) if record.plain["of"] else "-" for size in LEAKY_SIZES),
        )
        for width, record in leaky.items()
    )
    caption = (
        f"Three digits again, with leak {LEAK:g}: section 3.4 has that leak everywhere but in section 3.4.2, and does "
        "not say which one Table 3.4 has. Subnetworks of two and of three units that learn them; one network each."
    )
    columns = ("width", "paper", "ReLU", *(f"leak {LEAK:g}, {size} units" for size in LEAKY_SIZES))
    return Table(columns, rows, caption)


def _quoted(rates: Record | None, shares: Mapping[str, rs.Finding]) -> Table:
    good = [] if rates is None else [one for one in rates.plain["of_each"] if one]
    mean = f"{np.mean(good):.2f}" if good else "-"
    rows = tuple(
        (name, f"about {said}", mean if name not in shares else per_cent(shares[name])) for name, said in QUOTED.items()
    )
    columns = ("four digits", "the dissertation", "here")
    return Table(columns, rows, "How often training and pruning succeed, with 95 % intervals.")


def _table(plan: Plan, found: Mapping[tuple[int, int], Record]) -> Table:
    every = range(1, plan.digits + 1)
    rows = []
    for width in range(2, plan.widths + 1):
        row = [str(width)]
        for digits in every:
            row += [_printed(width, digits), _cell_text(found.get((width, digits)))]
        rows.append(tuple(row))
    columns = ("width", *(text for digits in every for text in (f"{digits}, paper", f"{digits}, here")))
    caption = (
        "Table 3.4, by digits: the pruned width, and how many of the subnetworks of that width learn parity; a dash "
        f"where none of {TRIALS} networks did."
    )
    return Table(columns, tuple(rows), caption)


def _printed(width: int, digits: int) -> str:
    first, entries = PRINTED[digits]
    if width < first:
        return "-"
    units, successes = entries[width - first]
    return f"{units}, {successes}/{comb(width, units)}"


def _cell_text(record: Record | None) -> str:
    if record is None:
        return ""
    plain = record.plain
    if not plain["units"]:
        return "-"
    units = rs.Finding.from_dict(plain["units"])
    return f"{int(units)}, {plain['successes']}/{plain['choices']}"


def _pictures(rates: Record) -> Iterator[Picture]:
    shares = _shares(rates)
    if shares:
        yield Picture(
            "rates",
            plots.counts_beside(
                np.array([float(QUOTED[name].removesuffix("%")) for name in shares]),
                {"here": np.array([100 * float(one) for one in shares.values()])},
                rows=[*shares],
                label="networks, %",
                intervals={
                    "here": [(100 * one.interval[0], 100 * one.interval[1]) for one in shares.values() if one.interval]
                },
            ),
            "How often training and pruning succeed on four digits (section 3.4.4), with 95 % intervals.",
        )
    if rates.arrays:
        groups = {f"{size} unit{'s' * (size > 1)}": rates.arrays[str(size)] for size in (1, 2, 3)}
        yield Picture(
            "subnetwork-losses",
            plots.losses_in_training(groups),
            "Figure 3.10: losses of the subnetworks of a network of width 6 on four digits while they are fine-tuned, "
            "all epochs; of the networks of width 6 the one with the most subnetworks of width 3 that learn parity.",
        )
