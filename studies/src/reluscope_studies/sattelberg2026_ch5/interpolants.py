"""Figure 5.4: sine by 1, 3 and 9 affine pieces of equal length, as networks, with their errors."""

from itertools import pairwise

import numpy as np
from torch import nn

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import interpolation, plots
from reluscope_studies.sattelberg2026_ch5._sine import INTERVAL, REACH, X, Y, curve, tangents

SENTENCE = "sine by 1, 3 and 9 affine pieces of equal length, as networks"
POSITION = 30
REPEATS = ("Figure 5.4",)
DATA = None

PIECES = (1, 3, 9)


def protocol(setting: Setting) -> Outcome:
    """Interpolate sine between uniform knots, and fit the same pieces by least squares."""
    del setting
    rows: list[tuple[str, ...]] = []
    findings: list[rs.Finding] = []
    found: dict[str, list[interpolation.Interpolant]] = {"interpolated": [], "least squares": []}
    notes: dict[str, list[str]] = {name: [] for name in found}
    for number in PIECES:
        knots = np.linspace(-REACH, REACH, number + 1)
        through, nearest = interpolation.interpolate(knots, np.sin(knots)), interpolation.least_squares(X, Y, knots)
        bound = interpolation.error_upper(through, 1.0)
        errors = [interpolation.errors_at(one, X, Y) for one in (through, nearest)]
        findings += [*errors[0], bound, *errors[1]]
        rows.append((str(number), *(f"{float(one):.4g}" for pair in errors for one in pair), f"{float(bound):.4g}"))
        for name, one, error in zip(found, (through, nearest), errors, strict=True):
            found[name].append(one)
            notes[name].append(f"MSE {float(error[0]):.3g}")
    columns = (
        "pieces",
        "interpolated: mean squared error",
        "largest",
        "least squares: mean squared error",
        "largest",
        "bound on the largest between the knots, interpolated",
    )
    caption = f"Errors at {len(X)} uniform points of [-pi, pi], in rational arithmetic."
    said = (
        "Networks of one hidden layer that bend at uniform knots (lemma A.2.1, with its matrix the right way round). "
        f"The dissertation gives no numbers for this figure. The zero function has the mean squared error 1/2 over the "
        f"interval (5.16), and {float(np.mean(Y**2)):.4g} at the {len(X)} points, whose ends both count; one piece "
        "through the ends is the zero function up to rounding. A bound by Taylor's theorem holds between the knots too."
    )
    parts = {name: [_part(one) for one in some] for name, some in found.items()}
    grid, titles = list(parts.values()), [f"{number} piece{'s' * (number > 1)}" for number in PIECES]
    numbers = [[str(part.finding()) for part in line] for line in grid]
    pictures = (
        Picture(
            "interpolants",
            plots.fitted_curves(grid, curve(), rows=list(parts), columns=titles, notes=list(notes.values())),
            "Figure 5.4, left: sine and its approximations.",
        ),
        Picture(
            "interpolants-coefficients",
            plots.fitted_coefficients(grid, tangents(), rows=list(parts), columns=titles, notes=numbers),
            "Figure 5.4, right: slopes and intercepts of the pieces, over those of the tangents of sine; numbers of "
            "regions.",
        ),
    )
    errors = [float(finding) for finding in findings[::5]]
    verdict = StatementVerdict(
        "more pieces through sine at uniform points approximate it better",
        "section 5.2, Figure 5.4",
        "drawn",
        "mean squared errors of " + ", ".join(f"{error:.3g} ({k})" for k, error in zip(PIECES, errors, strict=True)),
        all(later < before for before, later in pairwise(errors)),
    )
    return Outcome((said,), tuple(findings), (Table(columns, tuple(rows), caption),), pictures, verdicts=(verdict,))


def _part(one: interpolation.Interpolant) -> rs.Partition:
    layers = [(linear.weight.detach(), linear.bias.detach()) for linear in one.module if isinstance(linear, nn.Linear)]
    return rs.partition(rs.load(layers), INTERVAL)
