"""The poster's results: regions, bounds and errors of networks with two hidden layers, for every split of their units.

For every split n_1 + n_2 of a number of units, ten networks are trained on MNIST. Their regions are counted exactly in
the unit box and compared with bounds, and their errors with their numbers of regions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import rankdata, spearmanr

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import plots
from reluscope_studies.bounds import montufar_upper, naive_upper, serra_upper
from reluscope_studies.interruption import Interruption
from reluscope_studies.labelled import labelled_data
from reluscope_studies.serra2018._split_networks import Measured, Networks, Plan
from reluscope_studies.sizes import planned
from reluscope_studies.training import Training

SENTENCE = "regions, bounds and errors of networks with two hidden layers, for every split of 22 units"
POSITION = 10
REPEATS = ("plot of section 5, regions", "plot of section 5, errors")
DATA = "mnist"
IS_SHORT = True
CHANGES: dict[Change, str] = {"replicates": "replicates", "epochs": "training.epochs"}
PARTS = "n1+n2"

TRAINING = Training("Adam", 2e-3, 10, 128)
PLANS = {
    "small": Plan(10, 3, Training("Adam", 1e-2, 40, 128)),
    "medium": Plan(22, 3, TRAINING),
    "full": Plan(22, 10, TRAINING),
}
BOUNDS = {"all codes": naive_upper, "Montúfar 2017": montufar_upper, "Serra 2018": serra_upper}
# The poster speaks of networks where no layer is too narrow without a number.
NARROW = 4
# With fewer networks no correlation says anything.
FEWEST = 8


def protocol(setting: Setting) -> Outcome:
    """Train, measure and count all networks that are not in the records yet, and compare."""
    plan = planned(setting, PLANS, CHANGES)
    wanted = tuple(split for split in plan.splits if setting.wants(f"{split[0]}+{split[1]}"))
    if not wanted:
        raise rs.errors.InputError(
            f"no split of {plan.units} units is called so: --only takes one as 4+{plan.units - 4}"
        )
    plan = replace(plan, only=wanted)
    work = Networks(setting, plan)
    with Interruption() as ctrl_c:
        work.finish()
    return _outcome(setting, plan, work.measured(), ctrl_c.came)


def _outcome(setting: Setting, plan: Plan, networks: Sequence[Measured], interrupted: bool) -> Outcome:
    training, _ = labelled_data(setting)
    num_inputs = training.points.shape[1]
    bounds = {name: [ask((num_inputs, *split)) for split in plan.splits] for name, ask in BOUNDS.items()}
    groups = [[one for one in networks if one.split == split] for split in plan.splits]
    counts = [[one.findings["regions"] for one in group if "regions" in one.findings] for group in groups]
    summaries = [_summary(split, found, num_inputs) for split, found in zip(plan.splits, counts, strict=True)]
    counted = [one for one in networks if "regions" in one.findings]
    related = _relations(counted)
    findings = (
        *(bound for found in bounds.values() for bound in found),
        *(one for summary in summaries for one in summary.values()),
        *related,
    )
    return Outcome(
        _sentences(setting, plan, networks, counted, related),
        findings,
        (_table(plan, groups, bounds, summaries),),
        tuple(_pictures(plan, groups, counts, bounds, counted)),
        interrupted,
        verdicts=tuple(_verdicts(plan, counted, bounds)),
    )


def _summary(split: tuple[int, int], counts: Sequence[rs.Finding], num_inputs: int) -> dict[str, rs.Finding]:
    """Return mean, least and most of the counts of one split; of LOWER bounds they are LOWER bounds."""
    if not counts:
        return {}
    values = [int(count) for count in counts]
    claim = rs.Claim.EXACT if all(count.claim is rs.Claim.EXACT for count in counts) else rs.Claim.LOWER
    numbers = {"mean": float(np.mean(values)), "least": min(values), "most": max(values)}
    return {
        name: rs.Finding(
            value,
            claim,
            name=f"{name} number of regions, {split[0]}+{split[1]} units",
            definition=f"{name} of the numbers of proper activation regions of {len(counts)} trained networks",
            domain=f"box [0, 1]^{num_inputs}",
            method=counts[0].method,
            source="serra2018",
            tolerance=1e-9 * value if name == "mean" else counts[0].tolerance,
            num_undecided=sum(count.num_undecided for count in counts),
        )
        for name, value in numbers.items()
    }


def _relations(counted: Sequence[Measured]) -> list[rs.Finding]:
    """Return rank correlations of the number of regions with errors, where no layer is too narrow."""
    wide = [one for one in counted if min(one.split) >= NARROW]
    if len(wide) < 3:
        return []
    counts = [int(one.findings["regions"]) for one in wide]
    is_exact = all(one.findings["regions"].claim is rs.Claim.EXACT for one in wide)
    found = []
    for what, errors in _errors(wide).items():
        value = np.corrcoef(rankdata(counts), rankdata(errors))[0, 1] if np.ptp(counts) and np.ptp(errors) else 0.0
        found.append(
            rs.Finding.of(
                float(value),
                *((float(value),) * 2 if is_exact else (-1.0, 1.0)),
                name=f"rank correlation of regions and {what}",
                definition=f"Spearman's, over {len(wide)} networks with {NARROW} or more units in each layer",
                domain="the networks of this study",
                method="ranks of exact counts" if is_exact else "ranks of counts, some of them lower bounds",
                source="serra2018",
                resolution=1e-12 if is_exact else None,
            )
        )
    return found


def _verdicts(
    plan: Plan, counted: Sequence[Measured], bounds: Mapping[str, list[rs.Finding]]
) -> Iterator[StatementVerdict]:
    """Return what becomes of what the poster says of its two figures."""
    if counted:
        limits = dict(zip(plan.splits, map(int, bounds["Serra 2018"]), strict=True))
        kept = sum(int(one.findings["regions"]) <= limits[one.split] for one in counted)
        whole = f"{kept} of {len(counted)} counts are below it"
        yield StatementVerdict(
            "Theorem 1 bounds the number of regions", "section 3", "for all", whole, kept == len(counted)
        )
    # A count that is a lower bound has no rank; the others have theirs without it.
    wide = [one for one in counted if min(one.split) >= NARROW and one.findings["regions"].claim is rs.Claim.EXACT]
    if len(wide) < FEWEST:
        return
    counts = [int(one.findings["regions"]) for one in wide]
    for what, errors in _errors(wide).items():
        value, chance = _spearman(counts, errors)
        # Where splits differ, both may follow the split: within one split regions have to do it on their own.
        within = _within_splits(wide, errors)
        yield StatementVerdict(
            f"{what} relates to the number of regions where no layer is too narrow ({NARROW} or more units)",
            "section 5",
            "evidence found, no number",
            f"rank correlation {value:+.2f} over {len(wide)} networks counted exactly "
            f"({_by_chance(chance)})" + ("" if within is None else f"; mean within splits {within:+.2f}"),
            True if chance < 0.05 and value < 0 else False if chance < 0.05 else None,
        )


def _by_chance(chance: float) -> str:
    return "by chance in less than 0.01 % of cases" if chance < 1e-4 else f"by chance in {100 * chance:.2g} % of cases"


def _spearman(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Return a rank correlation, and how likely one as far from zero is by chance."""
    value, chance = np.asarray(spearmanr(one, other), dtype=np.float64)
    return float(value), float(chance)


