"""Names of any kind in pictures: they are drawn as they are, and are neither formulas nor markup."""

from xml.etree import ElementTree

import numpy as np
import pytest

from reluscope import plots
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding
from reluscope.networks.building.builder import GraphBuilder
from reluscope.plots.style import canvas, figure_of

NAMES = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "]]>&", "$\\frac{$", "$x$ and $", "a\\b\nc")


def picture(name):
    axes = canvas(None, (3, 2))
    axes.plot([1, 10, 100], [1, 10, 1000], label=name)
    axes.set_yscale("log")
    axes.set_xticks([1, 50], [name, "plain"])
    axes.set_title(name)
    axes.set_xlabel(name)
    axes.legend()
    return figure_of(axes)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", NAMES)
def test_names_are_drawn_as_they_are(name):
    text = plots.to_svg(picture(name), name=name)
    tree = ElementTree.fromstring(text)
    kinds = {element.tag.split("}")[1] for element in tree.iter()}
    assert not kinds & {"script", "img", "foreignObject"}
    assert not any(key.lower().startswith("on") for element in tree.iter() for key in element.attrib)
    shown = " ".join("".join(tree.itertext()).split())
    assert " ".join(name.split("\n")[0].split()) in shown
    assert "mathdefault" not in shown  # of the axis of powers
    assert plots.to_png(picture(name))[:4] == b"\x89PNG"


@pytest.mark.slow
def test_powers_of_insets_and_of_scales_beside_them():
    """Seen red where only the figure's own axes were looked at."""
    axes = canvas(None, (3, 2))
    inset = axes.inset_axes((0.1, 0.1, 0.5, 0.5))
    shades = inset.imshow([[1.0, 10.0], [100.0, 1000.0]], norm="log")
    beside = axes.inset_axes((0.7, 0.1, 0.1, 0.5))
    figure_of(axes).colorbar(shades, cax=beside)
    inset.set_title("$x$")
    for saved in range(2):  # it may be saved twice
        shown = "".join(ElementTree.fromstring(plots.to_svg(figure_of(axes), name=f"inset-{saved}")).itertext())
        assert "mathdefault" not in shown
        assert "$x$" in shown
    plots.to_png(figure_of(axes))
    assert all(label.get_parse_math() for label in beside.yaxis.get_ticklabels(which="both"))


@pytest.mark.parametrize("name", NAMES)
def test_findings_in_notebooks(name):
    text = Finding(1, Claim.EXACT, name, definition=name, domain=name, method=name)._repr_html_()
    assert "<script" not in text
    assert "<img" not in text


def test_gates_of_any_name_in_pictures():
    import reluscope as rs

    builder = GraphBuilder()
    x = builder.input((2,))
    hidden = builder.named("".join(NAMES)).relu(builder.linear(x, np.array([[1.0, 2.0], [3.0, -1.0]]), np.zeros(2)))
    net = builder.build(builder.linear(hidden, np.ones((1, 2)), np.zeros(1)))
    part = rs.partition(net, rs.Box(-1, 1, 2))
    text = plots.to_svg(plots.boundaries(part, by="gate"))
    assert ElementTree.fromstring(text) is not None
    assert "<script" not in text
    assert "<script" not in part._repr_html_()
    assert "<script" not in net._repr_html_()


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "name", ['id="a" href="#b" url(#c)', ' d="0.123456789"', "font: 'a'b", "#1b1f24", "\x00\x1b\ufffe"]
)
@pytest.mark.filterwarnings("ignore:Glyph")
def test_labels_that_look_like_attributes(name):
    tree = ElementTree.fromstring(plots.to_svg(picture(name), name="map", ink="red"))
    shown = "".join(tree.itertext())
    assert (name if name.isprintable() else "\ufffd" * 3) in shown


@pytest.mark.parametrize("ink", ['red" onload="alert(1)', "currentColor}</style><script>", "", "blurple", "<b>"])
def test_an_ink_that_is_no_colour(ink):
    with pytest.raises(InputError, match="ink must be currentColor or a colour of matplotlib"):
        plots.to_svg(picture("a"), ink=ink)


@pytest.mark.few(2)
@pytest.mark.parametrize(("ink", "written"), [("red", "#ff0000"), ("0.5", "#808080"), ("currentcolor", "currentColor")])
def test_an_ink_is_written_as_css_has_it(ink, written):
    text = plots.to_svg(picture("a"), ink=ink)
    assert f"fill: {written}" in text or f"stroke: {written}" in text


def test_names_in_interactive_pictures():
    pytest.importorskip("plotly", reason="the extra [plotly] is not installed")
    import reluscope as rs

    name = '<b>a</b><a href="//x">'
    part = rs.partition(rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))]), rs.Box(-1, 1, 2))
    by_class = plots.interactive(part, color="class", class_names=[name, name])
    by_value = plots.interactive(part, color=np.arange(4.0), label=name)
    for figure in (by_class, by_value):
        text = figure.to_json()
        assert "&lt;b&gt;a" in text
        assert "<b>" not in text.encode().decode("unicode_escape")
