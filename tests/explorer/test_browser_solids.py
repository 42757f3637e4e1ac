"""A network of more than three inputs in space: the slice through four samples, and the plane that moves through it."""

import numpy as np
import pytest

import reluscope as rs
from explorer.asking import session
from explorer.browsing import PICTURES, Asked, look, settled, watched
from reluscope.explorer.serving.desk import Desk
from reluscope.explorer.serving.server import Server


@pytest.fixture(scope="module")
def solid_session():
    return session((5, 9, 9, 3), seed=6)


@pytest.fixture(scope="module")
def solid(solid_session):
    server = Server(Desk(solid_session))
    server.start()
    yield server
    server.close()


def slice_of(asked, rows):
    """The slice through four samples, by Gram and Schmidt, and its box, with a quarter of the longest side around."""
    points = asked.points[rows]
    basis = []
    for one in points[1:] - points[0]:
        left = one - sum((one @ other) * other for other in basis)
        basis.append(left / np.linalg.norm(left))
    basis = np.array(basis)
    places = (points - points[0]) @ basis.T
    low, high = places.min(axis=0), places.max(axis=0)
    border = 0.25 * (high - low).max()
    return rs.Slice(points[0], basis, rs.Box(low - border, high + border))


def test_a_fourth_point_opens_space_and_the_plane_moves_through_it(browser, solid, solid_session):
    with watched(browser) as (page, complaints):
        asked = Asked(page)
        look(page, solid.url)
        settled(page)
        assert page.locator(".room").count() == 0
        page.get_by_role("button", name="+ D: space").click()
        page.get_by_text("in the box").first.wait_for(timeout=20_000)
        settled(page)
        through = asked.of("space")[-1]["solid"]
        where = slice_of(solid_session, [anchor["row"] for anchor in through])
        counted = len(rs.partition(solid_session.network, where))
        assert page.locator(".room .counts strong").inner_text() == f"{counted:,} regions"
        assert page.locator(".corners .letter:visible").count() == 4
        assert "Each cell (region) of the solid" in page.locator(".what p").inner_text()
        page.screenshot(path=PICTURES / "solid.png")
        page.get_by_role("slider", name="move the plane").focus()
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        settled(page)
        moved = asked.of("partition")[-1]
        heights = {round(anchor["at"][2], 5) for anchor in moved["anchors"]}
        assert [anchor["kind"] for anchor in moved["anchors"]] == 3 * ["inside"]
        assert len(heights) == 1
        assert heights.pop() > 0.01
        view = solid_session.views[max(solid_session.views)]
        height = moved["anchors"][0]["at"][2]
        assert np.allclose((view.frame.origin - where.origin) @ where.basis.T @ [0, 0, 1], height, atol=1e-6)
        # A click in the solid opens the card of the region that is seen there.
        box = page.locator(".room .surface").bounding_box()
        page.mouse.click(box["x"] + 0.4 * box["width"], box["y"] + 0.6 * box["height"])
        settled(page)
        page.get_by_text("Copy as Python").first.wait_for()
        kept = page.evaluate("location.hash")
        assert "solid=" in kept
        questions = len(asked.questions)
        look(page, solid.url, kept.split("&", 1)[1])
        settled(page)
        assert {**asked.of("partition")[-1], "seq": 0} in [{**one, "seq": 0} for one in asked.questions[:questions]]
        page.get_by_role("button", name="leave space").click()
        settled(page)
        assert page.locator(".room").count() == 0
        assert "solid" not in asked.of("partition")[-1]
        assert asked.of("partition")[-1]["anchors"] == through[:3]
        assert "solid" not in page.locator(".what p").inner_text()
        page.get_by_label("undo").click()
        page.get_by_text("in the box").first.wait_for(timeout=20_000)
        settled(page)
        assert asked.of("partition")[-1]["solid"] == through
        assert complaints == []


def test_a_solid_that_is_flat_is_said_to_be(browser, solid):
    with watched(browser) as (page, _):
        page.goto(f"{solid.url}&a=s0,s1,s2&solid=s0,s1,s2,s2")
        page.get_by_text("lie in a plane").first.wait_for(timeout=20_000)
        page.get_by_role("button", name="Show the first plane").click()
        page.get_by_text("regions in view").first.wait_for(timeout=20_000)
        settled(page)
        assert page.locator(".room").count() == 0
