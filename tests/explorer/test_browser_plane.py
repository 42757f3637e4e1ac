"""The plane in a browser: colours and picks are those of the network everywhere, however deep, and none is stale."""

import json

import numpy as np
import pytest

from explorer.browsing import PICTURES, Asked, look, pixels, screen_of, settled, stage_box, watched


def view_of(session, asked):
    """Return the picture that a page's last plane is."""
    version = session.views[max(session.views)]
    assert asked.of("partition")
    return version


def window_of(view):
    return {"center": view.center.tolist(), "reach": view.reach.tolist()}


def classes_at(session, view, places):
    """Return the network's class at places of the plane, by evaluating it there."""
    inputs = view.frame.origin + np.asarray(places) @ view.frame.basis
    outputs = np.sort(session.network(inputs.reshape(-1, *session.network.input_shape)).numpy(), axis=1)
    margin = outputs[:, -1] - outputs[:, -2]
    return session.network(inputs.reshape(-1, *session.network.input_shape)).numpy().argmax(axis=1), margin


def test_it_opens_and_needs_nothing_from_outside(browser, served):
    with watched(browser) as (page, complaints):
        look(page, served.url)
        settled(page)
        assert complaints == []
        assert page.get_by_text("EXACT").first.is_visible()
        page.screenshot(path=PICTURES / "light.png")


def test_pixels_have_the_colour_of_the_class_there(browser, served, demo_session):
    with watched(browser) as (page, _):
        asked = Asked(page)
        look(page, served.url, "edges=none")
        settled(page)
        view = view_of(demo_session, asked)
        box, window, screen = stage_box(page), window_of(view), pixels(page)
        draw = np.random.default_rng(3)
        places = view.center + draw.uniform(-0.95, 0.95, (4_000, 2)) * view.reach
        classes, margin = classes_at(demo_session, view, places)
        # Away from buttons, marks and the decision boundary.
        at = np.array([screen_of(box, window, place) for place in places])
        free = margin > 0.3
        for corner in (
            (box["x"], box["y"], 320, 60),
            (box["x"] + box["width"] - 90, box["y"] + box["height"] - 220, 90, 220),
        ):
            x, y, wide, high = corner
            free &= ~((at[:, 0] >= x) & (at[:, 0] <= x + wide) & (at[:, 1] >= y) & (at[:, 1] <= y + high))
        for mark in view.frame.places:
            free &= np.linalg.norm(at - screen_of(box, window, mark), axis=1) > 45
        found = screen[at[free, 1].astype(int), at[free, 0].astype(int)]
        expected = shades(served)[classes[free]]
        wrong = np.abs(found - expected).max(axis=1) > 3
        assert free.sum() > 2_000
        assert wrong.mean() < 0.005, (found[wrong][:5], expected[wrong][:5])


def shades(served):
    """Return the colours of the classes: of each that at its place in the palette."""
    areas = served.desk.answer({"ask": "hello"}).header["palettes"]["areas"]
    return np.array([[int(text[place : place + 2], 16) for place in (1, 3, 5)] for text in areas])


@pytest.mark.parametrize("zoom", [1.0, pytest.param(1e6, marks=pytest.mark.slow), 1e12])
def test_picks_are_the_regions_that_lie_there(browser, served, demo_session, zoom):
    """Places are clicked; the page says which region it means, and the table of regions says which it is."""
    with watched(browser) as (page, complaints):
        asked = Asked(page)
        look(page, served.url)
        settled(page)
        home = view_of(demo_session, asked)
        if zoom > 1:
            middle = crossing(home)
            look(page, served.url, f"at={middle[0]!r},{middle[1]!r}&zoom={float(home.reach[1] / zoom)!r}")
            settled(page)
        view = view_of(demo_session, asked)
        assert view.reach[1] == pytest.approx(home.reach[1] / zoom, rel=0.3, abs=0)
        assert len(view.part) >= (1_000 if zoom == 1 else 2)
        box = stage_box(page)
        draw = np.random.default_rng(5)
        for share in draw.uniform([0.05, 0.15], [0.85, 0.95], (12, 2)):
            before = len(asked.of("region"))
            page.mouse.click(box["x"] + share[0] * box["width"], box["y"] + share[1] * box["height"])
            settled(page)
            if len(asked.of("region")) == before:
                continue  # the same region as before
            question = asked.of("region")[-1]
            place = np.array([question["point"]]) * view.scale
            row = int(view.part.locate(place)[0])
            assert question["row"] == row or is_on_a_line(view, place[0], box)
            expected = (2 * share - 1) * view.reach * [1, -1]
            assert np.abs(place[0] - expected).max() < 3 * view.reach[0] / box["width"]
        assert len(asked.of("region")) > 3
        assert complaints == []
        page.screenshot(path=PICTURES / f"zoom-{zoom:.0e}.png")


