"""Figure 6.4: circle and annulus by the simplest network that can tell them apart, one hidden layer of three units.

Figure 4.3 names the two closed decision boundaries that it can form: hexagons, around a triangle where no unit is
active, and quadrilaterals.
"""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies.sattelberg2026_ch6_training._reporting import WIDE, Part, interrupted, report
from reluscope_studies.sattelberg2026_runs import BATCH, SOLVED, Plan, Plans, Run, attempts
from reluscope_studies.sizes import number_of, planned

SENTENCE = "circle and annulus learned by three units: regions and coefficients in training"
POSITION = 10
REPEATS = ("Figure 6.4",)
DATA = None
IS_SHORT = True
CHANGES: tuple[Change, ...] = ("replicates", "epochs")

PLANS: Plans = {
    "small": Plan("three-units", rs.datasets.circle_annulus, (3,), 60, 40),
    "full": Plan("three-units", rs.datasets.circle_annulus, (3,), 300, 200),
}
ATTEMPTS = {"small": 20, "full": 100}
UNSOLVED = "not solved"
ENDS = ("hexagon", "quadrilateral", "another closed curve", "an open curve", UNSOLVED)


def protocol(setting: Setting) -> Outcome:
    """Train networks from many first weights, see how they end, and look at one of those the dissertation shows."""
    plan = planned(setting, PLANS, {"epochs": "epochs"})
    try:
        runs = attempts(setting, plan, number_of(setting, ATTEMPTS, "replicates"))
    except KeyboardInterrupt:
        return interrupted(plan)
    ends = [_end(run) for run in runs]
    # The dissertation's figure shows a hexagon.
    shown = runs[min(range(len(runs)), key=lambda row: ENDS.index(ends[row]))]
    found = report(setting, plan, shown, _survey(runs, ends), _hexagon(shown), _other(runs, ends, plan))
    return replace(found, verdicts=tuple(_verdicts(shown, ends)))


def _verdicts(shown: Run, ends: list[str]) -> list[StatementVerdict]:
    """Return what becomes of what section 6.2 says of three units."""
    counts = Counter(ends)
    solved = len(ends) - counts[UNSOLVED]
    bounded = rs.partition(shown.networks[-1], rs.Space(2)).is_bounded()
    closed = counts["hexagon"] + counts["quadrilateral"]
    return [
        StatementVerdict(
            "three units solve circle and annulus",
            "section 6.2",
            "in words",
            f"{solved} of {len(ends)} first weights do",
            True if solved else None,
        ),
        StatementVerdict(
            "the decision boundary is a hexagon, or a convex quadrilateral",
            "Figure 6.4 and section 4.2",
            "drawn",
            f"of {solved} solutions {counts['hexagon']} hexagons and {counts['quadrilateral']} quadrilaterals",
            closed == solved if solved else None,
        ),
        StatementVerdict(
            "six unbounded regions and a triangle",
            "section 6.2",
            "six and one",
            f"{int((~bounded).sum())} and {int(bounded.sum())}, in the network that is shown",
            (int((~bounded).sum()), int(bounded.sum())) == (6, 1) if solved else None,
        ),
    ]


def _end(run: Run) -> str:
    """Return the form of the decision boundary at the end."""
    if not run.is_solved:
        return UNSOLVED
    curves = rs.planes.boundary_curves(rs.decision_boundary(rs.partition(run.networks[-1], WIDE)))
    if len(curves) != 1 or not curves[0].is_closed:
        return "an open curve"
    return {6: "hexagon", 4: "quadrilateral"}.get(curves[0].num_corners, "another closed curve")


def _survey(runs: list[Run], ends: list[str]) -> Part:
    counts = Counter(ends)
    solved = len(runs) - counts[UNSOLVED]
    where = f"{len(runs)} first weights"
    findings = [
        rs.Finding.of(
            number,
            name=name,
            definition=f"runs that end with {SOLVED:.0%} of the training points right{more}",
            domain=where,
            source="sattelberg2026",
        )
        for name, number, more in (
            ("solved", solved, ""),
            ("solved by a hexagon", counts["hexagon"], " and a closed decision boundary of six corners"),
            ("solved by a quadrilateral", counts["quadrilateral"], " and one of four corners"),
        )
    ]
    said = (
        f"Of {where}, {solved} led to {SOLVED:.0%} of the training points, which is when the dissertation counts a "
        f"success (its Table 4.2 has 47 of 100 for this loss and batches of {BATCH}, with Adam and up to 1,000 "
        f"epochs): {counts['hexagon']} by a hexagon, {counts['quadrilateral']} by a quadrilateral. The dissertation's "
        "Figure 6.4 shows a hexagon, and so do the pictures here, where there is one."
    )
    rows = tuple((name, str(counts[name])) for name in ENDS if counts[name])
    table = Table(("decision boundary at the end", "runs"), rows, f"How {where} end.")
    return Part([said], findings, [table])


def _hexagon(run: Run) -> Part:
    """Check the six outer regions, the triangle, and where their coefficients are."""
    part = rs.partition(run.networks[-1], rs.Space(2))
    slopes = part.maps.weight[:, 0].cpu().numpy()
    bounded = part.is_bounded()
    inside, outer = slopes[bounded], slopes[~bounded]
    common: dict[str, Any] = {"domain": "all of R^2", "source": "sattelberg2026"}
    claim = part.boundedness_finding().claim
    findings = [
        rs.Finding(
            int(number),
            claim,
            name=name,
            definition="proper activation regions (full-dimensional)",
            tolerance=1e-9,
            **common,
        )
        for name, number in (("unbounded regions", (~bounded).sum()), ("bounded regions", bounded.sum()))
    ]
    said = (
        f"The {len(part)} regions of the whole plane are {len(outer)} unbounded ones and {len(inside)} bounded (the "
        "dissertation: six and a triangle)."
    )
    if len(inside) == 1:
        size, lengths = float(np.linalg.norm(inside[0])), np.linalg.norm(outer, axis=1)
        corners = _corners(outer)
        form = {6: "a hexagon", 4: "a quadrilateral"}.get(corners, f"a polygon of {corners} corners")
        said += (
            f" On the triangle the logit has the slope {size:.3g}, on the outer regions {lengths.min():.3g} to "
            f"{lengths.max():.3g}; these coefficients span {form} (the dissertation: a central point and a hexagon)."
        )
        findings += [
            rs.Finding.of(size, name="slope on the triangle", definition="norm of the gradient", **common),
            rs.Finding.of(
                corners,
                name="corners of the outer regions' coefficients",
                definition="corners of the convex hull of the gradients on the unbounded regions",
                **common,
            ),
        ]
    return Part([said], findings)


def _corners(points: np.ndarray) -> int:
    """Return how many corners the convex hull of some points has."""
    distinct = np.unique(points, axis=0)
    try:
        return len(ConvexHull(distinct).vertices)
    except (QhullError, ValueError):  # fewer than three, or all on a line
        return min(2, len(distinct))


def _other(runs: list[Run], ends: list[str], plan: Plan) -> Part:
    """Show the other closed boundary too, where both are there."""
    if not {"hexagon", "quadrilateral"} <= set(ends):
        return Part()
    run = runs[ends.index("quadrilateral")]
    part = run.partition(-1)
    figure = rs.plots.regions_and_coefficients(part, samples=run.shown_points, labels=run.shown_labels)
    caption = "The other closed decision boundary at the end, a quadrilateral, from other first weights."
    return Part(pictures=[Picture(f"{plan.name}-quadrilateral", figure, caption)])
