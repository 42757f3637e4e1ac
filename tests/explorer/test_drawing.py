"""Pixels, picks and colours of the explorer in a real browser, against the library's own partitions and pictures."""

import base64
from io import BytesIO
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.colors import to_hex
from PIL import Image

from explorer.asking import ZOOMS, crossing, picture, session
from explorer.browsing import PICTURES
from explorer.drawing import drawn
from reluscope.explorer.exchange.answers import Answer
from reluscope.plots.drawing.coloring import LEVELS, coloring
from reluscope.plots.planes.class_regions import class_shades
from reluscope.plots.style import CATEGORIES, depth_colors, tint

NAMES = tuple(f"{zoom:g}" for zoom in ZOOMS)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def looked():
    """Pictures at three magnifications about a crossing, with points and the regions that the library finds there."""
    asked = session(samples=20)
    place = crossing(asked)
    answers, views = {}, {}
    for name, zoom in zip(NAMES, ZOOMS, strict=True):
        found, view = picture(asked, zoom, None if zoom == 1 else place)
        points = np.random.default_rng(3).uniform(-view.reach, view.reach, size=(1000, 2))
        rows = view.part.locate(points).astype(np.int32)
        answers[name] = Answer(found.header, {**found.arrays, "points": points / view.reach[1], "rows": rows})
        views[name] = view
    return SimpleNamespace(answers=answers, views=views)


@pytest.fixture(scope="module")
def page(browser, looked):
    with drawn(browser, looked.answers) as (opened, complaints):
        yield opened
        assert complaints == []


def test_colours_are_those_of_the_library(page):
    said = page.evaluate("""() => {
        const { CIVIDIS, gateColours, tint } = drawing.ramps;
        return { cividis: CIVIDIS, gates: [1, 2, 5, 6, 9, 40].map(gateColours), tint: tint("#0072B2", 0.62) };
    }""")
    assert said["cividis"] == [to_hex(colormaps["cividis"]((step + 0.5) / LEVELS)) for step in range(LEVELS)]
    assert said["gates"] == [depth_colors(number) for number in (1, 2, 5, 6, 9, 40)]
    assert said["tint"] == tint("#0072B2", 0.62)


