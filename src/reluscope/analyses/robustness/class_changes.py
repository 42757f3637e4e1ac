"""Changes of class that the network itself confirms: a step to where outputs tie, and one right beyond."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.analyses.classification.class_predictions import classes_of_outputs
from reluscope.analyses.robustness.cells_of_classes import StepRegion
from reluscope.analyses.robustness.rival_class import Rival
from reluscope.analyses.robustness.viewpoints import Viewpoint
from reluscope.geometry.polyhedra.nearest_point import NearestPoint
from reluscope.networks.evaluation.rounded_forward import rounded_forward

# How far beyond a change of class it is sought, in the scale of the point.
BEYOND = (1e-10, 1e-9, 1e-8, 1e-7)
# The same as shares of the way to a point deep inside.
SHARES = (1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0)


@dataclass(frozen=True, eq=False)
class Change:
    """A change of class: the step to it, its distance, a step right beyond, and the class there."""

    distance: float
    lower: float  # bound on the distance of this cell's change
    upper: float  # bound on the distance of this cell's change
    step: Float[np.ndarray, " n"]
    beyond: Float[np.ndarray, " n"]
    label: int


@dataclass(frozen=True)
class Undecided:
    """A change of class by the outputs of a cell that the network does not confirm within rounding."""

    lower: float


def confirm(cell: StepRegion, rival: Rival, found: NearestPoint) -> Change | Undecided:
    """Return the change of class at a point where outputs tie, or that floats do not show one.

    The network itself decides. Outputs are exact on the cell, and the rival is not below the point's class at
    ``found``.
    """
    view, step = cell.view, found.point
    beyond = inner = None
    if rival.length > 0 and (way := cell.inward(step, rival)) is not None:
        # Within the cell only: where outputs touch, they may cross in the next one, a little farther away.
        tries = step + np.outer(np.array(BEYOND) * max(view.scale, rival.distance), way)
        beyond = _first_other_class(view, tries[cell.contains(tries)], ties=False)
        inner = None if beyond is None else beyond[0]
    if beyond is None and (deep := cell.deepest(rival)) is not None:
        inner = step + _share_within(step, deep - step, cell) * (deep - step)
        tries = (view.x + step + np.outer(SHARES, inner - step)) - view.x  # as far as points are floats
        if rival.is_equal:
            beyond = _first_other_class(view, tries[cell.surely_contains(tries)], ties=True)
        if beyond is None:
            beyond = _first_other_class(view, tries, ties=False)
    if beyond is None or inner is None:
        return Undecided(found.lower)
    # The network itself has another class right beyond; the cell may show one that is nearer.
    unit = 4 * len(step) * np.finfo(float).eps
    upper = min(float(view.norm.size(beyond[0]) * (1 + unit)), cell.reached(rival, found))
    return Change(found.distance, cell.proved(rival, found), max(upper, found.distance), step, *beyond)


def _share_within(step: np.ndarray, way: np.ndarray, cell: StepRegion) -> float:
    """Return how much of a way keeps to where a cell's outputs hold."""
    if cell.view.norm.size(step + way) <= cell.radius:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if cell.view.norm.size(step + middle * way) <= cell.radius else (low, middle)
    return low


def _first_other_class(
    view: Viewpoint, steps: Float[np.ndarray, "s n"], *, ties: bool
) -> tuple[Float[np.ndarray, " n"], int] | None:
    """Return the first step to where the class is another one beyond rounding, or by a tie if ties count.

    It is the one that floats make of it, to a point in the domain.
    """
    places = view.domain.inside(view.x + steps)
    if not len(places):
        return None
    forward = rounded_forward(view.network, places, tolerance=view.tolerance)
    outputs, errors, own = forward.outputs, forward.errors, view.label
    labels = classes_of_outputs(outputs)
    if outputs.shape[1] == 1:
        outputs, errors = (np.column_stack([np.zeros(len(table)), table]) for table in (outputs, errors))
    rows = np.arange(len(places))
    sure = outputs[rows, labels] - outputs[:, own] > errors[rows, labels] + errors[:, own]
    other = (labels != own) & (sure | ties)
    if not other.any():
        return None
    first = int(other.argmax())
    return places[first] - view.x, int(labels[first])
