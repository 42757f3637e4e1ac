"""What tests of several folders need, once in a process or run: the report of the demo, a browser, and Ctrl-C."""

import os
import signal

import pytest

import reluscope as rs
from explorer.browsing import CHROMIUM, FLAGS, PATIENCE, PICTURES, WEBGL
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.report import Settings, Subject, build_report
from reluscope.report.keeping import KeptSections

# Tests of limits of time have the grace that users have.
OF_LIMITS = {
    "test_time_limits.py",
    "test_limits_of_functions.py",
    "test_long_calls.py",
    "test_stopping.py",
    "test_budgets.py",
}


@pytest.fixture(autouse=True)
def grace(request, monkeypatch):
    """Let steps take two seconds more than their limit: a quarter is over at once on a machine that does much else."""
    if request.path.name not in OF_LIMITS:
        monkeypatch.setattr("reluscope.time_limits.LEAST_GRACE", 2.0)


@pytest.fixture(scope="session")
def demo_report(tmp_path_factory):
    data = digits("test")
    network = rs.load(demo_network(), data=data.points)
    subject = Subject(network, data, "demo network", Settings(num_segments=4))
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of all workers of this run: what one of them has made the others read
    return build_report(subject, kept=KeptSections(folder / "demo-report", subject, resume=True))


@pytest.fixture(scope="session")
def browser():
    """One Chromium: a process can have one playwright at a time."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS + WEBGL)
        new_context = chromium.new_context

        def patient(**options):
            context = new_context(**options)
            context.set_default_timeout(PATIENCE)
            return context

        chromium.new_context = patient
        yield chromium
        chromium.close()


@pytest.fixture
def hears_ctrl_c():
    """Let this process and those it starts hear Ctrl-C, also where tests run in the background, which ignores it.

    Signals that are ignored stay so in children; those that Python handles have their default action in them.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
