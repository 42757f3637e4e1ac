"""Figures 2 and 3: omnidirectional units in the plane, and what removing a unit does to the inverse."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import plots, preimages
from reluscope_studies.plots.normals_in_plane import UnitsInPlane

SENTENCE = "omnidirectional units in the plane, and condition numbers before and after ReLU removes one of them"
POSITION = 15
REPEATS = ("Figure 2", "Figure 3")
DATA = None

# All numbers of Figure 2 are sums of few powers of two, so that b = -A p holds as it stands.
POINT, REACH = np.array([0.25, 0.125]), 1.5
AFTER_GATE = 1


@dataclass(frozen=True, eq=False)
class Units:
    """Units of the plane, the point at which they are looked at, and whether the paper calls them omnidirectional."""

    weight: Float[np.ndarray, "u 2"]
    bias: Float[np.ndarray, " u"]
    point: Float[np.ndarray, " 2"]
    matrix_is: bool
    tuple_is: bool


def _through(weight: list[list[float]], *, is_omnidirectional: bool) -> Units:
    """Return units whose lines all go through the point."""
    rows = np.array(weight)
    return Units(rows, -rows @ POINT, POINT, is_omnidirectional, is_omnidirectional)


AROUND = [[0.0, 1.0], [-1.0, -0.5], [1.0, -0.5]]
SHOWN = {
    "omnidirectional for p": _through(AROUND, is_omnidirectional=True),
    "a half-space without a row": _through([[1.0, 0.25], [0.5, 1.0], [-0.5, 1.0]], is_omnidirectional=False),
    "two opposite rows": _through([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], is_omnidirectional=False),
    "omnidirectional, no common point": Units(
        np.array(AROUND), np.array([-0.625, -0.25, -0.25]), np.array([0.0, 0.0]), matrix_is=True, tuple_is=False
    ),
}
# Figure 3: two rows that are nearly parallel, and one that is weakly correlated to both. The squares of the columns add
# up to 1 and 1.0078, so that together they hardly stretch anything.
CORRELATED = np.array([[0.0, 1.0], [1.0, 0.125], [1.0, -0.125]]) * np.array([[1.0], [0.5**0.5], [0.5**0.5]])
BIASES = {"without biases": np.zeros(3), "with biases": np.array([0.25, 0.375, 0.125])}
MARKED, BEGIN = np.array([1.0, -0.6]), np.array([-0.3, -0.6])


def protocol(setting: Setting) -> Outcome:
    """Ask whether the drawn units are omnidirectional, and decompose the layers of Figure 3 region by region."""
    del setting
    rows, findings, right = [], [], 0
    for name, one in SHOWN.items():
        of_matrix = preimages.is_omnidirectional(one.weight)
        of_tuple = preimages.is_omnidirectional(one.weight, one.bias, one.point)
        kind = rs.preimages.classify_at((one.weight, one.bias), one.point[None]).kind(0)
        right += (bool(of_matrix), bool(of_tuple)) == (one.matrix_is, one.tuple_is)
        findings += [of_matrix.finding, of_tuple.finding]
        rows.append((name, _say(bool(of_matrix)), _say(bool(of_tuple)), kind.name.lower()))
    looked = {name: _look(bias) for name, bias in BIASES.items()}
    before = float(np.linalg.cond(CORRELATED))
    worst = {name: one.at_mark for name, one in looked.items()}
    findings += [one.part.finding() for one in looked.values()]
    tables = (
        Table(
            ("units", "A is omnidirectional", "A and b are, for p", "preimage of what the layer gives at p"),
            tuple(rows),
            "Figure 2: what the exact test says, and the kind of preimage.",
        ),
        *(one.table(name) for name, one in looked.items()),
    )
    verdicts = (
        StatementVerdict(
            "omnidirectional for p only if the lines meet in p and no open half-space is free of rows",
            "Figure 2",
            "the first of four",
            f"{right} of {len(SHOWN)} as drawn",
            right == len(SHOWN),
        ),
        StatementVerdict(
            "removing a row that is weakly correlated to the others makes the inverse unstable",
            "Figure 3 and section 3.1",
            "singular values near one, then badly conditioned",
            f"condition number {before:.3g} with all rows, " + ", ".join(f"{one:.3g} {x}" for x, one in worst.items()),
            all(one > 2 * before for one in worst.values()),
        ),
    )
    of_tuples = (
        "The paper gives no numbers for either figure; rows and biases are ours. Those of Figure 2 are small binary "
        "fractions, so that answers are those of real arithmetic: the first tuple determines its point, the second "
        "leaves a wedge and the third a ray, and the last, omnidirectional without a common point, a triangle."
    )
    of_rows = (
        f"Of Figure 3 three rows have singular values near one together (condition number {before:.3g}); at the marked "
        "point ReLU removes the one that the other two hardly correlate with."
    )
    return Outcome((of_tuples, of_rows), tuple(findings), tables, _pictures(looked), verdicts=verdicts)


@dataclass(frozen=True, eq=False)
class Looked:
    """The regions of a layer in the box, with the singular values after its gate."""

    bias: Float[np.ndarray, " u"]
    part: rs.Partition
    num_nonzero: Float[np.ndarray, " r"]
    conditions: Float[np.ndarray, " r"]

    @property
    def marked(self) -> int:
        """The region of the marked point."""
        return next(index for index, region in enumerate(self.part) if region.polyhedron.contains(MARKED))

    @property
    def at_mark(self) -> float:
        """The condition number there."""
        return float(self.conditions[self.marked])

    def table(self, name: str) -> Table:
        """Return the regions by their active units."""
        active = [(CORRELATED @ point + self.bias > 0) for point in self.part.witnesses]
        rows = sorted(
            (
                ", ".join(str(unit + 1) for unit in np.flatnonzero(units)) or "none",
                f"{number:.0f}",
                f"{condition:.3g}" if number else "none",
            )
            for units, number, condition in zip(active, self.num_nonzero, self.conditions, strict=True)
        )
        caption = f"Figure 3, {name}: condition numbers of the rows that are left, in every region of the box."
        return Table(("active units", "nonzero singular values", "condition number"), tuple(rows), caption)


def _look(bias: Float[np.ndarray, " u"]) -> Looked:
    network = rs.load([(CORRELATED, bias), (np.ones((1, len(bias))), np.zeros(1))])
    part = rs.partition(network, rs.Box(-REACH, REACH, 2))
    values = rs.stability.spectra(network, part.witnesses)
    after = values.where(layer=rs.stability.layers(network)[AFTER_GATE].name)
    return Looked(bias, part, after["num_nonzero_singular_values"].value, after["condition_number"].value)


def _pictures(looked: dict[str, Looked]) -> tuple[Picture, ...]:
    tuples = {name: UnitsInPlane(one.weight, one.bias, anchor=one.point) for name, one in SHOWN.items()}
    removed = {
        f"{name}: {one.at_mark:.3g}": UnitsInPlane(
            CORRELATED, one.bias, MARKED, one.part[one.marked].vertices, BEGIN * one.bias.any()
        )
        for name, one in looked.items()
    }
    return (
        Picture(
            "omnidirectional",
            plots.normals_in_plane(tuples, reach=REACH),
            "Figure 2: lines where units begin to be active, and their normals.",
        ),
        Picture(
            "removed",
            plots.normals_in_plane(removed, reach=REACH),
            "Figure 3: what ReLU removes at the marked point, with the condition number of what is left; without the "
            f"gate it is {float(np.linalg.cond(CORRELATED)):.3g}.",
        ),
    )


def _say(answer: bool) -> str:
    return "yes" if answer else "no"
