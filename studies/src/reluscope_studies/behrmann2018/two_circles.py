"""Figure 1: a hidden layer of three units on two circles: kinds of preimages, and condition numbers, on exact regions.

The kind of a preimage and the Jacobian of the layer are the same at all inner points of a linear region, so they are
asked once for every region of the exact partition. On the boundaries between regions, which have no area, a preimage
can be of another kind than on both sides.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import preimages
from reluscope_studies.sizes import number_of
from reluscope_studies.training import Training, train_classifiers

SENTENCE = "three units on two circles: what the layer leaves open, and how stable its inverse is, region by region"
POSITION = 10
REPEATS = ("Figure 1",)
DATA = None
IS_SHORT = True
CHANGES: tuple[Change, ...] = ("replicates",)

# Radii of the circles, the spread of points around them, and the box that is looked at.
RADII, SPREAD, REACH = (0.5, 1.0), 0.05, 1.5
POINTS, UNITS = 400, 3
ATTEMPTS = {"small": 20, "full": 100}
TRAINING = Training("Adam", 1e-2, 150, 32)
# The gate's place among the layers whose Jacobians are looked at.
AFTER_GATE = 1


@dataclass(frozen=True, eq=False)
class Looked:
    """A trained network, its exact regions in the box, and what was found at one point of each."""

    network: rs.Network
    part: rs.Partition
    accuracy: float
    found: rs.preimages.Preimages
    num_nonzero: Float[np.ndarray, " r"]
    conditions: Float[np.ndarray, " r"]

    @property
    def kinds(self) -> frozenset[rs.preimages.PreimageKind]:
        """The kinds that occur."""
        return frozenset(rs.preimages.PreimageKind(int(kind)) for kind in self.found.kinds)


def protocol(setting: Setting) -> Outcome:
    """Train networks from many first weights, see which kinds they show, and look at one that shows the most."""
    points, labels = _circles(setting.seed)
    number = number_of(setting, ATTEMPTS, "replicates")
    setting.progress(f"Training {number} networks")
    networks = train_classifiers(
        points,
        labels,
        [(UNITS,)] * number,
        num_classes=2,
        seeds=[int(one) for one in np.random.default_rng([setting.seed, 1]).integers(2**31, size=number)],
        training=TRAINING,
        progress=lambda share: setting.progress(f"Training {number} networks", share),
    )
    looked = [_look(rs.load(layers), points, labels) for layers in networks]
    best = max(one.accuracy for one in looked)
    shown = max((one for one in looked if one.accuracy == best), key=lambda one: len(one.kinds))
    return _outcome(setting, points, labels, looked, shown)


def _circles(seed: int) -> tuple[Float[np.ndarray, "s 2"], Int[np.ndarray, " s"]]:
    generator = np.random.default_rng(seed)
    labels = np.arange(POINTS) % 2
    angles = generator.uniform(0, 2 * np.pi, POINTS)
    around = np.array(RADII)[labels][:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return around + generator.normal(0, SPREAD, around.shape), labels


def _look(network: rs.Network, points: np.ndarray, labels: np.ndarray) -> Looked:
    part = rs.partition(network, rs.Box(-REACH, REACH, 2))
    found = rs.preimages.classify_at(network, part.witnesses)
    values = rs.stability.spectra(network, part.witnesses)
    after = values.where(layer=rs.stability.layers(network)[AFTER_GATE].name)
    right = float((network(points).argmax(dim=1).cpu().numpy() == labels).mean())
    return Looked(
        network,
        part,
        right,
        found,
        after["num_nonzero_singular_values"].value,
        after["condition_number"].value,
    )


def _outcome(setting: Setting, points: np.ndarray, labels: np.ndarray, looked: list[Looked], shown: Looked) -> Outcome:
    layer = rs.preimages.read_layer(shown.network)
    said = preimages.compare_with_algorithm_1(layer, layer(shown.part.witnesses), shown.found)
    errors = int((said.errors != preimages.Error.NONE).sum())
    sentences = (
        (
            f"Two circles of radii {RADII[0]:g} and {RADII[1]:g}, {POINTS} points with a normal spread of {SPREAD:g} "
            f"in each coordinate, told apart by one hidden layer of {UNITS} units: {TRAINING.describe()}, from "
            f"{len(looked)} first weights. Shown is a network with the largest accuracy, among these one with the "
            f"most kinds of preimages; its accuracy is {100 * shown.accuracy:.1f} %. The paper names neither data nor "
            "training."
        ),
        (
            f"Kinds are those of outputs of the layer with the whole plane as inputs, at a point inside each of the "
            f"{len(shown.part)} regions that meet the box [-{REACH:g}, {REACH:g}]^2; all inner points of a region have "
            "the same kind, while on the boundaries, which have no area, it can be another one."
        ),
        (
            "The condition number is the largest singular value divided by the smallest that is not zero. The paper's "
            '"condition number of one or zero" has to be read as a convention of its picture: where no unit is active '
            "there is no nonzero value, and so no condition number."
        ),
    )
    kinds = [
        shown.found.count(kind) for kind in rs.preimages.PreimageKind if kind is not rs.preimages.PreimageKind.EMPTY
    ]
    findings = [
        shown.part.finding(),
        *kinds,
        rs.Finding.of(
            errors,
            name="answers of Algorithm 1 that are wrong",
            definition="Algorithm 1 as printed against the kinds found, at one point of every region",
            domain=f"{len(shown.part)} regions",
            source="behrmann2018",
        ),
        _agreement(shown),
    ]
    figure = rs.plots.preimages_in_plane(shown.part, shown.found, shown.conditions, samples=points[:40])
    caption = (
        "Prediction, kind of the preimage of the layer's output, and condition number of its Jacobian (Figure 1), on "
        "the exact regions. Dots are training points."
    )
    tables = (_statements(shown), _regions(shown), _survey(looked))
    return Outcome(
        sentences, tuple(findings), tables, (Picture("two-circles", figure, caption),), verdicts=tuple(_verdicts(shown))
    )


def _agreement(shown: Looked) -> rs.Finding:
    make = rs.Finding.of if shown.found.is_proved.all() else rs.Finding.estimate
    return make(
        int(_agrees(shown).sum()),
        name="regions where kind and condition number go together as the paper says",
        definition="single points with a condition number above one, other preimages with one or without any",
        domain=f"{len(shown.part)} regions",
        source="behrmann2018",
    )


def _agrees(shown: Looked) -> np.ndarray:
    is_point = shown.found.kinds == rs.preimages.PreimageKind.SINGLETON
    is_above = (shown.num_nonzero > 0) & (shown.conditions > 1 + 1e-9)
    return is_point == is_above


def _verdicts(shown: Looked) -> Iterator[StatementVerdict]:
    """Return what becomes of what the paper says of its Figure 1."""
    is_point = shown.found.kinds == rs.preimages.PreimageKind.SINGLETON
    named = ", ".join(kind.name.lower() for kind in sorted(shown.kinds, reverse=True))
    yield StatementVerdict(
        "preimages are infinite, finite and single points", "Figure 1", "all three", named, len(shown.kinds) == 3
    )
    at_points = shown.conditions[is_point]
    yield StatementVerdict(
        "single points link to condition numbers above one",
        "introduction",
        "larger than one",
        _between(at_points),
        bool((at_points > 1 + 1e-9).all()) if len(at_points) else None,
    )
    others = shown.conditions[~is_point & (shown.num_nonzero > 0)]
    yield StatementVerdict(
        "other preimages have the condition number one or zero",
        "introduction",
        "one or zero",
        f"{_between(others)}; zero has to stand for none, as in {int((shown.num_nonzero == 0).sum())} of the regions",
        bool((others < 1 + 1e-9).all()),
    )


def _statements(shown: Looked) -> Table:
    is_point = shown.found.kinds == rs.preimages.PreimageKind.SINGLETON
    others = shown.conditions[~is_point & (shown.num_nonzero > 0)]
    rows = [
        (
            "condition number where the preimage is a point",
            "larger than one",
            _between(shown.conditions[is_point]),
        ),
        ("condition number where it is not", "one or zero", _between(others)),
        (
            "regions without a nonzero singular value",
            "drawn as zero",
            f"{int((shown.num_nonzero == 0).sum())}",
        ),
        (
            "kinds of preimages",
            "unbounded, compact, a point",
            ", ".join(kind.name.lower() for kind in sorted(shown.kinds, reverse=True)),
        ),
    ]
    return Table(("question", "paper", "here"), tuple(rows), "What the paper says of its Figure 1, beside ours.")


def _between(values: np.ndarray) -> str:
    if not len(values):
        return "no such region"
    low, high = float(values.min()), float(values.max())
    return f"{low:.3g}" if high - low < 1e-9 * high else f"{low:.3g} to {high:.3g}"


def _regions(shown: Looked) -> Table:
    rows = []
    areas = shown.part.volumes()
    for row in np.argsort(shown.found.num_equations, kind="stable"):
        has_value = shown.num_nonzero[row] > 0
        rows.append(
            (
                f"{int(shown.found.num_equations[row])}",
                f"{shown.found.dims[row]}",
                shown.found.kind(int(row)).name.lower(),
                f"{shown.conditions[row]:.4g}" if has_value else "none",
                f"{100 * areas[row] / areas.sum():.1f} %",
            )
        )
    columns = ("active units", "open directions k", "preimage", "condition", "share of the box")
    return Table(columns, tuple(rows), "The regions of the network that is shown.")


def _survey(looked: list[Looked]) -> Table:
    counts = Counter(
        (one.accuracy > 0.99, ", ".join(kind.name.lower() for kind in sorted(one.kinds, reverse=True)))
        for one in looked
    )
    rows = tuple(
        ("above 99 %" if is_solved else "lower", kinds, str(number))
        for (is_solved, kinds), number in sorted(counts.items(), reverse=True)
    )
    return Table(("accuracy", "kinds of preimages", "networks"), rows, f"How {len(looked)} first weights end.")
