"""reluscope: a microscope for piecewise-linear neural networks.

A trained ReLU network cuts its input space into convex polyhedra and is one affine map on each. This package opens a
model (:func:`load`), finds those regions exactly (:func:`region`, :func:`partition`) and says what every number claims.

Names are imported when they are first used (PEP 562), so that ``import reluscope`` costs nothing.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from reluscope.moved_names import refuse
from reluscope.version import __version__ as __version__

if TYPE_CHECKING:
    from reluscope import datasets, errors, plots, studies, testing
    from reluscope.analyses import (
        bounds,
        classification,
        codespace,
        coefficients,
        compression,
        counting,
        local,
        planes,
        preimages,
        reachability,
        robustness,
        sensitivity,
        similarity,
        stability,
        surfaces,
        topology,
        tracking,
        tropical,
        verification,
    )
    from reluscope.analyses.bodies.inscribed_balls import inscribed_balls
    from reluscope.analyses.bodies.measured_regions import measure_regions
    from reluscope.analyses.bodies.volumes import region_volumes
    from reluscope.analyses.counting.counting_methods import count
    from reluscope.analyses.extremes.largest_value import maximize
    from reluscope.analyses.extremes.network_program import as_program
    from reluscope.analyses.extremes.steepest import lipschitz
    from reluscope.analyses.reachability.images import image
    from reluscope.analyses.reachability.reachable_sets import reach
    from reluscope.analyses.samples import regression
    from reluscope.analyses.tracking.tracker import Tracker
    from reluscope.analyses.verification.deciding import verify
    from reluscope.analyses.verification.violation_pieces import violations
    from reluscope.budget import Budget
    from reluscope.codes import CodeLayout, Codes, GateLayout
    from reluscope.explorer import explore
    from reluscope.findings import Claim, Finding, Findings
    from reluscope.geometry import Box, Plane, Polyhedron, Segment, Slice, Space, polyline
    from reluscope.geometry.numbers.norms import Norm
    from reluscope.networks.building.combined import compose, difference, stack
    from reluscope.networks.models.load import load
    from reluscope.networks.models.torch.parts import activations_at
    from reluscope.networks.network import Network
    from reluscope.networks.point_evaluation import Evaluation, PointStatus
    from reluscope.partitions import (
        Certificate,
        DecisionBoundary,
        LevelSet,
        Partition,
        StreamedPartition,
        certify,
        coarse_partition,
        confirm,
        decision_boundary,
        declare_region_quantity,
        forecast,
        level_set,
        partition,
        partitions,
        stream,
        window_within,
    )
    from reluscope.regions.neighbors import neighbors
    from reluscope.regions.region import Region
    from reluscope.regions.regions import region, regions
    from reluscope.tolerance import Tolerance


# Public name -> module that defines it; a module is its own home.
_HOMES = {
    "Box": "reluscope.geometry",
    "Budget": "reluscope.budget",
    "Certificate": "reluscope.partitions",
    "Claim": "reluscope.findings",
    "CodeLayout": "reluscope.codes",
    "Codes": "reluscope.codes",
    "DecisionBoundary": "reluscope.partitions",
    "Evaluation": "reluscope.networks.point_evaluation",
    "Finding": "reluscope.findings",
    "Findings": "reluscope.findings",
    "GateLayout": "reluscope.codes",
    "LevelSet": "reluscope.partitions",
    "Network": "reluscope.networks.network",
    "Norm": "reluscope.geometry.numbers.norms",
    "Partition": "reluscope.partitions",
    "Plane": "reluscope.geometry",
    "PointStatus": "reluscope.networks.point_evaluation",
    "Polyhedron": "reluscope.geometry",
    "Region": "reluscope.regions.region",
    "Segment": "reluscope.geometry",
    "Slice": "reluscope.geometry",
    "Space": "reluscope.geometry",
    "StreamedPartition": "reluscope.partitions",
    "Tolerance": "reluscope.tolerance",
    "Tracker": "reluscope.analyses.tracking.tracker",
    "activations_at": "reluscope.networks.models.torch.parts",
    "as_program": "reluscope.analyses.extremes.network_program",
    "bounds": "reluscope.analyses.bounds",
    "classification": "reluscope.analyses.classification",
    "certify": "reluscope.partitions",
    "coarse_partition": "reluscope.partitions",
    "confirm": "reluscope.partitions",
    "codespace": "reluscope.analyses.codespace",
    "coefficients": "reluscope.analyses.coefficients",
    "compose": "reluscope.networks.building.combined",
    "compression": "reluscope.analyses.compression",
    "count": "reluscope.analyses.counting.counting_methods",
    "counting": "reluscope.analyses.counting",
    "datasets": "reluscope.datasets",
    "decision_boundary": "reluscope.partitions",
    "declare_region_quantity": "reluscope.partitions",
    "difference": "reluscope.networks.building.combined",
    "errors": "reluscope.errors",
    "explore": "reluscope.explorer",
    "forecast": "reluscope.partitions",
    "image": "reluscope.analyses.reachability.images",
    "inscribed_balls": "reluscope.analyses.bodies.inscribed_balls",
    "level_set": "reluscope.partitions",
    "lipschitz": "reluscope.analyses.extremes.steepest",
    "load": "reluscope.networks.models.load",
    "local": "reluscope.analyses.local",
    "maximize": "reluscope.analyses.extremes.largest_value",
    "measure_regions": "reluscope.analyses.bodies.measured_regions",
    "neighbors": "reluscope.regions.neighbors",
    "partition": "reluscope.partitions",
    "partitions": "reluscope.partitions",
    "planes": "reluscope.analyses.planes",
    "plots": "reluscope.plots",
    "polyline": "reluscope.geometry",
    "preimages": "reluscope.analyses.preimages",
    "reach": "reluscope.analyses.reachability.reachable_sets",
    "reachability": "reluscope.analyses.reachability",
    "region": "reluscope.regions.regions",
    "region_volumes": "reluscope.analyses.bodies.volumes",
    "regions": "reluscope.regions.regions",
    "regression": "reluscope.analyses.samples.regression",
    "robustness": "reluscope.analyses.robustness",
    "sensitivity": "reluscope.analyses.sensitivity",
    "similarity": "reluscope.analyses.similarity",
    "stability": "reluscope.analyses.stability",
    "stack": "reluscope.networks.building.combined",
    "stream": "reluscope.partitions",
    "studies": "reluscope.studies",
    "surfaces": "reluscope.analyses.surfaces",
    "testing": "reluscope.testing",
    "topology": "reluscope.analyses.topology",
    "tracking": "reluscope.analyses.tracking",
    "tropical": "reluscope.analyses.tropical",
    "verification": "reluscope.analyses.verification",
    "verify": "reluscope.analyses.verification.deciding",
    "violations": "reluscope.analyses.verification.violation_pieces",
    "window_within": "reluscope.partitions",
}

__all__ = [
    "Box",
    "Budget",
    "Certificate",
    "Claim",
    "CodeLayout",
    "Codes",
    "DecisionBoundary",
    "Evaluation",
    "Finding",
    "Findings",
    "GateLayout",
    "LevelSet",
    "Network",
    "Norm",
    "Partition",
    "Plane",
    "PointStatus",
    "Polyhedron",
    "Region",
    "Segment",
    "Slice",
    "Space",
    "StreamedPartition",
    "Tolerance",
    "Tracker",
    "activations_at",
    "as_program",
    "bounds",
    "certify",
    "classification",
    "coarse_partition",
    "codespace",
    "coefficients",
    "compose",
    "compression",
    "confirm",
    "count",
    "counting",
    "datasets",
    "decision_boundary",
    "declare_region_quantity",
    "difference",
    "errors",
    "explore",
    "forecast",
    "image",
    "inscribed_balls",
    "level_set",
    "lipschitz",
    "load",
    "local",
    "maximize",
    "measure_regions",
    "neighbors",
    "partition",
    "partitions",
    "planes",
    "plots",
    "polyline",
    "preimages",
    "reach",
    "reachability",
    "region",
    "region_volumes",
    "regions",
    "regression",
    "robustness",
    "sensitivity",
    "similarity",
    "stability",
    "stack",
    "stream",
    "studies",
    "surfaces",
    "testing",
    "topology",
    "tracking",
    "tropical",
    "verification",
    "verify",
    "violations",
    "window_within",
]

# Public modules: these names stand for the module itself.
_MODULES = frozenset(
    {
        "bounds",
        "classification",
        "codespace",
        "coefficients",
        "compression",
        "counting",
        "datasets",
        "errors",
        "local",
        "planes",
        "plots",
        "preimages",
        "reachability",
        "regression",
        "robustness",
        "sensitivity",
        "similarity",
        "stability",
        "studies",
        "surfaces",
        "testing",
        "topology",
        "tracking",
        "tropical",
        "verification",
    }
)


class _LazyPackage(ModuleType):
    """The package itself; keeps the function ``regions`` visible beside the sub-package of the same name."""

    def __setattr__(self, name: str, value: Any) -> None:
        # The import system binds every imported sub-package as an attribute of its parent, which would replace a
        # public function by the module it lives in.
        if name in _HOMES and name not in _MODULES and isinstance(value, ModuleType):
            return
        super().__setattr__(name, _with_public_names(value) if name in _MODULES else value)


sys.modules[__name__].__class__ = _LazyPackage


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise refuse(__name__, name, __all__)
    module = import_module(home)
    value = _with_public_names(module) if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def _with_public_names(module: ModuleType) -> ModuleType:
    """Let a namespace list what it offers, and not the modules that this comes from."""
    vars(module).setdefault("__dir__", lambda: list(module.__all__))
    return module


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
