"""Figures as SVG text or PNG bytes."""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.collections import Collection
from matplotlib.colors import is_color_like, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.spines import Spine
from matplotlib.text import Text
from matplotlib.ticker import LogFormatter

from reluscope.arguments import Count, read_drawn
from reluscope.errors import InputError
from reluscope.plots.drawing.embedded_images import with_palettes
from reluscope.plots.style import INK

RASTER_DPI, SVG_DPI = 200, 72
# In the order in which they are tried where a picture must be short, for marks and then for whole axes.
DPI_OF_MARKS, DPI_OF_AXES = (200, 140, 100), (200, 140, 100, 72)
AS_IT_IS: dict[Any, Any] = {"text.parse_math": False}
NO_LAYOUT: dict[Any, Any] = {"figure.autolayout": False, "figure.constrained_layout.use": False}
# What XML has no room for: most control characters, halves of pairs, and two that are none.
NO_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@read_drawn
def to_svg(figure: Figure, *, name: str = "figure", ink: str | None = None, max_bytes: Count | None = None) -> str:
    """Return a figure as SVG, with text as text.

    Parameters
    ----------
    figure : Figure
    name : str
        Prefix of every id, so that pictures can share a page; other characters than letters and digits become
        hyphens.
    ink : str, optional
        Colour of text and axes, as in matplotlib; with ``"currentColor"`` they follow the page.
    max_bytes : int, optional
        If the text is longer, lines, points and areas become pixels of 256 colours, 200 per inch or fewer; words
        and axes stay. If necessary, whole axes become pixels, words included. If no version fits, the shortest is
        returned.

    Returns
    -------
    str
        The ``<svg>`` element, the same for the same figure; texts of the figure are escaped.

    Raises
    ------
    InputError
        If the ink is no colour.
    """
    _take_names_as_they_are(figure)
    name, shown = re.sub(r"[^\w.-]", "-", name), None if ink is None else _css_color(ink)
    with (
        rc_context(
            {"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif", **AS_IT_IS, **NO_LAYOUT}
        ),
        _laid_out(figure),
    ):
        text = with_palettes(_written(figure, name, shown, RASTER_DPI))
        if max_bytes is not None and len(text.encode()) > max_bytes:
            for artists, dpis in ((_marks(figure), DPI_OF_MARKS), (figure.findobj(Axes), DPI_OF_AXES)):
                with _as_pixels(artists):
                    for dpi in dpis:
                        text = min(text, with_palettes(_written(figure, name, shown, dpi), rounded=True), key=len)
                        if len(text.encode()) <= max_bytes:
                            return text
    return text


def _written(figure: Figure, name: str, ink: str | None, dpi: int) -> str:
    """Return a figure as SVG, its images and what is drawn as pixels with so many of them an inch."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", dpi=dpi, transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # Only within tags: what looks like an id or a colour in a label is a label.
    text = re.sub(r"<[^<>]*>", lambda tag: _changed(tag[0], name, ink), text)
    return NO_CHARACTERS.sub("\ufffd", text)


def _marks(figure: Figure) -> list[Artist]:
    """Return what axes hold apart from their ticks, frames, words and keys."""
    return [
        artist
        for axes in figure.findobj(Axes)
        for artist in axes.get_children()
        if isinstance(artist, Collection | Line2D | Patch)
        and artist is not axes.patch
        and not isinstance(artist, Spine)
    ]


@contextmanager
def _as_pixels(artists: Sequence[Artist]) -> Iterator[None]:
    """Let artists be drawn as pixels, and then as they were."""
    before = [artist.get_rasterized() for artist in artists]
    try:
        for artist in artists:
            artist.set_rasterized(True)
        yield
    finally:
        for artist, was in zip(artists, before, strict=True):
            artist.set_rasterized(was)


@contextmanager
def _laid_out(figure: Figure) -> Iterator[None]:
    """Lay a figure out as SVG, and let it be so: left to itself, matplotlib draws all of it in vain to that end."""
    engine, canvas, dpi = figure.get_layout_engine(), figure.canvas, figure.dpi
    if engine is None or not figure.axes:
        yield
        return
    try:
        FigureCanvasSVG(figure)  # becomes the figure's own: texts are as wide as they will be
        figure.dpi = SVG_DPI
        engine.execute(figure)
        figure.set_canvas(canvas)
        figure.dpi = dpi
        figure.set_layout_engine(None)  # "none" would stand in for one, and is drawn in vain, too
        yield
    finally:
        figure.set_canvas(canvas)
        figure.dpi = dpi
        figure.set_layout_engine(engine)


def _css_color(ink: str) -> str:
    """Return a colour as CSS has it."""
    if ink.lower() == "currentcolor":
        return "currentColor"
    if not is_color_like(ink):
        raise InputError(f"ink must be currentColor or a colour of matplotlib, got {ink!r}: give black, for instance")
    return to_hex(ink)


def _changed(tag: str, name: str, ink: str | None) -> str:
    """Return a tag with ids of its own, short numbers, plain fonts and its ink."""
    # A hundredth of a point is finer than any printer.
    tag = re.sub(r'( d=")([^"]*)"', lambda found: f'{found[1]}{_shortened(found[2])}"', tag)
    tag = re.sub(r'\bid="', f'id="{name}-', tag)
    tag = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", tag)
    tag = re.sub(r"font(-family)?: ([^;\"]*?)'[^;\"]*sans-serif", r"font\1: \2sans-serif", tag)
    return tag if ink is None else tag.replace(INK, ink)


@read_drawn
def to_png(figure: Figure, *, dpi: Count = RASTER_DPI, background: str = "white") -> bytes:
    """Return a figure as PNG."""
    if not is_color_like(background):
        raise InputError(f"background must be a colour of matplotlib, got {background!r}: give white, or none")
    buffer = io.BytesIO()
    _take_names_as_they_are(figure)
    with rc_context(AS_IT_IS):
        figure.savefig(buffer, format="png", dpi=dpi, facecolor=background)
    return buffer.getvalue()


def _take_names_as_they_are(figure: Figure) -> None:
    """Read no formulas between dollar signs, which names of gates and classes may hold, but those of log axes.

    Labels that come to be while the figure is drawn follow `AS_IT_IS`.
    """
    artists = figure.findobj()  # insets, too, which are children of their axes and not among the figure's own
    for text in artists:
        if isinstance(text, Text):
            text.set_parse_math(False)  # pyright: ignore[reportAttributeAccessIssue]
    for axes in artists:
        for axis in (axes.xaxis, axes.yaxis) if isinstance(axes, Axes) else ():
            if isinstance(axis.get_major_formatter(), LogFormatter):
                for label in axis.get_ticklabels(which="both"):  # which makes those that are not there yet
                    label.set_parse_math(True)


def _shortened(path: str) -> str:
    return re.sub(r"(\.\d\d)\d+", r"\1", path).replace(" \n", " ").replace("\n", " ")
