"""The explorer when something is missing, lost, slow or wrong, without a mouse, from a file, and many at once."""

import re
from html import escape
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from explorer.browsing import PICTURES, Asked, look, settled, stage_box, watched
from reluscope.datasets.demo import loaded_demo_network
from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.exchange.bundled import program
from reluscope.explorer.scene.session import Session
from reluscope.explorer.serving.desk import Desk
from reluscope.explorer.serving.server import Server
from reluscope.explorer.serving.snapshot import kept_answers, page_of, still_element, still_text


@pytest.fixture(scope="module")
def kept(demo_session):
    return kept_answers(Desk(demo_session))


@pytest.fixture(scope="module")
def snapshot(kept, tmp_path_factory):
    path = tmp_path_factory.mktemp("snapshot") / "plane.html"
    path.write_text(page_of(kept), encoding="utf-8")
    return path


def test_a_snapshot_is_opened_from_disk(browser, snapshot, kept):
    with watched(browser, scheme="dark") as (page, complaints):
        requests = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(snapshot.as_uri())
        page.get_by_text("regions in the snapshot").wait_for()
        assert f"{kept[1].header['num_regions']['value']:,}" in page.locator(".counts").inner_text()
        box = stage_box(page)
        page.mouse.move(box["x"] + 300, box["y"] + 300)
        hover = page.locator(".hover")
        hover.wait_for()
        assert re.search(r"Class \d.*area .*[\d.]+", hover.inner_text(), re.DOTALL)
        page.mouse.wheel(0, -600)
        page.mouse.click(box["x"] + 310, box["y"] + 290)
        settled(page)
        assert "sides" in page.get_by_role("tabpanel").first.inner_text()
        page.get_by_text("Steepness").click()
        settled(page)
        page.screenshot(path=PICTURES / "snapshot-dark.png")
        assert page.locator(".trouble:visible").count() == 0
        assert [one for one in requests if not one.startswith(("file:", "blob:", "data:"))] == []
        assert complaints == []


@pytest.mark.slow
def test_a_snapshot_in_a_frame_of_its_own(browser, snapshot, tmp_path):
    """As a notebook without anywidget shows it: the frame may run scripts, and has no origin."""
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<!doctype html><iframe sandbox="allow-scripts" srcdoc="{escape(snapshot.read_text())}" '
        'style="width: 900px; height: 600px"></iframe>',
        encoding="utf-8",
    )
    with watched(browser) as (page, complaints):
        page.goto(frame.as_uri())
        inside = page.frame_locator("iframe")
        inside.get_by_text("regions in the snapshot").wait_for()
        assert inside.locator(".surface").bounding_box()["width"] > 300
        settled(page)
        assert complaints == []


@pytest.mark.slow
def test_ten_on_one_page(browser, kept, tmp_path):
    """Those that come into sight are drawn, whoever had a context before."""
    text = still_text(kept)
    many = tmp_path / "many.html"
    frames = "".join(f'<div style="height: 600px">{still_element(text)}</div>' for _ in range(10))
    many.write_text(f'<!doctype html><body>{frames}<script type="module">{program()}</script>', encoding="utf-8")
    with watched(browser) as (page, complaints):
        page.goto(many.as_uri())
        page.get_by_text("regions in the snapshot").nth(9).wait_for(timeout=60_000)
        for place in (9, 0, 5):
            surface = page.locator(".surface").nth(place)
            surface.scroll_into_view_if_needed()
            page.wait_for_timeout(1_500)
            shown = surface.screenshot()
            assert len(shown) > 20_000, "a picture, and no empty ground"
        assert page.locator(".trouble:visible").count() == 0
        assert [one for one in complaints if "Too many active WebGL contexts" in one or "rror" in one] == []


def test_a_lost_context_comes_back(browser, served):
    with watched(browser) as (page, _):
        look(page, served.url)
        settled(page)
        before = page.locator(".surface").screenshot()
        page.evaluate("""() => {
            const canvas = document.querySelector('[data-reluscope]').shadowRoot.querySelector('canvas');
            window.losing = canvas.getContext('webgl2').getExtension('WEBGL_lose_context');
            window.losing.loseContext();
        }""")
        page.wait_for_timeout(300)
        page.screenshot(path=PICTURES / "lost.png")
        page.evaluate("window.losing.restoreContext()")
        page.wait_for_timeout(1_000)
        settled(page)
        after = page.locator(".surface").screenshot()
        assert abs(len(after) - len(before)) < 0.1 * len(before)
        assert page.locator(".trouble:visible").count() == 0


def test_without_webgl_it_says_so(browser, served):
    with watched(browser) as (page, _):
        page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
        page.goto(served.url)
        page.get_by_text("WebGL").first.wait_for()
        page.screenshot(path=PICTURES / "without-webgl.png")


def test_without_the_key_it_says_what_to_do(browser, served):
    with watched(browser) as (page, _):
        page.goto(served.url.partition("#")[0])
        page.get_by_role("alert").first.wait_for()
        assert "address that the command printed" in page.get_by_role("alert").first.inner_text()


