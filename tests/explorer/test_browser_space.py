"""Space in a browser: what is pointed at is what lies there, a click brings the plane and the card, links keep it."""

import numpy as np
import pytest

import reluscope as rs
from explorer.asking import network
from explorer.browsing import PICTURES, Asked, look, pixels, settled, watched
from reluscope.explorer.scene.session import Session
from reluscope.explorer.serving.desk import Desk
from reluscope.explorer.serving.server import Server
from reluscope.explorer.serving.snapshot import kept_answers, page_of
from reluscope.networks.evaluation.maps_of_codes import pieces_of


@pytest.fixture(scope="module")
def space_session():
    points = np.random.default_rng(1).uniform(-1, 1, (60, 3))
    made = network((3, 10, 10, 3), seed=2)
    return Session.of(made, points, labels=rs.classification.predicted_classes(made, points), name="three inputs")


@pytest.fixture(scope="module")
def room(space_session):
    server = Server(Desk(space_session))
    server.start()
    yield server
    server.close()


def opened(page, server, state=""):
    """Open the explorer of space, and wait until both pictures stand."""
    look(page, server.url, state)
    page.locator(".room .counts strong").wait_for(timeout=30_000)
    settled(page)


def middle_of(page):
    box = page.locator(".room .surface").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_solid_is_shown_beside_the_plane(browser, room, space_session):
    with watched(browser, width=1500, height=900) as (page, complaints):
        opened(page, room)
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURES / "space.png")
        part = rs.partition(space_session.network, rs.Box(*box_of(space_session)))
        assert f"{len(part):,} regions" in page.locator(".room .counts").inner_text()
        assert page.title() == "three inputs: reluscope"
        assert complaints == []


def box_of(session):
    low, high = session.low_and_high
    border = 0.25 * (high - low).max()
    return low - border, high + border


def test_a_click_brings_the_plane_and_the_card(browser, room, space_session):
    with watched(browser, width=1500, height=900) as (page, complaints):
        asked = Asked(page)
        opened(page, room, "space=-0.9_0.5_1_cells_0_0_0_0")
        x, y = middle_of(page)
        page.mouse.move(x + 20, y - 30)
        hover = page.locator(".room .hover")
        hover.wait_for()
        told = hover.inner_text()
        page.screenshot(path=PICTURES / "space-hover.png")
        page.mouse.click(x + 20, y - 30)
        settled(page)
        page.screenshot(path=PICTURES / "space-click.png")
        question = asked.of("partition")[-1]
        assert [anchor["kind"] for anchor in question["anchors"]] == ["point"] * 3
        view = space_session.views[max(space_session.views)]
        row = asked.of("region")[-1]["row"]
        # The card is of the region that was pointed at: its class at the point, and its units.
        inputs = view.part[row].witness @ view.frame.basis + view.frame.origin + view.center @ view.frame.basis
        on = sum(int((gate > 0).sum()) for gate in pieces_of(space_session.network.codes(inputs[None])))
        assert f"{on} of 20 units on" in told
        # And what was chosen is in the address.
        assert "a=p" in page.url
        assert "on=" in page.url
        assert complaints == []


def test_the_handle_drags_the_plane_through_the_solid(browser, room):
    with watched(browser, width=1500, height=900) as (page, complaints):
        asked = Asked(page)
        opened(page, room)
        knob = page.locator(".room .knob").bounding_box()
        x, y = knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y - 60, steps=6)
        page.mouse.up()
        settled(page)
        heights = [question["anchors"][0]["at"][2] for question in asked.of("partition")]
        assert heights[-1] > heights[0] + 0.1
        # The handle stays under the pointer.
        moved = page.locator(".room .knob").bounding_box()
        assert abs(moved["y"] + moved["height"] / 2 - (y - 60)) < 12
        page.screenshot(path=PICTURES / "space-dragged.png")
        page.keyboard.press("Control+z")
        settled(page)
        assert asked.of("partition")[-1]["anchors"][0]["at"][2] == pytest.approx(heights[0])
        page.locator(".room").get_by_role("button", name="x", exact=True).click()
        settled(page)
        assert len({round(anchor["at"][0], 9) for anchor in asked.of("partition")[-1]["anchors"]}) == 1
        assert complaints == []


def test_what_is_shown_is_in_the_address_and_comes_back(browser, room, space_session):
    with watched(browser, width=1500, height=900) as (page, complaints):
        asked = Asked(page)
        opened(page, room)
        x, y = middle_of(page)
        page.mouse.move(x, y + 60)
        page.mouse.down()
        page.mouse.move(x + 90, y + 30, steps=5)
        page.mouse.up()
        page.get_by_label("what space shows").select_option("level")
        page.get_by_label("level", exact=True).fill("0.1")
        page.keyboard.press("Tab")
        settled(page)
        assert asked.of("space")[-1] == {**asked.of("space")[-1], "of": "level", "output": 0, "level": 0.1}
        found = rs.level_set(space_session.network, rs.Box(*box_of(space_session)), level=0.1)
        assert f"{len(found):,} polygons" in page.locator(".room .counts").inner_text()
        page.mouse.move(5, 5)
        before, url = pixels(page), page.url
        page.screenshot(path=PICTURES / "space-level.png")
        page.goto("about:blank")
        page.goto(url)
        page.locator(".room .counts strong").wait_for(timeout=30_000)
        settled(page)
        assert page.get_by_label("what space shows").input_value() == "level"
        page.mouse.move(5, 5)
        box = page.locator(".room .surface").bounding_box()
        rows, columns = (slice(int(box[a]), int(box[a] + box[b])) for a, b in (("y", "height"), ("x", "width")))
        differ = np.abs(pixels(page) - before).max(axis=2)[rows, columns] > 30
        assert differ.mean() < 0.005
        assert complaints == []


