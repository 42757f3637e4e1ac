"""Pictures as the content of files."""

import io

from matplotlib.figure import Figure

from reluscope import plots


def picture_file(figure: Figure, suffix: str, name: str) -> bytes | str:
    """Return a picture as a file of the kind that a suffix names; `name` makes identifiers of an .svg file unique."""
    if suffix == ".svg":
        return plots.to_svg(figure, name=name)
    if suffix == ".png":
        return plots.to_png(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="pdf")
    return buffer.getvalue()
