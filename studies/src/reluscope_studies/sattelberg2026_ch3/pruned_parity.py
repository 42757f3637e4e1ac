"""Table 3.4, Figure 3.10: the fewest units of a trained layer that still learn parity, by all its subnetworks."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import comb

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Record, Setting, Size, Table
from reluscope_studies import plots
from reluscope_studies.records import plain_findings
from reluscope_studies.sattelberg2026_ch3._networks import first_networks
from reluscope_studies.sattelberg2026_ch3._parity import (
    EPOCHS,
    HOW,
    PROTOCOL,
    learned,
    parity,
    per_cent,
    share_of,
)
from reluscope_studies.sizes import planned

SENTENCE = "parity by one hidden layer: the smallest subnetworks of trained networks, all of them tried"
POSITION = 60
DATA = None
CHANGES: dict[Change, str] = {"replicates": "networks"}

TRIALS = 4
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
    "that one network, in the dissertation as here. Its 1/128 of width 9, six digits, must be 1/126."
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
    rates, is_interrupted = None, False
    try:
        rates = _kept(setting, "rates", lambda: _rates(setting, plan))
        for width, digits in cells:
            setting.progress(f"Subnetworks of width {width}, {digits} digits", len(found) / len(cells))
            found[width, digits] = _kept(
                setting, f"width-{width}-digits-{digits}", lambda w=width, d=digits: _cell(setting, w, d)
            )
    except KeyboardInterrupt:
        is_interrupted = True
    sentences = (
        PROTOCOL,
        TAKEN,
        *(() if setting.size == "full" else ("This is the small size: fewer widths, digits and networks.",)),
    )
    units = [rs.Finding.from_dict(one.plain["units"]) for one in found.values() if one.plain["units"]]
    shares = {} if rates is None else _shares(rates)
    pictures = [] if rates is None else list(_pictures(rates))
    return Outcome(
        sentences,
        (*shares.values(), *units),
        (_table(plan, found), _quoted(rates, shares)),
        tuple(pictures),
        interrupted=is_interrupted,
    )


def _kept(setting: Setting, name: str, make: Callable[[], Record]) -> Record:
    if name not in setting.records:
        setting.records[name] = make()
    return setting.records[name]


def _seeds(setting: Setting, number: int, *about: int) -> list[int]:
    return np.random.default_rng([setting.seed, *about]).integers(2**31, size=number).tolist()


def _cell(setting: Setting, width: int, digits: int) -> Record:
    """Train networks of one width and prune the first that learns parity."""
    seeds = _seeds(setting, TRIALS, width, digits)
    trained = learned(first_networks((width,), num_inputs=digits, seeds=seeds, device=setting.device), digits)
    rows = trained.reached.nonzero()[:, 0].tolist()
    if not rows:
        return Record({"units": None})
    found = rs.compression.prune_exhaustively(trained.stack.take(rows[:1]), *parity(digits), epochs=EPOCHS, **HOW)
    assert found.num_units is not None
    plain = {"successes": found.num_successes, "choices": len(found.kept), **plain_findings({"units": found.num_units})}
    return Record(plain)


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
    parts = rs.stacked.concatenate([_of_size(wide.stack.take([row]), 3) for row in solved])
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


def _of_size(stack: rs.stacked.Stack, size: int) -> rs.stacked.Stack:
    every = rs.stacked.subnetworks(stack)
    return every.take((every.kept[0].sum(dim=1) == size).nonzero()[:, 0]).compact()


def _losses(stack: rs.stacked.Stack) -> dict[str, np.ndarray]:
    """Return the losses in training of all subnetworks of one, two and three units, epoch by epoch."""
    found = {}
    for size in (1, 2, 3):
        kept: list[Tensor] = []

        def keep(outputs: Tensor, targets: Tensor, kept: list[Tensor] = kept) -> Tensor:
            kept.append(binary_cross_entropy_with_logits(outputs, targets, reduction="none").mean(dim=(1, 2)).cpu())
            return torch.zeros(len(outputs), dtype=torch.bool, device=outputs.device)

        chosen = _of_size(stack, size)
        rs.stacked.train(chosen, *parity(4), epochs=EPOCHS, goal=keep, chunk=len(chosen), **HOW)
        found[str(size)] = torch.stack(kept, dim=1).numpy()
    return found


def _shares(rates: Record) -> dict[str, rs.Finding]:
    plain = rates.plain
    networks, wide, good = plain["networks"], plain["wide"], sum(one > 0 for one in plain["of_each"])
    names = list(QUOTED)
    counts = [(wide, networks), (good, wide), (good, networks), (plain["narrow"], networks)]
    return {name: share_of(some, number, name) for name, (some, number) in zip(names, counts, strict=False) if number}


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
    if rates.arrays:
        groups = {f"{size} unit{'s' * (size > 1)}": rates.arrays[str(size)] for size in (1, 2, 3)}
        yield Picture(
            "subnetwork-losses",
            plots.losses_in_training(groups),
            "Figure 3.10: losses of the subnetworks of a network of width 6 on four digits while they are fine-tuned, "
            "all epochs; of the networks of width 6 the one with the most subnetworks of width 3 that learn parity.",
        )
