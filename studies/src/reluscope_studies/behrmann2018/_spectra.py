"""The protocol of the studies of singular values: networks are trained, decomposed at samples, and reported."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import lemmas, plots
from reluscope_studies.behrmann2018._networks import SMALL_THIN, SMALL_WIDE, THIN, WIDE, Architecture, Training
from reluscope_studies.classifiers import trained
from reluscope_studies.labelled import Labelled, labelled_data
from reluscope_studies.pictures import correlation_counts

MEASURES = (
    "num_nonzero_singular_values",
    "condition_number",
    "largest_singular_value",
    "smallest_nonzero_singular_value",
    "stable_rank",
)

# From this constant on all rows meet the condition of Lemma 9, by Figure 9.
PAPER_CONSTANT = 6.0
# Where the paper draws the decay of singular values, and what gates do to them; of the dense network in Figure 11.
FIGURES = {
    **dict.fromkeys((WIDE.name, SMALL_WIDE.name), ("Figure 6", "Figure 8")),
    **dict.fromkeys((THIN.name, SMALL_THIN.name), ("Figure 10", "Figure 10")),
}
OF_DENSE = ("Figure 11", "Figure 11")
# A gate cuts singular values off if it leaves fewer than this share of them.
CUT = 0.9


@dataclass(frozen=True)
class Plan:
    """Which networks are trained, and at how many samples their Jacobians are decomposed.

    Parameters
    ----------
    name : str
        Of the study, before those of its pictures.
    architectures : tuple of Architecture
    training : Training
    num_samples : int
        Test samples whose Jacobians are decomposed.
    pairs : tuple of int
        Affine steps, counted from one, whose singular values are drawn before and after their gate.
    correlated : tuple of int
        Affine steps of the first network at which rows are counted for Lemma 9.
    statements : mapping
        What the paper says, by the question it answers, for tables.
    """

    name: str
    architectures: tuple[Architecture, ...]
    training: Training
    num_samples: int
    pairs: tuple[int, ...]
    correlated: tuple[int, ...]
    statements: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Looked:
    """A trained network, its accuracy, and the singular values found so far."""

    name: str
    network: rs.Network
    accuracy: rs.Finding
    found: rs.Findings


def report(setting: Setting, plan: Plan) -> Outcome:
    """Train networks and look at samples that are not in the records yet, and report all that is."""
    training, testing = labelled_data(setting)
    rows = np.random.default_rng(setting.seed).permutation(len(testing))[: plan.num_samples]
    looked: list[Looked] = []
    interrupted = False
    try:
        for architecture in plan.architectures:
            if not setting.wants(architecture.name):
                continue
            network, found = trained(setting, architecture, plan.training, training, testing)
            values = _values(setting, architecture.name, network, testing, rows)
            looked.append(Looked(architecture.name, network, found, values))
            interrupted = bool(values.stopped)
            if interrupted:
                break
    except KeyboardInterrupt:
        interrupted = True
    first = testing.points[rows[0]]
    counted = (
        {} if interrupted or not looked else {step: _correlated(looked[0], first, step) for step in plan.correlated}
    )
    return _outcome(setting, plan, training, testing, looked, counted, interrupted)


def _values(setting: Setting, name: str, network: rs.Network, testing: Labelled, rows: np.ndarray) -> rs.Findings:
    """Return what is known of the singular values of samples; finished ones are kept in the records."""

    def progress(share: float) -> None:
        setting.progress(f"Singular values of {name} at {len(rows)} samples", share)

    return rs.stability.spectra(
        network, testing.points[rows], population=len(testing), checkpoint=setting.records, progress=progress
    )


def _affine(step: int) -> int:
    """Return which layer an affine step is, counted from one, when each but the last is followed by a gate."""
    return 2 * (step - 1)


def _correlated(one: Looked, point: np.ndarray, step: int) -> tuple[lemmas.CorrelationCounts, rs.Finding | None]:
    """Return the counts of rows for Lemma 9 and the sharper bound, at one sample."""
    prefix = rs.stability.prefix_map(one.network, point, _affine(step))
    assert prefix.slopes is not None
    removed = prefix.slopes == 0
    limits = lemmas.correlation_counts(prefix.matrix, removed, []).all_from
    grid = np.linspace(0.0, 1.15 * limits if np.isfinite(limits) else 1.0, 200)
    bounds = {bound.name.split(", ")[-1]: bound for bound in lemmas.lemma9(prefix.matrix, removed).findings()}
    return lemmas.correlation_counts(prefix.matrix, removed, grid), bounds.get("sharper")


def _outcome(
    setting: Setting,
    plan: Plan,
    training: Labelled,
    testing: Labelled,
    whole: list[Looked],
    counted: dict[int, tuple[lemmas.CorrelationCounts, rs.Finding | None]],
    interrupted: bool,
) -> Outcome:
    sentences = [
        (
            f"{' and '.join(one.name for one in plan.architectures)}, trained on {training.name} ({len(training):,} "
            f"samples): {plan.training.describe()}; singular values at {plan.num_samples} test samples, drawn at "
            "random. Weights begin after Glorot and Bengio and convolutions keep the size of the image but for their "
            "stride, which the paper leaves open."
        ),
        "Affine steps and gates are layers of their own; a layer's Jacobian is that from the input through it.",
        *(f"{note[0].upper()}{note[1:]}: {data.name}." for data in (training, testing) for note in data.notes),
    ]
    if setting.size == "small":
        sentences.append(
            "This is the small size, which shows the same at a smaller scale; numbers are not the paper's."
        )
    findings = [one.accuracy for one in whole]
    tables, pictures = [], []
    for one in whole:
        medians, table = _by_layer(one)
        findings += medians
        tables.append(table)
    if whole:
        tables.append(_statements(plan, whole, counted))
        pictures = _pictures(plan, whole, counted)
    findings += [bound for _, bound in counted.values() if bound is not None]
    verdicts = () if interrupted else tuple(verdict for one in whole for verdict in _verdicts(one))
    return Outcome(tuple(sentences), tuple(findings), tuple(tables), tuple(pictures), interrupted, verdicts=verdicts)


def _verdicts(one: Looked) -> list[StatementVerdict]:
    """Return what becomes of section 3.2, by medians over samples, of the convolutions where there are some.

    Small values are compared at one place, that of the smallest which all gates have: a gate that cuts values off has
    its smallest nonzero one further up.
    """
    every = rs.stability.layers(one.network)
    gates = [layer for layer in every if layer.kind == "gate"]
    shown = gates[:-1] if len(gates) > 2 else gates
    curves = [rs.stability.curve(one.found, layer.name) for layer in shown]
    numbers = [_median(one, layer, MEASURES[0]) for layer in shown]
    common = min(0 if number is None else int(number.value) for number in numbers)
    if not common or any(len(curve) < common for curve in curves):
        return []
    largest, small = ([float(curve[place]) for curve in curves] for place in (0, common - 1))
    found = [
        StatementVerdict(
            f"the largest singular value grows with the layers ({one.name})",
            f"section 3.2, {FIGURES.get(one.name, OF_DENSE)[0]}",
            "grows",
            (" to " if len(largest) == 2 else ", ").join(f"{value:.3g}" for value in largest),
            _goes(largest, up=True),
        ),
        StatementVerdict(
            f"small singular values decrease ({one.name})",
            f"section 3.2, {FIGURES.get(one.name, OF_DENSE)[0]}",
            "decrease significantly",
            f"that of number {common:,}: " + ", ".join(f"{value:.3g}" for value in small),
            _goes(small, up=False),
        ),
    ]
    for before, gate in pairwise(every):
        counts = [_median(one, layer, MEASURES[0]) for layer in (before, gate)]
        conditions = [_median(one, layer, MEASURES[1]) for layer in (before, gate)]
        if gate.kind != "gate" or None in (*counts, *conditions):
            continue
        (more, fewer), (first, then) = (
            [float(end) for end in ends if end is not None] for ends in (counts, conditions)
        )
        if fewer < CUT * more:
            found.append(
                StatementVerdict(
                    f"cutting off singular values lowers the condition number, {gate.name} ({one.name})",
                    "section 3.2, Figure 5" if one.name in FIGURES else "section 3.2",
                    "in words, of ThinCIFAR",
                    f"{more:,.0f} to {fewer:,.0f} values, condition number {first:.3g} to {then:.3g}",
                    then < first,
                )
            )
    return found


def _goes(values: list[float], *, up: bool) -> bool | None:
    """Return whether numbers go one way all along; None where they go there in the end only."""
    steps = [(after > before) is up for before, after in pairwise(values)]
    return True if all(steps) else None if (values[-1] > values[0]) is up else False


def _by_layer(one: Looked) -> tuple[list[rs.Finding], Table]:
    medians, rows = [], []
    every = rs.stability.layers(one.network)
    for index, layer in enumerate(every):
        some = [_median(one, layer, which) for which in MEASURES]
        medians += [finding for finding in some if finding is not None]
        shown = ["none" if finding is None else f"{finding.value:.3g}" for finding in some[1:]]
        rows.append((f"{index + 1}", f"{layer.name} ({layer.kind})", f"{layer.size:,}", _whole(some[0]), *shown))
    columns = ("layer", "name", "entries", "nonzero", "condition", "largest", "smallest", "stable rank")
    caption = (
        f"{one.name}, test accuracy {100 * float(one.accuracy):.1f} %: medians over "
        f"{int(one.found.is_done.sum()) // len(every)} samples of the number of nonzero singular values, the condition "
        "number over these, the largest, the smallest of them, and the stable rank."
    )
    return medians, Table(columns, tuple(rows), caption)


def _whole(finding: rs.Finding | None) -> str:
    return "none" if finding is None else f"{finding.value:,.0f}"


def _median(one: Looked, layer: rs.stability.NetworkLayer, which: str) -> rs.Finding | None:
    """Return the median over samples, named after network and layer, None if no sample has one."""
    found = one.found.where(layer=layer.name)
    if np.isnan(found[which].value).all():
        return None
    median = found.median(which)
    return replace(median, name=f"{one.name}: {median.name} after {layer.name} ({layer.kind})")


def _statements(
    plan: Plan, whole: list[Looked], counted: dict[int, tuple[lemmas.CorrelationCounts, rs.Finding | None]]
) -> Table:
    """Return the statements of the paper beside the results."""
    rows: list[tuple[str, str, str]] = []
    for one in whole:
        gates = [layer for layer in rs.stability.layers(one.network) if layer.kind == "gate"]
        first, last = gates[0], gates[-2] if len(gates) > 2 else gates[-1]
        for which, measure in (("largest", MEASURES[2]), ("smallest", MEASURES[3])):
            told = " to ".join(
                "none" if finding is None else f"{finding.value:.3g}"
                for finding in (_median(one, layer, measure) for layer in (first, last))
            )
            what = f"{one.name}: {which} singular value from {first.name} to {last.name}"
            rows.append((what, plan.statements.get(which, ""), told))
    for step, (counts, bound) in counted.items():
        name = rs.stability.layers(whole[0].network)[_affine(step) + 1].name
        found = whole[0].found.where(sample=0, layer=name)
        largest, smallest = (float(found[which].value[0]) for which in MEASURES[2:4])
        rows += [
            (f"{whole[0].name}, {name}: rows left", plan.statements.get("left", ""), f"{counts.num_left:,}"),
            (
                f"{whole[0].name}, {name}: all rows meet the condition from c =",
                plan.statements.get("constant", ""),
                f"{counts.all_from:.3g}",
            ),
            (f"{whole[0].name}, {name}: largest value", plan.statements.get("after", ""), f"{largest:.3g}"),
        ]
        if bound is not None:
            rows.append((f"{whole[0].name}, {name}: smallest nonzero value, sharper bound", "", f"{bound.value:.3g}"))
        rows.append((f"{whole[0].name}, {name}: smallest nonzero value", "", f"{smallest:.3g}"))
    return Table(("question", "paper", "here"), tuple(rows), "What the paper says, in words or numbers, beside ours.")


def _beside_paper(figure: Figure, name: str) -> Figure:
    """Return the picture with the constant of Figure 9, which the paper reads off one sample of the same network."""
    if name != WIDE.name:
        return figure
    return plots.with_paper(figure, at=[PAPER_CONSTANT], said=f"all from c about {PAPER_CONSTANT:g}")


def _pictures(
    plan: Plan, whole: list[Looked], counted: dict[int, tuple[lemmas.CorrelationCounts, rs.Finding | None]]
) -> list[Picture]:
    every = {one.name: one.found for one in whole}
    pictures = [
        Picture(
            f"{plan.name}-layers",
            rs.plots.spectra_by_layer(every),
            "Entries, nonzero singular values and condition numbers by layer, medians over samples"
            + (" (Figure 5)." if every.keys() <= FIGURES.keys() else "."),
        )
    ]
    for number, (name, found) in enumerate(every.items()):
        layers = rs.stability.layers(whole[number].network)
        convolutions = [index for index, layer in enumerate(layers[:-2]) if layer.kind == "gate"]
        pairs = [index for step in plan.pairs for index in (_affine(step), _affine(step) + 1)]
        pictures += [
            Picture(
                f"{plan.name}-decay-{number + 1}",
                rs.plots.spectra(found, layers=convolutions),
                f"{name}: singular values after the gates, medians over samples and bands from the first to the third "
                f"quartile ({FIGURES.get(name, OF_DENSE)[0]}).",
            ),
            Picture(
                f"{plan.name}-gates-{number + 1}",
                rs.plots.spectra(found, layers=pairs),
                f"{name}: singular values before (dashed) and after gates ({FIGURES.get(name, OF_DENSE)[1]}).",
            ),
        ]
    for step, (counts, _) in counted.items():
        pictures.append(
            Picture(
                f"{plan.name}-correlation-{step}",
                _beside_paper(correlation_counts(counts), whole[0].name),
                f"{whole[0].name}, affine step {step}, one sample: how many rows meet the condition of Lemma 9, for "
                "the removed row with the most (Figure 9).",
            )
        )
    return pictures