def crossing(view):
    """Return a place of the plane at which lines cross, far from the window's border."""
    corners = view.part.vertices
    inner = corners[np.abs(corners / view.reach).max(axis=1) < 0.5]
    return (view.center + inner[len(inner) // 2]).tolist()


def is_on_a_line(view, place, box):
    """Tell whether a place is within a thousandth of a pixel of a line, where rounding of float32 may decide."""
    ends = view.part.vertices[view.part.facets.vertices]
    along = ends[:, 1] - ends[:, 0]
    lengths = np.linalg.norm(along, axis=1)
    away = np.abs(along[:, 0] * (place - ends[:, 0])[:, 1] - along[:, 1] * (place - ends[:, 0])[:, 0]) / lengths
    return away.min() < 2e-3 * view.reach[0] / box["width"]


def test_old_answers_are_dropped(browser, served, demo_session):
    """The first plane of three is held back: what is shown in the end is the last one that was looked for."""
    with watched(browser) as (page, _):
        asked = Asked(page)
        look(page, served.url)
        settled(page)
        held = []

        def hold(route):
            question = route.request.post_data_json
            if question["ask"] == "partition" and not held:
                held.append(route)
                page.wait_for_timeout(0)
                return
            route.continue_()

        page.route("**/ask", hold)
        box = stage_box(page)
        page.mouse.move(box["x"] + 300, box["y"] + 300)
        for _ in range(3):
            page.mouse.wheel(0, -240)
            page.wait_for_timeout(400)
        assert len(held) == 1
        assert asked.of("cancel"), "the one on its way is asked to end"
        held[0].continue_()
        settled(page)
        last = asked.of("partition")[-1]["window"]
        assert view_of(demo_session, asked).center.tolist() == pytest.approx(last["center"])
        shown = page.get_by_text("regions in view").first.inner_text()
        assert f"{len(view_of(demo_session, asked).part):,}" in shown
        assert len(asked.of("partition")) <= 5


def test_the_address_brings_everything_back(browser, served):
    with watched(browser) as (page, _):
        look(page, served.url)
        settled(page)
        box = stage_box(page)
        page.mouse.move(box["x"] + 400, box["y"] + 200)
        page.mouse.wheel(0, -500)
        settled(page)
        page.mouse.click(box["x"] + 200, box["y"] + 300)
        page.get_by_text("Area", exact=True).first.click()
        settled(page)
        address = page.evaluate("location.href")
        card = page.get_by_role("tabpanel").first.inner_text()
        count = page.get_by_text("regions in view").first.inner_text()
        for part in ("by=area", "at=", "zoom=", "on=", "token="):
            assert part in address
    with watched(browser) as (page, complaints):
        page.goto(address)
        page.get_by_text("regions in view").first.wait_for()
        settled(page)
        assert page.evaluate("location.href") == address
        assert page.get_by_role("tabpanel").first.inner_text() == card
        assert page.get_by_text("regions in view").first.inner_text() == count
        assert complaints == []


@pytest.mark.parametrize(
    "state",
    [
        "a=s0,s0,s1",
        *(
            pytest.param(state, marks=pytest.mark.slow)
            for state in ("%%%", "a=s0,s1,s999999", "at=1e99,0&zoom=1", "zoom=-1&at=x", "by=evil&on=1")
        ),
    ],
)
def test_an_address_that_makes_no_sense_is_said_to_be(browser, served, state):
    with watched(browser) as (page, complaints):
        page.goto(f"{served.url}&{state}")
        page.locator(".trouble:visible, .counts:visible").first.wait_for()
        settled(page)
        troubles = page.locator(".trouble:visible")
        if state.startswith(("a=", "at=1e99")):
            text = troubles.inner_text()
            assert "undefined" not in text
            assert len(text.splitlines()[0]) > 40
            page.get_by_role("button", name="first plane").or_(
                page.get_by_role("button", name="Try again")
            ).first.wait_for()
        else:
            assert troubles.count() == 0
        assert [one for one in complaints if "400" not in one] == []


@pytest.mark.slow
def test_two_pages_ask_one_server(browser, served):
    with watched(browser) as (one, complaints), watched(browser) as (other, complaints_of_other):
        look(one, served.url)
        look(other, served.url, "a=s0,s5,s9")
        settled(one)
        settled(other)
        for page in (one, other, one):
            box = stage_box(page)
            page.mouse.click(box["x"] + 300, box["y"] + 300)
            page.get_by_text("Copy as Python").first.wait_for()
        assert complaints == complaints_of_other == []


@pytest.mark.slow
def test_numbers_of_the_card_are_those_of_the_server(browser, served, demo_session):
    with watched(browser) as (page, _):
        asked = Asked(page)
        look(page, served.url)
        settled(page)
        box = stage_box(page)
        page.mouse.click(box["x"] + 300, box["y"] + 250)
        page.get_by_text("Copy as Python").first.wait_for()
        question = asked.of("region")[-1]
        answer = served.desk.answer({**question, "seq": 0}).header
        card = page.get_by_role("tabpanel").first.inner_text()
        assert f"{answer['num_sides']}" in card
        assert json.dumps(answer["class"]) in card.splitlines()[0]


@pytest.mark.slow
def test_the_card_stays_when_one_looks_closer_beside_the_chosen_point(browser, served, demo_session):
    """The wheel zooms at the pointer, some pixels from where the region was opened; seen red from 330 times on."""
    with watched(browser) as (page, complaints):
        asked = Asked(page)
        look(page, served.url)
        settled(page)
        view, box = view_of(demo_session, asked), stage_box(page)
        corners = view.part.vertices[view.part.region_vertices[1]]
        sizes = np.diff(view.part.region_vertices[0])
        middles = np.add.reduceat(corners, view.part.region_vertices[0][:-1]) / sizes[:, None]
        place = view.center + middles[view.part.volumes().argmax()]
        x, y = screen_of(box, window_of(view), place)
        page.mouse.click(x, y)
        page.get_by_text("Copy as Python").first.wait_for()
        page.mouse.move(x + 3.5, y - 2.25)
        for _ in range(12):
            page.mouse.wheel(0, -400)
            settled(page)
            assert page.get_by_text("Copy as Python").first.is_visible(), page.url
        assert len(asked.of("partition")) > 8
        assert complaints == []


@pytest.mark.slow
def test_keys_lead_out_of_a_plain_picture_to_corners_boundaries_and_crowds(browser, served):
    """Zoomed into one region there is nothing to see but the way to the next corner."""
    with watched(browser) as (page, complaints):
        asked = Asked(page)
        look(page, served.url)
        settled(page)
        page.locator(".surface").focus()
        for _ in range(40):
            page.keyboard.press("+")
        settled(page)
        assert json.loads(page.evaluate(NUM_IN_VIEW)) == 1
        for key, least in (("x", 3), ("b", 2), ("d", 2)):
            page.keyboard.press(key)
            settled(page)
            assert json.loads(page.evaluate(NUM_IN_VIEW)) >= least, key
        page.get_by_role("button", name="next corner (X)").click()
        settled(page)
        page.screenshot(path=PICTURES / "next_corner.png")
        assert len(asked.of("partition")) >= 5
        assert not complaints


# The number of regions that the corner of the stage tells.
NUM_IN_VIEW = """() => {
  const [host] = document.querySelectorAll("[data-reluscope]");
  return host.shadowRoot.querySelector(".counts strong").textContent.replace(/[^0-9]/g, "");
}"""
