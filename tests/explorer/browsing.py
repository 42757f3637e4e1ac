"""A browser for the tests of the explorer, with WebGL in software, and pages whose complaints are kept."""

import shutil
from contextlib import contextmanager
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"]
FLAGS += ["--disable-component-update"]
WEBGL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
# Where pictures are kept to be looked at; git ignores it.
PICTURES = Path(__file__).parents[2] / "out" / "explorer"


@contextmanager
def watched(browser, *, width=1280, height=820, scheme="light", **options):
    """Yield a page, and the list of what goes wrong in it: messages, failures, requests beyond this machine."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
    page.on("request", lambda request: complaints.append(request.url) if is_outside(request.url) else None)
    try:
        yield page, complaints
    finally:
        context.close()


def is_outside(url):
    return not url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:", "ws://127.0.0.1:"))
