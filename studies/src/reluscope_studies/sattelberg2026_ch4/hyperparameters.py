"""Tables 4.2 and 4.3: which losses, leaks, batches and scales let three units learn circle and annulus; Figure 4.6."""

from collections import Counter
from itertools import product

import numpy as np

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import annulus, pictures, plots
from reluscope_studies.interruption import Interruption
from reluscope_studies.sattelberg2026_ch4._networks import RADIUS, Networks, Plan, trained
from reluscope_studies.sizes import number_of
from reluscope_studies.verdicts import Rate, increasing, is_larger

SENTENCE = "circle and annulus by three units: losses, leaks, batches, scales, and the shapes that training finds"
POSITION = 20
REPEATS = ("Table 4.2", "Table 4.3", "Figure 4.6")
DATA = None
CHANGES: tuple[Change, ...] = ("replicates", "epochs")

# Loss, leak, batch, and successes of 100 without and with normalised inputs: Table 4.2.
PRINTED = {
    ("mse", 0.0, 10): (45, 62),
    ("mse", 0.0, 100): (38, 52),
    ("mse", 0.0, 1000): (29, 37),
    ("mse", 0.01, 10): (85, 88),
    ("mse", 0.01, 100): (64, 64),
    ("mse", 0.01, 1000): (50, 42),
    ("mse", 0.1, 10): (84, 94),
    ("mse", 0.1, 100): (57, 58),
    ("mse", 0.1, 1000): (47, 37),
    ("bce", 0.0, 10): (47, 69),
    ("bce", 0.0, 100): (48, 61),
    ("bce", 0.0, 1000): (42, 56),
    ("bce", 0.01, 10): (83, 91),
    ("bce", 0.01, 100): (74, 82),
    ("bce", 0.01, 1000): (53, 61),
    ("bce", 0.1, 10): (84, 90),
    ("bce", 0.1, 100): (74, 73),
    ("bce", 0.1, 1000): (59, 63),
}
SAMPLES, EPOCHS, GOAL = 1000, 1000, 0.95
NETWORKS, STEPS = {"small": 20, "full": 100}, {"small": 20_000, "full": 100_000}
KINDS = (annulus.Shape.QUADRILATERAL, annulus.Shape.HEXAGON, annulus.Shape.UNBOUNDED, annulus.Shape.OTHER)
SHOWN = 400


