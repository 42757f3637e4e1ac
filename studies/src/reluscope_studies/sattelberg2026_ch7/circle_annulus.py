"""Figure 7.2: circle and annulus by three layers of eight units: how many of its affine maps matter."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.spatial.distance import cdist

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, Size, StatementVerdict, Table
from reluscope_studies import plots
from reluscope_studies.sattelberg2026_ch7._compression import named_accuracies
from reluscope_studies.sattelberg2026_runs import POINTS, WINDOW, Plan, Run, trained
from reluscope_studies.sizes import planned
from reluscope_studies.verdicts import of_cases

SENTENCE = "circle and annulus by three layers of eight units: how many affine maps matter"
POSITION = 20
REPEATS = ("Figure 7.1", "Figure 7.2")
DATA = None
IS_SHORT = True
CHANGES: dict[Change, str] = {"epochs": "epochs"}

PLANS: dict[Size, Plan] = {
    "small": Plan("circle", rs.datasets.circle_annulus, (8, 8, 8), 60, 2),
    "full": Plan("circle", rs.datasets.circle_annulus, (8, 8, 8), 300, 2),
}
GRID = 101
NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50)
# As many as the dissertation sees.
CLUSTERS = 10
DROP = 0.01
# Errors that merged regions may have, by the largest absolute output on the window.
ERRORS = (0.0, 0.01, 0.05, 0.1, 0.2)
RULES: dict[rs.compression.Rule, str] = {
    "own_map": "nearest map",
    "mean_input": "nearest mean input",
    "nearest_sample": "nearest point of the grid",
}


def protocol(setting: Setting) -> Outcome:
    """Train the network, and look at how few affine maps it could do with."""
    plan = planned(setting, PLANS, CHANGES)
    run = trained(setting, plan)
    part = run.partition(-1)
    network = run.networks[-1]
    assert run.testing.labels is not None
    shares = np.linspace(WINDOW.lo[0], WINDOW.hi[0], GRID)
    points = np.stack(np.meshgrid(shares, shares), axis=-1).reshape(-1, 2)
    on_grid, on_points = rs.coefficients.matrix(network, points), rs.coefficients.matrix(network, run.testing.points)
    curve = rs.compression.accuracy_curve(
        on_grid, on_points, run.testing.labels, NUMBERS, rules=tuple(RULES), restarts=10
    )
    used = rs.compression.region_samples(on_grid)
    centers = rs.compression.cluster_maps(on_grid, CLUSTERS, restarts=10).centers[0]
    own = np.concatenate([part.maps.weight[:, 0].numpy(), part.maps.bias.numpy()], axis=1)
    labels = cdist(own, centers).argmin(axis=1)
    largest = float(np.abs(network(part.vertices).numpy()).max())
    merged = {error: rs.compression.merge_regions(part, error * largest) for error in ERRORS}
    fewest: dict[rs.compression.Rule, rs.Finding | None] = {
        rule: rs.compression.fewest_clusters(curve, DROP, rule) for rule in RULES
    }
    return Outcome(
        tuple(_sentences(setting, plan, run, part, curve)),
        (
            part.finding(),
            replace(rs.compression.regions_holding(used, 1.0), name="regions of the grid"),
            run.test_accuracy,
            *(share for rule, said in RULES.items() for share in named_accuracies(curve, rule, said)),
            *(replace(one, name=f"{one.name}, {RULES[rule]}") for rule, one in fewest.items() if one is not None),
            *(replace(one.num_pieces, name=f"pieces, error {error:g}") for error, one in merged.items()),
        ),
        (_accuracies(curve), _pieces(run, merged, largest)),
        (
            Picture(
                "circle-regions",
                rs.plots.regions_and_coefficients(part, samples=run.shown_points, labels=run.shown_labels),
                "Regions of the window, the decision boundary and some training points; beside, a dot per region at "
                "the slopes of its map (Figure 7.2).",
            ),
            Picture(
                "circle-clusters",
                rs.plots.region_clusters(part, labels, centers),
                f"The same in {CLUSTERS} clusters of affine maps, found on the grid; a region has the colour of the "
                "cluster with the nearest centre, by slopes and constant.",
            ),
            Picture(
                "circle-compression",
                plots.with_paper(rs.plots.accuracy_curve(curve), at=[CLUSTERS], said=f"about {CLUSTERS} clusters"),
                "Accuracy on test points over the number of affine functions that are left.",
            ),
            Picture(
                "circle-merged",
                rs.plots.merged_regions(merged[ERRORS[-1]]),
                f"Neighbouring regions merged within an error of {ERRORS[-1]:.0%} of the largest absolute output.",
            ),
        ),
        verdicts=tuple(_verdicts(run, part, curve)),
    )


def _verdicts(run: Run, part: rs.Partition, curve: rs.Findings) -> Iterator[StatementVerdict]:
    """Return what becomes of what section 7.2 says of Figure 7.2."""
    yield StatementVerdict(
        "the network has 93 regions in the domain",
        "section 7.2, Figure 7.2",
        "93, in a domain that is not stated",
        f"{len(part):,} in {WINDOW.describe()}",
        None,
    )
    itself = 100 * float(curve.finding("network_accuracy"))
    few = 100 * float(curve.where(rule="own_map", num_clusters=CLUSTERS).finding("accuracy"))
    yield of_cases(
        "its coefficients are in ten clusters, and it could do with so many",
        "section 7.2, Figure 7.2",
        "ten",
        f"{CLUSTERS} affine maps in place of {len(part):,} leave {few:.1f} of {itself:.1f} %",
        [itself - few <= 100 * DROP] if run.is_solved and itself - few <= 100 * DROP else [],
    )


def _sentences(setting: Setting, plan: Plan, run: Run, part: rs.Partition, curve: rs.Findings) -> list[str]:
    fewest = rs.compression.fewest_clusters(curve, DROP)
    at = 100 * float(curve.where(rule="own_map", num_clusters=CLUSTERS).finding("accuracy"))
    how = (
        f"A network of {plan.describe()} units and one logit, trained on circle and annulus as for Figure 6.5: "
        f"{POINTS:,} points, {plan.epochs} epochs of plain stochastic gradient descent. It is right on "
        f"{100 * float(run.test_accuracy):.1f} % of {len(run.testing):,} other points."
    )
    regions = (
        f"Regions of {WINDOW.describe()}: {part.finding()} (the dissertation: 93 in a domain that it does not state). "
        f"Centres are those of the coefficients at a {GRID} x {GRID} grid, where regions count by their area."
    )
    enough = f"none of the numbers that were tried keeps the loss at {DROP:.0%}."
    if fewest is not None:
        enough = f"{int(fewest)} are enough for a loss of at most {DROP:.0%} (UPPER)."
    few = f"With {CLUSTERS} affine functions, as many as the dissertation sees clusters, {at:.1f} % are right; {enough}"
    said = [how, regions, few]
    if not run.is_solved:
        said.append("No first weights led to 95 % of the training points; the best are shown.")
    if setting.size == "small":
        said.append("This is the small size: fewer epochs.")
    return said


def _accuracies(curve: rs.Findings) -> Table:
    shares = np.stack([100 * curve.where(rule=rule)["accuracy"].value for rule in RULES], axis=1)
    rows = tuple(
        (f"{number:,}", *(f"{share:.1f}" for share in row)) for number, row in zip(NUMBERS, shares, strict=True)
    )
    itself = 100 * float(curve.finding("network_accuracy"))
    caption = (
        "Accuracies on test points in % with so many affine functions, by how one is chosen at a point (the network: "
        f"{itself:.1f})."
    )
    return Table(("functions", *RULES.values()), rows, caption)


def _pieces(run: Run, merged: dict[float, rs.compression.MergedRegions], largest: float) -> Table:
    assert run.testing.labels is not None
    rows = []
    for error, one in merged.items():
        classes = one(run.testing.points)[:, 0] > 0
        right = 100 * float((classes == run.testing.labels).mean())
        rows.append(
            (
                f"{error:.0%}",
                f"{len(one):,} {one.num_pieces.claim}",
                f"{float(one.max_error) / largest:.2%}",
                f"{right:.1f}",
            )
        )
    caption = (
        "Neighbouring regions merged as long as the error stays below a share of the largest absolute output on the "
        "window: pieces that are left (UPPER: fewer may do), the largest error, and accuracy on test points in %."
    )
    return Table(("allowed", "pieces", "largest error", "right"), tuple(rows), caption)
