"""A browser for the tests of the explorer, with WebGL in software, and pages whose complaints are kept."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# Another one may be named; an empty name stands for none.
CHROMIUM = os.environ.get("CHROMIUM", CHROMIUM) or None
FLAGS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"]
FLAGS += ["--disable-component-update"]
WEBGL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
# Milliseconds for a page: a machine that does much else has let one wait for half a minute.
PATIENCE = 180_000
# Where pictures are kept to be looked at; git ignores it.
PICTURES = Path(__file__).parents[2] / "out" / "explorer"


open_requests = {}


@contextmanager
def watched(browser, *, width=1280, height=820, scheme="light", **options):
    """Yield a page, and the list of what goes wrong in it: messages, failures, requests beyond this machine."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
    page = context.new_page()
    complaints = []
    open_requests[page] = under_way = set()
    page.on("request", lambda request: under_way.add(request))
    for event in ("requestfinished", "requestfailed"):
        page.on(event, lambda request: under_way.discard(request))
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
    page.on("request", lambda request: complaints.append(request.url) if is_outside(request.url) else None)
    try:
        yield page, complaints
    finally:
        context.close()
        del open_requests[page]


def is_outside(url):
    return not url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:", "ws://127.0.0.1:"))


SHOWN = "regions in view"


def look(page, url, state=""):
    """Open an explorer, with a state in its address, and wait for its plane."""
    page.goto("about:blank")
    page.goto(url + (f"&{state}" if state else ""))
    page.get_by_text(SHOWN).first.wait_for(timeout=20_000)


def settled(page):
    """Wait until nothing has been asked for a while: then the picture stands."""
    quiet = 0
    for _ in range(400):
        page.wait_for_timeout(50)
        quiet = 0 if open_requests[page] else quiet + 1
        if quiet == 7:
            return
    raise AssertionError("it goes on asking")


class Asked:
    """The questions that a page asks, and its answers as they come in.

    Parameters
    ----------
    page : playwright page
    """

    def __init__(self, page):
        self.questions, self._page = [], page
        page.on("request", self._take)

    def _take(self, request):
        if request.url.endswith("/ask"):
            self.questions.append(request.post_data_json)

    def of(self, name):
        return [one for one in self.questions if one["ask"] == name]


def stage_box(page):
    return page.locator(".surface").first.bounding_box()


def screen_of(box, window, place):
    """Where a place of the plane stands on the screen, when a window fills a box of it."""
    (cx, cy), (rx, ry) = window["center"], window["reach"]
    x = box["x"] + box["width"] * (0.5 + 0.5 * (place[0] - cx) / rx)
    y = box["y"] + box["height"] * (0.5 - 0.5 * (place[1] - cy) / ry)
    return x, y


def pixels(page):
    """The screen as an array, (height, width, 3)."""
    import io

    import numpy as np
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)
