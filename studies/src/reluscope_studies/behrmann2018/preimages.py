"""Figure 4: kinds of preimages of first-layer outputs over the number of positive outputs, and Algorithm 1 beside.

The paper calls a preimage finite if it has at least as many positive outputs as inputs, and elsewhere asks its
Algorithm 1, which calls some unbounded preimages finite. Here every kind has a certificate, and the algorithm as
printed is asked at some of the samples to see how often it errs.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Int
from matplotlib.figure import Figure
from scipy.stats import binom

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Record, Setting, StatementVerdict, Table
from reluscope_studies import plots, preimages
from reluscope_studies.behrmann2018._networks import DENSE, MLP, Architecture, Plan, Training
from reluscope_studies.classifiers import trained
from reluscope_studies.labelled import labelled_data
from reluscope_studies.sizes import planned

SENTENCE = (
    "preimages of first-layer outputs by their number of positive entries, and where the published algorithm errs"
)
POSITION = 20
REPEATS = ("Figure 4", "Table 2")
DATA = "mnist"
IS_SHORT = True
CHANGES: dict[Change, str] = {"points": "num_asked", "epochs": "training.epochs"}

BLOCK, RANGES = 250, 8
# Where the paper has no more bounded preimages below, and no unbounded ones from (Figure 4).
PAPER_BOUNDED_FROM, PAPER_POINTS_FROM = 723, 784


@dataclass(frozen=True)
class AskedPlan(Plan):
    """Also at how many of the test samples the published algorithm is asked."""

    num_asked: int


PLANS = {
    # On digits, of 64 inputs, as in the paper so many units that about as many are positive as there are inputs.
    "small": AskedPlan(Architecture("dense", (), (72, 64)), Training("Adam", 1e-3, 25, 100), 360),
    "full": AskedPlan(DENSE, MLP, 200),
}


def protocol(setting: Setting) -> Outcome:
    """Train the network if it is not in the records yet, classify the test samples, and ask Algorithm 1 at some."""
    return report(setting, planned(setting, PLANS, CHANGES))


def report(setting: Setting, plan: AskedPlan) -> Outcome:
    """Do what a plan says; all that is in the records already is not done again."""
    training, testing = labelled_data(setting)
    try:
        network, found = trained(setting, plan.architecture, plan.training, training, testing)
    except KeyboardInterrupt:
        return Outcome(("The network was not trained yet.",), (), interrupted=True)
    layer = rs.preimages.read_layer(network)
    points = testing.points[np.random.default_rng(setting.seed).permutation(len(testing))]
    kinds, interrupted = _kinds(setting, layer, points)
    asked = np.zeros((0, 3), dtype=np.int64)
    if not interrupted:
        asked, interrupted = _asked(setting, plan, layer, points, kinds)
    sentences = [
        (
            f"A network of {' and '.join(map(str, plan.architecture.hidden))} units, trained on {training.name} "
            f"({len(training):,} samples): {plan.training.describe()}. Kinds are those of the exact outputs of "
            f"{layer.name} at {len(kinds):,} test samples, in random order, with all of R^{layer.num_inputs} as inputs."
        ),
        *(f"{note[0].upper()}{note[1:]}: {data.name}." for data in (training, testing) for note in data.notes),
        (
            "Wendel: every open half-space of k dimensions holds one of m independent directions with symmetric "
            "distribution with the probability 1 - 2^(1-m) (C(m-1, 0) + ... + C(m-1, k-1)). With the zero outputs as m "
            "and the directions that positive outputs leave open as k, this would be the chance of a bounded preimage "
            "if weights were such; where it is not what is found, trained weights differ from random ones."
        ),
    ]
    if setting.size == "small":
        sentences.append("This is the small size; numbers of positive outputs are not the paper's.")
    if not len(kinds):
        return Outcome(tuple(sentences), (found,), interrupted=interrupted)
    errors = asked[:, 2]
    findings = [
        found,
        *(kinds.count(kind) for kind in rs.preimages.PreimageKind if kind is not rs.preimages.PreimageKind.EMPTY),
        *_transition(kinds),
        *(_error(error, errors) for error in preimages.Error if len(errors)),
    ]
    tables = (
        _statements(kinds, layer, errors),
        _by_number(kinds, layer, asked),
    )
    picture = Picture(
        "preimages",
        _beside_paper(rs.plots.preimages(kinds), layer),
        "Kinds of preimages of first-layer outputs of test samples, over the number of positive outputs (Figure 4)."
        + (" Grey: where the paper finds both unbounded and compact ones." if _is_as_wide(layer) else ""),
    )
    verdicts = tuple(_verdicts(setting, kinds, layer, errors))
    return Outcome(tuple(sentences), tuple(findings), tables, (picture,), interrupted, verdicts=verdicts)


def _is_as_wide(layer: rs.preimages.GateLayer) -> bool:
    return layer.num_inputs == PAPER_POINTS_FROM


def _beside_paper(figure: Figure, layer: rs.preimages.GateLayer) -> Figure:
    """Return the picture with the strip of the paper's, where there are as many inputs."""
    if not _is_as_wide(layer):
        return figure
    return plots.with_paper(figure, strip=(PAPER_BOUNDED_FROM - 0.5, PAPER_POINTS_FROM - 0.5), said="both kinds")


