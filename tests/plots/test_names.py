"""Names of any kind in pictures: they are drawn as they are, and are neither formulas nor markup."""

from xml.etree import ElementTree

import numpy as np
import pytest

from reluscope import plots
from reluscope.findings import Claim, Finding
from reluscope.networks.builder import GraphBuilder
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


@pytest.mark.parametrize("name", NAMES)
def test_findings_in_notebooks(name):
    text = Finding(1, Claim.EXACT, name, definition=name, domain=name, method=name)._repr_html_()
    assert "<script" not in text
    assert "<img" not in text


def test_gates_of_any_name_in_pictures():
    import reluscope as rs

    builder = GraphBuilder()
    x = builder.input((2,))
    hidden = builder.relu(builder.linear(x, np.array([[1.0, 2.0], [3.0, -1.0]]), np.zeros(2)), name="".join(NAMES))
    net = builder.build(builder.linear(hidden, np.ones((1, 2)), np.zeros(1)))
    part = rs.partition(net, rs.Box(-1, 1, 2))
    text = plots.to_svg(plots.boundaries(part, by="gate"))
    assert ElementTree.fromstring(text) is not None
    assert "<script" not in text
    assert "<script" not in part._repr_html_()
    assert "<script" not in net._repr_html_()
