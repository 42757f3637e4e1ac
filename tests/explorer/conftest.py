"""What tests of the explorer share: a served explorer of the embedded network."""

import pytest


@pytest.fixture(scope="session")
def demo_session():
    """The embedded network with its digits."""
    from reluscope.datasets.demo import loaded_demo_network
    from reluscope.datasets.digits import digits
    from reluscope.explorer.scene.session import Session

    data = digits("test")
    return Session.of(loaded_demo_network(data.points), data, name="demo network")


@pytest.fixture(scope="session")
def served(demo_session):
    """The server of that explorer."""
    from reluscope.explorer.serving.desk import Desk
    from reluscope.explorer.serving.server import Server

    server = Server(Desk(demo_session))
    server.start()
    yield server
    server.close()
