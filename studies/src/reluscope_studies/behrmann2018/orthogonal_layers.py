"""Section 3.1, several layers: what ReLU makes of a composition of orthogonal matrices, which have stable inverses.

The first matrix has more rows than columns, with orthonormal columns; all others are square and orthogonal. Without
gates every singular value of the composition is 1. A gate sets rows to zero, and what is left has no orthonormal
columns any more: singular values decay from gate to gate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies.sizes import planned

SENTENCE = "singular values of compositions of orthogonal layers, with ReLU and leaky ReLU between them"
POSITION = 35
DATA = None
CHANGES: dict[Change, str] = {"points": "points"}

LEAKS = {"ReLU": 0.0, "leaky ReLU, 0.1": 0.1}
# What there is left to compare with: a condition number of one, but for rounding.
ONE = 1 + 1e-9


@dataclass(frozen=True)
class Plan:
    """Inputs, how many times as many units every layer has, layers, and samples."""

    inputs: int
    widening: int
    depth: int
    points: int


PLANS = {"small": Plan(16, 4, 6, 20), "full": Plan(256, 4, 8, 50)}


def protocol(setting: Setting) -> Outcome:
    """Compose random orthogonal layers, and decompose their Jacobians at random inputs."""
    plan = planned(setting, PLANS, CHANGES)
    rng = np.random.default_rng(setting.seed)
    weights = orthogonal_weights(plan, rng)
    points = rng.normal(size=(plan.points, plan.inputs))
    found: dict[str, rs.Findings] = {}
    interrupted = False
    try:
        for name, leak in LEAKS.items():
            network = rs.load(_model(weights, leak))
            found[name] = rs.stability.spectra(
                network, points, progress=lambda share, name=name: setting.progress(f"Singular values, {name}", share)
            )
            interrupted = interrupted or bool(found[name].stopped)
    except KeyboardInterrupt:
        interrupted = True
    widths = " -> ".join(str(len(weight)) for weight in weights)
    said = (
        f"{plan.inputs} inputs -> {widths}, no biases: the first matrix has orthonormal columns, the others are "
        f"orthogonal, all drawn at random; Jacobians at {plan.points} normal inputs. The paper reasons about this and "
        "shows no numbers."
    )
    if not found or interrupted:
        return Outcome((said,), (), interrupted=interrupted)
    medians = {name: _medians(one, plan.depth) for name, one in found.items()}
    picture = Picture(
        "orthogonal-layers",
        rs.plots.spectra_by_layer(found),
        "Entries, nonzero singular values and condition numbers by layer, medians over samples, of orthogonal layers.",
    )
    findings = [finding for one in medians.values() for row in one for finding in row if finding is not None]
    return Outcome(
        (said,), tuple(findings), (_table(medians),), (picture,), interrupted, verdicts=tuple(_verdicts(medians))
    )


def orthogonal_weights(plan: Plan, rng: np.random.Generator) -> list[Float[np.ndarray, "u n"]]:
    """Return random matrices with orthonormal columns: a tall one, and square ones.

    Examples
    --------
    >>> first, second = orthogonal_weights(Plan(2, 3, 2, 1), np.random.default_rng(0))
    >>> first.shape, second.shape, bool(np.allclose(first.T @ first, np.eye(2)))
    ((6, 2), (6, 6), True)
    """
    width = plan.inputs * plan.widening
    sizes = [(width, plan.inputs), *[(width, width)] * (plan.depth - 1)]
    return [np.linalg.qr(rng.normal(size=size))[0] for size in sizes]


def _model(weights: Sequence[Float[np.ndarray, "u n"]], leak: float) -> nn.Sequential:
    layers: list[nn.Module] = []
    for weight in weights:
        linear = nn.Linear(*weight.shape[::-1], bias=False, dtype=torch.float64)
        linear.weight.data = torch.from_numpy(weight.copy())
        layers += [linear, nn.LeakyReLU(leak) if leak else nn.ReLU()]
    return nn.Sequential(*layers[:-1])


MEASURES = (
    "num_nonzero_singular_values",
    "largest_singular_value",
    "smallest_nonzero_singular_value",
    "condition_number",
)
Row = list[rs.Finding | None]


def _medians(found: rs.Findings, depth: int) -> list[Row]:
    """Return medians over samples after every gate."""
    rows = []
    for layer in dict.fromkeys(found.keys["layer"]):
        one = found.where(layer=layer)
        rows.append([None if np.isnan(one[which].value).all() else one.median(which) for which in MEASURES])
    # Affine steps and gates alternate, and the last step has no gate.
    return rows[1::2][: depth - 1]


def _table(medians: dict[str, list[Row]]) -> Table:
    rows = tuple(
        (name, str(number), *("none" if finding is None else f"{float(finding):.3g}" for finding in row))
        for name, one in medians.items()
        for number, row in enumerate(one, 1)
    )
    columns = ("gates", "after gate", "nonzero values", "largest", "smallest", "condition number")
    return Table(columns, rows, "Medians over samples; without gates all singular values are 1.")


def _verdicts(medians: dict[str, list[Row]]) -> list[StatementVerdict]:
    conditions = {name: _last_column(one) for name, one in medians.items()}
    smallest = [float(row[2]) for row in medians["ReLU"] if row[2] is not None]
    relu = conditions["ReLU"]
    return [
        StatementVerdict(
            "composing orthogonal matrices with ReLU between them gives no orthogonal matrix",
            "section 3.1",
            "in words",
            f"condition numbers {relu[0]:.3g} after the first gate, {relu[-1]:.3g} after the last; 1 without gates",
            relu[0] > ONE,
        ),
        StatementVerdict(
            "singular values decay with the layers",
            "section 3.1",
            "in words",
            f"smallest nonzero ones {smallest[0]:.3g} to {smallest[-1]:.3g}; with leak 0.1 condition numbers end at "
            f"{conditions['leaky ReLU, 0.1'][-1]:.3g}",
            bool(np.diff(smallest).max(initial=0.0) <= 0) if len(smallest) > 1 else None,
        ),
    ]


def _last_column(rows: Sequence[Row]) -> list[float]:
    return [float(row[-1]) for row in rows if row[-1] is not None]
