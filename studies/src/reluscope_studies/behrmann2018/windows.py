"""Section 3.3, costs: singular values of Jacobians that are restricted to windows of the image, beside those of it all.

A window is a choice of columns, whose singular values interlace with those of the matrix: the largest of a window is at
most the largest of the image, and where all columns are independent the smallest is at least the smallest of the image.
There the condition number of a window is at most that of the image: a window can show that an inverse is unstable, and
cannot show that it is stable. Where a gate leaves dependent columns, zeros are left out on both sides, and a window may
have a smaller nonzero value than the image has.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Record, Setting, StatementVerdict, Table
from reluscope_studies import plots
from reluscope_studies.behrmann2018._networks import KERAS, SMALL_WIDE, WIDE, Architecture, Training
from reluscope_studies.classifiers import trained
from reluscope_studies.interruption import Interruption
from reluscope_studies.labelled import Labelled, labelled_data
from reluscope_studies.sizes import planned

SENTENCE = "singular values restricted to windows of the image, beside those of the whole image"
POSITION = 45
DATA = "cifar10"
CHANGES: dict[Change, str] = {"points": "samples", "epochs": "training.epochs"}


@dataclass(frozen=True)
class Plan:
    """Which network is trained, at how many samples it is decomposed, and in which windows.

    Parameters
    ----------
    architecture : Architecture
    training : Training
    samples : int
    sides : tuple of int
        Of square windows in the middle of the image, in pixels.
    """

    architecture: Architecture
    training: Training
    samples: int
    sides: tuple[int, ...]


PLANS = {
    "small": Plan(SMALL_WIDE, Training("RMSprop", 1e-3, 10, 32), 5, (2, 4, 6)),
    "medium": Plan(WIDE, Training("RMSprop", 1e-4, 2, 32), 2, (4, 8, 16)),
    "full": Plan(WIDE, KERAS, 10, (4, 8, 16)),
}
MEASURES = ("largest", "smallest nonzero", "condition number")


def protocol(setting: Setting) -> Outcome:
    """Train the network, and decompose its Jacobians and their windows at test images."""
    plan = planned(setting, PLANS, CHANGES)
    training, testing = labelled_data(setting)
    rows = np.random.default_rng(setting.seed).permutation(len(testing))[: plan.samples]
    found = np.zeros((0, 0, len(plan.sides) + 1, len(MEASURES)))
    findings: list[rs.Finding] = []
    names: list[str] = []
    with Interruption() as ctrl_c:
        network, accuracy = trained(setting, plan.architecture, plan.training, training, testing)
        findings.append(accuracy)
        names = [layer.name for layer in rs.stability.layers(network) if layer.kind == "gate"]
        found = _measured(setting, plan, network, testing, rows)
    how = (
        f"{plan.architecture.name}, trained on {training.name} ({len(training):,} samples): "
        f"{plan.training.describe()}; Jacobians from the image through every gate, at {len(rows)} test images, "
        "restricted to the columns of square windows in the middle. The paper names windows as the way to larger "
        "images, and shows none."
    )
    said = (how, *(f"{note[0].upper()}{note[1:]}: {data.name}." for data in (training, testing) for note in data.notes))
    if ctrl_c.came:
        return Outcome(said, tuple(findings), interrupted=True)
    medians = np.median(found, axis=0)
    findings += _findings(names, plan, medians, len(rows))
    labels = [*(f"{side} x {side}" for side in plan.sides), "the image"]
    figure = plots.windows_by_layer({label: medians[:, place, 2] for place, label in enumerate(labels)}, layers=names)
    picture = Picture("windows", figure, "Condition numbers after every gate, medians over images, by window.")
    return Outcome(
        said, tuple(findings), (_table(names, labels, medians),), (picture,), verdicts=_verdicts(labels, found)
    )


def columns_of_window(shape: tuple[int, ...], side: int) -> np.ndarray:
    """Return which entries of a flat image lie in the square of a side in its middle, of all channels.

    Examples
    --------
    >>> columns_of_window((1, 4, 4), 2).tolist()
    [5, 6, 9, 10]
    """
    height, width = shape[-2:]
    top, left = (height - side) // 2, (width - side) // 2
    places = np.arange(int(np.prod(shape))).reshape(-1, height, width)
    return places[:, top : top + side, left : left + side].ravel()


def _measured(
    setting: Setting, plan: Plan, network: rs.Network, testing: Labelled, rows: np.ndarray
) -> Float[np.ndarray, "s k w m"]:
    """Return measures by sample, gate and window, the image last; samples that are done are in the records."""
    gates = [index for index, layer in enumerate(rs.stability.layers(network)) if layer.kind == "gate"]
    windows = [columns_of_window(testing.shape, side) for side in plan.sides]
    every = [*windows, np.arange(testing.points.shape[1])]
    for number, row in enumerate(rows):
        if f"windows {row}" not in setting.records:
            setting.progress("Singular values in windows", number / len(rows))
            made = []
            for gate in gates:
                matrix = rs.stability.prefix_map(network, testing.points[row], gate).matrix
                made.append([_of(matrix[:, columns]) for columns in every])
            setting.records[f"windows {row}"] = Record({}, {"values": np.array(made)})
    return np.stack([setting.records[f"windows {row}"].arrays["values"] for row in rows])


def _of(matrix: Float[np.ndarray, "m n"]) -> tuple[float, float, float]:
    """Return the largest and the smallest nonzero singular value, and their ratio."""
    values = np.linalg.svd(matrix, compute_uv=False)
    nonzero = values[values > values[0] * max(matrix.shape) * np.finfo(np.float64).eps]
    if not len(nonzero):
        return 0.0, 0.0, float("nan")
    return float(values[0]), float(nonzero[-1]), float(values[0] / nonzero[-1])


def _findings(names: list[str], plan: Plan, medians: Float[np.ndarray, "k w m"], samples: int) -> list[rs.Finding]:
    return [
        rs.Finding.estimate(
            float(medians[gate, place, 2]),
            name=f"condition number after {name}, window of {side} x {side}",
            definition=f"median over {samples} images, by singular values in float64",
            source="behrmann2018",
        )
        for gate, name in enumerate(names)
        for place, side in enumerate(plan.sides)
        if np.isfinite(medians[gate, place, 2])
    ]


def _table(names: list[str], labels: list[str], medians: Float[np.ndarray, "k w m"]) -> Table:
    rows = tuple(
        (name, label, *(f"{value:.3g}" for value in medians[gate, place]))
        for gate, name in enumerate(names)
        for place, label in enumerate(labels)
    )
    caption = "Singular values in windows in the middle of the image, medians over images."
    return Table(("after gate", "window", *MEASURES), rows, caption)


def _verdicts(labels: list[str], found: Float[np.ndarray, "s k w m"]) -> tuple[StatementVerdict, ...]:
    whole = found[:, :, -1, 2]
    shares = [found[:, :, place, 2] / whole for place in range(len(labels) - 1)]
    medians = [float(np.nanmedian(share)) for share in shares]
    near = [0.5 <= one <= 2.0 for one in medians]
    above = sum(int((share > 1).sum()) for share in shares)
    number = sum(int(np.isfinite(share).sum()) for share in shares)
    shown = ", ".join(f"{share:.2g} in {label}" for label, share in zip(labels, medians, strict=False))
    return (
        StatementVerdict(
            "windows estimate the stability of an inverse",
            "section 3.3",
            "in words",
            f"the median share of the image's condition number is {shown}; {above} of {number} are above it",
            # Within a factor of two: in all windows, in some, in none.
            True if all(near) else None if any(near) else False,
        ),
    )