def _within_splits(networks: Sequence[Measured], errors: Sequence[float]) -> float | None:
    """Return the mean rank correlation of regions and errors within a split, of splits with three networks or more."""
    found = []
    for split in dict.fromkeys(one.split for one in networks):
        rows = [row for row, one in enumerate(networks) if one.split == split]
        counts = [int(networks[row].findings["regions"]) for row in rows]
        if len(rows) >= 3 and np.ptp(counts) and np.ptp([errors[row] for row in rows]):
            found.append(_spearman(counts, [errors[row] for row in rows])[0])
    return float(np.mean(found)) if found else None


def _errors(networks: Sequence[Measured]) -> dict[str, list[float]]:
    return {
        "training cross-entropy": [float(one.findings["training cross-entropy"]) for one in networks],
        "test error": [1 - float(one.findings["test accuracy"]) for one in networks],
    }


def _sentences(
    setting: Setting,
    plan: Plan,
    networks: Sequence[Measured],
    counted: Sequence[Measured],
    related: Sequence[rs.Finding],
) -> tuple[str, ...]:
    training, testing = labelled_data(setting)
    whole = len(plan.splits) * plan.replicates
    exact = sum(one.findings["regions"].claim is rs.Claim.EXACT for one in counted)
    how = plan.training.describe()
    said = [
        (
            f"Networks: {len(networks)} of {whole}, {plan.replicates} for every split of {plan.units} units in two "
            f"hidden layers, trained on {training.name} ({len(training):,} samples) and measured on {testing.name} "
            f"({len(testing):,})."
        ),
        (
            f"The paper trains on MNIST and leaves open how; here: {how}, first weights and biases uniform in "
            "±1/sqrt(inputs of the layer), the same order of samples for all networks of a replicate, the last step "
            "kept. The box is [0, 1] for every pixel."
        ),
    ]
    if exact < len(counted):
        said.append(
            f"Counted: {len(counted)} networks, {exact} of them exactly; the others are lower bounds (hollow marks), "
            "because a budget of time ended their counts or some programs are too near to zero to be decided."
        )
    else:
        said.append(f"Counted exactly: {len(counted)} networks.")
    if setting.size == "small":
        said.append(
            "This is the small size, which shows the same at a smaller scale: 10 units and 3 networks for every split, "
            "not 22 and 10; its numbers are not the paper's."
        )
    if "MNIST" not in training.name:
        said.append(f"The paper's data are MNIST; these networks were trained on {training.name}.")
    said += [f"{one.name[0].upper()}{one.name[1:]}: {one}, {one.definition}." for one in related]
    return tuple(said)


