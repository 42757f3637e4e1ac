"""Figures 3.5 and 3.6, Table 3.3: rates at which networks of each size learn each of the 222 classes of four inputs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import rankdata

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import boolean, plots
from reluscope_studies.interruption import Interruption
from reluscope_studies.sattelberg2026_ch3._cells import NUM_INPUTS, Cell, cell
from reluscope_studies.sattelberg2026_ch3._measures import class_swaps, measures_of, representatives
from reluscope_studies.sattelberg2026_ch3._networks import EPOCHS, LEAK
from reluscope_studies.sizes import number_of
from reluscope_studies.verdicts import Rate, increasing

SENTENCE = "which classes of four-input Boolean functions do small networks learn, and how often"
POSITION = 30
REPEATS = ("Figure 3.5", "Figure 3.6", "Table 3.3")
DATA = None
CHANGES: tuple[Change, ...] = ("replicates",)

WIDTHS, DEPTHS, LEAKS = range(2, 11), range(1, 6), (0.0, LEAK)
TRIALS = {"small": 5, "medium": 20, "full": 100}
NAMES = {0.0: "ReLU", LEAK: f"leaky ReLU, a = {LEAK:g}"}
# Table 3.3: how many of the 45 sizes find a class hardest, or within a percentage point of it.
PRINTED = {
    0.0: {7140: 4, 1716: 4, 5804: 4, 6042: 4, 1641: 5, 5805: 5, 406: 6, 5737: 12, 278: 14, 27030: 19},
    LEAK: {2022: 2, 1713: 2, 5786: 2, 1717: 2, 5774: 2, 7905: 2, 5737: 2, 6038: 2, 7128: 5, 27030: 12},
}
NEAR = 0.01
MEASURES = ("swaps", "degree", "influence", "entropy")

Cells = dict[tuple[float, int, int], Cell]


def protocol(setting: Setting) -> Outcome:
    """Train networks of all sizes, and count successes by size and by class."""
    cells: Cells = {}
    every = list(product(DEPTHS, WIDTHS, LEAKS))
    with Interruption() as ctrl_c:
        for index, (depth, width, leak) in enumerate(every):
            setting.progress(f"{NAMES[leak]}, {depth} x {width} units", index / len(every))
            cells[leak, width, depth] = cell(setting, width, depth, leak, number_of(setting, TRIALS, "replicates"))
    setting.progress("Swaps values")
    findings = [number for one in cells.values() for number in (one.solved, one.never_solved)]
    whole = [leak for leak in LEAKS if all((leak, width, depth) in cells for width, depth in product(WIDTHS, DEPTHS))]
    classes = {leak: _Classes(leak, [one for key, one in cells.items() if key[0] == leak]) for leak in whole}
    pictures, tables, said = [_by_size(cells)], [], [_how(setting), *_statements(cells)]
    for one in classes.values():
        tables += [one.hardest(), one.shallow()]
        findings += one.findings()
        pictures.append(one.beside())
    if LEAK in classes:
        pictures.append(classes[LEAK].picture())
        tables.append(_correlations(classes))
    verdicts = tuple(_verdicts(cells, classes))
    return Outcome(
        tuple(said), tuple(findings), tuple(tables), tuple(pictures), interrupted=ctrl_c.came, verdicts=verdicts
    )


def _how(setting: Setting) -> str:
    trials = number_of(setting, TRIALS, "replicates")
    small = f" This is the small size: {trials} trials for the dissertation's 100." if setting.size == "small" else ""
    return (
        f"{trials} networks of {WIDTHS[0]} to {WIDTHS[-1]} units in each of 1 to {DEPTHS[-1]} hidden layers for each "
        f"of the 222 classes, with ReLU and with leaky ReLU, by Adam at rate 0.025 on all 16 inputs, minus ones and "
        f"ones, for at most {EPOCHS:,} epochs; a network that has all of them right is done and a success. Weights are "
        "normal with He's variance; the dissertation does not say what biases are at first, here they are PyTorch's "
        f"usual ones (see local_optima). Its text says 100 trials and ten trials.{small}"
    )


def grids(cells: Cells, leak: float) -> tuple[Float[np.ndarray, "w d"], Float[np.ndarray, "w d"]]:
    """Return mean and least rate of success over the classes, by width and depth; NaN where nothing was trained."""
    mean, least = (np.full((len(WIDTHS), len(DEPTHS)), np.nan) for _ in range(2))
    for (row, width), (column, depth) in product(enumerate(WIDTHS), enumerate(DEPTHS)):
        if (leak, width, depth) in cells:
            rates = cells[leak, width, depth].rates
            mean[row, column], least[row, column] = rates.mean(), rates.min()
    return mean, least


def _verdicts(cells: Cells, classes: Mapping[float, "_Classes"]) -> Iterator[StatementVerdict]:
    """Return what becomes of what the dissertation says of its Figures 3.5 and 3.6 and of Table 3.3."""
    for leak, (sizes, place) in {0.0: (((5, 1), (3, 2)), "ReLU"), LEAK: (((3, 1), (2, 2)), "leaky")}.items():
        if leak not in classes:
            continue
        for width, depth in sizes:
            if not {(leak, width, depth), (leak, max(width - 1, WIDTHS[0]), depth)} <= cells.keys():
                continue
            number, trials = int(cells[leak, width, depth].never_solved), len(cells[leak, width, depth].epochs)
            before = int(cells[leak, width - 1, depth].never_solved) if width > WIDTHS[0] else 222
            less = "not tried" if width == WIDTHS[0] else str(222 - before)
            yield StatementVerdict(
                f"{depth} x {width} units solve every class, narrower ones do not ({place})",
                "Figure 3.5",
                "all 222 in 100 trials",
                f"{222 - number} of 222 in {trials} trials; with one unit less in a layer {less}",
                # A class that few trials do not solve may be one that more of them would.
                before > 0 if number == 0 else None if trials < TRIALS["full"] else False,
            )
        own = classes[leak]
        hardest = int(np.argmin(own.mean))
        most = own.counts.most_common(1)
        yield StatementVerdict(
            f"parity is the hardest class ({place})",
            "Table 3.3",
            f"for {PRINTED[leak][27030]} of 45 sizes",
            f"for {own.counts[27030]} sizes; solved least often over all sizes: "
            f"{representatives(NUM_INPUTS)[hardest].number}",
            bool(most) and own.counts[27030] == most[0][1] and representatives(NUM_INPUTS)[hardest].number == 27030,
        )
        ranks = rankdata(own.mean)
        found = {name: np.corrcoef(rankdata(own.measures()[name]), ranks)[0, 1] for name in MEASURES}
        yield StatementVerdict(
            f"influence goes inversely with success and explains more than other measures ({place})",
            "Figure 3.6",
            "in words",
            ", ".join(f"{name} {value:+.2f}" for name, value in found.items()),
            found["influence"] < 0 and found["influence"] == min(found.values()),
        )
    if len(classes) == len(LEAKS):
        rates = [_rate(classes[leak].cells) for leak in LEAKS]
        yield increasing("leaky ReLU does better than ReLU", "section 3.4.2", "in words", rates)
        narrow, wide = (
            _rate([one for one in classes[0.0].cells if (one.width < 4) is is_narrow]) for is_narrow in (True, False)
        )
        yield increasing("ReLU networks narrower than 4 rarely succeed", "Figure 3.5", "in words", [narrow, wide])


def _rate(cells: Sequence[Cell]) -> Rate:
    return Rate(sum(int(one.solved) for one in cells), sum(one.epochs.size for one in cells))


def _by_size(cells: Cells) -> Picture:
    panels = {}
    for leak in LEAKS:
        mean, least = grids(cells, leak)
        panels |= {f"{NAMES[leak]}: mean": mean, f"{NAMES[leak]}: hardest class": least}
    figure = plots.success_grids(panels, widths=WIDTHS, depths=DEPTHS)
    caption = (
        "Figure 3.5: per cent of networks that succeed, by the size of the networks: mean over the 222 classes, and of "
        "the class with the fewest successes."
    )
    return Picture("atlas-sizes", figure, caption)


def _statements(cells: Cells) -> list[str]:
    """Return what the dissertation says of Figure 3.5, with what is found here."""
    said = []
    for leak in LEAKS:
        mean, least = grids(cells, leak)
        if np.isnan(mean).any():
            continue
        all_solved = [
            f"{depth} x {width}"
            for (column, depth), (row, width) in product(enumerate(DEPTHS), enumerate(WIDTHS))
            if least[row, column] > 0 and (row == 0 or least[row - 1, column] == 0)
        ]
        claim = (
            "(the dissertation, of 100 trials: one layer needs 5 units, two layers need 3, and two units are never "
            "enough)"
            if leak == 0
            else "(the dissertation, of 100 trials: one layer of 3 units and two of 2 are enough)"
        )
        is_narrow = np.array(WIDTHS) < 4
        narrow, wide = mean[is_narrow], mean[~is_narrow]
        said.append(
            f"{NAMES[leak]}: networks of 2 or 3 units in a layer succeed in {100 * narrow.mean():.0f} % of trials, "
            f"wider ones in {100 * wide.mean():.0f} %. Every class is solved at least once by networks of "
            f"{', '.join(all_solved) or 'no size'} units (layers x units; the narrowest of their depth) {claim}."
        )
    return said


@dataclass(frozen=True, eq=False)
class _Classes:
    """Rates of success of the networks of one leak, class by class."""

    leak: float
    cells: list[Cell]

    @property
    def mean(self) -> Float[np.ndarray, " k"]:
        """The share of networks that solve a class, over all sizes."""
        return np.mean([one.rates for one in self.cells], axis=0)

    @property
    def counts(self) -> Counter[int]:
        """How many sizes find a class hardest, or nearly; classes by their numbers."""
        return Counter(number for one in self.cells for number in hardest_of(one.rates))

    @property
    def halves(self) -> tuple[Counter[int], ...]:
        """The same counts by the first and by the second half of the trials: what chance alone changes."""
        half = len(self.cells[0].epochs) // 2
        return tuple(
            Counter(number for one in self.cells for number in hardest_of((one.epochs[part] >= 0).mean(axis=0)))
            for part in ((slice(half), slice(half, None)) if half else ())
        )

    def findings(self) -> list[rs.Finding]:
        return [
            rs.Finding.of(
                number,
                name=f"sizes that find class {name} hardest, {NAMES[self.leak]}",
                definition="sizes of network with a rate of success within one percentage point of the lowest",
                domain=f"{len(self.cells)} sizes, {len(self.cells[0].epochs)} seeded trials each",
                source="sattelberg2026",
            )
            for name, number in self.counts.most_common(10)
        ]

    def hardest(self) -> Table:
        """Return Table 3.3 with ours beside."""
        counts, printed, halves = self.counts, PRINTED[self.leak], self.halves
        names = [name for name, _ in counts.most_common(10)]
        classes = [one.number for one in representatives(NUM_INPUTS)]
        rows = []
        for name in sorted({*names, *printed}, key=lambda one: (-counts[one], self.mean[classes.index(one)])):
            place = classes.index(name)
            number = str(printed.get(name, "–"))
            share = f"{100 * self.mean[place]:.1f} %"
            table = str(boolean.BooleanFunction(NUM_INPUTS, name))
            ours = [str(one[name]) for one in (counts, *halves)]
            rows.append((str(name), table, str(class_swaps(NUM_INPUTS)[place]), number, *ours, share))
        caption = (
            f"Table 3.3, {NAMES[self.leak]}: how many of {len(self.cells)} sizes find a class hardest, or within a "
            "percentage point of the hardest; the ten of the dissertation, and the ten most frequent here. Sizes that "
            "find all classes as hard as that are left out, which is our reading: else they would count for all."
        )
        if halves:
            first, second = ({name for name, _ in one.most_common(10)} for one in halves)
            caption += (
                f" Each half of the trials gives other counts: of the ten classes most frequent by the first half "
                f"{len(first & second)} are among those by the second. Shares of successes change less."
            )
        parts = [f"{which} half" for which, _ in zip(("first", "second"), halves, strict=False)]
        columns = ("class", "truth table", "swaps", "the dissertation", "here", *parts, "successes")
        return Table(columns, tuple(rows), caption)

    def beside(self) -> Picture:
        """Return the classes of Table 3.3 with both counts, as a picture."""
        names = sorted(PRINTED[self.leak], key=lambda number: -PRINTED[self.leak][number])
        figure = plots.counts_beside(
            np.array([PRINTED[self.leak][name] for name in names]),
            {"here": np.array([self.counts[name] for name in names])},
            rows=[f"class {name}" for name in names],
            label=f"of {len(self.cells)} sizes that find it hardest",
        )
        return Picture(
            f"hardest-{'leaky' if self.leak else 'relu'}",
            figure,
            f"Table 3.3, {NAMES[self.leak]}: the dissertation's counts of its ten hardest classes, and ours.",
        )

    def measures(self) -> dict[str, np.ndarray]:
        """Return the rows of Figure 3.6."""
        found = measures_of(representatives(NUM_INPUTS))
        by_size = {(one.width, one.depth): one.rates for one in self.cells}
        return {
            "swaps": class_swaps(NUM_INPUTS),
            "degree": found.degree,
            "influence": found.influence,
            "entropy": found.entropy,
            "2 x 2 units": by_size[2, 2],
            "1 x 3 units": by_size[3, 1],
            "all sizes": self.mean,
        }

    def fewest_units(self) -> tuple[Int[np.ndarray, " k"], list[str]]:
        """Return the fewest units of one hidden layer that solve each class, and the numbers that were tried."""
        shallow = sorted((one for one in self.cells if one.depth == 1), key=lambda one: one.width)
        solved = np.array([one.rates > 0 for one in shallow])
        least = np.where(solved.any(axis=0), solved.argmax(axis=0), len(shallow))
        return least, [*(f"{one.width} units" for one in shallow), "none"]

    def shallow(self) -> Table:
        """Return how many units of one hidden layer classes of each swaps value took."""
        (least, names), values = self.fewest_units(), class_swaps(NUM_INPUTS)
        present = [index for index in range(len(names)) if (least == index).any()]
        rows = [
            (str(value), *(str(int((least[values == value] == index).sum())) for index in present))
            for value in np.unique(values).tolist()
        ]
        caption = (
            f"Classes by swaps value and the fewest units of one hidden layer that solved them, {NAMES[self.leak]}. As "
            "many units as the swaps value are enough (boolean.by_width); fewer may be too."
        )
        return Table(("swaps", *(names[index] for index in present)), tuple(rows), caption)

    def picture(self) -> Picture:
        """Return Figure 3.6."""
        least, names = self.fewest_units()
        figure = plots.sorted_measures(
            self.measures(), order=np.argsort(self.mean, kind="stable"), groups=least, names=names, noun="classes"
        )
        caption = (
            f"Figure 3.6: the 222 classes by the share of all networks that solve them ({NAMES[self.leak]}): swaps "
            "value, Fourier degree, influence and entropy, and the shares of two layers of two units, one layer of "
            "three, and all sizes. Colours and marks: the fewest units of one hidden layer that solved it."
        )
        return Picture("atlas-classes", figure, caption)


def hardest_of(rates: Float[np.ndarray, " k"]) -> list[int]:
    """Return the classes, by number, within a percentage point of the lowest rate of success; none if all are."""
    near = rates <= rates.min() + NEAR + 1e-9
    return [] if near.all() else [representatives(NUM_INPUTS)[place].number for place in np.flatnonzero(near)]


def _correlations(classes: dict[float, _Classes]) -> Table:
    rows = []
    for name in ("swaps", "degree", "influence", "entropy"):
        ranks = [(rankdata(one.measures()[name]), rankdata(one.mean)) for one in classes.values()]
        shares = [f"{np.corrcoef(*pair)[0, 1]:.2f}" for pair in ranks]
        rows.append((name, *shares))
    caption = (
        "Rank correlation (Spearman) of measures of the 222 classes with the share of networks that solve them. The "
        "dissertation: influence is inversely correlated with difficulty and explains more than the others, high "
        "degree and swaps value are minimal requirements, entropy is related weakly."
    )
    return Table(("measure", *(NAMES[leak] for leak in classes)), tuple(rows), caption)