def test_a_server_that_has_gone_is_missed(browser, demo_session):
    server = Server(Desk(demo_session))
    server.start()
    with watched(browser) as (page, _):
        look(page, server.url)
        settled(page)
        server.close()
        page.locator(".surface").focus()
        page.keyboard.press("+")
        page.locator(".trouble:visible").wait_for()
        assert "run the command again" in page.locator(".trouble").inner_text()
        page.screenshot(path=PICTURES / "gone.png")
        assert page.get_by_text("regions in view").first.is_visible(), "the old picture stays"


class Slow(Desk):
    """Takes its time for planes deeper than the first one, until it is told to stop."""

    def __init__(self, session):
        super().__init__(session)
        self.planes = 0

    def _compute(self, question, number):
        if question.get("ask") == "partition":
            self.planes += 1
            if self.planes > 1:
                return self._dawdle(question, number)
        return super()._compute(question, number)

    def _dawdle(self, question, number):
        import time

        from reluscope.explorer.serving import desk

        running = self._running[number] = desk._Running()
        running.note(0.3, 1_234)
        began = time.monotonic()
        while not running.ended.is_set() and time.monotonic() - began < 8:
            time.sleep(0.01)
        self.planes = 0
        return super()._compute(question, number)


def test_a_slow_plane_is_told_of_and_ended_by_moving_on(browser):
    server = Server(Slow(Session.of(loaded_demo_network())))
    server.start()
    with watched(browser) as (page, _):
        asked = Asked(page)
        look(page, server.url)
        settled(page)
        page.locator(".surface").focus()
        page.keyboard.press("+")
        page.locator(".busy:visible").wait_for()
        page.get_by_text("1,234 regions").wait_for()
        page.screenshot(path=PICTURES / "slow.png")
        assert asked.of("progress")
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(600)
        settled(page)
        assert asked.of("cancel")
        assert page.locator(".busy:visible").count() == 0
    server.close()


def test_everything_is_done_by_keys(browser, served, demo_session):
    with watched(browser) as (page, complaints):
        asked = Asked(page)
        look(page, served.url)
        settled(page)
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.shadowRoot?.activeElement?.className") == "surface":
                break
        else:
            raise AssertionError("Tab never reaches the plane")
        page.keyboard.press("Enter")
        settled(page)
        first = asked.of("region")[-1]["row"]
        page.keyboard.press("n")
        page.keyboard.press("Enter")
        settled(page)
        second = asked.of("region")[-1]["row"]
        view = demo_session.views[max(demo_session.views)]
        assert second != first
        facets = view.part.facets
        assert {first, second} in [set(pair) for pair in zip(facets.left.tolist(), facets.right.tolist(), strict=True)]
        center = view.center
        page.keyboard.press("ArrowRight")
        page.keyboard.press("+")
        settled(page)
        moved = asked.of("partition")[-1]["window"]
        assert moved["center"][0] > center[0]
        assert moved["reach"][1] < view.reach[1]
        page.keyboard.press("0")
        settled(page)
        assert "zoom=" not in page.evaluate("location.hash")
        page.keyboard.press("Control+z")
        settled(page)
        assert "zoom=" in page.evaluate("location.hash")
        page.screenshot(path=PICTURES / "keys.png")
        assert complaints == []


def test_code_space_is_walked_by_keys(browser, served):
    """From dot to dot by arrows; Enter makes the sample C, and the plane goes through it."""
    with watched(browser) as (page, complaints):
        look(page, served.url, "tab=codes")
        dots = page.locator(".codes .dot")
        dots.nth(300).wait_for()
        focused = "document.activeElement.shadowRoot.activeElement.getAttribute('aria-label')"
        assert page.locator(".codes .dot[tabindex='0']").count() == 1
        dots.first.focus()
        seen = [page.evaluate(focused)]
        for key in ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight", "PageDown"):
            page.keyboard.press(key)
            seen.append(page.evaluate(focused))
        assert len(set(seen)) > 3
        assert page.locator(".codes .dot[tabindex='0']").count() == 1
        page.keyboard.press("Enter")
        settled(page)
        row = re.match(r"sample (\d+):", seen[-1]).group(1)
        assert page.evaluate("location.hash").split("a=")[1].split("&")[0].split(",")[2] == f"s{row}"
        ringed = page.locator(".codes .dot.inside").evaluate_all(
            "all => all.map(one => one.getAttribute('aria-label'))"
        )
        assert any(one.startswith(f"sample {row}:") for one in ringed)
        page.screenshot(path=PICTURES / "codes-by-keys.png")
        assert complaints == []


