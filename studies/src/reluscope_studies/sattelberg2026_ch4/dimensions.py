"""Figure 4.8: how many networks of n + 1 units separate ball and shell in 2 to 8 dimensions, and by which regions."""

import numpy as np

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import annulus, plots
from reluscope_studies.interruption import Interruption
from reluscope_studies.sattelberg2026_ch4._networks import RADIUS, Networks, Plan, data_of, trained
from reluscope_studies.sizes import ToTrainOn, number_of
from reluscope_studies.verdicts import Rate, increasing, is_larger

SENTENCE = "ball and shell in 2 to 8 dimensions: how many networks learn them, and what their regions are"
POSITION = 30
REPEATS = ("Figure 4.8",)
DATA = None
CHANGES: dict[Change, str] = {"replicates": "NETWORKS", "points": ToTrainOn("SAMPLES"), "epochs": "EPOCHS"}

DIMS, LEAKS, BATCH = range(2, 9), (0.0, 0.01), 100
THRESHOLDS = (0.95, 0.98, 0.99, 0.9999)
NETWORKS, SAMPLES, EPOCHS = {"small": 20, "full": 100}, {"small": 5_000, "full": 10_000}, {"small": 200, "full": 1000}
TESTED = 10_000
CROSS, SIMPLEX = (
    (annulus.Shape.QUADRILATERAL, annulus.Shape.CROSS_POLYTOPE),
    (annulus.Shape.HEXAGON, annulus.Shape.EXPANDED_SIMPLEX),
)


def protocol(setting: Setting) -> Outcome:
    """Train networks in every dimension, test them on other samples, and look at their decision regions."""
    found: dict[tuple[float, int], Networks] = {}
    with Interruption() as ctrl_c:
        for leak in LEAKS:
            for dim in DIMS:
                plan = Plan(dim, "bce", leak, BATCH, True, *_numbers(setting), THRESHOLDS[-1])
                found[leak, dim] = trained(setting, plan)
    setting.progress("Decision regions")
    tested = {key: one.accuracies(data_of(one.plan, 2 * setting.seed + 1, TESTED)) for key, one in found.items()}
    findings = [
        rs.Finding.of(
            int((right >= threshold).sum()),
            name=f"networks with {100 * threshold:g} % right, dimension {dim}, leak {leak:g}",
            definition=f"of {len(right)} networks, share of {TESTED:,} test samples",
            domain="ball and shell",
            source="sattelberg2026",
        )
        for (leak, dim), right in tested.items()
        for threshold in THRESHOLDS
    ]
    panels = {
        name: {dim: tested[leak, dim] for dim in DIMS if (leak, dim) in tested}
        for name, leak in (("ReLU", 0.0), ("leaky ReLU, 0.01", 0.01))
    }
    pictures = (
        Picture(
            "successes",
            plots.successes(panels, thresholds=THRESHOLDS),
            "Figure 4.8: the share of networks with so many test samples right.",
        ),
    )
    return Outcome(
        (_how(setting),),
        tuple(findings),
        (_table(tested), _regions(found)),
        pictures,
        interrupted=ctrl_c.came,
        verdicts=tuple(_verdicts(tested, found)),
    )


def _numbers(setting: Setting) -> tuple[int, int, int]:
    """Return how many samples, epochs and networks there are."""
    return (
        number_of(setting, SAMPLES, "points"),
        number_of(setting, EPOCHS, "epochs"),
        number_of(setting, NETWORKS, "replicates"),
    )


def _how(setting: Setting) -> str:
    samples, epochs, networks = _numbers(setting)
    small = " This is the small size; the dissertation has 100 networks, 10,000 samples and up to 1,000 epochs."
    return (
        f"Networks of n + 1 units, binary cross-entropy, Adam at rate 0.01, batches of {BATCH} of {samples:,} "
        f"samples, inputs of standard deviation 1, at most {epochs:,} epochs, {networks} networks, tested "
        f"on {TESTED:,} other samples. Training stops at {100 * THRESHOLDS[-1]:g} % of the training samples. The radii "
        f"are r1 = {RADIUS:g}, r2 = sqrt(n) r1 and r3 = 2^(1/n) r2, so that the shell has the volume of the ball "
        "within it; the dissertation does not say what r3 is, nor first weights. Its Figure 4.8 has no numbers to "
        "compare with." + small * (setting.size == "small")
    )


