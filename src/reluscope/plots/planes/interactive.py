"""Regions of a plane as an interactive plotly figure that describes the region under the pointer.

Regions of one colour are one filled path. Descriptions come from an invisible grid: each cell answers with the
region at its centre. Very near a witness the witness answers, so that regions that hold no centre of a cell are found
after zooming in.
"""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int
from matplotlib.colors import to_hex

from reluscope.analyses.classification.class_predictions import classes_of_outputs
from reluscope.analyses.planes.class_areas import ClassAreas, class_areas
from reluscope.arguments import Count, read_drawn
from reluscope.codes.activation_rate import active_units
from reluscope.codes.packed import Codes
from reluscope.errors import InputError, ReluscopeError
from reluscope.partitions.decisions.decision_boundary import decision_boundary
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.region_numbers import map_norms
from reluscope.plots.drawing.coloring import Color, Kinds, Scale, coloring
from reluscope.plots.drawing.polygon_paths import limits, region_polygons
from reluscope.plots.planes.class_regions import class_name, class_shades
from reluscope.plots.planes.region_pictures import facet_ends
from reluscope.plots.style import DARK, NEUTRAL

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MAX_REGIONS = 20_000
LEVELS = 32
CELLS = 40_000
NEAR = 4


@read_drawn
def interactive(
    part: Partition,
    *,
    color: Color | ClassAreas = None,
    label: str = "",
    class_names: Sequence[str] | None = None,
    most: Count = MAX_REGIONS,
) -> "Figure":
    """Draw the regions of a plane as a plotly figure, with a description of the region under the pointer.

    Parameters
    ----------
    part : Partition
        Of two dimensions; may be empty.
    color : str, callable or (r,) array, optional
        As for `reluscope.plots.partition`.
    label : str
        Meaning of the colours.
    class_names : sequence of str, optional
        Names of the classes; by default their numbers.
    most : int
        Upper limit on the number of regions: browsers respond slowly beyond 20,000.

    Returns
    -------
    plotly.graph_objects.Figure
        Never shown. The description contains the row of the region, the first digits of its code, the number of
        active units, the class at its witness, the norm of its affine map along the plane, and its area. Class and
        norm are omitted if the partition was loaded without its network. The window is a grid of 40,000 cells; the
        region is that at the centre of the cell, or that around a witness within 4 pixels.

    Raises
    ------
    ReluscopeError
        If plotly is not installed.
    InputError
        If the partition is not of a plane, or has more regions than ``most``.

    Notes
    -----
    20,000 regions take some seconds and a page of about 20 MB, of which plotly itself is 5.

    Examples
    --------
    >>> import numpy as np, pytest, reluscope as rs
    >>> plotly = pytest.importorskip("plotly")
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((2, 2)), np.zeros(2))])
    >>> figure = rs.plots.interactive(rs.partition(net, rs.Box(-1, 1, 2)), color="area")
    >>> figure.data[-1].hovertext[0].split("<br>")[0]
    'region 0'
    """
    objects = _plotly()
    if part.dim != 2:
        raise InputError(
            f"an interactive picture needs the partition of a plane, got one of {part.domain.describe()}: "
            "draw it with reluscope.plots.partition"
        )
    if len(part) > most:
        raise InputError(
            f"an interactive picture of {len(part):,} regions would be slow, expected at most {most:,}: draw them with "
            "reluscope.plots.partition, partition a smaller window, or raise most"
        )
    figure = objects.Figure()
    if isinstance(color, ClassAreas) or (isinstance(color, str) and color == "class"):
        _fill_classes(objects, figure, part, class_areas(part) if isinstance(color, str) else color, class_names)
    else:
        _fill_regions(objects, figure, part, color, label)
    ends = facet_ends(part)
    if len(ends):
        figure.add_trace(
            _lines(objects, ends, float(np.clip(30.0 / np.sqrt(len(part)), 0.25, 0.8)), "boundaries of regions")
        )
    if isinstance(color, ClassAreas) or (isinstance(color, str) and color == "class"):
        boundary = decision_boundary(part).ends
        if len(boundary):
            figure.add_trace(_lines(objects, boundary, 2.5, "decision boundary", showlegend=True))
    texts = np.array([*region_texts(part, class_names), ""], dtype=object)
    x, y, rows = region_grid(part)
    figure.add_trace(
        objects.Heatmap(
            x=x,
            y=y,
            z=np.where(rows >= 0, 0.0, np.nan),
            text=texts[rows],
            hoverinfo="text",
            hoverongaps=False,
            colorscale=[[0, "rgba(0,0,0,0)"], [1, "rgba(0,0,0,0)"]],
            showscale=False,
            name="cells",
        )
    )
    figure.add_trace(
        objects.Scattergl(
            x=part.witnesses[:, 0],
            y=part.witnesses[:, 1],
            mode="markers",
            marker={"size": 1, "opacity": 0},
            hovertext=texts[:-1],
            hoverinfo="text",
            name="witnesses",
            showlegend=False,
        )
    )
    _lay_out(figure, part)
    return figure


