"""Figures made ready for a page: SVG in the page's own ink, with a description."""

import html

from matplotlib.figure import Figure

from reluscope.plots.drawing.saving import to_svg
from reluscope.report.parts.content import Drawing, ReportPicture


def drawing(figure: Figure, name: str, description: str) -> Drawing:
    """Return a figure as an element that follows the page's text colour.

    ``name`` must differ for every picture of a page; ``description`` is for screen readers.
    """
    svg = to_svg(figure, name=name, ink="currentColor")
    labelled = svg.replace("<svg ", f'<svg role="img" aria-label="{html.escape(description)}" ', 1)
    return Drawing(labelled, 72 * float(figure.get_size_inches()[0]))


def picture(figure: Figure, name: str, description: str, caption: str) -> ReportPicture:
    """Return a figure alone, with its caption; see `drawing`."""
    return ReportPicture((drawing(figure, name, description),), caption)
