"""Partitions that go to a file while they are made."""