def _kinds(setting: Setting, layer: rs.preimages.GateLayer, points: np.ndarray) -> tuple[rs.preimages.Preimages, bool]:
    """Return the kinds at as many points as there is time for, and whether Ctrl-C came."""
    parts: list[Record] = []
    began, done, interrupted = time.perf_counter(), 0, False
    for start in range(0, len(points), BLOCK):
        name, block = f"kinds-{start}", points[start : start + BLOCK]
        if name not in setting.records and parts and _is_over(setting, began):
            break
        setting.progress(f"Preimages of {layer.name}: sample {start + 1:,} of {len(points):,}")
        try:
            if name not in setting.records:
                setting.records[name] = _record(rs.preimages.classify_at(layer, block))
        except KeyboardInterrupt:
            interrupted = True
            break
        parts.append(setting.records[name])
        done += len(block)
    return _of_records(parts, points[:done], layer), interrupted


def _record(found: rs.preimages.Preimages) -> Record:
    arrays = {
        "kinds": found.kinds,
        "deciders": found.deciders,
        "is_proved": found.is_proved,
        "dims": found.dims,
        "num_equations": found.num_equations,
    }
    return Record({"tolerance": found.tolerance, "seconds": found.seconds}, arrays)


def _of_records(parts: list[Record], points: np.ndarray, layer: rs.preimages.GateLayer) -> rs.preimages.Preimages:
    """Put blocks together; certificates, which were found and looked at for every kind, are not kept."""

    def joined(name: str, kind: type) -> np.ndarray:
        return np.concatenate([part.arrays[name] for part in parts] or [np.zeros(0)]).astype(kind)

    return rs.preimages.Preimages(
        joined("kinds", np.int8),
        joined("deciders", np.int8),
        joined("is_proved", bool),
        joined("dims", np.int64),
        joined("num_equations", np.int64),
        points,
        ((),) * len(points),
        layer.name,
        False,
        max((float(part.plain["tolerance"]) for part in parts), default=0.0),
        sum(float(part.plain["seconds"]) for part in parts),
    )


def _asked(
    setting: Setting, plan: AskedPlan, layer: rs.preimages.GateLayer, points: np.ndarray, kinds: rs.preimages.Preimages
) -> tuple[Int[np.ndarray, "a 3"], bool]:
    """Return at some samples their row, what Algorithm 1 says (finite or not) and how it errs; and whether Ctrl-C came.

    Unbounded preimages, of which it can say that they are finite, and others take turns.
    """
    found: list[tuple[int, int, int]] = []
    is_unbounded = kinds.kinds == rs.preimages.PreimageKind.UNBOUNDED
    turns = np.argsort(np.where(is_unbounded, np.cumsum(is_unbounded), np.cumsum(~is_unbounded)), kind="stable")
    began, number = time.perf_counter(), min(plan.num_asked, len(kinds))
    for row in turns[:number].tolist():
        name = f"algorithm-{row}"
        if name not in setting.records and found and _is_over(setting, began):
            break
        setting.progress(f"Algorithm 1: sample {len(found) + 1:,} of {number:,}")
        try:
            if name not in setting.records:
                said = preimages.compare_with_algorithm_1(layer, layer(points[[row]]), kinds.take(np.array([row])))
                setting.records[name] = Record({"finite": bool(said.says_finite[0]), "error": int(said.errors[0])})
        except KeyboardInterrupt:
            return np.array(found, dtype=np.int64).reshape(-1, 3), True
        plain = setting.records[name].plain
        found.append((row, int(plain["finite"]), int(plain["error"])))
    return np.array(found, dtype=np.int64).reshape(-1, 3), False