def test_pixels_of_the_solid_have_the_class_that_is_seen_there(browser, room, space_session):
    """The ray of every pixel by hand: where it enters the box, the network says which class is there."""
    with watched(browser, width=1500, height=900) as (page, _):
        opened(page, room, "space=-0.9_0.5_1_cells_0_0_0_0&edges=none")
        box, screen = page.locator(".room .surface").bounding_box(), pixels(page)
        low, high = box_of(space_session)
        center, scale = (low + high) / 2, (high - low).max() / 2
        reach = (high - low) / 2 / scale
        draw = np.random.default_rng(0)
        shares = draw.uniform(0.1, 0.9, (4000, 2))
        near, far, eye, rays = entering(shares, box["width"] / box["height"], reach)
        inside = near < far - 0.05
        places = center + scale * (eye + near[inside, None] * rays[inside])
        outputs = np.sort(space_session.network(places).numpy(), axis=1)
        classes = space_session.network(places).numpy().argmax(axis=1)
        at = np.array([box["x"], box["y"]]) + shares[inside] * np.array([box["width"], box["height"]])
        found = screen[at[:, 1].astype(int), at[:, 0].astype(int)].astype(float)
        areas = room.desk.answer({"ask": "hello"}).header["palettes"]["areas"]
        palette = np.array([[int(text[k : k + 2], 16) for k in (1, 3, 5)] for text in areas[:3]], dtype=float)
        # Light dims all three colours alike: what is left is their direction.
        hues = found / np.linalg.norm(found, axis=1)[:, None] @ (palette / np.linalg.norm(palette, axis=1)[:, None]).T
        clear = (outputs[:, -1] - outputs[:, -2] > 0.05) & (at[:, 1] < box["y"] + box["height"] - 110)
        clear &= np.linalg.norm(at - at_knob(page), axis=1) > 30
        wrong = hues.argmax(axis=1)[clear] != classes[clear]
        assert clear.sum() > 600
        assert len(np.unique(classes[clear])) > 1
        assert wrong.mean() < 0.01, wrong.mean()


def at_knob(page):
    knob = page.locator(".room .knob").bounding_box()
    return np.array([knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2])


def entering(shares, aspect, reach):
    """Where rays of the camera enter and leave a box: azimuth -0.9, elevation 0.5, 7 away, 1.9 to each side."""
    azimuth, elevation = -0.9, 0.5
    toward = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    up = np.cross(toward, right)
    x, y = 2 * shares[:, 0] - 1, 1 - 2 * shares[:, 1]
    focal = 7 / 1.9
    rays = (x * max(1, aspect) / focal)[:, None] * right + (y / min(1, aspect) / focal)[:, None] * up - toward
    eye = 7 * toward
    walls = np.stack([(side * reach - eye) / rays for side in (-1, 1)])
    return walls.min(axis=0).max(axis=1), walls.max(axis=0).min(axis=1), eye, rays


def test_a_snapshot_holds_the_solid(browser, room, tmp_path):
    path = tmp_path / "solid.html"
    path.write_text(page_of(kept_answers(room.desk)), encoding="utf-8")
    with watched(browser, width=1300, height=850, scheme="dark") as (page, complaints):
        page.goto(path.as_uri())
        page.get_by_text("regions in the box").first.wait_for(timeout=30_000)
        settled(page)
        x, y = middle_of(page)
        page.mouse.move(x + 30, y + 20)
        page.locator(".room .hover").wait_for()
        page.get_by_label("what space shows").select_option("decision")
        page.get_by_text("of the decision boundary").first.wait_for()
        assert page.get_by_label("what space shows").locator("option").count() == 2
        page.screenshot(path=PICTURES / "space-snapshot.png")
        assert complaints == []


def test_a_lost_context_of_space_comes_back(browser, room):
    with watched(browser, width=1500, height=900) as (page, _):
        opened(page, room, "space=-0.9_0.5_1_cells_0.3_0_0_0")
        before = page.locator(".room .surface").screenshot()
        page.evaluate("""() => {
            const root = document.querySelector("main").shadowRoot;
            const gl = root.querySelector(".room canvas").getContext("webgl2");
            const taken = gl.getExtension("WEBGL_lose_context");
            taken.loseContext();
            setTimeout(() => taken.restoreContext(), 300);
        }""")
        page.wait_for_timeout(1_500)
        assert page.locator(".room .surface").screenshot() == before
