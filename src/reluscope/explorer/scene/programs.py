"""What is seen as a program: Python that makes a picture, or a region of it, again."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from reluscope.explorer.scene.planes import AnsweredView, PlaneFrame

_BEGINNING = """\
import numpy as np
import reluscope as rs

# net: the network, as reluscope.load returns it{epoch}
"""
_SAMPLES = "# x: the samples as flat rows (s, n){labels}\n"
_LETTERS = "abc"


def picture_program(view: AnsweredView) -> str:
    """Return Python that partitions the window of a picture, with every number in full.

    It begins with comments on the names that it takes: ``net``, and where samples are used ``x`` and ``labels``.
    """
    lines = [_beginning(view), *_frame_lines(view.frame)]
    lines.append(f"center, reach = np.array({_numbers(view.center)}), np.array({_numbers(view.reach)})")
    lines.append("window = rs.Slice(plane.lift(center), plane.basis, rs.Box(-reach, reach))")
    lines.append("part = rs.partition(net, window)")
    lines += ["part = rs.certify(part)"] * view.part.certified
    return "\n".join(lines) + "\n"


def region_program(view: AnsweredView, row: int) -> str:
    """Return Python that finds one region of a picture again, and the network's affine map there."""
    witness = view.part.witnesses[row]
    lines = [
        f"row = int(part.locate([{_numbers(witness)}])[0])",
        "region = part[row]  # its corners, sides and area in the window",
        "maps = region.map  # the affine map in the window's coordinates",
        f"whole = rs.region(net, window.lift({_numbers(witness)}))  # the region in the whole input space",
    ]
    return picture_program(view) + "\n".join(lines) + "\n"


def _beginning(view: AnsweredView) -> str:
    epoch = "" if view.epoch is None else f", at record {view.epoch} of the training"
    text = _BEGINNING.format(epoch=epoch)
    used = " ".join(anchor.program for anchor in view.frame.anchors)
    if "x[" in used or "x." in used:
        text += _SAMPLES.format(labels="; labels: their classes" * ("labels" in used))
    return text


def _frame_lines(frame: PlaneFrame) -> list[str]:
    if not frame.anchors:
        return ["plane = rs.Slice([0.0, 0.0], np.eye(2), rs.Box(-1.0, 1.0, 2))"]
    # Adversaries are made of other anchors, and come after these.
    order = sorted(range(3), key=lambda place: frame.anchors[place].key[0] == "adversary")
    lines = [f"{_LETTERS[place]} = {frame.anchors[place].program}" for place in order]
    return [*lines, "plane = rs.Plane(a, b, c)"]


def _numbers(values: Float[np.ndarray, " k"] | Sequence[float]) -> str:
    return "[" + ", ".join(repr(float(value)) for value in values) + "]"
