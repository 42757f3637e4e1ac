"""What an engine keeps of the regions it has found, and how that goes into a file and comes back."""

from dataclasses import fields
from typing import Any

import numpy as np

from reluscope.geometry.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.assembly import Mosaic
from reluscope.partitions.listed_regions import ListedRegions
from reluscope.partitions.solid_regions import SolidRegions
from reluscope.tolerance import Tolerance

# All have `words`, `witnesses`, `is_bounded`, `sides`, `num_unmatched`, `vertices`, `region_vertices` and `volumes`;
# what an engine cannot give raises InputError when it is asked for.
RegionGeometry = Mosaic | SolidRegions | ListedRegions
_KINDS: dict[str, type[Mosaic | SolidRegions]] = {"mosaic": Mosaic, "solid": SolidRegions}


def geometry_arrays(geometry: RegionGeometry) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return a geometry as named arrays, and what must be known beside them."""
    if isinstance(geometry, ListedRegions):
        return {"words": geometry.words, "witnesses": geometry.witnesses}, {"geometry": "listed"}
    kind = "mosaic" if isinstance(geometry, Mosaic) else "solid"
    arrays = {name: getattr(geometry, name) for name in _array_names(_KINDS[kind])}
    return arrays, {"geometry": kind, "num_unmatched": geometry.num_unmatched}


def read_geometry(
    arrays: dict[str, np.ndarray],
    described: dict[str, Any],
    domain: Domain,
    tolerance: Tolerance,
    network: Network | None,
) -> RegionGeometry:
    """Return the geometry that `geometry_arrays` took apart."""
    kind = described["geometry"]
    if kind == "listed":
        return ListedRegions(
            words=arrays["words"], witnesses=arrays["witnesses"], domain=domain, tolerance=tolerance, network=network
        )
    one = _KINDS[kind]
    return one(**{name: arrays[name] for name in _array_names(one)}, num_unmatched=described["num_unmatched"])


def _array_names(kind: type[Mosaic | SolidRegions]) -> list[str]:
    return [column.name for column in fields(kind) if column.name != "num_unmatched"]
