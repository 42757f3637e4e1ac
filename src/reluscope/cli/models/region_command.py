"""``reluscope region``: the linear region of one sample: its facets, its size, and the classes within it."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from reluscope.analyses.bodies.inscribed_balls import INRADIUS, ball_seconds, inscribed_balls
from reluscope.analyses.classification.class_predictions import predicted_classes, read_classes
from reluscope.analyses.local.classes_of_regions import DISTORTION, NUM_AT_LIKELIEST, NUM_CLASSES, region_classes
from reluscope.analyses.local.facets_of_regions import RegionFacets, facets_are_quick, region_facets
from reluscope.analyses.local.sizes_of_regions import DIAMETER, WIDTH, region_sizes
from reluscope.analyses.robustness import boundary_distance, decision_distance_within
from reluscope.analyses.robustness.distance_quantities import BOUNDARY_DISTANCE, DECISION_DISTANCE_WITHIN
from reluscope.analyses.samples.data_box import data_box
from reluscope.cli.models.inspecting import RegionOptions
from reluscope.cli.reading.box_options import box_of
from reluscope.cli.reading.opened_models import check_sample, describe_model, open_model_and_data
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.outputs import conclude, plan_json
from reluscope.cli.terminal.printed_results import (
    add_row,
    make_table,
    open_console,
    print_numbers,
    say,
)
from reluscope.cli.terminal.progress_bar import Bar, show_progress
from reluscope.datasets.dataset import Dataset
from reluscope.errors import InputError
from reluscope.findings import Finding, Findings
from reluscope.geometry.numbers.norms import NormName
from reluscope.geometry.polyhedra.domains import Box
from reluscope.networks.network import Network
from reluscope.regions.region import Region
from reluscope.regions.regions import region as region_at

FORMAT = "reluscope region 1"
NORMS: tuple[NormName, ...] = ("l2", "linf")
# Where one ball takes longer, nothing is looked for that needs a table of all half-spaces.
LONGEST_BALL = 300.0


def region(given: RegionOptions) -> int:
    """Print what is known of the region, and return the exit code."""
    files, name = plan_json(given.file), given.model.name
    device = open_device(given.common.device)
    with show_progress(hidden=given.common.quiet) as bar:
        network, dataset = open_model_and_data(
            given.model, given.data, labels=given.labels, most=None, device=device, bar=bar
        )
        check_sample(given.sample, dataset)
        if not network.gates:
            raise InputError(f"{name} has no gates, so there is one region, all of input space: nothing to show")
        domain = _domain(given.box, dataset, network)
        found = _look(network, dataset, given.sample, domain, given.facets or facets_are_quick(network), bar)
    conclude(found.describe(name), files, given.common, lambda: found.print(name))
    return 0


def _domain(box: tuple[tuple[float, float], ...], dataset: Dataset, network: Network) -> Box:
    """Return the box that was given, or else that of the data."""
    if box:
        return box_of(box, network.num_inputs, each="the {number}")
    found = data_box(dataset.points.reshape(len(dataset), -1))
    if found is None:
        raise InputError(f"all entries of {dataset.name} are equal, so it has no range: give --box LO,HI")
    return found


def _look(network: Network, dataset: Dataset, sample: int, domain: Box, facets: bool, bar: Bar) -> "_RegionFindings":
    point = dataset.points[sample].reshape(1, -1)
    if not ((point >= domain.lo) & (point <= domain.hi)).all():
        raise InputError(f"sample {sample} lies outside the {domain.describe()}: give a larger --box, or leave it out")
    is_classifier = dataset.labels is not None or dataset.targets is None
    if dataset.labels is not None:
        read_classes(network, dataset.labels)
    bar.say("Nearest facets of the region")
    nearest = tuple(boundary_distance(network, point, norm=norm) for norm in NORMS)
    whole = balls = found_facets = sizes = None
    is_large = ball_seconds(network) > LONGEST_BALL
    if not is_large:
        bar.say("Half-spaces of the region")
        whole = region_at(network, point)
        bar.say("Largest ball in the region")
        balls = inscribed_balls(network, point, domain=domain)
    if facets and not is_large:
        bar.say("Facets of the region")
        found_facets = region_facets(network, point, domain=domain)
        bar.say("Width and diameter of the region")
        sizes = region_sizes(network, point, domain=domain)
    classes, within = None, ()
    if is_classifier and not is_large:
        bar.say("Classes in the region")
        classes = region_classes(network, point, domain=domain)
        within = tuple(decision_distance_within(network, point, norm=norm, domain=domain) for norm in NORMS)

    def named(found: Findings) -> Findings:
        """Return what was found at one point, with the sample's number in the data."""
        return replace(found, keys={**found.keys, "sample": np.array([sample])})

    return _RegionFindings(
        network,
        dataset,
        sample,
        domain,
        whole,
        is_classifier,
        tuple(map(named, nearest)),
        None if balls is None else named(balls),
        found_facets,
        None if sizes is None else named(sizes),
        None if classes is None else named(classes),
        tuple(map(named, within)),
    )