@pytest.mark.parametrize("by", ["class", "rate", "area", "random"])
def test_pictures_of_the_library_and_the_explorer_agree(page, looked, by):
    answer, part = looked.answers["1"], looked.views["1"].part
    pieces, regions = answer.arrays["piece_class"], answer.arrays["piece_region"]
    if by == "class":
        shades = class_shades(np.bincount(pieces, minlength=pieces.max() + 1))
        expected = [shades[one] for one in pieces]
    elif by == "random":
        expected = [tint(CATEGORIES[kind], 0.6) for kind in coloring(part, "random").group[regions]]
    else:
        levels = coloring(part, {"rate": "activation_rate"}.get(by, by)).group[regions]
        expected = [to_hex(colormaps["cividis"]((level + 0.5) / LEVELS)) for level in levels]
    page.evaluate("by => drawing.open('1', by)", by)
    colours = np.reshape(page.evaluate("[...drawing.colours.piece]"), (-1, 4))
    found = np.array([to_hex(color[:3] / 255) for color in colours])
    # Areas come as float32, and few of them lie on a step of the scale.
    assert np.mean(found == np.array(expected)) >= (0.99 if by == "area" else 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_picks_are_what_locate_finds(page, name):
    page.evaluate("name => drawing.open(name, 'class')", name)
    found = page.evaluate("drawing.picks()")
    assert found["picked"] == found["rows"]
    assert found["isOwn"]
    assert len(set(found["rows"])) > 3
    assert min(found["rows"]) >= 0


@pytest.mark.parametrize("name", NAMES)
def test_pixels_inside_pieces_have_their_colours(page, name):
    page.evaluate("name => drawing.open(name, 'class')", name)
    page.evaluate("drawing.scene.style({ edges: 'thin', boundary: true, gateShown: null })")
    said = page.evaluate("drawing.pixelsInPieces(5)")
    page.screenshot(path=PICTURES / f"drawing-{name}.png")
    assert len(said["found"]) >= 4
    assert said["found"] == said["expected"]


def test_lines_and_boundary_are_where_they_are_said_to_be(page):
    page.evaluate("drawing.open('1', 'random')")

    def look(style, name="edge_ends"):
        return np.array(page.evaluate("([style, name]) => drawing.pixelsOnLines(style, name)", [style, name]), float)

    without = look({"edges": "none", "boundary": False, "gateShown": None})
    assert len(without) > 10
    assert (look({"edges": "thin"}).sum(axis=1) < without.sum(axis=1) - 15).all()
    assert (np.abs(look({"edges": "gates"}) - without).sum(axis=1) > 40).all()
    assert (look({"gateShown": 0}) == without).all()
    assert look({"edges": "none", "boundary": True, "gateShown": None}, "boundary_ends").max() < 60


def test_hidden_classes_leave_the_paper_to_be_seen(page):
    page.evaluate("drawing.open('1', 'class', { hidden: new Set([0, 1, 2, 3]) })")
    page.evaluate("drawing.scene.style({ edges: 'none', boundary: false, gateShown: null })")
    assert page.evaluate("drawing.pixelsAt([[0, 0], [0.5, 0.5], [-0.5, 0.3]]).flat().every(value => value === 0)")


def test_a_lost_surface_comes_back_with_the_same_picture(page):
    page.evaluate("drawing.open('1', 'class')")
    said = page.evaluate("drawing.loseAndRestore([[0, 0], [0.9, 0.9], [-0.9, -0.9], [0.4, -0.6]])")
    assert said["told"] == [True, False]
    assert said["before"] == said["after"]
    assert all(sum(pixel) > 255 for pixel in said["before"])


def test_saved_pictures_show_what_is_on_the_screen(page):
    page.evaluate("drawing.open('1', 'class')")
    said = page.evaluate("""async () => {
        const { scene, view } = drawing;
        scene.style({ edges: "thin", boundary: true, gateShown: null });
        scene.marks([{ x: view.center[0], y: view.center[1], label: "A & B", kind: "anchor" }]);
        scene.select({ region: 0 });
        drawing.pixelsAt([]);
        const png = await drawing.asAddress(await scene.toBlob({ paper: "#ffffff" }));
        const svg = scene.toSvg({ paper: "#ffffff", title: "a plane" });
        scene.marks([]);
        return { png, svg, ...await drawing.difference(png, `data:image/svg+xml,${encodeURIComponent(svg)}`) };
    }""")
    (PICTURES / "saved.svg").write_text(said["svg"], encoding="utf-8")
    (PICTURES / "saved.png").write_bytes(base64.b64decode(said["png"].split(",")[1]))
    saved = ElementTree.fromstring(said["svg"])
    assert saved.findtext(f"{SVG}title") == "a plane"
    assert [text.text for text in saved.iter(f"{SVG}text")] == ["A & B"]
    assert said["mean"] < 2
    assert said["far"] < 0.002


def test_scenes_come_and_go_without_complaint(page):
    page.evaluate("drawing.open('1', 'class')")
    page.evaluate("drawing.makeScenes(20, true)")
    assert page.evaluate("[document.querySelectorAll('canvas').length, drawing.gl.isContextLost()]") == [1, False]


@pytest.fixture(scope="module")
def many():
    """A plane of more regions than a row of a texture has, and more than are drawn at once where drawing is slow."""
    found, _ = picture(session((2, 56, 56, 56, 5), samples=10), 1.0)
    return found


def test_many_regions_have_their_own_colours_and_short_lines(browser, many):
    assert len(many.arrays["piece_region"]) > 2 * 2048
    with drawn(browser, {"many": many}, width=900, height=600) as (page, complaints):
        page.evaluate("drawing.open('many', 'area')")
        page.evaluate("drawing.scene.style({ edges: 'none', boundary: false })")
        said = page.evaluate("drawing.pixelsInPieces(1)")
        page.evaluate("drawing.scene.style({ edges: 'thin' })")
        lined, plain = page.evaluate("""() => {
            const mean = pixels => pixels.flat().reduce((sum, value) => sum + value, 0) / pixels.flat().length;
            const { found, expected } = drawing.pixelsInPieces(0);
            return [mean(found), mean(expected)];
        }""")
        assert complaints == []
    assert len(said["found"]) > 200
    assert said["found"] == said["expected"]
    # In regions of a few pixels lines darken what lies between.
    assert lined < plain - 2


def test_a_picture_in_slices_is_the_picture_at_once(browser, many):
    with drawn(browser, {"many": many}, width=900, height=600) as (page, complaints):
        page.evaluate("drawing.open('many', 'area')")
        page.evaluate("drawing.scene.draw(drawing.view)")
        page.evaluate("drawing.settle()")
        page.evaluate("drawing.scene.drawNow()")
        at_once = page.screenshot()
        page.evaluate("drawing.makeSlow()")
        # The first picture that seems slow is still drawn at once.
        page.evaluate("drawing.scene.style({ edges: 'gates' })")
        page.evaluate("drawing.settle()")
        page.evaluate("drawing.scene.style({ edges: 'thin' })")
        assert page.evaluate("drawing.settle(4)") >= 4
        in_slices = page.screenshot(path=PICTURES / "slices.png")
        assert complaints == []
    one, other = (np.asarray(Image.open(BytesIO(shot)).convert("RGB"), dtype=float) for shot in (at_once, in_slices))
    assert np.abs(one - other).mean() < 0.5


def test_nothing_is_drawn_while_nothing_changes(page):
    page.evaluate("drawing.open('1e-06', 'class')")
    said = page.evaluate("""async () => {
        const frame = () => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
        const frames = async number => {
            const before = drawing.numDraws;
            for (let k = 0; k < number; k++) await frame();
            return drawing.numDraws - before;
        };
        drawing.scene.draw(drawing.view);
        const first = await frames(30), idle = await frames(10);
        drawing.scene.select({ hover: 0 });
        const hovered = await frames(5);
        drawing.scene.draw(drawing.view);
        return [first, idle, hovered, await frames(5)];
    }""")
    assert said[0] > 0
    assert said[1:3] == [0, 0]
    assert said[3] > 0
