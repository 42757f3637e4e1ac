"""Space in a browser: what is pointed at is what lies there, a click brings the plane and the card, links keep it."""

import numpy as np
import pytest

import reluscope as rs
from explorer.asking import network
from explorer.browsing import PICTURES, Asked, look, settled, watched
from reluscope.explorer.desk import Desk
from reluscope.explorer.server import Server
from reluscope.explorer.session import Session
from reluscope.networks.maps_of_codes import pieces_of


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
