"""A page that draws planes alone, with the explorer's own modules, so that tests can look at every pixel."""

import json
from contextlib import contextmanager
from pathlib import Path

import reluscope.explorer
from explorer.browsing import watched
from reluscope.explorer.exchange.wire import pack
from reluscope.plots.style import CATEGORIES, DARK, LIGHT, NEUTRAL

WEB = Path(reluscope.explorer.__file__).parent / "web"
SCRIPT = Path(__file__).parent / "web" / "drawing_page.js"
ADDRESS = "http://127.0.0.1:9/"
PALETTES = {"categories": CATEGORIES, "neutral": NEUTRAL, "dark": DARK, "light": LIGHT}
PAGE = """<!doctype html><meta charset="utf-8"><title>drawing</title><link rel="icon" href="data:,">
<style>body {{ margin: 0 }} .stage {{ position: relative; width: {width}px; height: {height}px }}
canvas {{ display: block; width: 100%; height: 100% }}</style>
<div class="stage"><canvas tabindex="0"></canvas></div>
<script type="application/json" id="palettes">{palettes}</script>
<script type="module" src="drawing_page.js"></script>"""


@contextmanager
def drawn(browser, answers, *, width=600, height=400, **options):
    """Yield a page with `window.drawing`, and the list of what goes wrong in it; answers are planes by their names."""
    html = PAGE.format(width=width, height=height, palettes=json.dumps(PALETTES))
    served = {"": ("text/html", html.encode()), SCRIPT.name: ("text/javascript", SCRIPT.read_bytes())}
    served |= {path.name: ("text/javascript", path.read_bytes()) for path in WEB.glob("*.js")}
    served |= {name: ("application/octet-stream", pack(answer)) for name, answer in answers.items()}

    def serve(route):
        kind, body = served[route.request.url.removeprefix(ADDRESS)]
        route.fulfill(body=body, content_type=kind)

    with watched(browser, width=width, height=height, **options) as (page, complaints):
        page.route(ADDRESS + "**", serve)
        page.goto(ADDRESS)
        page.wait_for_function("window.drawing", timeout=20_000)
        yield page, complaints