def region_texts(part: Partition, class_names: Sequence[str] | None = None) -> list[str]:
    """Return the description of every region, its lines separated by ``<br>``."""
    if not len(part):
        return []
    parts = [[f"region {row:,}" for row in range(len(part))], _code_texts(part.codes)]
    if part.network is not None:
        classes = _classes(part)
        parts.append([_as_it_is(class_name(int(one), class_names)) for one in classes])
        parts.append([f"norm of the map {norm:.4g}" for norm in map_norms.of(part)])
    parts.append([f"area {area:.4g}" for area in part.volumes()])
    return ["<br>".join(lines) for lines in zip(*parts, strict=True)]


def region_grid(
    part: Partition,
) -> tuple[Float[np.ndarray, " a"], Float[np.ndarray, " b"], Int[np.ndarray, "b a"]]:
    """Return the centres of about 40,000 square cells of the window, and the region at each; -1 where there is none."""
    low, high = limits(part.bounded_domain)
    width, height = high - low
    across = int(np.clip(round(np.sqrt(CELLS * width / height)), 8, CELLS // 8))
    centres = [
        edge + span * (np.arange(number) + 0.5) / number
        for edge, span, number in ((low[0], width, across), (low[1], height, CELLS // across))
    ]
    points = np.stack(np.meshgrid(*centres), axis=-1).reshape(-1, 2)
    return centres[0], centres[1], part.locate(points).reshape(CELLS // across, across)


def _as_it_is(text: str) -> str:
    """Return a text that plotly, which reads markup in what it writes, shows as it is."""
    return escape(str(text), quote=False)


def _plotly() -> Any:
    try:
        import plotly.graph_objects as objects
    except ImportError as error:
        raise ReluscopeError(
            'expected plotly for interactive pictures, and it is not installed: run pip install "reluscope[plotly]"'
        ) from error
    return objects


def _classes(part: Partition) -> Int[np.ndarray, " r"]:
    """Return the class at every witness, the mean of the corners, where affine outputs have their mean too."""
    offsets, ids = part.region_vertices
    means = np.add.reduceat(part.scores[ids], offsets[:-1], axis=0) / np.diff(offsets)[:, None]
    return classes_of_outputs(means)


def _code_texts(codes: Codes) -> list[str]:
    """Return the first bits of every code as hexadecimal digits, and how many units are active."""
    active, units = active_units(codes)
    digits = min(8, max(1, -(-codes.layout.num_units // 8)) * 2)
    first = codes.words[:, 0] if codes.words.shape[1] else np.zeros(len(codes), dtype=np.uint64)
    more = "…" if codes.layout.num_units > 4 * digits or len(codes.layout) > 1 else ""
    starts = [f"code {int(word) & (16**digits - 1):0{digits}x}{more}" for word in first]
    if not units:
        return starts
    return [f"{start}, {number:,} of {units:,} units active" for start, number in zip(starts, active, strict=True)]


def _fill_regions(objects: Any, figure: "Figure", part: Partition, color: Color, label: str) -> None:
    colors = coloring(part, color, label)
    polygons, shades = region_polygons(part), colors.palette
    names = dict(enumerate(colors.names)) if isinstance(colors, Kinds) else {-1: "no value"}
    for one in np.unique(colors.group):
        chosen = np.flatnonzero(colors.group == one)
        figure.add_trace(_polygons(objects, *polygons, chosen, to_hex(shades[one]), _as_it_is(names.get(int(one), ""))))
    if isinstance(colors, Scale) and len(part):
        _scale_beside(objects, figure, colors.norm(), _as_it_is(colors.label))


def _fill_classes(
    objects: Any, figure: "Figure", part: Partition, areas: ClassAreas, names: Sequence[str] | None
) -> None:
    sizes = areas.by_class(int(areas.classes.max()) + 1 if len(areas) else 0)
    shades = class_shades(sizes)
    for one, shade in shades.items():
        chosen = np.flatnonzero(areas.classes == one)
        figure.add_trace(
            _polygons(objects, areas.offsets, areas.corners, chosen, shade, _as_it_is(class_name(one, names)))
        )
    others = np.flatnonzero(~np.isin(areas.classes, list(shades)))
    if len(others):
        figure.add_trace(_polygons(objects, areas.offsets, areas.corners, others, NEUTRAL, "smaller classes"))


def _polygons(objects: Any, offsets: np.ndarray, corners: np.ndarray, chosen: np.ndarray, shade: str, name: str) -> Any:
    """Return polygons of one colour as one path, each closed and followed by a gap."""
    sizes = np.diff(offsets)[chosen] + 2
    ends = np.cumsum(sizes)
    inside = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    whole = np.repeat(sizes, sizes) - 2
    places = corners[np.repeat(offsets[chosen], sizes) + np.where(inside >= whole, 0, inside)].copy()
    places[inside == whole + 1] = np.nan
    return objects.Scatter(
        x=places[:, 0],
        y=places[:, 1],
        mode="lines",
        line={"width": 0.5, "color": shade},
        fill="toself",
        fillcolor=shade,
        hoverinfo="skip",
        name=name,
        showlegend=bool(name),
    )


def _lines(objects: Any, ends: np.ndarray, width: float, name: str, *, showlegend: bool = False) -> Any:
    places = np.full((len(ends), 3, 2), np.nan)
    places[:, :2] = ends
    places = places.reshape(-1, 2)
    style = {"width": width, "color": DARK}
    return objects.Scattergl(
        x=places[:, 0], y=places[:, 1], mode="lines", line=style, hoverinfo="skip", name=name, showlegend=showlegend
    )


def _scale_beside(objects: Any, figure: "Figure", norm: Any, label: str) -> None:
    """Add a colour scale: a trace without points that owns it, logarithms written as powers."""
    low, high = float(norm.vmin), float(norm.vmax)
    is_logarithmic = type(norm).__name__ == "LogNorm"
    bar: dict[str, Any] = {"title": {"text": label, "side": "right"}, "thickness": 14}
    if is_logarithmic:
        low, high = np.log10(low), np.log10(high)
        ticks = np.arange(np.ceil(low), np.floor(high) + 1)
        bar |= {"tickvals": ticks, "ticktext": [f"10<sup>{int(tick)}</sup>" for tick in ticks]}
    marker = {"colorscale": "Cividis", "cmin": low, "cmax": high, "color": [low], "showscale": True, "colorbar": bar}
    figure.add_trace(
        objects.Scatter(x=[None], y=[None], mode="markers", marker=marker, hoverinfo="skip", showlegend=False)
    )


def _lay_out(figure: "Figure", part: Partition) -> None:
    low, high = limits(part.bounded_domain)
    number = "no regions were found" if not len(part) else f"{part.finding()} regions"
    title = _as_it_is(f"{number}, {part.domain.describe()}")
    names = ("input 0", "input 1")
    if hasattr(part.bounded_domain, "basis"):
        names = ("distance from the first point towards the second", "distance towards the third")
    figure.update_layout(
        title={"text": title, "font": {"size": 14}},
        template="plotly_white",
        hovermode="closest",
        hoverdistance=NEAR,
        hoverlabel={"bgcolor": "#ffffff", "bordercolor": DARK, "font": {"color": DARK}},
        dragmode="pan",
        legend={"orientation": "h", "y": -0.15},
        margin={"l": 60, "r": 20, "t": 50, "b": 60},
        xaxis={"title": names[0], "range": [low[0], high[0]], "showgrid": False, "zeroline": False},
        yaxis={"title": names[1], "range": [low[1], high[1]], "showgrid": False, "zeroline": False,
               "scaleanchor": "x", "scaleratio": 1},
    )  # fmt: skip
