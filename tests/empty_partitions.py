"""Partitions without regions: Ctrl-C before the first step leaves them, and nothing else does."""

from unittest.mock import patch

import pytest

import reluscope as rs


def empty_partition(network, domain):
    """Return what is left of a partition that was interrupted at once."""
    with (
        patch("reluscope.partitions.driver.walk.safe_point", side_effect=KeyboardInterrupt),
        pytest.warns(UserWarning, match="interrupted"),
    ):
        part = rs.partition(network, domain)
    assert not len(part)
    return part