def test_a_view_is_certified_on_request(browser, served):
    with watched(browser) as (page, complaints):
        asked = Asked(page)
        look(page, served.url)
        settled(page)
        assert page.get_by_role("button", name="Certify this view").count() == 0  # of thousands of regions
        page.get_by_role("button", name="Zoom in a hundred times").click()
        settled(page)
        page.get_by_role("button", name="Certify this view").click()
        page.get_by_text("Certified in exact arithmetic").first.wait_for(timeout=60_000)
        settled(page)
        assert asked.of("partition")[-1]["certify"] is True
        page.screenshot(path=PICTURES / "certified.png")
        assert complaints == []


def test_what_is_seen_is_saved(browser, served, demo_session, tmp_path):
    """Picture, drawing, table and code as a reader gets them: each is whole, and the code makes the picture again."""
    with watched(browser, permissions=["clipboard-read", "clipboard-write"]) as (page, complaints):
        look(page, served.url)
        settled(page)
        view = demo_session.views[max(demo_session.views)]
        kept = {}
        for name in ("Picture (PNG)", "Drawing (SVG)", "Regions (Parquet)", "Python code"):
            page.locator("summary").first.click()
            with page.expect_download() as waiting:
                page.get_by_role("menuitem", name=name).click()
            kept[name] = tmp_path / waiting.value.suggested_filename
            waiting.value.save_as(kept[name])
        box = stage_box(page)
        with Image.open(kept["Picture (PNG)"]) as picture:
            assert picture.size[0] >= round(box["width"])
        assert ElementTree.parse(kept["Drawing (SVG)"]).getroot().tag.endswith("svg")
        assert len(pq.read_table(kept["Regions (Parquet)"])) == len(view.part)
        page.get_by_role("button", name="Open the region in the middle").click()
        page.get_by_role("button", name="Copy as Python").click()
        page.get_by_text("Copied").first.wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        for code in (kept["Python code"].read_text(encoding="utf-8"), copied):
            names = {"net": demo_session.network, "x": demo_session.points, "labels": demo_session.labels}
            exec(code, names)
            assert np.array_equal(names["part"].codes.words, view.part.codes.words)
        assert names["whole"].code is not None
        assert complaints == []


def test_two_fingers_zoom_and_one_moves(browser, served, demo_session):
    """Touches as a screen sends them: the point between the fingers stays under them."""
    with watched(browser, has_touch=True) as (page, complaints):
        asked = Asked(page)
        look(page, served.url)
        settled(page)
        before = demo_session.views[max(demo_session.views)]
        box = stage_box(page)
        x, y = box["x"] + 0.3 * box["width"], box["y"] + 0.4 * box["height"]
        touch = page.context.new_cdp_session(page)

        def send(kind, *points):
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [
                {"x": px, "y": py, "id": finger} for finger, (px, py) in enumerate(points)
            ]})  # fmt: skip

        send("touchStart", (x - 30, y))
        send("touchStart", (x - 30, y), (x + 30, y))
        for apart in range(35, 121, 5):
            send("touchMove", (x - apart, y), (x + apart, y))
        send("touchEnd")
        settled(page)
        window = asked.of("partition")[-1]["window"]
        assert 3.5 < before.reach[1] / window["reach"][1] < 4.5
        share = np.array([-0.4, 0.2])  # of the reach: where the fingers are
        held = before.center + share * before.reach - (np.array(window["center"]) + share * np.array(window["reach"]))
        assert np.abs(held).max() < 0.05 * before.reach[1]
        send("touchStart", (x, y))
        for step in range(1, 9):
            send("touchMove", (x + 10 * step, y))
        page.wait_for_timeout(200)  # a finger that rests throws nothing
        send("touchEnd")
        settled(page)
        moved = asked.of("partition")[-1]["window"]
        pixels = (window["center"][0] - moved["center"][0]) / (2 * window["reach"][0]) * box["width"]
        assert 60 < pixels < 90
        assert not asked.of("region")
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        send("touchEnd")
        settled(page)
        assert len(asked.of("region")) == 1
        assert complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [700, 2560])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_screens_of_all_sizes(browser, served, width, scheme):
    with watched(browser, width=width, height=round(0.65 * width), scheme=scheme) as (page, _):
        look(page, served.url)
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert stage_box(page)["width"] > 0.5 * width
        page.screenshot(path=PICTURES / f"{scheme}-{width}.png")


def test_names_from_outside_are_text(browser, tmp_path):
    hostile = '<img src=x onerror="document.title=`evil`"><script>document.title="evil"</script>'
    session = Session.of(loaded_demo_network(), class_names=[hostile] * 10, name=hostile)
    answers = kept_answers(Desk(session))
    answers[1] = Answer({**answers[1].header, "note": hostile}, answers[1].arrays)
    path = tmp_path / "hostile.html"
    path.write_text(page_of(answers), encoding="utf-8")
    with watched(browser) as (page, complaints):
        page.goto(path.as_uri())
        page.get_by_text("regions in the snapshot").wait_for()
        settled(page)
        assert page.get_by_text("<img src=x").first.is_visible()
        assert page.locator("img[src=x]").count() == 0
        assert "evil" not in page.title().replace(hostile, "")
        assert complaints == []
