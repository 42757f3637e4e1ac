"""What is reported of a network in training: regions on the way, the exact picture at the end, and the film of it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import reluscope as rs
from reluscope.studies import Film, Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import plots
from reluscope_studies.sattelberg2026_runs import BATCH, POINTS, RATE, SHOWN, SOLVED, WINDOW, Plan, Run, trained

SNAPSHOTS, ROWS = 4, 12
# A network settles in a small part of its training.
EARLY = 0.1
HEXAGON = 6
# The decision boundary is looked for far around the points.
WIDE = rs.Box(-100.0, 100.0, 2)


@dataclass(frozen=True, eq=False)
class Part:
    """A part of what is reported."""

    sentences: list[str] = field(default_factory=list)
    findings: list[rs.Finding] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    verdicts: list[StatementVerdict] = field(default_factory=list)


def report_first(setting: Setting, plan: Plan) -> Outcome:
    """Train until a network solves the problem, and report it."""
    try:
        run = trained(setting, plan)
    except KeyboardInterrupt:
        return interrupted(plan)
    goal = f"{SOLVED:.0%} of the training points, which is when the dissertation counts a success"
    said = f"The first weights that were tried led to {goal}."
    if not run.is_solved:
        said = f"No first weights led to {goal}; the best are shown."
    elif run.number:
        said = f"The first {run.number} of {run.number + 1} first weights did not lead to {goal}; the last did."
    tried = rs.Finding.of(
        run.number + 1,
        name="first weights tried",
        definition=f"runs up to the first that ends with {SOLVED:.0%} of the training points right",
        source="sattelberg2026",
    )
    return report(setting, plan, run, Part([said], [tried], verdicts=[_solved(plan, run)]), _movement(plan, run))


def _solved(plan: Plan, run: Run) -> StatementVerdict:
    """Return what becomes of what the captions of Figures 6.5 and 6.6 say, and of the form of the first's boundary."""
    right = f"{100 * float(run.accuracies[-1]):.1f} % of the training points right, of first weights {run.number + 1}"
    if plan.problem is not rs.datasets.circle_annulus:
        return StatementVerdict(
            "three layers of eight units solve circle and annulus combined with XOR",
            "section 6.2, Figure 6.6",
            "drawn",
            right,
            True if run.is_solved else None,
        )
    closed = [one for one in _boundary(rs.partition(run.networks[-1], WIDE)) if one.is_closed]
    corners = [one.num_corners for one in closed]
    return StatementVerdict(
        "the deeper network ends with a polygon of more sides than the hexagon of three units",
        "section 6.2, Figure 6.5",
        "more than six",
        f"{len(closed)} closed curve{'s' * (len(closed) != 1)} of {', '.join(map(str, corners)) or 'no'} corners; "
        + right,
        len(corners) == 1 and corners[0] > HEXAGON if run.is_solved else None,
    )


def _boundary(part: rs.Partition) -> tuple[rs.planes.BoundaryCurve, ...]:
    return rs.planes.boundary_curves(rs.decision_boundary(part))


def interrupted(plan: Plan) -> Outcome:
    """Return what there is to say when the user stops the training."""
    said = "The work was interrupted in training; runs that were finished are kept."
    return Outcome((_how(plan), said), (), interrupted=True)


def report(setting: Setting, plan: Plan, run: Run, before: Part, *more: Part) -> Outcome:
    """Report a run: how it was found, its end, what only some studies ask, and pictures."""
    setting.progress(f"Partitions of {plan.name}")
    parts = [run.partition(moment) for moment in range(len(run.epochs))]
    every = [before, _at_the_end(run, parts[-1]), *more, _on_the_way(run, parts)]
    small = ("This is the small size: fewer epochs and frames.",) if setting.size == "small" else ()
    shown = _Shown(plan, run, parts)
    return Outcome(
        (_how(plan), *(said for part in every for said in part.sentences), *small),
        tuple(finding for part in every for finding in part.findings),
        tuple(table for part in every for table in part.tables),
        (*shown.pictures(), *(picture for part in every for picture in part.pictures)),
        films=(shown.film(),),
        verdicts=tuple(verdict for part in every for verdict in part.verdicts),
    )


def _how(plan: Plan) -> str:
    return (
        f"A network of {plan.describe()} units and one logit, trained with plain stochastic gradient descent on binary "
        f"cross-entropy, as the dissertation says. It leaves open everything else: here {POINTS:,} points, half of "
        f"them in the disc, with the radii of its section 4.2.1, batches of {BATCH}, rate {RATE:g}, {plan.epochs} "
        "epochs, and PyTorch's usual first weights."
    )


def _at_the_end(run: Run, part: rs.Partition) -> Part:
    """Return the numbers of the trained network."""
    network, testing = run.networks[-1], run.test_accuracy
    whole, wide = rs.partition(network, rs.Space(2)).finding(), rs.partition(network, WIDE)
    curves = _boundary(wide)
    closed = [curve for curve in curves if curve.is_closed]
    number = rs.Finding(
        len(closed),
        wide.claim,
        name="closed curves of the decision boundary",
        definition="closed polygonal curves of the set where the logit is zero",
        domain=WIDE.describe(),
        method="ties of affine outputs, region by region, joined at their ends",
        source="sattelberg2026",
        tolerance=1e-9,
    )
    right, others = (f"{100 * float(one):.1f} %" for one in (run.accuracies[-1], testing))
    corners = ", ".join(str(curve.num_corners) for curve in closed)
    said = (
        f"At the end {right} of the training points are right, and {others} of {len(run.testing):,} others. Regions "
        f"of {WINDOW.describe()}: {part.finding()}; of the whole plane: {whole}. Within {WIDE.describe()} the decision "
        f"boundary has {len(curves)} curve{'s' * (len(curves) != 1)}, {len(closed)} closed"
        f"{f', of {corners} corners' if closed else ''}."
    )
    return Part([said], [part.finding(), whole, run.accuracies[-1], testing, number])


