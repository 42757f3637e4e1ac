"""A lesson in a browser: it is played, looked back at, taught other things, moved by hand, reached by keys alone."""

import numpy as np
import pytest

from explorer.browsing import PICTURES, Asked, look, screen_of, settled, stage_box, watched
from reluscope.explorer.scene.looked_lesson import lesson_session
from reluscope.explorer.serving.desk import Desk
from reluscope.explorer.serving.server import Server


@pytest.fixture
def lesson():
    """A served lesson, and its session."""
    session = lesson_session(None, "moons", {"hidden": 2, "width": 8, "rate": 0.01})
    server = Server(Desk(session))
    server.start()
    yield server, session
    server.close()


def step_of(page):
    return int(page.locator(".transport b").inner_text().partition(" of ")[0].replace(",", ""))


def play_for(page, milliseconds):
    page.get_by_role("button", name="▶ Play").click()
    page.wait_for_timeout(milliseconds)
    page.get_by_role("button", name="❚❚ Pause").click()
    settled(page)


def test_it_learns_while_it_is_looked_at(browser, lesson):
    server, session = lesson
    training = session.course.training
    with watched(browser) as (page, complaints):
        asked = Asked(page)
        look(page, server.url)
        settled(page)
        page.get_by_label("steps a frame").select_option("5")
        play_for(page, 3000)
        reached = step_of(page)
        assert reached == training.step >= 25
        # Each picture is of a step, and the last one of the newest.
        frames = len(asked.of("learn"))
        assert frames == reached / 5
        assert frames <= len(asked.of("partition")) <= frames + 3
        newest = session.views[max(session.views)]
        assert newest.network.fingerprint == session.network.fingerprint == training.network_at().fingerprint
        page.screenshot(path=PICTURES / "lesson.png")
        page.get_by_role("button", name="Step", exact=True).click()
        settled(page)
        assert step_of(page) == training.step == reached + 1
        # Back by keys: the picture is that of the step, and the training goes on from the newest.
        slider = page.get_by_role("slider", name="step", exact=True)
        slider.press("Home")
        settled(page)
        assert page.locator(".transport b").inner_text() == f"0 of {reached + 1:,}"
        assert asked.of("partition")[-1]["epoch"] == 0
        assert session.views[max(session.views)].network.fingerprint == training.network_at(0).fingerprint
        assert "epoch=0" in page.url
        page.get_by_role("button", name="Go on from here").click()
        settled(page)
        assert step_of(page) == reached + 2
        assert session.network.fingerprint == training.network_at(0).fingerprint
        assert page.locator(".lesson figure").count() == 2
        assert complaints == []


def test_settings_begin_anew_and_keep_the_place_of_the_reader(browser, lesson):
    server, session = lesson
    with watched(browser, scheme="dark") as (page, complaints):
        look(page, server.url)
        settled(page)
        width = page.get_by_label("Units in each")
        width.focus()
        width.press("ArrowDown")
        settled(page)
        assert session.network.num_units == 32
        focused = "document.querySelector('[data-reluscope]').shadowRoot.activeElement.name"
        assert page.evaluate(focused) == "width"
        assert page.get_by_role("tab", name="Learn").get_attribute("aria-selected") == "true"
        page.get_by_label("Data").select_option("circles")
        page.get_by_label("Batch norm").check()
        settled(page)
        assert session.data.name == "circles"
        assert session.course.training.lesson.batch_norm
        begun = session.course.number
        page.get_by_label("Rate").select_option("0.03")
        settled(page)
        assert (session.course.number, session.course.training.lesson.rate) == (begun, 0.03)
        play_for(page, 1500)
        page.screenshot(path=PICTURES / "lesson-dark.png")
        # Another page begins another lesson: this one is told, and shows it if it is asked to.
        session.course.begin(session.course.training.lesson, "xor")
        session.begin(session.course.training.network_at(), session.course.training.data, "another")
        page.get_by_role("button", name="Step", exact=True).click()
        page.get_by_text("Another page has begun a new lesson here").wait_for()
        page.get_by_role("button", name="Show it").click()
        settled(page)
        assert "xor" in page.locator("h1").inner_text()
        assert complaints == []


def test_a_unit_is_chosen_by_its_line_and_moved(browser, lesson):
    server, session = lesson
    training = session.course.training
    training.learn(40)
    session.show(training.network_at())
    with watched(browser) as (page, complaints):
        look(page, server.url)
        settled(page)
        view = session.views[max(session.views)]
        facets = view.part.facets
        middles = view.part.vertices[facets.vertices].mean(axis=1)
        place = int(np.abs(middles / view.reach - [0.3, 0.3]).sum(axis=1).argmin())
        gate, unit = (int(one) for one in facets.flips[facets.flip_offsets[place]])
        window = {"center": [0, 0], "reach": view.reach.tolist()}
        page.mouse.click(*screen_of(stage_box(page), window, middles[place]))
        settled(page)
        knobs = page.locator(".unit")
        assert knobs.get_by_label("unit", exact=True).input_value() == str(unit)
        assert knobs.get_by_label("layer of the unit").input_value() == str(gate)
        assert page.get_by_role("radio", name="One unit").is_checked()
        was = training.unit(gate, unit)
        before = session.network.fingerprint
        bias = knobs.get_by_role("slider", name="bias")
        bias.press("ArrowRight")
        bias.press("ArrowRight")
        settled(page)
        now = training.unit(gate, unit)
        assert now.bias > was.bias
        assert training.step == 41
        assert session.network.fingerprint != before
        assert session.views[max(session.views)].network.fingerprint == session.network.fingerprint
        focused = "document.querySelector('[data-reluscope]').shadowRoot.activeElement.getAttribute('aria-label')"
        assert page.evaluate(focused) == "bias"
        page.screenshot(path=PICTURES / "lesson-unit.png")
        page.get_by_role("button", name="Step", exact=True).click()
        settled(page)
        assert step_of(page) == 42
        assert complaints == []


def test_a_rate_that_is_too_high_is_told(browser):
    session = lesson_session(None, "spirals", {"hidden": 3, "width": 32, "optimiser": "sgd", "rate": 10.0})
    server = Server(Desk(session))
    server.start()
    with watched(browser) as (page, complaints):
        look(page, server.url)
        settled(page)
        page.get_by_label("steps a frame").select_option("100")
        page.get_by_role("button", name="▶ Play").click()
        page.get_by_text("choose a lower rate, and go on from an earlier step").wait_for(timeout=60_000)
        settled(page)
        assert page.get_by_role("button", name="▶ Play").is_visible()
        assert complaints == []
    server.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_small_window_the_plane_and_what_moves_it_stand_together(browser, lesson, scheme):
    server, _ = lesson
    with watched(browser, width=640, height=480, scheme=scheme) as (page, complaints):
        look(page, server.url)
        settled(page)
        play_for(page, 1000)
        page.locator(".transport").scroll_into_view_if_needed()
        page.screenshot(path=PICTURES / f"lesson-small-{scheme}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") == 640
        stage, transport = stage_box(page), page.locator(".transport").bounding_box()
        assert 0 <= transport["y"] - stage["y"] - stage["height"] < 10
        # The button is within the panel's width, and each control has a name.
        names = page.locator(".transport, .lesson").locator("button, input, select")
        for place in range(names.count()):
            one = names.nth(place)
            said = one.evaluate(
                "one => one.getAttribute('aria-label') || one.closest('label')?.textContent || one.textContent"
            )
            assert said.strip()
        assert complaints == []
