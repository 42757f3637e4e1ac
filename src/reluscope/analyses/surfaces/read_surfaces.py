"""What surfaces have to be for a question."""

from reluscope.errors import InputError
from reluscope.partitions.levels.level_sets import LevelSet


def read_in_space(surface: LevelSet) -> None:
    """Refuse a level set in the plane with an InputError."""
    if surface.dim != 3:
        raise InputError(
            f"surface must be a level set in space, got one in the plane, of {surface.domain.describe()}: give a "
            "domain of three dimensions"
        )