def _table(tested: dict[tuple[float, int], np.ndarray]) -> Table:
    rows = tuple(
        (
            f"{leak:g}",
            str(dim),
            *(f"{100 * float((right >= threshold).mean()):.0f}" for threshold in THRESHOLDS),
            f"{100 * float(np.median(right)):.2f}",
        )
        for (leak, dim), right in tested.items()
    )
    columns = ("leak", "dimension", *(f"at {100 * threshold:g} %" for threshold in THRESHOLDS), "median right, %")
    return Table(columns, rows, "Networks, in per cent, with so many test samples right.")


def _verdicts(
    tested: dict[tuple[float, int], np.ndarray], found: dict[tuple[float, int], Networks]
) -> list[StatementVerdict]:
    """Return what becomes of the statements about Figure 4.8, which has no numbers, and of section 4.1."""
    low, high = DIMS[0], DIMS[-1]
    verdicts = []
    for leak in LEAKS:
        if (leak, low) not in tested or (leak, high) not in tested:
            continue
        few, many = (
            {at: Rate(int((tested[leak, dim] >= at).sum()), len(tested[leak, dim])) for at in THRESHOLDS}
            for dim in (low, high)
        )
        name = f"leak {leak:g}, dimensions {low} and {high}"
        is_less = is_larger(few[0.95], many[0.95])
        verdicts += [
            StatementVerdict(
                f"the share of networks with 95 % right does not fall with the dimension ({name})",
                "Figure 4.8",
                "a figure without numbers",
                f"{few[0.95]}, {many[0.95]}",
                None if is_less is None else not is_less,
            ),
            increasing(
                f"the share with 99.99 % right falls (dimensions {high} and {low}, leak {leak:g})",
                "Figure 4.8",
                "a figure without numbers",
                [many[0.9999], few[0.9999]],
            ),
        ]
        forms = [
            Rate(sum(found[leak, dim].counts[kind] for kind in (*CROSS, *SIMPLEX)), len(tested[leak, dim]))
            for dim in (low, high)
        ]
        is_less = is_larger(*forms)
        verdicts.append(
            StatementVerdict(
                f"the share of networks that construct one of the two forms remains consistent ({name})",
                "section 4.2.2",
                "not given",
                ", ".join(map(str, forms)) + _where_open(found[leak, high]),
                None if is_less is None else not is_less,
            )
        )
    return verdicts


def _where_open(networks: Networks) -> str:
    """Return what keeps the other networks from the two forms, which samples cannot show."""
    shares = [*networks.open_shares.values()]
    if not shares:
        return ""
    return (
        f"; {len(shares)} regions of dimension {networks.plan.dim} are unbounded, in {_share(shares)} % of all "
        "directions (median), where few samples are"
    )


def _share(shares: list[float]) -> str:
    return f"{100 * float(np.median(shares)):.2g}" if shares else ""


def _regions(found: dict[tuple[float, int], Networks]) -> Table:
    rows = []
    for (leak, dim), one in found.items():
        counts = one.counts
        closed = [region for region in one.regions.values() if region.is_bounded and region.has_origin]
        ratios = [float(annulus.outer_radius(region)) / float(annulus.inner_radius(region)) for region in closed]
        cosines = [annulus.orthogonality(one.layers(row)[0][0]).mean.value for row in one.regions]
        others = sorted(
            {(len(one.regions[row].vertices), one.regions[row].num_facets)
             for row, shape in one.shapes.items() if shape is annulus.Shape.OTHER}
        )  # fmt: skip
        rows.append(
            (
                f"{leak:g}",
                str(dim),
                str(counts.total()),
                str(sum(counts[kind] for kind in CROSS)),
                str(sum(counts[kind] for kind in SIMPLEX)),
                str(counts[annulus.Shape.OTHER])
                + (f" ({', '.join(f'{v}/{f}' for v, f in others[:4])})" if others else ""),
                str(counts[annulus.Shape.UNBOUNDED]),
                _share([*one.open_shares.values()]),
                str(one.num_with_rest),
                f"{np.median(ratios):.3f}" if ratios else "",
                f"{dim**0.5:.3f}",
                f"{np.mean(cosines):.3f}" if cosines else "",
            )
        )
    columns = (
        "leak",
        "dimension",
        "successes",
        "cross-polytopes",
        "expanded simplices",
        "others (vertices/facets)",
        "unbounded",
        "in % of directions (median)",
        "with a rest",
        "median R/rho",
        "room r2/r1",
        "mean absolute cosine of units",
    )
    return Table(columns, tuple(rows), "Decision regions of the networks with 95 % of the training samples right.")
