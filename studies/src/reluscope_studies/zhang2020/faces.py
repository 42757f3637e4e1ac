"""Proposition 1 of appendix D: the likeliest point of a class in a linear region lies on the faces of the region.

Within the region the gradient of log p_t is the sum of p_i (w_t - w_i), which vanishes nowhere if the differences of
the gradients w_i of the logits are linearly independent: then the point lies on a face, always. The paper proves "in
most cases".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

import reluscope as rs
from reluscope.studies import Change, Outcome, Record, Setting, StatementVerdict, Table
from reluscope_studies.fitting import Fit
from reluscope_studies.interruption import Interruption
from reluscope_studies.labelled import labelled_data
from reluscope_studies.sizes import planned
from reluscope_studies.zhang2020._networks import KINDS, Architecture, Trained, Variant, Workshop, centred

SENTENCE = "where in its linear region every class is likeliest: on a face of it (Proposition 1)"
POSITION = 25
DATA = "mnist"
CHANGES: dict[Change, str] = {"points": "points", "epochs": "fit.most_epochs"}

RATE = 1e-3
# A point is on a face if a wall is nearer than this share of the region's inradius, an interior one is far from all.
NEAR = 1e-3


@dataclass(frozen=True)
class Plan:
    """Which networks are trained, and at how many test points."""

    architecture: Architecture
    fit: Fit
    points: int


PLANS = {
    "small": Plan(Architecture((24, 24, 24)), Fit(RATE, batch=16, most_epochs=60), 12),
    "medium": Plan(Architecture((1024,) * 3), Fit(RATE), 3),
    "full": Plan(Architecture((1024,) * 3), Fit(RATE), 30),
}


@dataclass(frozen=True, eq=False)
class Looked:
    """Likeliest points of a network: whether each is on a face, and whether independence proves that it must be."""

    trained: Trained
    is_on_face: Bool[np.ndarray, "s k"]
    is_independent: Bool[np.ndarray, " s"]


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, and find the likeliest points in regions of test points."""
    plan = planned(setting, PLANS, CHANGES)
    training, testing = (centred(part) for part in labelled_data(setting))
    workshop = Workshop(setting, plan.architecture, training, testing, {RATE: plan.fit})
    rows = np.random.default_rng(setting.seed).permutation(len(testing))[: plan.points]
    looked = []
    with Interruption() as ctrl_c:
        for kind in KINDS:
            looked.append(_look(setting, workshop.trained(Variant(kind, RATE)), testing.points[rows]))
    networks = (
        f"Networks of {plan.architecture.describe()}, trained on {training.name}: {plan.fit.describe()}. Regions are "
        f"those of {len(rows)} test points, cut down to [-1, 1]^{testing.points.shape[1]}."
    )
    faces = (
        f"A point counts as on a face if a wall is nearer than {NEAR:g} times the inradius of the region. Where the "
        "differences of the gradients of the logits are linearly independent, which is decided by their singular "
        "values, no inner point can be the likeliest of any class: the proposition holds without exception there."
    )
    verdicts = tuple(_verdicts(looked))
    return Outcome((networks, faces), tuple(_findings(looked)), (_table(looked),), (), ctrl_c.came, verdicts=verdicts)


def _look(setting: Setting, trained: Trained, points: Float[np.ndarray, "s n"]) -> Looked:
    name = f"{trained.variant.name}-faces"
    if name not in setting.records:
        setting.progress(f"Likeliest points of {trained.variant.name}")
        box = rs.Box(-1, 1, points.shape[1])
        found = rs.local.likeliest_in_regions(trained.network, points, domain=box)
        on_face = [_near_walls(trained.network, box, x, own) for x, own in zip(points, found.points, strict=True)]
        slopes = trained.network.linearize(points).weight.cpu().numpy()
        independent = [independent_differences(one) for one in slopes]
        setting.records[name] = Record({}, {"on face": np.array(on_face), "independent": np.array(independent)})
    arrays = setting.records[name].arrays
    return Looked(trained, arrays["on face"], arrays["independent"])


def _near_walls(
    network: rs.Network, box: rs.Box, x: Float[np.ndarray, " n"], likeliest: Float[np.ndarray, "k n"]
) -> list[bool]:
    """Return which of the likeliest points in the region of a point are on a wall of it."""
    region = rs.region(network, x, domain=box).polyhedron
    sizes = np.linalg.norm(region.A, axis=1)
    is_wall = sizes > 0
    room = (region.b - likeliest @ region.A.T)[:, is_wall] / sizes[is_wall]
    inradius = float(rs.local.region_sizes(network, x[None], domain=box)["inradius"].value[0])
    return (room.min(axis=1) <= NEAR * inradius).tolist()


def independent_differences(slopes: Float[np.ndarray, "k n"]) -> bool:
    """Return whether the gradients of all logits, less that of the first, are linearly independent, beyond rounding.

    Examples
    --------
    >>> independent_differences(np.eye(3)), independent_differences(np.array([[0.0], [0.6], [-10.0]]))
    (True, False)
    """
    differences = slopes[1:] - slopes[0]
    if len(differences) > differences.shape[1]:
        return False
    values = np.linalg.svd(differences, compute_uv=False)
    return bool(values[-1] > 1e-9 * values[0])


def _findings(looked: Sequence[Looked]) -> list[rs.Finding]:
    return [
        rs.Finding.estimate(
            float(one.is_on_face.mean()),
            name=f"likeliest points on a face, {one.trained.variant.kind}",
            definition=f"share of the likeliest points of all classes that are nearer to a wall than {NEAR:g} inradii",
            domain=f"regions of {len(one.is_on_face)} test points",
            source="zhang2020",
            is_share=True,
        )
        for one in looked
    ]


def _table(looked: Sequence[Looked]) -> Table:
    rows = tuple(
        (
            one.trained.variant.kind,
            f"{100 * float(one.trained.accuracy):.1f} %",
            f"{int(one.is_on_face.sum()):,} of {one.is_on_face.size:,}",
            f"{int(one.is_independent.sum()):,} of {len(one.is_independent):,}",
        )
        for one in looked
    )
    columns = ("network", "test accuracy", "likeliest points on a face", "regions where that is proved of all")
    return Table(columns, rows, "Likeliest points of every class in regions of test points.")


def _verdicts(looked: Sequence[Looked]) -> list[StatementVerdict]:
    if not looked:
        return []
    on_face = np.concatenate([one.is_on_face.ravel() for one in looked])
    proved = np.concatenate([one.is_independent for one in looked])
    return [
        StatementVerdict(
            "the likeliest point of a class lies on the faces of its region in most cases",
            "Proposition 1",
            "most",
            f"{int(on_face.sum()):,} of {len(on_face):,}; independent gradients prove it of all classes in "
            f"{int(proved.sum()):,} of {len(proved):,} regions",
            bool(on_face.mean() > 0.5),
        )
    ]