@dataclass(frozen=True)
class _RegionFindings:
    """Findings about the region of one sample."""

    network: Network
    dataset: Dataset
    sample: int
    domain: Box
    region: Region | None
    is_classifier: bool
    nearest: tuple[Findings, ...]
    balls: Findings | None
    facets: RegionFacets | None
    sizes: Findings | None
    classes: Findings | None
    within: tuple[Findings, ...]

    @property
    def label(self) -> int | None:
        """The label of the sample, where there is one."""
        return None if self.dataset.labels is None else int(self.dataset.labels[self.sample])

    @property
    def own(self) -> int | None:
        """The predicted class of the sample."""
        if not self.is_classifier:
            return None
        return int(predicted_classes(self.network, self.dataset.points[self.sample : self.sample + 1])[0])

    @cached_property
    def is_bounded(self) -> bool | None:
        """Whether the region is bounded; None where that was not looked at."""
        return None if self.region is None else self.region.polyhedron.is_bounded()

    @property
    def findings(self) -> list[Finding]:
        """All numbers, in the order in which they are printed."""
        found = [] if self.region is None else [_half_spaces(self.region)]
        if self.facets is not None:
            found.append(self.facets.number())
        found += [one.finding(BOUNDARY_DISTANCE) for one in self.nearest]
        if self.balls is not None and self.balls.is_done.all():
            found.append(self.balls.finding(INRADIUS))
        if self.sizes is not None and self.sizes.is_done.all():
            found += [self.sizes.finding(WIDTH), self.sizes.finding(DIAMETER)]
        if self.classes is not None and self.classes.is_done.all():
            found += [self.classes.finding(name) for name in (NUM_CLASSES, NUM_AT_LIKELIEST, DISTORTION)]
        return [*found, *(one.finding(DECISION_DISTANCE_WITHIN) for one in self.within)]

    def by_gate(self) -> list[dict[str, Any]]:
        """Return numbers of half-spaces and facets for each gate."""
        gates = []
        for index, gate in enumerate(self.network.gates):
            bounding = None if self.facets is None else int((self.facets.sources[:, 0] == index).sum())
            gates.append(
                {
                    "name": gate.name,
                    "num_units": gate.num_units,
                    "half_spaces": None if self.region is None else int((self.region.sources[:, 0] == index).sum()),
                    "facets": bounding,
                }
            )
        return gates

    def nearest_unit(self, place: int) -> dict[str, Any] | None:
        """Return the unit whose hyperplane is the nearest facet."""
        gate, unit, beyond = self.nearest[place].details["sources"][0].tolist()
        if gate < 0:
            return None
        return {"gate": self.network.gates[gate].name, "unit": unit, "piece_beyond": beyond}

    def describe(self, model: str) -> dict[str, Any]:
        """Return everything as plain types."""
        classes = self.classes
        return {
            "format": FORMAT,
            "model": describe_model(self.network, model),
            "data": {"name": self.dataset.name, "samples": len(self.dataset), "notes": list(self.dataset.notes)},
            "sample": self.sample,
            "label": self.label,
            "class": self.own,
            "domain": self.domain.describe(),
            "is_bounded": self.is_bounded,
            "gates": self.by_gate(),
            "bends_first": [{"norm": norm, "unit": self.nearest_unit(place)} for place, norm in enumerate(NORMS)],
            "classes": []
            if classes is None or not classes.is_done.all()
            else [
                {
                    "class": one,
                    "occurs": bool(classes.details["occurs"][0, one]),
                    "is_known": bool(classes.details["is_known"][0, one]),
                    "is_at_likeliest": bool(classes.details["is_at_likeliest"][0, one]),
                    "distance_to_likeliest": float(classes.details["distances"][0, one]),
                }
                for one in range(classes.details["occurs"].shape[1])
            ],
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def print(self, model: str) -> None:
        """Print everything for people."""
        console = open_console()
        kind = (
            "" if self.own is None else f", class {self.own}" + ("" if self.label is None else f", label {self.label}")
        )
        say(console, f"The region of sample {self.sample:,} of {self.dataset.name}{kind}, in {model}", style="bold")
        shown = {"num_units": "units", "half_spaces": "half-spaces", "facets": "facets"}
        gates = self.by_gate()
        known = [key for key in shown if gates[0][key] is not None]
        columns = [shown[key] for key in known]
        table = make_table("gate", *columns, right=columns)
        for gate in gates:
            add_row(table, gate["name"], *(gate[key] for key in known))
        console.print(table)
        print_numbers(console, self.findings, also=["ends"])
        for line in self._sentences():
            say(console, line)

    def _sentences(self) -> list[str]:
        lines = []
        if self.is_bounded is not None:
            bounded = "bounded" if self.is_bounded else "unbounded"
            where = f"Its ball, facets and classes are those within the {self.domain.describe()}."
            lines.append(f"Without any box the region is {bounded}. {where}")
        for place, norm in enumerate(NORMS):
            unit = self.nearest_unit(place)
            if unit is not None:
                lines.append(
                    f"The first to bend, in {norm}: unit {unit['unit']:,} of {unit['gate']}, which changes to "
                    f"piece {unit['piece_beyond']} there."
                )
        if self.balls is None:
            hours = ball_seconds(self.network) / 3600
            lines.append(
                f"Ball, facets and classes of the region were left out: with {self.network.num_units:,} units and "
                f"{self.network.num_inputs:,} inputs the ball alone takes about {hours:.1f} hours; rs.region(net, x) "
                "has the half-spaces, and reluscope partition looks at a plane."
            )
            return lines
        if self.facets is None:
            lines.append("Facets, width and diameter were not looked for: --facets does, which may take a while.")
        if self.classes is None:
            lines.append("The labels are numbers, not classes, so nothing is said about classes.")
        elif self.classes.is_done.all():
            there = np.flatnonzero(self.classes.details["occurs"][0]).tolist()
            many = "Class" if len(there) == 1 else "Classes"
            lines.append(
                f"{many} with a point of the region: {', '.join(map(str, there))}. "
                "The test at likeliest points may find fewer, with three classes or more."
            )
        radius = self.balls[INRADIUS]
        if np.isfinite(radius.value[0]):
            lines.append(
                f"The ball's centre is {self.balls.details['offsets'][0]:.4g} from the sample; its radius is proved "
                f"within {radius.upper[0] - radius.value[0]:.2g}."
            )
        return lines


def _half_spaces(found: Region) -> Finding:
    return Finding.of(
        len(found.sources),
        name="half-spaces",
        definition="half-spaces whose intersection is the region, redundant ones included, constant ones left out",
        domain="input space",
        method="affine maps of all pre-activations in float64",
    )