def _is_over(setting: Setting, began: float) -> bool:
    return setting.seconds is not None and time.perf_counter() - began > setting.seconds


def _transition(kinds: rs.preimages.Preimages) -> list[rs.Finding]:
    """Return from how many positive outputs preimages can be bounded, and up to how many unbounded, as far as seen."""
    is_unbounded = kinds.kinds == rs.preimages.PreimageKind.UNBOUNDED
    make = rs.Finding.of if kinds.is_proved.all() else rs.Finding.estimate
    found = []
    for name, some, extreme in (
        ("fewest positive outputs with a bounded preimage", ~is_unbounded, np.min),
        ("most positive outputs with an unbounded preimage", is_unbounded, np.max),
    ):
        if some.any():
            found.append(
                make(
                    int(extreme(kinds.num_equations[some])),
                    name=name,
                    definition="over the test samples that were classified",
                    source="behrmann2018",
                )
            )
    return found


def _error(error: preimages.Error, errors: np.ndarray) -> rs.Finding:
    name = "right" if error is preimages.Error.NONE else f"wrong: {error.name.lower().replace('_', ' ')}"
    return rs.Finding.of(
        int((errors == error).sum()),
        name=f"answers of Algorithm 1 that are {name}",
        definition="Algorithm 1 as printed against the kinds found",
        domain=f"{len(errors):,} test samples",
        source="behrmann2018",
    )


def _verdicts(
    setting: Setting, kinds: rs.preimages.Preimages, layer: rs.preimages.GateLayer, errors: np.ndarray
) -> Iterator[StatementVerdict]:
    """Return what becomes of what the paper says of its Figure 4."""
    positive, is_unbounded = kinds.num_equations, kinds.kinds == rs.preimages.PreimageKind.UNBOUNDED
    enough = kinds.kinds[positive >= layer.num_inputs]
    points = int((enough == rs.preimages.PreimageKind.SINGLETON).sum())
    yield StatementVerdict(
        "with as many positive outputs as inputs the preimage is a point",
        "section 2.2",
        "assumed",
        f"{points:,} of {len(enough):,}",
        points == len(enough) if len(enough) else None,
    )
    some = kinds.kinds[positive < layer.num_inputs]
    bounded = int((some == rs.preimages.PreimageKind.COMPACT).sum())
    yield StatementVerdict(
        "finite and infinite preimages both occur",
        "Figure 4",
        "both curves",
        f"{bounded:,} compact, {int(is_unbounded.sum()):,} unbounded of {len(some):,} with fewer positive outputs",
        bounded > 0 and bool(is_unbounded.any()) if len(some) else None,
    )
    if setting.size != "small" and is_unbounded.any() and not is_unbounded.all():
        first, last = int(positive[~is_unbounded].min()), int(positive[is_unbounded].max())
        yield StatementVerdict(
            "below 723 positive outputs all preimages are infinite, and both kinds occur from there to 784",
            "Figure 4",
            f"{PAPER_BOUNDED_FROM} and {PAPER_POINTS_FROM}",
            f"the first bounded at {first}, the last unbounded at {last}",
            abs(first - PAPER_BOUNDED_FROM) <= 5 and abs(last - PAPER_POINTS_FROM) <= 5,
        )
    if len(errors):
        wrong = int((errors != preimages.Error.NONE).sum())
        yield StatementVerdict(
            "Algorithm 1 tells the kinds of preimages of trained layers",
            "section 2.1",
            "always",
            f"{wrong} of {len(errors)} answers are wrong",
            wrong == 0,
        )