def protocol(setting: Setting) -> Outcome:
    """Train networks for every choice, count successes, and look at their decision regions."""
    found: dict[tuple[str, float, int, bool], Networks] = {}
    number = number_of(setting, NETWORKS, "replicates")
    with Interruption() as ctrl_c:
        for loss, leak, batch, is_normalized in product(
            ("mse", "bce"), (0.0, 0.01, 0.1), (10, 100, 1000), (False, True)
        ):
            epochs = setting.epochs or min(EPOCHS, number_of(setting, STEPS) * batch // SAMPLES)
            plan = Plan(2, loss, leak, batch, is_normalized, SAMPLES, epochs, number, GOAL)
            found[loss, leak, batch, is_normalized] = trained(setting, plan)
    setting.progress("Decision regions")
    findings = [
        rs.Finding.of(
            int(one.solved.sum()),
            name=f"successes: {_say(key)}",
            definition=f"networks of {number} with {GOAL:.0%} of the training samples right",
            domain=f"{SAMPLES} samples of circle and annulus",
            source="sattelberg2026",
        )
        for key, one in found.items()
    ]
    tables = (_grid(found, number), *_averages(found, number), *_shapes(found))
    return Outcome(
        (_how(setting), *_said(found)),
        tuple(findings),
        tables,
        tuple(_pictures(found)),
        interrupted=ctrl_c.came,
        verdicts=tuple(_verdicts(found)),
    )


def _how(setting: Setting) -> str:
    small = ""
    if setting.size == "small":
        small = f" This is the small size: {NETWORKS['small']} networks, and at most {STEPS['small']:,} steps."
    epochs = setting.epochs or EPOCHS
    return (
        f"One hidden layer of three units, Adam at rate 0.01, at most {epochs:,} epochs, {SAMPLES:,} samples, half of "
        f"them in the disc, radii {RADIUS:g}, {RADIUS * 2**0.5:.4g} and {RADIUS * 2:g}; a network that has {GOAL:.0%} "
        "of the samples right at the end of an epoch is done and a success. With these radii disc and gap have the "
        "same area and the annulus twice that; the dissertation says that all three are equal. It leaves open first "
        "weights (here PyTorch's), targets of the squared error (here -1 and 1), and whether training stops at "
        f"success; here all networks of a row see the same samples in the same order.{small}"
    )


def _say(key: tuple[str, float, int, bool]) -> str:
    loss, leak, batch, is_normalized = key
    return f"{loss.upper()}, leak {leak:g}, batch {batch}, {'normalized' if is_normalized else 'not normalized'}"


def _grid(found: dict[tuple[str, float, int, bool], Networks], number: int) -> Table:
    rows = []
    for (loss, leak, batch, is_normalized), one in found.items():
        counts = one.counts
        rows.append(
            (
                loss.upper(),
                f"{leak:g}",
                str(batch),
                str(is_normalized),
                str(PRINTED[loss, leak, batch][is_normalized]),
                f"{100 * one.solved.mean():.0f}",
                *(str(counts[kind]) for kind in KINDS),
                str(one.num_with_rest),
            )
        )
    columns = (
        "loss",
        "leak",
        "batch",
        "normalize",
        "the dissertation, of 100",
        "here, %",
        *map(str, KINDS),
        "with a rest",
    )
    caption = f"Table 4.2: successes, and the decision regions of the successful networks, of {number} in each row."
    return Table(columns, tuple(rows), caption)


def _averages(found: dict[tuple[str, float, int, bool], Networks], number: int) -> list[Table]:
    if len(found) < 2 * len(PRINTED):
        return []
    del number
    rows = []
    for position, name in enumerate(("loss", "leak", "batch", "normalize")):
        for value in dict.fromkeys(key[position] for key in found):
            keys = [key for key in found if key[position] == value]
            printed = np.mean([PRINTED[key[:3]][key[3]] for key in keys])
            ours = 100 * np.mean([found[key].solved.mean() for key in keys])
            rows.append((name, str(value).upper() if position == 0 else str(value), f"{printed:.1f}", f"{ours:.1f}"))
    caption = "Table 4.3: average successes in per cent; the dissertation's are averages of its Table 4.2."
    return [Table(("choice", "value", "the dissertation", "here"), tuple(rows), caption)]


def _verdicts(found: dict[tuple[str, float, int, bool], Networks]) -> list[StatementVerdict]:
    """Return what becomes of the statements about Table 4.3."""
    if len(found) < 2 * len(PRINTED):
        return []

    def rate(position: int, value: object) -> Rate:
        some = [one.solved for key, one in found.items() if key[position] == value]
        return Rate(sum(int(one.sum()) for one in some), sum(len(one) for one in some))

    table = "Table 4.3"
    leaks = [rate(1, leak) for leak in (0.0, 0.01, 0.1)]
    most = max(found.values(), key=lambda one: float(one.solved.mean()))
    return [
        increasing("leak 0.01 does better than none", table, "48.8 and 69.8 %", leaks[:2]),
        increasing("leak 0.1 does better than none", table, "48.8 and 68.3 %", leaks[::2]),
        increasing(
            "smaller batches do better (1,000, 100, 10)",
            table,
            "48.0, 62.1 and 76.8 %",
            [rate(2, batch) for batch in (1000, 100, 10)],
        ),
        increasing("normalised inputs do better", table, "59.1 and 65.6 %", [rate(3, False), rate(3, True)]),
        increasing(
            "cross-entropy does slightly better than the squared error",
            table,
            "57.4 and 67.2 %",
            [rate(0, "mse"), rate(0, "bce")],
        ),
        StatementVerdict(
            "leak 0.1, batch 10, normalised, squared error is the best choice",
            "Table 4.2",
            "94 of 100",
            f"best here: {_say(next(key for key, one in found.items() if one is most))}, {most.solved.mean():.0%}",
            _is_among_best(found),
        ),
    ]


def _is_among_best(found: dict[tuple[str, float, int, bool], Networks]) -> bool | None:
    """Return whether the dissertation's best choice is the best here, None where chance may be why it is not."""
    rates = {key: Rate(int(one.solved.sum()), len(one.solved)) for key, one in found.items()}
    own = rates["mse", 0.1, 10, True]
    if all(own.share >= other.share for other in rates.values()):
        return True
    return False if any(is_larger(other, own) for other in rates.values()) else None


def _shapes(found: dict[tuple[str, float, int, bool], Networks]) -> list[Table]:
    rows = []
    for leak in dict.fromkeys(key[1] for key in found):
        networks = [one for key, one in found.items() if key[1] == leak]
        for kind in (annulus.Shape.QUADRILATERAL, annulus.Shape.HEXAGON):
            regions = [one.regions[row] for one in networks for row, shape in one.shapes.items() if shape is kind]
            ratios = [
                float(annulus.outer_radius(region)) / float(annulus.inner_radius(region))
                for region in regions
                if region.has_origin
            ]
            if ratios:
                rows.append(
                    (f"{leak:g}", str(kind), str(len(ratios)), f"{min(ratios):.3f}", f"{np.median(ratios):.3f}")
                )
    caption = (
        "Outer over inner radius of the closed regions around the origin: at least sqrt(2) = 1.414 for quadrilaterals, "
        "2 / sqrt(3) = 1.155 for hexagons, and at most 1.414 if every possible point is right."
    )
    return [Table(("leak", "region", "number", "least", "median"), tuple(rows), caption)] if rows else []


def _said(found: dict[tuple[str, float, int, bool], Networks]) -> list[str]:
    said = []
    for leak in dict.fromkeys(key[1] for key in found):
        counts: Counter[annulus.Shape] = Counter()
        for key, one in found.items():
            counts += one.counts if key[1] == leak else Counter()
        parts = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
        rest = sum(one.num_with_rest for key, one in found.items() if key[1] == leak)
        said.append(
            f"With leak {leak:g}, {counts.total()} networks succeed: {parts or 'none'}; of {rest} that is the part "
            "around the origin, and an unbounded rest lies apart from it."
        )
    return [
        *said,
        (
            "Where units leak, a unit with a negative output weight tilts the output where it is inactive, which "
            "closes quadrilaterals around the data by two other units, and makes it fall again where it is active, far "
            "out."
        ),
    ]


def _beside(found: dict[tuple[str, float, int, bool], Networks]) -> Picture:
    """Return Table 4.2 as a picture, from the fewest printed successes to the most."""
    keys = sorted(found, key=lambda key: PRINTED[key[:3]][key[3]])
    printed = np.array([PRINTED[key[:3]][key[3]] for key in keys])
    ours = np.array([100 * float(found[key].solved.mean()) for key in keys])
    figure = plots.counts_beside(printed, {"here": ours}, rows=[_say(key) for key in keys], label="successes, %")
    return Picture("successes-beside", figure, "Table 4.2: printed successes of 100 networks, and ours in %.")


def _pictures(found: dict[tuple[str, float, int, bool], Networks]) -> list[Picture]:
    drawn = [_beside(found)] if found else []
    for kind in KINDS:
        chosen = [(one, row) for one in found.values() for row, shape in one.shapes.items() if shape is kind]
        if not chosen:
            continue
        one, row = chosen[0]
        data = one.training
        assert data.labels is not None
        scale = float(np.linalg.norm(data.points[1::2], axis=1).max()) / (2 * RADIUS)
        radii = tuple(scale * radius for radius in (RADIUS, RADIUS * 2**0.5, RADIUS * 2))
        figure = pictures.decision_polygon(
            one.whole_regions[row],
            reach=1.35 * radii[-1],
            samples=data.points[:SHOWN],
            labels=data.labels[:SHOWN],
            radii=radii,
        )
        plan = one.plan
        said = _say((plan.loss, plan.leak, plan.batch, plan.is_normalized))
        right = 100 * float(one.accuracies(data)[row])
        caption = f"Figure 4.6: decision region of a trained network, {kind}; {right:.1f} % right ({said})."
        drawn.append(Picture(f"trained-{str(kind).replace(' ', '-')}", figure, caption))
    return drawn