def _on_the_way(run: Run, parts: list[rs.Partition]) -> Part:
    """Return the numbers of some moments as a table."""
    rows = []
    for moment in np.unique(np.linspace(0, len(parts) - 1, ROWS).round().astype(int)):
        part = parts[moment]
        pieces, right = len(rs.decision_boundary(part)), 100 * float(run.accuracies[moment])
        rows.append((f"{run.epochs[moment]:.3g}", f"{len(part):,}", str(part.claim), str(pieces), f"{right:.1f} %"))
    columns = ("epoch", "regions", "claim", "pieces of decision boundary", "right")
    return Part(tables=[Table(columns, tuple(rows), f"Regions of {WINDOW.describe()} in training.")])


def _movement(plan: Plan, run: Run) -> Part:
    """Measure how often units of each layer change their piece at the training points, at first and later."""
    codes = [network.codes(run.training.points) for network in run.networks]
    pieces = np.stack([one.to_array() for one in codes])
    sizes = [gate.num_units for gate in codes[0].layout]
    changes = np.split((pieces[1:] != pieces[:-1]).mean(axis=1), np.cumsum(sizes)[:-1], axis=1)
    is_early = run.epochs[1:] <= EARLY * run.epochs[-1]
    early, late = ([float(layer[chosen].mean(axis=1).sum()) for layer in changes] for chosen in (is_early, ~is_early))
    rows = tuple((str(index + 1), f"{a:.2f}", f"{b:.2f}") for index, (a, b) in enumerate(zip(early, late, strict=True)))
    caption = (
        f"How often a unit changes its piece at a training point, on average, from one of the {len(codes)} moments to "
        "the next."
    )
    columns = ("layer", f"in the first {EARLY:.0%} of the epochs", "later")
    said = (
        f"In the first {EARLY:.0%} of the epochs, units of the layers change their piece at a training point "
        f"{', '.join(f'{one:.2f}' for one in early)} times on average; later {', '.join(f'{one:.2f}' for one in late)} "
        "times (the dissertation sees later layers shift significantly as training begins, and the first slowly)."
    )
    findings = [
        rs.Finding.of(
            value,
            name=f"changes of pieces in layer {index + 1}, {when}",
            definition="mean number of changes per unit and training point, from one moment to the next",
            domain=f"{len(codes)} moments, {len(run.training):,} training points",
            source="sattelberg2026",
            resolution=1e-9,
        )
        for when, values in ((f"first {EARLY:.0%} of the epochs", early), ("later", late))
        for index, value in enumerate(values)
    ]
    slow = StatementVerdict(
        "as training begins, later layers shift more than the first",
        "section 6.2",
        "significantly, and slowly",
        f"in the first {EARLY:.0%} of the epochs units change their piece at a training point "
        f"{', '.join(f'{one:.2f}' for one in early)} times",
        early[0] < min(early[1:]),
    )
    said_of = [slow] if plan.problem is rs.datasets.xor_annulus else []
    return Part([said], findings, [Table(columns, rows, caption)], verdicts=said_of)


@dataclass(frozen=True, eq=False)
class _Shown:
    """Pictures of a run in the same colours."""

    plan: Plan
    run: Run
    parts: list[rs.Partition]
    colors: rs.plots.RegionColors = field(default_factory=rs.plots.RegionColors)

    @property
    def marked(self) -> dict[str, Any]:
        return {"samples": self.run.shown_points, "labels": self.run.shown_labels, "colors": self.colors}

    def title(self, moment: int) -> str:
        return f"epoch {self.run.epochs[moment]:.3g}: {rs.plots.say_regions(self.parts[moment])}"

    def film(self) -> Film:
        rights = [100 * float(one) for one in self.run.accuracies]
        titles = [f"{self.title(moment)}, {right:.1f} % right" for moment, right in enumerate(rights)]
        caption = (
            f"Training at {len(self.parts)} moments, closer to each other at the beginning; a region keeps its colour "
            "as long as its code lives."
        )
        return Film(f"{self.plan.name}-film", rs.plots.animation(self.parts, titles=titles, **self.marked), caption)

    def pictures(self) -> tuple[Picture, ...]:
        stills = {self.title(moment): self.parts[moment] for moment in self._snapshots()}
        end = len(self.parts) - 1
        return (
            Picture(
                f"{self.plan.name}-training",
                rs.plots.regions_and_coefficients(stills, **self.marked),
                f"Regions of {WINDOW.describe()} in training, the gates that bend there, the decision boundary, and "
                f"{SHOWN} of the training points; below, a dot per region at the coefficients of its map, its area "
                "that of the region. Regions with the same code have the same colour.",
            ),
            Picture(
                f"{self.plan.name}-end",
                rs.plots.regions_and_coefficients({self.title(end): self.parts[end]}, **self.marked),
                "The same at the end.",
            ),
            Picture(
                f"{self.plan.name}-counts",
                plots.counts_in_training(
                    self.run.epochs.tolist(), {"": [part.finding() for part in self.parts]}, {"": self.run.accuracies}
                ),
                f"Exact numbers of regions of {WINDOW.describe()}, and the share of training points that are right.",
            ),
        )

    def _snapshots(self) -> list[int]:
        """Return some moments: the first, the last, and where accuracy has made parts of its way."""
        right = np.array([float(one) for one in self.run.accuracies])
        wanted = right[0] + (right.max() - right[0]) * np.linspace(0, 1, SNAPSHOTS)[1:-1]
        return sorted({0, *(int(np.argmax(right >= share)) for share in wanted), len(right) - 1})
