"""Figure 5.1: how a code turns a network of three layers into one affine map, with the arithmetic put right.

The printed map does not follow from the printed weights, and the printed code belongs to no input: the second layer has
no negative weight and only positive biases, so that its units are active everywhere.
"""

from typing import Any

import numpy as np

import reluscope as rs
from reluscope.studies import Outcome, Setting, StatementVerdict, Table

SENTENCE = "how a code turns a network into one affine map, with the printed arithmetic put right"
POSITION = 10
REPEATS = ("Figure 5.1",)
DATA = None

LAYERS = (
    (np.array([[3, 0, 4], [5, 9, 1], [6, 1, 2]]), np.array([7, 2, 9])),
    (np.array([[2, 9, 5], [1, 3, 3], [8, 7, 0]]), np.array([7, 7, 8])),
    (np.array([[7, 9, 6], [4, 0, 9], [7, 3, 7]]), np.array([5, 5, 2])),
)
CODE = ((1, 0, 1), (0, 1, 0))
PRINTED = (np.array([[42, 0, 120], [20, 0, 27], [336, 21, 0]]), np.array([695, 376, 562]))


def protocol(setting: Setting) -> Outcome:
    """Compute the map of the printed code in integers, and look for the code among all regions."""
    del setting
    weight, bias = map_of_code(CODE)
    part = rs.partition(rs.load([(one.astype(float), other.astype(float)) for one, other in LAYERS]), rs.Space(3))
    codes = part.codes.to_array()
    with_code = int((codes == np.concatenate(CODE)).all(axis=1).sum())
    with_second = int((codes[:, 3:] == 1).all(axis=1).sum())
    where: dict[str, Any] = {
        "definition": "proper_activation",
        "domain": "all of R^3",
        "source": "sattelberg2026",
    }
    findings = (
        part.finding(),
        rs.Finding(with_code, part.claim, name="regions with the printed code", **where),
        rs.Finding(
            with_second,
            part.claim,
            name="regions where all units of the second layer are active",
            **where,
        ),
        rs.Finding.of(
            int((weight != PRINTED[0]).sum() + (bias != PRINTED[1]).sum()),
            name="entries of the printed map that differ from that of the printed code",
            method="integer arithmetic",
            source="sattelberg2026",
        ),
    )
    rows = tuple(
        (f"output {row + 1}", _affine(PRINTED[0][row], PRINTED[1][row]), _affine(weight[row], bias[row]))
        for row in range(3)
    )
    sentences = (
        (
            "The printed code is 101 in the first layer and 010 in the second. With these units alone, the printed "
            "weights give the map in the table, in integers; the printed map is another one."
        ),
        (
            f"No input has this code. The network has {part.finding()} regions in all of space, {with_code} of them "
            f"with it; in {with_second} all units of the second layer are active, because the layer has no negative "
            "weight, reads values that are not negative, and has positive biases."
        ),
        (
            "The printed conditions on the second layer use the first one with all of its rows; they hold only with "
            "the rows of inactive units set to zero."
        ),
    )
    columns = ("", "printed", "from the printed weights and code")
    verdicts = (
        StatementVerdict(
            "the code turns the network into the printed map",
            "Figure 5.1",
            _affine(PRINTED[0][0], PRINTED[1][0]),
            _affine(weight[0], bias[0]),
            bool((weight == PRINTED[0]).all() and (bias == PRINTED[1]).all()),
        ),
        StatementVerdict(
            "the map holds where the network has the code",
            "Figure 5.1",
            "a region",
            f"{with_code} regions",
            with_code > 0,
        ),
    )
    table = Table(columns, rows, "The affine map of the printed code.")
    return Outcome(sentences, findings, (table,), verdicts=verdicts)


def map_of_code(code: tuple[tuple[int, ...], ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the affine map that the network is where its units have a code, in integers.

    Examples
    --------
    >>> map_of_code(((1, 0, 1), (0, 1, 0)))[1].tolist()
    [374, 5, 125]
    """
    slope, shift = np.eye(3, dtype=np.int64), np.zeros(3, dtype=np.int64)
    for (weight, bias), active in zip(LAYERS, (*code, (1, 1, 1)), strict=True):
        slope = np.array(active)[:, None] * (weight @ slope)
        shift = np.array(active) * (weight @ shift + bias)
    return slope, shift


def _affine(slope: np.ndarray, constant: int) -> str:
    terms = [f"{size} x{axis}" for axis, size in enumerate(slope.tolist(), 1) if size]
    return " + ".join([*terms, str(constant)])
