"""Papers' own objects keep the rules of the library: what they refuse, and what they say of networks that jump."""

from pathlib import Path

import pytest

from bad_input import table
from conformance.bad_input.running import reports_of
from conformance.test_jumping import refuse_jumps
from conformance.test_left_off import refuse_or_carry

TESTS = Path(__file__).parent
# What follows from values at points, for which a jump is no obstacle.
HOLDS = frozenset()
# Refuse a network whose file ends with a sigmoid; about the outputs of the file.
REFUSES, CARRIES = {"boolean.wrong_inputs"}, frozenset()


def test_bad_input_is_refused_with_one_sentence():
    reports = reports_of("bad_input.table", table.NAMESPACES, TESTS)
    assert not [line for report in reports.values() for line in report["failed"]]
    assert all(report["tried"] for report in reports.values())


@pytest.mark.parametrize("namespace", table.NAMESPACES)
def test_networks_that_jump_are_refused(namespace):
    refuse_jumps(namespace, table, HOLDS)


@pytest.mark.parametrize("namespace", table.NAMESPACES)
def test_networks_that_end_with_a_sigmoid(namespace):
    refuse_or_carry(namespace, table, REFUSES, CARRIES)
