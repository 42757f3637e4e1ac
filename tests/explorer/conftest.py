"""What tests of the explorer share: a browser, and a served explorer of the embedded network."""

import pytest

from explorer.browsing import CHROMIUM, FLAGS, PICTURES, WEBGL


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS + WEBGL)
        yield chromium
        chromium.close()
