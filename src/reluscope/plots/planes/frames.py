"""One frame of an animation as plain arrays: the regions of a plane and their coefficients, without the partition."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from reluscope.arguments import read_drawn
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domain_arrays import domain_arrays
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.partitions.decisions.decision_boundary import decision_boundary
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.drawing.marks import draw_window, unreached_handle
from reluscope.plots.drawing.polygon_paths import Pen, say_empty
from reluscope.plots.planes.class_regions import decision_handle, stroke_decision
from reluscope.plots.planes.coefficient_scatter import Dots, Output, chosen_outputs, dots_of, draw_dots
from reluscope.plots.planes.gate_boundaries import stroke_gates
from reluscope.plots.planes.region_colors import SHADES, RegionColors
from reluscope.plots.planes.region_pictures import facet_ends
from reluscope.plots.style import depth_colors, shortened


@dataclass(frozen=True, eq=False)
class Frame:
    """The arrays that are drawn of one partition of a plane."""

    title: str
    domain: Slice | Box
    gates: tuple[str, ...]  # names of all gates
    offsets: Int[np.ndarray, " r1"]  # where each region's ``corners`` begin
    corners: Float[np.ndarray, "c 2"]  # corners of the regions' polygons
    ends: Float[np.ndarray, "f 2 2"]  # boundaries between regions
    facet_gates: Int[np.ndarray, " f"]  # the first gate that bends at each boundary
    decision: Float[np.ndarray, "p 2 2"]  # pieces of the decision boundary
    dots: Dots  # coefficients and colours of the regions
    num_open: int  # cells not finished when work stopped early


def frames_of(
    partitions: Iterable[Partition], titles: Iterable[str] | None, output: Output, colors: RegionColors
) -> list[Frame]:
    """Return the frames of partitions of one plane by networks of one architecture.

    Raises InputError if there is no partition, one is not of a bounded plane or has no network, windows or gates
    differ, or there is not one title for each.
    """
    frames: list[Frame] = []
    first: Partition | None = None
    named = iter(titles) if titles is not None else None
    for part in partitions:
        first = first or part
        _check(part, first, len(frames))
        title = next(named, None) if named is not None else say_regions(part)
        if title is None:
            raise InputError(f"expected one title for each partition, got only {len(frames)}")
        frames.append(frame_of(part, title, output, colors))
    if not frames:
        raise InputError("expected at least one partition, got none")
    if named is not None and next(named, None) is not None:
        raise InputError(f"expected one title for each partition, got more than {len(frames)}")
    return frames


@read_drawn
def say_regions(part: Partition) -> str:
    """Return the number of regions with its claim, as a title.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> rs.plots.say_regions(rs.partition(net, rs.Box(-1, 1, 2)))
    '4 regions (EXACT)'
    """
    found = part.finding()
    return f"{found.value:,} region{'s' * (found.value != 1)} ({found.claim})"


def frame_of(part: Partition, title: str, output: Output, colors: RegionColors) -> Frame:
    """Return the frame of a partition of a plane."""
    offsets, ids = part.region_vertices
    decision = np.zeros((0, 2, 2))
    if len(part) and part.network_on_domain.num_outputs > 1:
        chosen = chosen_outputs(part.network_on_domain, output)
        pieces = decision_boundary(part)
        # Of the difference of two outputs only their own tie.
        shown = (pieces.classes == sorted(chosen)).all(axis=1) if len(chosen) == 2 else slice(None)
        decision = pieces.ends[shown]
    elif len(part):
        decision = decision_boundary(part).ends
    return Frame(
        title,
        part.bounded_domain,
        tuple(shortened(gate.name) for gate in part.codes.layout),
        offsets,
        part.vertices[ids],
        facet_ends(part),
        part.facets.gates if len(part) else np.zeros(0, np.int64),
        decision,
        dots_of(part, output, colors),
        part.num_open,
    )


def draw_frame(left: Axes, right: Axes, frame: Frame, *, neighbors: bool) -> None:
    """Draw regions and coefficients, in place of those of an earlier frame; lines and limits stay."""
    for axes in (left, right):
        for artist in (*axes.collections, *axes.patches, *axes.texts):
            artist.remove()
    number = len(frame.dots.kinds)
    pen = Pen(left, number)
    pen.fill_each((frame.offsets, frame.corners), frame.dots.kinds, SHADES)
    stroke_gates(pen, frame.ends, frame.facet_gates, len(frame.gates))
    stroke_decision(pen, frame.decision)
    draw_window(left, frame.domain, is_hatched=frame.num_open > 0 and number > 0)
    draw_dots(right, frame.dots, neighbors=neighbors)
    if not number:
        say_empty(left, frame.num_open)


def handles_of(frames: Sequence[Frame]) -> list:
    """Return the legend of all frames: gates, the decision boundary, and cells that were not reached."""
    colors = depth_colors(len(frames[0].gates))
    found: list = [
        Line2D([], [], color=color, linewidth=2.0, label=f"{index + 1}. {name}")
        for index, (name, color) in enumerate(zip(frames[0].gates, colors, strict=True))
    ]
    if any(len(frame.decision) for frame in frames):
        found.append(decision_handle())
    if any(frame.num_open and len(frame.dots.kinds) for frame in frames):
        found.append(unreached_handle())
    return found


def _check(part: Partition, first: Partition, number: int) -> None:
    if part.dim != 2:
        raise InputError(
            f"pictures of regions beside their coefficients need partitions of a plane, got one of "
            f"{part.domain.describe()}: of a line, reluscope.plots.coefficient_scatter draws the coefficients "
            "alone"
        )
    if part is first:
        return
    here, there = (domain_arrays(one.bounded_domain) for one in (part, first))
    if here.keys() != there.keys() or any(not np.array_equal(here[name], there[name]) for name in here):
        raise InputError(
            f"all partitions must be of one window, but partition {number} is of {part.domain.describe()}, and the "
            f"first of {first.domain.describe()}"
        )
    if part.codes.layout != first.codes.layout:
        raise InputError(f"all partitions must be of networks with the same gates, and partition {number} has others")