def _table(plan: Plan, groups, bounds, summaries) -> Table:
    columns = ("units", "networks", "least", "mean", "most", "claim", *bounds, "from weights", "training loss")
    rows = []
    for index, (split, group, summary) in enumerate(zip(plan.splits, groups, summaries, strict=True)):
        row = [f"{split[0]}+{split[1]}", str(len(group))]
        if summary:
            row += [f"{int(summary['least']):,}", f"{float(summary['mean']):,.1f}", f"{int(summary['most']):,}"]
            row.append(str(summary["mean"].claim))
        else:
            row += [""] * 4
        row += [f"{int(found[index]):,}" for found in bounds.values()]
        if group:
            losses, errors = _errors(group).values()
            row += [f"{np.mean([int(one.findings['bound']) for one in group]):,.0f}"]
            row += [f"{np.mean(losses):.3f}", f"{100 * np.mean(errors):.1f} %"]
        else:
            row += [""] * 3
        rows.append(tuple(row))
    caption = (
        "Numbers of regions in the unit box, upper bounds (that from the weights holds in the box only, mean over the "
        "networks), and mean errors."
    )
    return Table((*columns, "test error"), tuple(rows), caption)


def _pictures(plan: Plan, groups, counts, bounds, counted: Sequence[Measured]):
    first = [split[0] for split in plan.splits]
    weights = [[one.findings["bound"] for one in group] for group in groups]
    label = f"units in the first of two layers, of {plan.units} in both"
    yield Picture(
        "regions_by_split",
        plots.bounds_and_counts(first, bounds, {"bound from weights": weights, "regions": counts}, xlabel=label),
        "Regions of trained networks in the unit box for every split of the units: mean, and range over the networks, "
        "under upper bounds. Hollow marks are lower bounds.",
    )
    if counted:
        yield Picture(
            "errors_by_regions",
            plots.errors_and_counts(
                [one.findings["regions"] for one in counted],
                _errors(counted),
                [one.split[0] for one in counted],
                label="units in the first layer",
            ),
            "Training loss and test error of each network over its number of regions. Hollow marks are lower bounds of "
            "the number of regions.",
        )
