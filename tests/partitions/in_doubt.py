"""Partitions as an engine leaves them where it could not decide a sign."""

from dataclasses import replace


def in_doubt(part, **changes):
    """Return a partition with an undecided sign on the way to any of its cells, and with other changes."""
    geometry = replace(changes.pop("geometry", part.geometry), in_doubt=None)
    return replace(part, geometry=geometry, num_undecided=1, **changes)