def _statements(kinds: rs.preimages.Preimages, layer: rs.preimages.GateLayer, errors: np.ndarray) -> Table:
    """Return the statements of the paper beside the results."""
    positive, is_unbounded = kinds.num_equations, kinds.kinds == rs.preimages.PreimageKind.UNBOUNDED
    enough = positive >= layer.num_inputs
    points_there = int((kinds.kinds[enough] == rs.preimages.PreimageKind.SINGLETON).sum())
    rows = [
        (
            f"preimages with at least {layer.num_inputs:,} positive outputs, as many as inputs",
            "single points (assumed)",
            f"{points_there:,} of {int(enough.sum()):,} are single points",
        ),
        (
            "up to so many positive outputs all are unbounded",
            f"{PAPER_BOUNDED_FROM - 1:,} (of {PAPER_POINTS_FROM:,} inputs)",
            f"{int(positive[~is_unbounded].min()) - 1:,}" if not is_unbounded.all() else "all are",
        ),
        (
            "from so many positive outputs none is unbounded",
            f"{PAPER_POINTS_FROM:,} (of {PAPER_POINTS_FROM:,} inputs)",
            f"{int(positive[is_unbounded].max()) + 1:,}" if is_unbounded.any() else "none is",
        ),
    ]
    if len(errors):
        wrong = int((errors != preimages.Error.NONE).sum())
        rows.append(("answers of Algorithm 1 that are wrong", "none expected", f"{wrong:,} of {len(errors):,}"))
    return Table(("question", "paper", "here"), tuple(rows), "What the paper says of its Figure 4, beside ours.")


def _by_number(kinds: rs.preimages.Preimages, layer: rs.preimages.GateLayer, asked: Int[np.ndarray, "a 3"]) -> Table:
    """Return the kinds in ranges of numbers of positive outputs, what Algorithm 1 says there, and Wendel's chance."""
    positive = kinds.num_equations
    edges = np.unique(np.linspace(positive.min(), positive.max() + 1, RANGES + 1).round().astype(int))
    if edges[0] < layer.num_inputs < edges[-1]:
        edges = np.union1d(edges, layer.num_inputs)
    rows = []
    for low, high in pairwise(edges.tolist()):
        some: Bool[np.ndarray, " s"] = (positive >= low) & (positive < high)
        if not some.any():
            continue
        said = asked[some[asked[:, 0]]]
        open_ = layer.num_inputs - float(positive[some].mean())
        zeros = layer.num_units - float(positive[some].mean())
        chance = "" if open_ <= 0 else f"{wendel(round(zeros), round(open_)):.3g}"
        rows.append(
            (
                f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}",
                f"{int(some.sum()):,}",
                *(
                    f"{int((kinds.kinds[some] == kind).sum()):,}"
                    for kind in (
                        rs.preimages.PreimageKind.SINGLETON,
                        rs.preimages.PreimageKind.COMPACT,
                        rs.preimages.PreimageKind.UNBOUNDED,
                    )
                ),
                f"{int(said[:, 1].sum()):,} of {len(said):,}",
                f"{int((said[:, 2] != preimages.Error.NONE).sum()):,}",
                chance,
            )
        )
    columns = ("positive", "samples", "points", "compact", "unbounded", "called finite", "wrongly", "Wendel")
    caption = (
        "Kinds by the number of positive outputs; at how many of the samples that Algorithm 1 was asked at, unbounded "
        "ones and others by turns, it says finite, how many of its answers are wrong, and Wendel's probability of a "
        "bounded preimage at the mean of the range."
    )
    return Table(columns, tuple(rows), caption)


def wendel(number: int, dimension: int) -> float:
    """Return the chance that independent directions, symmetric and in general position, leave no half-space empty.

    Examples
    --------
    >>> wendel(3, 2), wendel(4, 2), round(wendel(10, 3), 5), wendel(2, 0)
    (0.25, 0.5, 0.91016, 1.0)
    """
    return 1.0 if dimension <= 0 else float(binom.sf(dimension - 1, number - 1, 0.5)) if number > 0 else 0.0
