"""The explorer in JupyterLab and in marimo, opened in a real browser: it shows a plane, and answers when it is clicked.

Slow, and a job of its own in the workflows: it needs the dependency group ``notebooks``.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from explorer.browsing import CHROMIUM, PICTURES, watched

pytest.importorskip("anywidget")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")]

SOURCE = Path(__file__).parents[2] / "src"
CELL = (
    "import reluscope as rs\n"
    "from reluscope.datasets.demo import loaded_demo_network\n"
    'data = rs.datasets.digits("test")\n'
    "explorer = rs.explore(loaded_demo_network(data.points), data)\n"
    "explorer"
)
NOTEBOOK = {
    "cells": [
        {"cell_type": "code", "execution_count": None, "id": "one", "metadata": {}, "outputs": [], "source": CELL}
    ],
    "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
APP = f"""import marimo
app = marimo.App()

@app.cell
def _():
    {CELL.replace(chr(10), chr(10) + "    ")}
    return

if __name__ == "__main__":
    app.run()
"""
WAIT = 120_000  # milliseconds: imports, on a busy machine


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def running(folder, port, *command):
    """Run a program until the end of the block, once it answers."""
    paths = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")]))
    log = (folder / "log").open("w")
    program = subprocess.Popen(
        [sys.executable, "-m", *command], cwd=folder, stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": paths}
    )
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1).close()
                break
            except OSError:
                assert program.poll() is None, (folder / "log").read_text(encoding="utf-8")
                time.sleep(0.5)
        yield
    finally:
        program.terminate()
        program.wait(20)
        log.close()


def look_and_click(page, name):
    """Wait for the plane, click it, and wait for the card of a region."""
    try:
        page.get_by_text("regions in view").first.wait_for(timeout=WAIT)
        surface = page.locator(".surface").first
        surface.scroll_into_view_if_needed()
        box = surface.bounding_box()
        assert min(box["width"], box["height"]) > 200
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.get_by_text("Copy as Python").first.wait_for(timeout=WAIT)
    finally:
        page.screenshot(path=PICTURES / f"{name}.png")


def test_jupyterlab(browser, tmp_path):
    pytest.importorskip("jupyterlab")
    (tmp_path / "one.ipynb").write_text(json.dumps(NOTEBOOK), encoding="utf-8")
    port = free_port()
    options = [
        "--no-browser",
        f"--port={port}",
        "--IdentityProvider.token=",
        "--allow-root",
        "--ServerApp.port_retries=0",
    ]
    with running(tmp_path, port, "jupyterlab", *options), watched(browser) as (page, _):
        page.goto(f"http://127.0.0.1:{port}/lab/tree/one.ipynb?reset")
        page.locator(".jp-CodeCell").first.wait_for(timeout=WAIT)
        page.get_by_text("| Idle").first.wait_for(timeout=WAIT)
        page.locator(".jp-CodeCell .cm-content").first.click()
        page.keyboard.press("Shift+Enter")
        look_and_click(page, "jupyterlab")


def test_marimo(browser, tmp_path):
    pytest.importorskip("marimo")
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    port = free_port()
    options = ["--headless", f"--port={port}", "--no-token"]
    with running(tmp_path, port, "marimo", "run", "app.py", *options), watched(browser) as (page, _):
        page.goto(f"http://127.0.0.1:{port}/")
        look_and_click(page, "marimo")
