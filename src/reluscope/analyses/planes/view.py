"""The plane through three samples, with everything a picture of it needs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.classification import num_classes, predicted_classes
from reluscope.analyses.codespace.activation_rate import activation_rate
from reluscope.analyses.planes.class_areas import ClassAreas, class_areas
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Plane, Slice
from reluscope.networks.network import Network
from reluscope.partitions.decision import DecisionBoundary, decision_boundary
from reluscope.partitions.dispatch import partition
from reluscope.partitions.engine import Budget
from reluscope.partitions.table import Partition
from reluscope.tolerance import Tolerance


@dataclass(frozen=True, eq=False)
class PlaneView:
    """A partitioned plane, seen as a classifier's.

    Parameters
    ----------
    partition : Partition
    samples : (3, 2) float64
        The three points in coordinates of the plane.
    sample_classes : (3,) int64
        What the network says of them.
    boundary : DecisionBoundary
    areas : ClassAreas
    facet_gates : (f,) int64
        Gate that bends along each facet.
    activation_rate : (r,) float64 or None
        Share of active units of each region.
    """

    partition: Partition
    samples: Float[np.ndarray, "3 2"]
    sample_classes: Int[np.ndarray, " 3"]
    boundary: DecisionBoundary
    areas: ClassAreas
    facet_gates: Int[np.ndarray, " f"]
    activation_rate: Float[np.ndarray, " r"] | None

    @property
    def gate_names(self) -> tuple[str, ...]:
        """Names of the network's gates, in order of evaluation."""
        return tuple(gate.name for gate in self.partition.codes.layout)

    def findings(self) -> tuple[Finding, ...]:
        """Return the numbers of the picture: regions, facets, the length of the decision boundary.

        Returns
        -------
        tuple of Finding
            EXACT if the partition is; else LOWER.
        """
        regions = self.partition.finding()
        claim = Claim.EXACT if regions.claim is Claim.EXACT else Claim.LOWER
        common: dict[str, Any] = {"domain": regions.domain, "tolerance": regions.tolerance, "work": regions.work}
        facets = Finding(
            len(self.partition.facets),
            claim,
            name="facets between regions",
            definition="maximal straight pieces of boundary between two regions",
            method=regions.method,
            num_undecided=regions.num_undecided,
            **common,
        )
        length = Finding(
            self.boundary.length,
            claim,
            name="length of the decision boundary",
            definition="total length, in input space, of the set where the largest output changes",
            method="ties of affine outputs, region by region",
            num_undecided=regions.num_undecided,
            **{**common, "tolerance": 1e-9 * max(1.0, self.boundary.length)},
        )
        return regions, facets, length


def view_plane(
    network: Network,
    samples: Float[np.ndarray, "3 n"],
    *,
    margin: float = 0.25,
    budget: Budget | int | None = None,
    tolerance: Tolerance | None = None,
    progress: bool = False,
) -> PlaneView:
    """Partition the plane through three points, and find what a picture of it shows.

    Parameters
    ----------
    network : Network
    samples : (3, n) float64
        Not on a line.
    margin : float
        How far the window reaches beyond the three points, as a fraction of its longer side.
    budget : Budget or int, optional
    tolerance : Tolerance, optional
    progress : bool

    Returns
    -------
    PlaneView

    Raises
    ------
    DegenerateGeometryError
        If the points lie on a line.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(3), np.zeros(3)), (np.eye(3), np.zeros(3))])
    >>> view = view_plane(net, np.eye(3))
    >>> view.sample_classes, len(view.partition)
    (array([0, 1, 2]), 7)
    """
    plane = Plane(*samples, margin=margin)
    part = partition(network, plane, budget=budget, tolerance=tolerance, progress=progress)
    return PlaneView(
        part,
        _project(plane, samples),
        predicted_classes(network, samples),
        decision_boundary(part),
        class_areas(part),
        part.facets.gates,
        activation_rate(part.codes),
    )


def class_shares(view: PlaneView) -> tuple[Finding, ...]:
    """Return which share of the plane's window each class takes, classes without area left out."""
    network = view.partition.network
    assert network is not None
    regions = view.partition.finding()
    areas = view.areas.by_class(num_classes(network))
    total = float(areas.sum())
    return tuple(
        Finding(
            float(area / total),
            Claim.EXACT if regions.claim is Claim.EXACT else Claim.ESTIMATE,
            name=f"share of class {one}",
            definition="share of the window's area on which this output is the largest",
            domain=regions.domain,
            method="regions cut along ties of outputs",
            tolerance=1e-9,
            num_undecided=regions.num_undecided,
        )
        for one, area in enumerate(areas)
        if area > 0
    )


def _project(plane: Slice, samples: np.ndarray) -> np.ndarray:
    return np.asarray(plane.project(samples))
