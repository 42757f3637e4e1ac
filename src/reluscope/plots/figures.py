"""New figures, which notebooks show as a picture below their cell, whether or not pyplot was imported."""

from io import BytesIO
from typing import Literal

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that is its own picture in a notebook; without this, only pyplot's ``%matplotlib inline`` shows any."""

    def _repr_png_(self) -> bytes:
        file = BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()


def new_figure(size: tuple[float, float], layout: Literal["constrained", "compressed"] = "constrained") -> Figure:
    """Return an empty figure of a size in inches."""
    figure = ShownFigure(figsize=size, layout=layout)
    FigureCanvasAgg(figure)
    return figure
