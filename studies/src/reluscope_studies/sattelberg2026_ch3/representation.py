"""Figures 3.3, A.1 and A.2: classes on a line by width and by depth, and what widths and depths cannot all do."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import interpolation, plots
from reluscope_studies.sattelberg2026_ch3._counting import first_excess
from reluscope_studies.sattelberg2026_ch3._networks import LEAK
from reluscope_studies.sizes import number_of

SENTENCE = "classes on a line by width and by depth, and why some functions with few changes need larger networks"
POSITION = 15
REPEATS = ("Figure 3.3", "Figure A.1", "Figure A.2")
DATA = None
CHANGES: tuple[Change, ...] = ("points",)

# Drawn problems that the construction of Theorem 3.3.2 is tried on.
DRAWN = {"small": 20, "full": 200}
MOST_CHANGES = 12
WAVES = ((2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (3, 2), (3, 3), (4, 2), (5, 2))
WIDTHS = (2, 3, 4, 5, 6, 8, 10)
LONGER = (2, 4)
# With longer networks the numbers are looked for further.
MOST_SWAPS = 300_000


@dataclass(frozen=True, eq=False)
class Problem:
    """Intervals of two classes, by turns.

    Parameters
    ----------
    intervals : (s, 2) float64
        From and to, in order, apart.
    classes : (s,) int64
    """

    intervals: Float[np.ndarray, "s 2"]
    classes: Int[np.ndarray, " s"]


# Four changes, between which the middles of the gaps differ.
SHOWN = Problem(np.array([[-0.4, 0.3], [0.7, 1.2], [1.6, 2.4], [2.75, 3.35], [3.6, 4.3]]), np.array([0, 1, 0, 1, 0]))
WINDOW, FOLDS = (-0.6, 4.5), 2


def protocol(setting: Setting) -> Outcome:
    """Build the networks of both theorems, count what they do exactly, and count functions against networks."""
    wide = {units: by_width(SHOWN, units) for units in range(1, len(SHOWN.intervals))}
    deep = {depth: wave(2, depth, slope=2.0 ** (depth - FOLDS)) for depth in range(1, FOLDS + 1)}
    number, right = number_of(setting, DRAWN, "points"), 0
    rng = np.random.default_rng([setting.seed, 33])
    for _ in range(number):
        drawn = draw(rng, int(rng.integers(1, MOST_CHANGES + 1)))
        right += len(wrong(by_width(drawn, len(drawn.classes) - 1, leak=LEAK), drawn)) == 0
    waves = {size: rs.partition(wave(*size), rs.Box(0.0, float(size[0] ** size[1]), 1)) for size in WAVES}
    changes = {size: num_changes(part) for size, part in waves.items()}
    findings = [
        _count(right, "drawn problems solved by as many units as changes", f"{number} problems, leak {LEAK:g}"),
        *(
            _count(found, f"changes by {depth} x {width} units", "[0, w^l]")
            for (width, depth), found in changes.items()
        ),
    ]
    setting.progress("Functions and networks")
    excess = {width: first_excess(width) for width in WIDTHS}
    longer = {by: first_excess(2, layers_by=by, most_swaps=MOST_SWAPS) for by in LONGER}
    tables = (_table_of_waves(changes), _table_of_counts(excess), _table_of_longer(longer))
    verdicts = _verdicts(number, right, changes, excess, longer)
    return Outcome(_said(), tuple(findings), tables, _pictures(wide, deep), verdicts=verdicts)


def by_width(problem: Problem, units: int, *, leak: float = 0.0) -> rs.Network:
    """Return the network of Theorem 3.3.2 that goes through the first points of a problem, one for each unit and one.

    The points are the middles of the intervals, as high as equations A.17 to A.20 say: zeros lie midway between
    intervals.
    """
    middles = problem.intervals.mean(axis=1)
    heights = [1.0 if problem.classes[0] else -1.0]
    for before, gap in enumerate((problem.intervals[:-1, 1] + problem.intervals[1:, 0]) / 2):
        slope = -heights[-1] / (gap - middles[before])
        heights.append(heights[-1] + slope * (middles[before + 1] - middles[before]))
    used = units + 1
    return rs.load(interpolation.interpolate(middles[:used], np.array(heights)[:used], leak=leak).module)


def wave(width: int, depth: int, slope: float = 1.0) -> rs.Network:
    """Return the network of Theorem 3.3.3: a triangle wave of w^l slopes on [0, w^l / slope], less a half.

    Examples
    --------
    >>> wave(2, 2)([[0.0], [1.0], [2.0], [3.0], [4.0]])[:, 0].tolist()
    [-0.5, 0.5, -0.5, 0.5, -0.5]
    """
    layers, read = [], np.array([[slope]])
    for power in range(depth - 1, -1, -1):
        bends = np.arange(width) * float(width**power)
        layers.append((np.repeat(read, width, axis=0), -bends))
        # Slopes 1, -1, 1, ... from bend to bend.
        read = np.array([[1.0, *(2.0 * (-1) ** bend for bend in range(1, width))]])
    return rs.load([*layers, (read, np.array([-0.5]))])


def draw(rng: np.random.Generator, changes: int) -> Problem:
    """Return random intervals whose classes change so many times."""
    # Gaps and lengths in eighths, none of them zero.
    steps = rng.integers(1, 9, size=2 * (changes + 1)) / 8
    return Problem(np.cumsum(steps).reshape(-1, 2), (np.arange(changes + 1) + rng.integers(2)) % 2)


def wrong(network: rs.Network, problem: Problem) -> list[int]:
    """Return the intervals on which the sign is not that of the class everywhere: at ends and bends, so everywhere."""
    start, end = float(problem.intervals[0, 0]), float(problem.intervals[-1, 1])
    bends = rs.partition(network, rs.Box(start, end, 1)).vertices[:, 0]
    found = []
    for place, ((low, high), label) in enumerate(zip(problem.intervals, problem.classes, strict=True)):
        x = np.concatenate([[low, high], bends[(bends > low) & (bends < high)]])
        values = network(x[:, None])[:, 0].cpu().numpy()
        if not ((values > 0) if label else (values < 0)).all():
            found.append(place)
    return found


def num_changes(part: rs.Partition) -> int:
    """Return how often a function on an interval changes its sign from bend to bend."""
    order = np.argsort(part.vertices[:, 0], kind="stable")
    signs = np.sign(part.outputs[order, 0])
    return int((np.diff(signs[signs != 0]) != 0).sum())


def _count(number: int, name: str, domain: str) -> rs.Finding:
    return rs.Finding.of(number, name=name, domain=domain, source="sattelberg2026")


def _said() -> tuple[str, ...]:
    how = (
        "Networks are built as the proofs say, with lemma A.2.1's matrix the right way round, and their exact "
        "partitions tell on which intervals the sign is right and how often it changes."
    )
    few = (
        "The open question of section 3.5, whether a network of width w and depth l can solve every Boolean function "
        "with a swaps value below w^l, is answered by counting. Along the direction (2^(n-1), ..., 2, 1) all inputs "
        "lie apart, so that at least 2 C(2^n - 1, s) functions of n inputs have a swaps value of at most s. Networks "
        "of l layers of w units with any fixed slopes of their units realise at most the product over the layers, "
        "output included, of 2 (2 e k 2^n i / W)^W functions, where k is the number of units of layer i and W that "
        "of weights up to it (Bartlett, Harvey, Liaw and Mehrabian 2019, theorem 7). The first grows like 2^(w^l), "
        "the second has a logarithm that is polynomial in l and n: from some depth on there are too few networks, for "
        "every width from 2 on. With one layer the answer is yes (Theorem 3.3.2), of parity too (Theorem 3.3.4)."
    )
    longer = (
        "The same count refutes that O(log s / log w) layers are enough, whatever the constant: with c times as many "
        "layers the logarithm of the number of networks is still polynomial in log s."
    )
    return how, few, longer


def _table_of_waves(changes: dict[tuple[int, int], int]) -> Table:
    rows = tuple((f"{depth} x {width}", f"{width**depth}", f"{found}") for (width, depth), found in changes.items())
    caption = "Changes of sign of triangle waves on [0, w^l], counted on their exact partitions (Theorem 3.3.3)."
    return Table(("layers x units", "w^l", "changes"), rows, caption)


def _table_of_counts(excess: dict[int, tuple[int, int, int, float, float] | None]) -> Table:
    rows = tuple(
        (str(width), str(found[0]), str(found[1]), f"{found[2]:,}", f"{found[3]:,.0f}", f"{found[4]:,.0f}")
        for width, found in excess.items()
        if found is not None
    )
    columns = ("width w", "depth l", "inputs", "largest swaps value below w^l", "log2 of functions, at least",
               "log2 of networks' functions, at most")  # fmt: skip
    caption = (
        "The least depth, of each width, at which counting proves that some function with a swaps value below w^l has "
        "no network. It does not name one, and smaller depths may have such functions too."
    )
    return Table(columns, rows, caption)


def _table_of_longer(longer: dict[int, tuple[int, int, int, float, float] | None]) -> Table:
    rows = tuple(
        (f"{by} log2 s", f"{by * found[0]}", str(found[1]), f"{found[2]:,}", f"{found[3]:,.0f}", f"{found[4]:,.0f}")
        for by, found in longer.items()
        if found is not None
    )
    columns = ("layers", "that is", "inputs", "swaps value s", "log2 of functions, at least",
               "log2 of networks' functions, at most")  # fmt: skip
    return Table(columns, rows, "The same for networks of two units in a layer that are longer by a constant factor.")


def _verdicts(
    number: int,
    right: int,
    changes: dict[tuple[int, int], int],
    excess: dict[int, tuple[int, int, int, float, float] | None],
    longer: dict[int, tuple[int, int, int, float, float] | None],
) -> tuple[StatementVerdict, ...]:
    smallest = {width: found for width, found in excess.items() if found is not None}
    shown = ", ".join(
        f"{found[0]} x {width} units do not have all functions of {found[1]} inputs"
        for width, found in smallest.items()
        if width <= 3
    )
    more = [found for found in longer.values() if found is not None]
    return (
        StatementVerdict(
            "s changes by one layer of s units",
            "Theorem 3.3.2",
            "all problems",
            f"{right} of {number} drawn problems",
            right == number,
        ),
        StatementVerdict(
            "w^l changes by l layers of w units",
            "Theorem 3.3.3",
            "w^l",
            ", ".join(f"{found} by {depth} x {width}" for (width, depth), found in changes.items()),
            all(found == width**depth for (width, depth), found in changes.items()),
        ),
        StatementVerdict(
            "every Boolean function with a swaps value below w^l is solved by width w and depth l",
            "sections 3.3.2 and 3.5",
            "open; supposed to be so",
            f"no: {shown} with as few changes",
            False if smallest else None,
        ),
        StatementVerdict(
            "O(log s / log w) layers of width w solve swaps value s",
            "section 3.3.2",
            "supposed",
            "no, by the same count"
            + (f": {LONGER[0]} log2 s layers of two units are too few for s = {more[0][2]:,}" if more else ""),
            False if more else None,
        ),
    )


def _pictures(wide: dict[int, rs.Network], deep: dict[int, rs.Network]) -> tuple[Picture, ...]:
    lines = {f"{units} unit{'s' * (units > 1)}": _line(net) for units, net in wide.items()}
    waves = {f"{depth} layer{'s' * (depth > 1)} of 2 units": _line(net) for depth, net in deep.items()}
    few = {
        "(a) the problem": None,
        "(b) by width: 4 units": lines["4 units"],
        "(c) by depth: 2 x 2 units": waves["2 layers of 2 units"],
    }
    shown = (SHOWN.intervals, SHOWN.classes)
    return (
        Picture(
            "line",
            plots.classes_on_line(few, *shown),
            "Figure 3.3: four changes of class on a line, by width and by depth.",
        ),
        Picture(
            "line-by-width",
            plots.classes_on_line({"the problem": None, **lines}, *shown),
            "Figure A.1: a unit more for every change; each network goes through one interval more.",
        ),
        Picture(
            "line-by-depth",
            plots.classes_on_line({"the problem": None, **waves}, *shown),
            "Figure A.2: every layer of two units folds the line once more.",
        ),
    )


def _line(network: rs.Network) -> Float[np.ndarray, "v 2"]:
    part = rs.partition(network, rs.Box(*WINDOW, 1))
    order = np.argsort(part.vertices[:, 0], kind="stable")
    return np.column_stack([part.vertices[order, 0], part.outputs[order, 0]])
