"""The report of the demo, which takes seconds, once for all tests of a process."""

import pytest

import reluscope as rs
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.report import Settings, Subject, build_report


@pytest.fixture(scope="session")
def demo_report():
    data = digits("test")
    network = rs.load(demo_network(), data=data.points)
    return build_report(Subject(network, data, "demo network", Settings(num_segments=4)))
