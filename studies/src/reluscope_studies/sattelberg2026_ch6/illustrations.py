"""Figures 6.1, 6.7 and 6.12: the two problems, lines that bend with depth, and points that labels are taken from."""

from itertools import product

import numpy as np
from jaxtyping import Float

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import plots
from reluscope_studies.labelled import labelled

SENTENCE = "the two problems of the plane, how deeper units bend, and which points of a grid are compared"
POSITION = 5
REPEATS = ("Figure 6.1", "Figure 6.7", "Figure 6.12")
DATA = None
IS_SHORT = True

POINTS, REACH = 600, 1.5
# Two units in each of three layers, chosen so that every line bends within the square.
LAYERS = [
    (np.array([[1.0, 0.25], [-0.25, 1.0]]), np.array([0.25, 0.375])),
    (np.array([[1.0, 1.5], [-1.0, 1.25]]), np.array([-0.75, 0.125])),
    (np.array([[-0.75, -0.75], [0.5, 0.75]]), np.array([0.375, -0.125])),
]
# Rows and columns of the drawn grid, and the point that is looked at.
GRID, LOOKED_AT = (6, 9), (3, 4)


def protocol(setting: Setting) -> Outcome:
    """Draw all three, and count the bends of every unit exactly."""
    problems = {
        "circle and annulus": labelled(rs.datasets.circle_annulus(POINTS, seed=setting.seed)),
        "with XOR": labelled(rs.datasets.xor_annulus(POINTS, seed=setting.seed)),
    }
    shown, drawn, rows, findings = [], np.zeros((0, 2, 2)), [], []
    steps: list[bool] = []
    for number in range(1, len(LAYERS) + 1):
        units, pieces = bends_of(number)
        shown.append(({f"unit {unit + 1}": one for unit, one in enumerate(units)}, drawn))
        drawn = np.concatenate([drawn, *units])
        regions = rs.partition(_up_to(number), rs.Box(-REACH, REACH, 2)).finding()
        findings.append(regions)
        steps += [len(one) <= pieces for one in units]
        rows.append((str(number), *(str(len(one)) for one in units), str(pieces), str(regions)))
    columns = ("layer", "segments of unit 1", "segments of unit 2", "regions before", "regions with it")
    caption = (
        "Segments of the lines where units are zero, one at most in every region of the layers before: a line bends "
        "where it meets an earlier one, and nowhere else."
    )
    verdict = StatementVerdict(
        "lines of deeper units bend at those of earlier layers",
        "section 6.2, Figure 6.7",
        "drawn",
        "segments by layer: " + ", ".join(f"{row[1]} and {row[2]}" for row in rows),
        all(steps) and rows[0][1:3] == ("1", "1") and max(int(one) for one in rows[-1][1:3]) > 1,
    )
    pictures = (
        Picture(
            "problems",
            plots.classes_in_plane({name: (one.points, one.labels) for name, one in problems.items()}),
            "Figure 6.1: points of the two problems; marks are classes.",
        ),
        Picture(
            "bending",
            plots.bending_lines(shown, reach=REACH),
            "Figure 6.7: where units of three layers are zero, by layer.",
        ),
        Picture(
            "compared",
            plots.compared_points(kinds_of_points(GRID, LOOKED_AT)),
            "Figure 6.12: points whose regions a point is compared with.",
        ),
    )
    said = "The dissertation gives no numbers for these figures; weights of Figure 6.7 are ours."
    return Outcome((said,), tuple(findings), (Table(columns, tuple(rows), caption),), pictures, verdicts=(verdict,))


def _up_to(number: int) -> rs.Network:
    """Return so many of the layers, with gates, and a sum of what they give."""
    return rs.load([*LAYERS[:number], (np.ones((1, 2)), np.zeros(1))])


def bends_of(number: int) -> tuple[list[Float[np.ndarray, "k 2 2"]], int]:
    """Return the segments where each unit of a layer is zero, and the number of regions of the layers before it."""
    weight, bias = LAYERS[number - 1]
    units: list[list[Float[np.ndarray, "2 2"]]] = [[] for _ in weight]
    if number == 1:
        corners = np.array([[-REACH, -REACH], [REACH, -REACH], [REACH, REACH], [-REACH, REACH]])
        regions = [corners]
        values = [corners @ weight.T + bias]
    else:
        before = rs.load([*LAYERS[: number - 1], (weight, bias)])
        part = rs.partition(before, rs.Box(-REACH, REACH, 2))
        regions = [_around(region.vertices) for region in part]
        values = [before(corners).cpu().numpy() for corners in regions]
    for corners, heights in zip(regions, values, strict=True):
        for unit, own in enumerate(heights.T):
            ends = [
                (own[j] * corners[i] - own[i] * corners[j]) / (own[j] - own[i])
                for i, j in zip(range(len(own)), np.roll(np.arange(len(own)), -1), strict=True)
                if own[i] * own[j] < 0
            ]
            if len(ends) == 2:
                units[unit].append(np.array(ends))
    return [np.array(one).reshape(-1, 2, 2) for one in units], len(regions)


def _around(corners: Float[np.ndarray, "v 2"]) -> Float[np.ndarray, "v 2"]:
    away = corners - corners.mean(axis=0)
    return corners[np.argsort(np.arctan2(away[:, 1], away[:, 0]))]


def kinds_of_points(grid: tuple[int, int], looked_at: tuple[int, int]) -> list[list[str]]:
    """Return what each point of a grid is to the one that is looked at, as section 6.3 says.

    Examples
    --------
    >>> kinds_of_points((2, 3), (1, 1))
    [['compared', 'compared', 'compared'], ['compared', 'own', 'later']]
    """
    row, column = looked_at
    kinds = [["later"] * grid[1] for _ in range(grid[0])]
    for y, x in product(range(grid[0]), range(grid[1])):
        if (y, x) == looked_at:
            kinds[y][x] = "own"
        elif (y == row and x == column - 1) or (y == row - 1 and x >= column - 1):
            kinds[y][x] = "compared"
        elif (y, x) < (row, column):
            kinds[y][x] = "done"
    return kinds
