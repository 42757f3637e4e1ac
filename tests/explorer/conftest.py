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


@pytest.fixture(scope="session")
def demo_session():
    """The embedded network with its digits."""
    from reluscope.datasets.demo import loaded_demo_network
    from reluscope.datasets.digits import digits
    from reluscope.explorer.session import Session

    data = digits("test")
    return Session.of(loaded_demo_network(data.points), data, name="demo network")


@pytest.fixture(scope="session")
def served(demo_session):
    """The server of that explorer."""
    from reluscope.explorer.desk import Desk
    from reluscope.explorer.server import Server

    server = Server(Desk(demo_session))
    server.start()
    yield server
    server.close()
