"""The classes of a classifier on a plane: areas of classes, regions, decision boundary, samples."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from reluscope.analyses.planes.class_areas import ClassAreas, class_areas
from reluscope.networks.graph.points import Points
from reluscope.palette import TINT
from reluscope.partitions.decisions.decision_boundary import decision_boundary
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.drawing.marks import halo, mark_labelled, mark_samples, on_the_domain, outline
from reluscope.plots.drawing.polygon_paths import Pen, frame, plane_size, say_empty
from reluscope.plots.style import (
    CATEGORIES,
    DARK,
    LIGHT,
    NEUTRAL,
    canvas,
    category,
    figure_of,
    legend,
    shortened,
    tint,
)

# Of the area: from these shares on a class is named where it is, and in the legend.
SHARE_TO_NAME, SHARE_TO_SEE = 0.012, 0.0002
APART = 0.07  # shares of the window: between lines of text, around a sample, per letter
CLEAR = 0.14
LETTER = 0.019


def draw_classes(
    part: Partition,
    color: ClassAreas | str,
    *,
    lines: bool,
    samples: Points | None,
    labels: Int[np.ndarray, " s"] | None,
    sample_labels: Sequence[str] | None,
    class_names: Sequence[str] | None,
    coarse: Partition | None,
    axes: Axes | None,
) -> Figure:
    """Draw the predicted classes on a plane; parameters are those of `reluscope.plots.partition`.

    Up to ten classes each have a colour of their own, the same in every picture; of more classes the ten largest do,
    and the others share a grey. Classes are named where they are large.
    """
    areas = class_areas(part) if isinstance(color, str) else color
    axes = canvas(axes, plane_size(part.bounded_domain))
    frame(axes, part.bounded_domain)
    pen, polygons = Pen(axes, len(part)), (areas.offsets, areas.corners)
    handles: list[Artist] = []
    if not len(part):
        say_empty(axes, part.num_open)
    sizes = areas.by_class(int(areas.classes.max()) + 1 if len(areas) else 0)
    shades = class_shades(sizes)
    for one in range(len(sizes)):
        if sizes[one] > 0 and one in shades:
            pen.fill(polygons, areas.classes == one, shades[int(one)])
            if sizes[one] > SHARE_TO_SEE * sizes.sum():
                handles.append(Patch(color=shades[int(one)], label=class_name(int(one), class_names)))
    others = np.flatnonzero(~np.isin(areas.classes, list(shades)))
    if len(others):
        number = len(np.unique(areas.classes[others]))
        pen.fill(polygons, others, NEUTRAL)
        handles.append(Patch(color=NEUTRAL, label=f"{number} smaller class{'es' * (number > 1)}"))
    if lines and len(part):
        width = float(np.clip(14.0 / np.sqrt(len(part)), 0.06, 0.6))
        pen.stroke(part.vertices[part.facets.vertices], DARK, width, alpha=0.45)
    boundary = decision_boundary(part)
    if len(boundary):
        stroke_decision(pen, boundary.ends)
        handles.append(decision_handle())
    handles += outline(axes, part, coarse)
    _name_areas(axes, areas, sizes, class_names, part, samples, frozenset(sample_labels or ()))
    # Classes of samples that have no area here keep their own colour, as long as that is no other one's.
    rest = {one: category(one) if len(sizes) <= len(CATEGORIES) else NEUTRAL for one in _present(labels)}
    colors = rest | {one: category(rank) for one, rank in class_ranks(sizes).items()}
    marks = mark_labelled(axes, part, samples, labels, class_names, colors)
    mark_samples(axes, part, samples, sample_labels, only_names=labels is not None)
    legend(axes, [*handles, *marks])
    return figure_of(axes)


def stroke_decision(pen: Pen, ends: Float[np.ndarray, "p 2 2"]) -> None:
    """Draw the pieces of a decision boundary, dark within light, which shows over any colour."""
    pen.stroke(ends, LIGHT, 3.4)
    pen.stroke(ends, DARK, 1.9)


def decision_handle() -> Line2D:
    """Return what the legend says of the decision boundary."""
    return Line2D([], [], color=DARK, linewidth=1.9, label="decision boundary", path_effects=halo(3.4))


def class_shades(sizes: np.ndarray) -> dict[int, str]:
    """Return the colour of every class that has one of its own."""
    return {one: tint(category(rank), TINT) for one, rank in class_ranks(sizes).items()}


def _present(labels: Int[np.ndarray, " s"] | None) -> list[int]:
    return [] if labels is None else [int(one) for one in np.unique(np.asarray(labels))]


def class_ranks(sizes: np.ndarray) -> dict[int, int]:
    """Return the place among the colours of every class that has one: of up to ten its own number."""
    present = [int(one) for one in np.argsort(-sizes, kind="stable") if sizes[one] > 0]
    if len(sizes) <= len(CATEGORIES):
        return {one: one for one in present}
    return {one: rank for rank, one in enumerate(present[: len(CATEGORIES)])}


def class_name(one: int, names: Sequence[str] | None) -> str:
    """Return what a class is called."""
    return f"class {one}" if names is None or one >= len(names) else shortened(str(names[one]))


def _name_areas(
    axes: Axes,
    areas: ClassAreas,
    sizes: np.ndarray,
    names: Sequence[str] | None,
    part: Partition,
    samples: Points | None,
    told: frozenset[str],
) -> None:
    """Write the number or name of each large class near its middle, unless it is told, or another name is there."""
    low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
    marked = (
        np.zeros((0, 2)) if samples is None else (on_the_domain(part.bounded_domain, samples)[0] - low) / (high - low)
    )
    taken = [(x, y, CLEAR) for x, y in marked]
    polygons = areas.areas()
    places = np.zeros((0, 2))
    if len(areas):
        places = np.add.reduceat(areas.corners, areas.offsets[:-1], axis=0) / np.diff(areas.offsets)[:, None]
        places = (places - low) / (high - low)
    for one in np.argsort(-sizes, kind="stable"):
        if not sizes[one] > SHARE_TO_NAME * sizes.sum():
            return
        if class_name(int(one), names) in told:
            continue
        text = str(one) if names is None else shortened(class_name(int(one), names), 16)
        half = 0.5 * LETTER * (len(text) + 1)
        rows = np.flatnonzero(areas.classes == one)
        middle = np.average(places[rows], axis=0, weights=polygons[rows])
        large = rows[polygons[rows] >= 0.2 * polygons[rows].max()]
        for row in large[np.argsort(np.linalg.norm(places[large] - middle, axis=1), kind="stable")]:
            share = places[row]
            near = any(abs(x - share[0]) < half + width and abs(y - share[1]) < APART for x, y, width in taken)
            if not near and (np.abs(share - 0.5) < (0.49 - half, 0.46)).all():
                x, y = low + share * (high - low)
                axes.text(x, y, text, ha="center", va="center", color=DARK, fontsize=9, path_effects=halo(2.2))
                taken.append((*share, half))
                break
