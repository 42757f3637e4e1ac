"""Section 5.3, Table 5.1 and Figure 5.5: sine learned by rectangular networks, restarted until one begins to learn.

The caption of Table 5.1 counts a mean squared error below 0.5 as success, the text 0.45. At 100 uniform points with
both ends the zero function has 0.495, so that a network that has learned nothing more would pass the caption's test.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, Size, StatementVerdict, Table
from reluscope_studies import plots
from reluscope_studies.sattelberg2026_ch5._restarts import FIRST_EPOCHS, GOAL, MORE_EPOCHS, RATE, Cell, cell
from reluscope_studies.sattelberg2026_ch5._sine import INTERVAL, X, Y, curve, tangents
from reluscope_studies.sizes import planned
from reluscope_studies.verdicts import Rate, increasing

SENTENCE = "sine learned by networks of many widths and depths: restarts, regions and linear coefficients"
POSITION = 40
REPEATS = ("Table 5.1", "Figure 5.5")
DATA = None
CHANGES: dict[Change, str] = {"replicates": "trials"}

# Table 5.1: rows are widths 1 to 10, columns depths 1 to 10; None is more than 1,000.
MAX_TRIED = 1000
PAPER = (
    (1, 1, 3, 4, 1, 18, 51, 333, None, None),
    (1, 1, 1, 2, 1, 3, 14, 54, 39, 392),
    (1, 1, 1, 1, 1, 5, 2, 13, 7, 502),
    (1, 1, 1, 1, 1, 2, 2, 33, 76, None),
    (1, 1, 1, 1, 1, 1, 2, 6, 50, 599),
    (1, 1, 1, 1, 1, 1, 2, 6, 70, 112),
    (1, 1, 1, 1, 1, 1, 3, 9, 55, 444),
    (1, 1, 1, 1, 1, 1, 1, 3, 2, 428),
    (1, 1, 1, 1, 1, 1, 1, 1, 30, None),
    (1, 1, 1, 1, 1, 1, 1, 5, 91, 171),
)
PAPERS_GOAL_IN_CAPTION = 0.5


@dataclass(frozen=True)
class Plan:
    """Which networks are trained, and from how many first weights each."""

    widths: tuple[int, ...]
    depths: tuple[int, ...]
    trials: int


PLANS: dict[Size, Plan] = {
    "small": Plan((1, 2, 3, 5, 8, 10), (1, 2, 4, 6, 8, 10), 200),
    "full": Plan(tuple(range(1, 11)), tuple(range(1, 11)), MAX_TRIED),
}

Cells = dict[tuple[int, int], Cell]


def protocol(setting: Setting) -> Outcome:
    """Train all networks of the grid from all first weights, and look at the first of each that begins to learn."""
    plan = planned(setting, PLANS, CHANGES)
    cells: Cells = {}
    places = [(width, depth) for depth in plan.depths for width in plan.widths]
    # A step of a deep, wide network costs about as much as it has weights.
    costs = np.cumsum([width * (width * depth + 4) for width, depth in places])
    try:
        for (width, depth), before in zip(places, np.append(0, costs), strict=False):
            setting.progress(f"Training {plan.trials:,} networks of {depth} x {width} units", before / costs[-1])
            cells[width, depth] = cell(setting, width, depth, plan.trials)
    except KeyboardInterrupt:
        said = f"The work was interrupted; {len(cells)} of {len(places)} widths and depths are finished, and kept."
        return Outcome((_how(plan), said), (), interrupted=True)
    setting.progress("Regions of the networks")
    return _report(plan, cells)


def _report(plan: Plan, cells: Cells) -> Outcome:
    pieces = {place: _pieces(one) for place, one in cells.items()}
    findings = [found for one in cells.values() for found in (one.tries(), one.rate)]
    for place, one in cells.items():
        found = pieces[place]
        if one.partition is not None and found is not None and one.error is not None:
            findings += [one.partition.finding(), found, one.error]
    return Outcome(
        (_how(plan), *_what_came_out(plan, cells, pieces)),
        tuple(findings),
        _tables(plan, cells, pieces),
        _pictures(plan, cells),
        verdicts=tuple(_verdicts(cells)),
    )


def _how(plan: Plan) -> str:
    small = " This is the small size: fewer widths, depths and first weights." if len(plan.widths) < 10 else ""
    return (
        f"Networks of equal layers learn sine at {len(X)} uniform points of [-pi, pi], ends included, on the mean "
        f"squared error with gradient descent at rate {RATE:g}. The dissertation leaves open the batch and the first "
        "weights; here every step takes all points, and first weights are PyTorch's usual ones. Each network is "
        f"trained {FIRST_EPOCHS} epochs from {plan.trials:,} seeded first weights at once; the first of them with an "
        f"error below {GOAL:g} is the one that restarts end with, and is trained {MORE_EPOCHS:,} epochs more.{small}"
    )


def _what_came_out(plan: Plan, cells: Cells, pieces: dict[tuple[int, int], rs.Finding | None]) -> list[str]:
    agreeing = [one.agrees(_papers(*place), MAX_TRIED) for place, one in cells.items()]
    zero = float(np.mean(Y**2))
    at_caption = sum(one.tries(PAPERS_GOAL_IN_CAPTION).value == 1 for one in cells.values())
    at_text = sum(one.tries().value == 1 for one in cells.values())
    papers_ones = sum(_papers(*place) == 1 for place in cells)
    numbers = [int(found) for found in pieces.values() if found is not None]
    most = max(((int(found), place) for place, found in pieces.items() if found is not None), default=None)
    said = [
        (
            "Table 5.1 of the dissertation counts a mean squared error below 0.5 as success in its caption, and below "
            f"0.45 in the text. The zero function has {zero:.4g} at the {len(X)} points, and so below 0.5: with the "
            f"caption's goal {at_caption} of {len(cells)} widths and depths succeed at once here, with the text's "
            f"{at_text}, in the dissertation's table {papers_ones}. The text's goal is used."
        ),
        (
            f"Restarts are a geometric variable, of which the dissertation shows one draw. {sum(agreeing)} of its "
            f"{len(cells)} numbers are no surprise at the rates of success found here (each tail at least 2.5 %)."
        ),
    ]
    if most is not None:
        said.append(
            f"The fitted networks have {min(numbers)} to {most[0]} pieces on [-pi, pi], most for {most[1][1]} x "
            f"{most[1][0]} units. Regions are activation regions; neighbours with the same affine map are one piece."
        )
    return said


def _verdicts(cells: Cells) -> list[StatementVerdict]:
    """Return what becomes of Table 5.1."""
    agreeing = sum(one.agrees(_papers(*place), MAX_TRIED) for place, one in cells.items())
    # Each tail has 2.5 %, so that of numbers that agree one in twenty is beyond it.
    expected = 0.95 * len(cells)
    deepest, widest = max(depth for _, depth in cells), max(width for width, _ in cells)
    ends = (cells[widest, deepest], cells[widest, 1])
    rates = [Rate(int((one.losses < GOAL).sum()), len(one.losses)) for one in ends]
    return [
        StatementVerdict(
            "the numbers of restarts",
            "Table 5.1",
            f"{len(cells)} numbers",
            f"{agreeing} are no surprise at the rates found here (each tail at least 2.5 %)",
            agreeing >= expected - 2 * (0.05 * expected) ** 0.5,
        ),
        increasing("deep networks fail more often than shallow ones", "section 5.3", "in words", rates),
    ]


def _tables(plan: Plan, cells: Cells, pieces: dict[tuple[int, int], rs.Finding | None]) -> tuple[Table, ...]:
    columns = ("width", *(f"depth {depth}" for depth in plan.depths))

    def table(caption: str, say: Callable[[Cell], str]) -> Table:
        rows = tuple((str(width), *(say(cells[width, depth]) for depth in plan.depths)) for width in plan.widths)
        return Table(columns, rows, caption)

    def tries(one: Cell) -> str:
        theirs, ours = _papers(one.width, one.depth), one.tries()
        return f"{'–' if one.first is None else int(ours)} ({'–' if theirs is None else theirs})"

    def regions(one: Cell) -> str:
        part, found = one.partition, pieces[one.width, one.depth]
        return "" if part is None or found is None else f"{_said(part.finding())}, {_said(found)}"

    return (
        table(
            f"First weights until an error below {GOAL:g}; in brackets the dissertation's Table 5.1. A dash: more than "
            f"{plan.trials:,}, in brackets more than {MAX_TRIED:,}.",
            tries,
        ),
        table(
            f"Share of {plan.trials:,} first weights that reach the goal, in per cent; with 95 % intervals in "
            "findings.json.",
            lambda one: f"{100 * float(one.rate):.3g}",
        ),
        table("Regions of the fitted network on [-pi, pi], and its pieces, all EXACT unless marked.", regions),
        table(
            f"Mean squared error of the fitted network at the {len(X)} points, after all epochs.",
            lambda one: "" if one.error is None else f"{float(one.error):.3g}",
        ),
    )


def _pictures(plan: Plan, cells: Cells) -> tuple[Picture, ...]:
    grid = [[cells[width, depth] for depth in plan.depths] for width in plan.widths]
    parts = [[one.partition for one in line] for line in grid]
    errors = [["none" if one.error is None else f"{float(one.error):.2g}" for one in line] for line in grid]
    numbers = [["none" if part is None else f"{int(part.finding())}" for part in line] for line in parts]
    names, titles = [f"width {width}" for width in plan.widths], [f"depth {depth}" for depth in plan.depths]
    pictures = [
        Picture(
            "sine",
            plots.fitted_curves(parts, curve(), rows=names, columns=titles, notes=errors),
            "Figure 5.5a: sine and the fitted networks, with their mean squared errors.",
        ),
        Picture(
            "sine-coefficients",
            plots.fitted_coefficients(
                parts,
                tangents(),
                rows=names,
                columns=titles,
                notes=numbers,
            ),
            "Figure 5.5b: slopes and intercepts of their regions, over those of the tangents of sine, with the numbers "
            "of regions.",
        ),
    ]
    tried = {
        f"width {width}": (
            [None if cells[width, depth].first is None else int(cells[width, depth].tries()) for depth in plan.depths],
            [_papers(width, depth) for depth in plan.depths],
        )
        for width in plan.widths
    }
    pictures.append(
        Picture(
            "sine-restarts",
            plots.restarts(tried, depths=plan.depths, most=(plan.trials, MAX_TRIED)),
            f"Table 5.1 as a picture: first weights until an error below {GOAL:g}, the dissertation's and ours.",
        )
    )
    best = min(
        (one for one in cells.values() if one.error is not None), key=lambda one: float(one.error or 0), default=None
    )
    if best is not None and best.partition is not None:
        pictures.append(
            Picture(
                "sine-best",
                rs.plots.coefficient_scatter(best.partition),
                f"The coefficients of the network with the smallest error, {best.depth} x {best.width} units; "
                "neighbouring regions are joined, and the area of a dot grows with the length of its region.",
            )
        )
    return tuple(pictures)


def _pieces(one: Cell) -> rs.Finding | None:
    """Return the number of pieces: regions, where neighbours with the same affine map are one."""
    return None if one.layers is None else rs.count(rs.load(one.layers), INTERVAL, definition="open_connected")


def _said(found: rs.Finding) -> str:
    return f"{int(found)}" if found.claim is rs.Claim.EXACT else str(found)


def _papers(width: int, depth: int) -> int | None:
    return PAPER[width - 1][depth - 1]
