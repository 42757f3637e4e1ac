"""Linear regions at given points: code, half-spaces with their sources, affine map, interior point."""

from reluscope.regions.region import Region
from reluscope.regions.regions import region, regions

__all__ = ["Region", "region", "regions"]
