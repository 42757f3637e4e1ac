"""Counterexamples in float32, and results as files of the competition of verifiers."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.verification import Property, Verdict
from reluscope.analyses.verification.deeper import deeper
from reluscope.analyses.verification.verdict import Counterexample, Verified, asked_network, asked_outputs, surely_in
from reluscope.cli.properties.runtime import run_in_float32
from reluscope.cli.reading.model_arguments import ModelArguments
from reluscope.networks.file_outputs import Rounding, on_scores
from reluscope.networks.network import Network

# How the competition of verifiers says it.
RESULTS = {Verdict.HOLDS: "unsat", Verdict.VIOLATED: "sat", Verdict.OPEN: "unknown"}


def competition_result(found: Verified, replayed: "Replayed | None" = None) -> str:
    """Return the result in the form of the competition of verifiers: sat, unsat or unknown, and the counterexample.

    The counterexample is the one of float32, where there is one: that is what the competition runs.
    """
    lines = [RESULTS[found.verdict]]
    if (one := found.counterexample) is not None:
        point, outputs = one.point, one.outputs
        if replayed is not None and replayed.violates:
            point, outputs = replayed.point, replayed.outputs
        values = [(f"X_{place}", value) for place, value in enumerate(point.tolist())]
        values += [(f"Y_{place}", value) for place, value in enumerate(outputs.tolist())]
        lines.append("(" + "\n".join(f"({name} {value!r})" for name, value in values) + ")")
    return "\n".join(lines) + "\n"


class Replayed(NamedTuple):
    """The outputs that onnxruntime gives in float32 near a counterexample.

    ``point`` is the first input tried that violates the property in float32, else the one nearest to the
    counterexample.
    """

    point: Float[np.ndarray, " n"]
    outputs: Float[np.ndarray, " m"]
    violates: bool
    distance: float  # from the counterexample, in the largest coordinate
    num_tried: int


def in_float32(model: ModelArguments, network: Network, safe: Property, one: Counterexample) -> Replayed | None:
    """Return what float32 makes of a counterexample, or of points near by where it is none there."""
    case = safe.cases[one.case]
    values = asked_outputs(safe, one.point, one.outputs)
    unsafe = next((each for each in case.unsafe if (each.A @ values <= each.b).all()), case.unsafe[0])
    points = deeper(
        asked_network(network, safe), case, on_scores(network.left_off, unsafe, Rounding.INWARDS), one.point
    )
    outputs = run_in_float32(model, points)
    if outputs is None or not len(points) or outputs.shape[1] != len(one.outputs):
        return None
    values = asked_outputs(safe, points, outputs)
    bad = np.any([surely_in(each, values, 0 * values) for each in case.unsafe], axis=0)
    row = int(bad.argmax())
    distance = float(np.abs(points[row] - one.point).max())
    return Replayed(points[row], outputs[row], bool(bad[row]), distance, len(points))
