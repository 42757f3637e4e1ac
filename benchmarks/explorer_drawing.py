"""Drawing planes in a browser without a graphics card: from an answer to its picture, and pictures while a view moves.

Planes are made of numbers alone. Seconds are those on a clock, medians; beside them is processor time of all of the
browser's processes, which on a machine with other work says more.
"""

import json
import os
import shutil
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import reluscope.explorer
from benchmarks.measure import Measurement
from reluscope.plots.style import CATEGORIES, NEUTRAL

TARGET = (
    "an answer of 7,000 regions to its picture 0.12 s; a move over 100,000 regions 0.3 s a picture; 1,000,000 usable"
)

WEB = Path(reluscope.explorer.__file__).parent / "web"
SCRIPT = Path(__file__).with_suffix(".js")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
ADDRESS = "http://127.0.0.1:9/"
PAGE = """<!doctype html><meta charset="utf-8"><title>drawing</title>
<style>body { margin: 0 } .stage { position: relative; width: 1280px; height: 800px }
canvas { display: block; width: 100%; height: 100% }</style><div class="stage"><canvas></canvas></div>
<script type="application/json" id="palettes">PALETTES</script><script type="module" src="SCRIPT"></script>"""


def run(quick: bool) -> list[Measurement]:
    """Time planes of 7,000, 100,000 and 1,000,000 quadrilaterals on a canvas of 1280 by 800 pixels."""
    rows = []
    with _page() as page:
        page.evaluate("bench.prepare(100)")
        page.evaluate("bench.picture()")  # compiles the programs
        for wanted in (7_000, 100_000) if quick else (7_000, 100_000, 1_000_000):
            number = page.evaluate("wanted => bench.prepare(wanted)", wanted)
            repeats = 3 if wanted > 100_000 else 7
            for case, ask in (
                ("answer to picture", "bench.picture()"),
                ("all drawn again", "bench.whole()"),
            ):
                rows.append(_row(f"{case}, {number:,} regions", page, ask, repeats))
            page.evaluate("milliseconds => bench.rest(milliseconds)", 500 + wanted / 100)
            times: list[float] = []
            busy = _processor_time(lambda times=times: times.extend(page.evaluate("bench.moves(30)")))
            detail = f"processor {busy / 30:.3f} s a picture; slowest {max(times) / 1e3:.3f} s"
            rows.append(
                Measurement(f"a picture of a drag, {number:,} regions", statistics.median(times) / 1e3, detail=detail)
            )
            made, picked = page.evaluate("bench.picking()")
            detail = f"then {picked * 1e3:.1f} microseconds a point"
            rows.append(Measurement(f"grid for picking, {number:,} regions", made / 1e3, detail=detail))
    return rows


def _row(case: str, page: Any, ask: str, repeats: int) -> Measurement:
    times: list[float] = []
    busy = _processor_time(lambda: times.extend(page.evaluate(ask) for _ in range(repeats)))
    detail = f"processor {busy / repeats:.3f} s; fastest {min(times) / 1e3:.3f} s"
    return Measurement(case, statistics.median(times) / 1e3, detail=detail)


@contextmanager
def _page() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    palettes = json.dumps({"categories": CATEGORIES, "neutral": NEUTRAL})
    html = PAGE.replace("PALETTES", palettes).replace("SCRIPT", SCRIPT.name)
    served = {path.name: path.read_text(encoding="utf-8") for path in (*WEB.glob("*.js"), SCRIPT)}

    def serve(route: Any) -> None:
        name = route.request.url.removeprefix(ADDRESS)
        kind = "text/javascript" if name.endswith(".js") else "text/html"
        route.fulfill(body=served.get(name, html), content_type=kind)

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.route(ADDRESS + "**", serve)
        page.goto(ADDRESS)
        page.wait_for_function("window.bench")
        yield page
        browser.close()


def _processor_time(work: Callable[[], object]) -> float:
    """Return the seconds of processor time that all processes below this one take for something."""
    before = _ticks_below(os.getpid())
    work()
    return (_ticks_below(os.getpid()) - before) / os.sysconf("SC_CLK_TCK")


def _ticks_below(parent: int) -> int:
    ticks, parents = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        ticks[int(folder.name)] = int(fields[11]) + int(fields[12])
    below = {parent}
    while found := {process for process, above in parents.items() if above in below} - below:
        below |= found
    return sum(ticks[process] for process in below - {parent})
