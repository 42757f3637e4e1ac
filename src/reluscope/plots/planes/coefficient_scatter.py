"""The affine pieces of a network as points: one dot per region of a line or a plane, at its linear coefficients.

Across a facet where one unit flips, coefficients change by a multiple of the facet's normal: lines between neighbours
are dual to the picture of the regions. Plots of coefficients in Sattelberg 2026, chapters 5 and 6, are of this kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reluscope.arguments import read_drawn
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Slice
from reluscope.networks.network import Network
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.drawing.polygon_paths import Pen, say_empty
from reluscope.plots.planes.region_colors import SHADES, RegionColors
from reluscope.plots.planes.region_pictures import check_dimensions
from reluscope.plots.style import DARK, INK, canvas, figure_of

Output = int | tuple[int, int] | None

# In square points: the dot of the whole window, and that of a region without area.
LARGEST, SMALLEST = 900.0, 5.0


@read_drawn
def coefficient_scatter(
    part: Partition,
    *,
    output: Output = None,
    neighbors: bool = True,
    colors: RegionColors | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw a dot per region of a line or a plane at the coefficients of its affine map.

    Parameters
    ----------
    part : Partition
        Of one or two dimensions, with its network; may be empty or have stopped early.
    output : int or pair of int, optional
        The output, or for ``(a, b)`` output a minus output b, whose sign decides between two classes. By default
        the only output, or of two outputs the second minus the first.
    neighbors : bool
        Join regions that share a facet.
    colors : RegionColors, optional
        Colours to reuse, so that equal codes match in several pictures.
    axes : matplotlib axes, optional
        Axes to draw in; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        In the plane the two slopes; on a line slope and intercept. The area of a dot grows with the size of its
        region, from a smallest dot on.

    Raises
    ------
    InputError
        If the partition has other dimensions or no network, or there is no such output.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> figure = rs.plots.coefficient_scatter(rs.partition(net, rs.Box(-1, 1, 2)))
    >>> sorted(figure.axes[0].collections[-1].get_offsets().tolist())
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    check_dimensions(part)
    dots = dots_of(part, output, colors or RegionColors())
    axes = canvas(axes, (5.0, 4.6))
    frame_dots(axes, [dots], is_plane=part.dim == 2)
    draw_dots(axes, dots, neighbors=neighbors)
    if not len(part):
        say_empty(axes, part.num_open)
    return figure_of(axes)


@dataclass(frozen=True, eq=False)
class Dots:
    """The regions of a partition as points."""

    places: Float[np.ndarray, "r 2"]  # slopes along both axes; on a line slope and intercept
    shares: Float[np.ndarray, " r"]  # of the area or length of all regions that were found
    kinds: Int[np.ndarray, " r"]  # numbers of colours in ``SHADES``
    pairs: Int[np.ndarray, "f 2"]  # rows of regions that share a facet
    names: tuple[str, str]  # names of the two coefficients


def dots_of(part: Partition, output: Output, colors: RegionColors) -> Dots:
    """Return the regions of a line or a plane as points."""
    rows = chosen_outputs(part.network_on_domain, output)
    names = _names(part, rows)
    if not len(part):
        return Dots(np.zeros((0, 2)), np.zeros(0), np.zeros(0, np.int64), np.zeros((0, 2), np.int64), names)
    weight, bias = (one.cpu().numpy() for one in (part.maps.weight, part.maps.bias))
    values = np.concatenate([weight, bias[:, :, None]], axis=2)
    values = values[:, rows[0]] if len(rows) == 1 else values[:, rows[0]] - values[:, rows[1]]
    sizes = np.asarray(part.volumes())
    pairs = np.stack([part.facets.left, part.facets.right], axis=1)
    return Dots(np.ascontiguousarray(values[:, :2]), sizes / sizes.sum(), colors.of(part), pairs, names)


def _names(part: Partition, rows: tuple[int, ...]) -> tuple[str, str]:
    name = " - ".join(f"output {row}" for row in rows) if part.network_on_domain.num_outputs > 1 else "the output"
    if part.dim == 1:
        return f"slope of {name}", f"intercept of {name}"
    along = ("the first axis", "the second axis") if isinstance(part.domain, Slice) else ("input 0", "input 1")
    return f"slope of {name} along {along[0]}", f"slope of {name} along {along[1]}"


def chosen_outputs(network: Network, output: Output) -> tuple[int, ...]:
    """Return the output that is asked for, or the one and what is subtracted from it.

    Raises InputError if there is no such output, or several to choose from.
    """
    number = network.num_outputs
    if output is None:
        if number > 2:
            raise InputError(
                f"the network has {number:,} outputs: say which one is meant, as in output=0, or the difference of "
                "two, as in output=(1, 0)"
            )
        return (0,) if number == 1 else (1, 0)
    rows = (output,) if isinstance(output, int) else tuple(output)
    if len(rows) not in (1, 2) or not all(0 <= row < number for row in rows):
        raise InputError(f"output must be one of 0 to {number - 1}, or two of them, got {output}")
    return rows


def draw_dots(axes: Axes, dots: Dots, *, neighbors: bool) -> None:
    """Draw dots, small ones above large ones, and the lines between neighbours below them."""
    number = len(dots.places)
    pen = Pen(axes, number)
    if neighbors and len(dots.pairs):
        width = float(np.clip(8.0 / np.sqrt(number), 0.15, 0.8))
        pen.stroke(dots.places[dots.pairs], DARK, width, alpha=0.35)
    order = np.argsort(-dots.shares, kind="stable")
    axes.scatter(
        *dots.places[order].T,
        s=np.maximum(SMALLEST, LARGEST * dots.shares[order]),
        c=[SHADES[kind] for kind in dots.kinds[order]],
        edgecolors=DARK,
        linewidths=0.7 if number < 300 else 0.3,
        rasterized=pen.is_raster,
        zorder=3,
    )


def frame_dots(axes: Axes, every: Sequence[Dots], *, is_plane: bool) -> None:
    """Set labels, and limits that all dots fit into, with zero; of equal aspect for the slopes of a plane."""
    axes.set_xlabel(every[0].names[0])
    axes.set_ylabel(every[0].names[1])
    places = np.concatenate([np.zeros((1, 2)), *(dots.places for dots in every)])
    low, high = places.min(axis=0), places.max(axis=0)
    half = (high - low) / 2
    half = np.where(half > 0, half, 1.0)
    if is_plane:
        half = np.full(2, half.max())
        axes.set_aspect("equal")
    middle = (low + high) / 2
    (left, bottom), (right, top) = middle - 1.14 * half, middle + 1.14 * half
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    for draw in (axes.axhline, axes.axvline):
        draw(0.0, color=INK, linewidth=0.6, alpha=0.35, zorder=0)
