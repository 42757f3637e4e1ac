"""The common style of all pictures: ink, palettes that colour-blind readers can distinguish, and axes without frames.

Text and axes are drawn in ``INK``, which pages replace by their own text colour, so that pictures follow a dark page;
what lies over filled areas is drawn in colours of its own. Public, so that other pictures can look like these.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize, is_color_like, to_hex, to_rgb
from matplotlib.container import Container
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from reluscope.arguments import Count, Range, Share, read_arguments
from reluscope.errors import InputError
from reluscope.palette import CATEGORIES, DARK, INK, LIGHT, NEUTRAL
from reluscope.plots.figures import new_figure

__all__ = [
    "CATEGORIES",
    "DARK",
    "INK",
    "LIGHT",
    "NEUTRAL",
    "SIGNED",
    "bare",
    "canvas",
    "category",
    "dashes",
    "figure_of",
    "legend",
    "legend_below",
    "number_logarithmically",
    "say",
    "scale_beside",
    "shortened",
    "tint",
]

# Lines differ in their dashes too, for readers who do not tell the colours apart.
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
RASTER_ABOVE = 20_000
# From Okabe and Ito's blue to their vermilion, darker towards both ends, so that size is seen without hue.
SIGNED = LinearSegmentedColormap.from_list(
    "signed", ["#00283f", "#0072B2", "#9cc9e6", "#ffffff", "#f3bf9b", "#D55E00", "#4d1d00"]
)


@read_arguments
def canvas(axes: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the given axes, or those of a new figure of a size in inches, in the common style."""
    if axes is None:
        figure = new_figure(size)
        axes = figure.add_subplot()
    axes.tick_params(colors=INK, labelsize=8.5, length=3, width=0.8)
    for side in axes.spines.values():
        side.set_color(INK)
        side.set_linewidth(0.8)
    for text in (axes.xaxis.label, axes.yaxis.label, axes.title):
        text.set_color(INK)
        text.set_fontsize(9.5)
    return axes


@read_arguments
def figure_of(axes: Axes) -> Figure:
    """Return the figure that axes belong to."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


@read_arguments
def bare(axes: Axes, *sides: Literal["left", "right", "top", "bottom"]) -> None:
    """Take away the frame on some sides."""
    for side in sides:
        axes.spines[side].set_visible(False)


@read_arguments
def legend(axes: Axes, handles: Sequence[Artist | Container], **options: object) -> None:
    """Put a legend below the axes, in ink and without a frame, in as many columns as its longest label leaves."""
    if not handles:
        return
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = min(4, max(1, 64 // (longest + 5)), len(handles))
    below = -0.62 / (axes.bbox.height / figure_of(axes).dpi)
    settings = {
        "loc": "upper center",
        "bbox_to_anchor": (0.5, below),
        "frameon": False,
        "fontsize": 8.5,
        "ncols": columns,
        "title_fontsize": 8.5,
    }
    made = axes.legend(handles=handles, labelcolor=INK, **{**settings, **options})  # pyright: ignore[reportCallIssue, reportArgumentType]
    made.get_title().set_color(INK)


@read_arguments
def legend_below(figure: Figure, handles: Sequence[Artist | Container], **options: object) -> None:
    """Put one legend for all axes below a figure whose layout is constrained."""
    if not handles:
        return
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = max(1, int(14 * figure.get_figwidth()) // (longest + 6))
    settings = {
        "loc": "outside lower center",
        "ncols": min(columns, len(handles)),
        "frameon": False,
        "fontsize": 8.5,
    }
    figure.legend(handles=handles, labelcolor=INK, **{**settings, **options})  # pyright: ignore[reportCallIssue, reportArgumentType]


@read_arguments
def number_logarithmically(
    axes: Axes, ratio: Annotated[float, Range(above=0, is_finite=False)], *, along: Literal["x", "y"] = "x"
) -> None:
    """Make an axis logarithmic, with as many plain numbers as there is room for over a ratio of its ends.

    Examples
    --------
    >>> import reluscope as rs
    >>> axes = rs.plots.style.canvas(None, (3.0, 2.0))
    >>> rs.plots.style.number_logarithmically(axes, 4.5)
    >>> axes.get_xscale(), axes.xaxis.get_major_formatter()(500_000)
    ('log', '500,000')
    """
    (axes.set_xscale if along == "x" else axes.set_yscale)("log")
    axis = axes.xaxis if along == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(subs=_steps(ratio)))
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if 1e3 <= value < 1e7 else f"{value:g}")
    axis.set_minor_formatter(NullFormatter())


@read_arguments
def tint(color: str, share: Share) -> str:
    """Return a colour mixed with white; share 1 is the colour itself.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.plots.style.tint("#000000", 0.5)
    '#808080'
    """
    _check_color(color)
    red, green, blue = (share * part + 1.0 - share for part in to_rgb(color))
    return to_hex((red, green, blue))


@read_arguments
def category(index: int) -> str:
    """Return the colour of a category; after ten they repeat."""
    return CATEGORIES[index % len(CATEGORIES)]


@read_arguments
def dashes(index: int) -> Any:
    """Return how the line of a category is dashed; after four they repeat."""
    return DASHES[index % len(DASHES)]


@read_arguments
def shortened(name: str, most: Count = 28) -> str:
    """Return a name of bearable length, its middle left out.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.plots.style.shortened("encoder.blocks.0.mlp.activation", 16)
    'encoder…tivation'
    """
    if len(name) <= most:
        return name
    return f"{name[: (most - 1) // 2]}…{name[-(most - (most - 1) // 2 - 1) :]}"


def depth_colors(number: int) -> list[str]:
    """Return one colour per gate, from the first to the last."""
    few = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
    if number <= len(few):
        return list(few[:number])
    from matplotlib import colormaps

    return [to_hex(colormaps["viridis"](0.2 + 0.7 * index / (number - 1))) for index in range(number)]


@read_arguments
def say(axes: Axes, text: str, color: str = INK) -> None:
    """Write a sentence into the middle of the axes."""
    _check_color(color)
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=color, fontsize=9.5)


@read_arguments
def scale_beside(
    axes: Axes,
    norm: Normalize,
    colors: Colormap,
    label: str,
    *,
    extend: Literal["neither", "both", "min", "max"] = "neither",
) -> None:
    """Put a colour scale as high as the axes at their right."""
    bar = figure_of(axes).colorbar(
        ScalarMappable(norm, colors), cax=axes.inset_axes((1.025, 0.0, 0.03, 1.0)), extend=extend
    )
    bar.set_label(label, color=INK, fontsize=9.5)
    bar.ax.tick_params(colors=INK, labelsize=8.5, length=3)
    bar.outline.set_edgecolor(INK)  # pyright: ignore[reportCallIssue]


def _steps(ratio: float) -> tuple[float, ...]:
    """Return at which multiples of powers of ten there is room for a number."""
    if ratio < 10:
        return (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)
    return (1.0, 2.0, 5.0) if ratio < 1000 else (1.0,)


def _check_color(color: str) -> None:
    if not is_color_like(color):
        raise InputError(f"expected a colour that matplotlib knows, as in '#0072B2', got {color!r}")
