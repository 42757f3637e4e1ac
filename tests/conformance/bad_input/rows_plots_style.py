"""reluscope.plots.style: what pictures of one look are drawn with."""

from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import reluscope as rs
from conformance.bad_input.calls import row

_FIGURE = Figure(layout="constrained")
_AXES = _FIGURE.add_subplot()
_HANDLES = [Line2D([], [], label="a")]
assert isinstance(rs.plots.style.SIGNED, Colormap)

ROWS = {
    "plots.style.bare": row(_AXES, "top"),
    "plots.style.canvas": row(axes=_AXES, size=(3.0, 3.0), kinds={"size": "ends"}),
    "plots.style.category": row(index=1, kinds={"index": "whole"}),
    "plots.style.dashes": row(index=1, kinds={"index": "whole"}),
    "plots.style.figure_of": row(axes=_AXES),
    "plots.style.legend": row(axes=_AXES, handles=_HANDLES, kinds={"handles": "each ours"}),
    "plots.style.legend_below": row(figure=_FIGURE, handles=_HANDLES, kinds={"handles": "each ours"}),
    "plots.style.number_logarithmically": row(axes=_AXES, ratio=10.0, kinds={"ratio": "ratio", "along": "option"}),
    "plots.style.say": row(axes=_AXES, text="nothing", kinds={"text": "text", "color": "color_name"}),
    "plots.style.scale_beside": row(
        axes=_AXES,
        norm=Normalize(0, 1),
        colors=rs.plots.style.SIGNED,
        label="value",
        kinds={"norm": "ours", "colors": "ours", "extend": "option"},
    ),
    "plots.style.shortened": row(name="encoder", most=4),
    "plots.style.tint": row(color="#0072B2", share=0.5, kinds={"color": "color_name"}),
}
