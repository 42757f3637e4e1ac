"""What an enclosure of regions around a point says of steps: half-spaces that hold them, and forms of the outputs."""

import numpy as np

from reluscope.analyses.robustness.cells_of_classes import StepRegion
from reluscope.analyses.robustness.viewpoints import Viewpoint
from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.networks.evaluation.enclosures import Enclosure
from reluscope.networks.passes.forms import CLEAR, Forms


def enclosed_cell(view: Viewpoint, steps: CutBall, enclosure: Enclosure) -> tuple[StepRegion, np.ndarray, bool]:
    """Return the steps that an enclosure allows, the noise of its rows, and whether they are without noise."""
    dim, symbols = len(view.x), len(enclosure.open)
    rows: list[np.ndarray] = [np.zeros((0, dim))]
    slack: list[np.ndarray] = [np.zeros(0)]
    errors: list[np.ndarray] = [np.zeros(0)]
    noise: list[np.ndarray] = [np.zeros((0, symbols))]
    is_exact, is_hidden = True, False
    if steps.cut is not None:  # the enclosure holds on this side of it
        length = float(np.linalg.norm(steps.cut))
        rows.append(-steps.cut[None] / length)
        slack.append(np.array([-steps.level / length]))
        errors.append(np.zeros(1))  # a consequence of other rows
        noise.append(np.zeros((1, symbols)))
    for limit in enclosure.limits:
        lengths = np.linalg.norm(limit.weights, axis=1)
        kept = lengths * view.scale > limit.errors
        is_hidden = is_hidden or not kept.all()
        limit, lengths = limit[kept], lengths[kept]
        spread = limit.spread
        is_exact = is_exact and bool((spread <= CLEAR * limit.errors).all())
        rows.append(limit.weights / lengths[:, None])
        slack.append((spread - limit.centers) / lengths)
        errors.append(limit.errors / lengths)
        wide = np.zeros((len(lengths), symbols))
        wide[:, : limit.noise.shape[1]] = np.abs(limit.noise) / lengths[:, None]
        noise.append(wide)
    outputs = enclosure.outputs
    if outputs is None:
        outputs = Forms(np.zeros(0), np.zeros((0, dim)), np.zeros((0, symbols)), np.zeros(0))
    cell = StepRegion(
        view,
        np.concatenate(rows),
        np.concatenate(slack),
        np.concatenate(errors),
        np.zeros(sum(map(len, errors))),
        outputs,
        radius=steps.radius,
        clear=0.0 if is_hidden else np.inf,
    )
    return cell, np.concatenate(noise), is_exact
