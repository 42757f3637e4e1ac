"""The domain of a command: a plane or a segment through points, or a box of inputs."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from reluscope.analyses.classification.class_predictions import predicted_classes
from reluscope.analyses.samples.choosing import choose_triple
from reluscope.cli.reading.box_options import box_of
from reluscope.cli.reading.domain_options import DomainOptions
from reluscope.cli.reading.model_arguments import ModelArguments
from reluscope.cli.reading.opened_models import open_model, open_model_and_data
from reluscope.cli.terminal.common_options import Common
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.printed_results import several
from reluscope.cli.terminal.progress_bar import Bar, show_progress
from reluscope.datasets.dataset import Dataset
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.geometry.polyhedra.domains import Box, Slice, Space
from reluscope.geometry.polyhedra.slices import Plane, Segment
from reluscope.networks.network import Network

MARGIN = 0.25
MAX_NAMED = 4


@dataclass(frozen=True, eq=False)
class OpenedDomain:
    """The domain, with what was read from the network and data to find it."""

    domain: Slice | Box | Space
    words: str  # as a reader would say it
    rows: tuple[int, ...] = ()  # samples it runs through; empty if there are none
    points: Float[np.ndarray, "k n"] | None = None  # to be marked
    labels: tuple[str, ...] = ()  # one per point
    axes: tuple[str, ...] = ()  # the coordinates' names, where they are inputs

    @property
    def kind(self) -> str:
        """One word for it."""
        if self.axes:
            return "box"
        if isinstance(self.domain, Space):
            return "space"
        return "segment" if self.domain.dim == 1 else "plane"


def open_domain(
    given: DomainOptions | None, model: ModelArguments, common: Common, *, most_dimensions: int | None = None
) -> tuple[Network, OpenedDomain]:
    """Load the model, and the data if there are any, and return the network and the domain.

    Without options that is all of input space. `most_dimensions` is the largest number that the command can look at;
    by default any.
    """
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        if given is None:
            network = open_model(model, device, bar)
            words = f"all of its {several(network.num_inputs, 'input')}, without bounds"
            return network, OpenedDomain(Space(network.num_inputs), words)
        return _opened(given, model, common.seed, device, bar, most_dimensions)


def _opened(
    given: DomainOptions,
    model: ModelArguments,
    seed: int,
    device: torch.device,
    bar: Bar,
    most_dimensions: int | None,
) -> tuple[Network, OpenedDomain]:
    """Return the network and the domain; the seed chooses samples where none are named."""
    source = str(given.points) if given.points is not None else given.data
    if source is None:
        network = open_model(model, device, bar)
        return network, _box(given, network, np.zeros(network.num_inputs), "0", most_dimensions)
    network, dataset = open_model_and_data(model, source, labels=None, most=None, device=device, bar=bar)
    points = dataset.points.reshape(len(dataset), -1)
    if given.box:
        rows = _named_rows(given, dataset, (1,))
        words = f"their values in sample {rows[0]:,} of {dataset.name}"
        return network, _box(given, network, points[rows[0]], words, most_dimensions)
    if given.points is not None:
        if len(points) != (2 if given.plane is None else 3):
            wanted = "two points, the ends of a segment" if given.plane is None else "the three points of a plane"
            raise ShapeError(
                f"{given.points} must hold {wanted}, one per row, got {len(points):,}: choose among many with --data "
                "and --samples"
            )
        return network, _through(points, tuple(f"{row}" for row in range(len(points))), (), given.margin, dataset.name)
    rows = (
        _chosen_rows(network, dataset, points, seed) if given.samples is None else _named_rows(given, dataset, (2, 3))
    )
    names = tuple(f"{row:,}" for row in rows)
    return network, _through(points[list(rows)], names, rows, given.margin, dataset.name)


def _named_rows(given: DomainOptions, dataset: Dataset, numbers: tuple[int, ...]) -> tuple[int, ...]:
    rows = given.samples or ()
    if len(rows) not in numbers:
        wanted = "one, at which the other inputs stay" if numbers == (1,) else "two (a segment) or three (a plane)"
        raise InputError(f"--samples must name {wanted}, got {len(rows)}")
    for row in rows:
        if row >= len(dataset):
            raise InputError(
                f"--samples {row} is not there: {dataset.name} has {len(dataset):,} samples, 0 to {len(dataset) - 1:,}"
            )
    return rows


def _chosen_rows(network: Network, dataset: Dataset, points: np.ndarray, seed: int) -> tuple[int, ...]:
    if network.num_inputs == 1:
        raise InputError("the network has one input, so there is no plane: give --samples I,J, or --box LO,HI")
    rows = choose_triple(points, predicted_classes(network, dataset.points), seed=seed)
    if rows is None:
        raise InputError(
            f"a plane needs three different samples that are not on a line, and {dataset.name} has none: give "
            "--samples I,J for a segment, or --box LO,HI"
        )
    return rows


def _through(
    points: np.ndarray, names: tuple[str, ...], rows: tuple[int, ...], margin: float | None, source: str
) -> OpenedDomain:
    what = "samples" if rows else "points"
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    try:
        if len(points) == 2:
            domain = Segment(points[0], points[1])
            if margin:
                assert isinstance(domain.window, Box)
                beyond = margin * domain.window.hi
                domain = Slice(domain.origin, domain.basis, Box(-beyond, domain.window.hi + beyond))
            return OpenedDomain(
                domain, f"the segment from {what[:-1]} {names[0]} to {names[1]} of {source}", rows, points, names
            )
        domain = Plane(*points, margin=MARGIN if margin is None else margin)
        return OpenedDomain(domain, f"the plane through {what} {listed} of {source}", rows, points, names)
    except DegenerateGeometryError as error:
        raise InputError(f"{what} {listed} of {source} cannot be used: {error}; choose others") from error


def _box(
    given: DomainOptions, network: Network, rest: np.ndarray, rest_words: str, most_dimensions: int | None
) -> OpenedDomain:
    chosen = given.inputs if given.inputs is not None else tuple(range(network.num_inputs))
    most = network.num_inputs if most_dimensions is None else most_dimensions
    if given.inputs is None and network.num_inputs > most:
        raise InputError(
            f"a box of all {network.num_inputs:,} inputs has too many dimensions: name one or two of them, as in "
            "--inputs 0,1, look at a plane through samples with --data, or choose a --method, which draws no picture"
        )
    if not 0 < len(chosen) <= most or len(set(chosen)) < len(chosen) or max(chosen) >= network.num_inputs:
        number = "one or two different inputs" if most == 2 else "different inputs"
        raise InputError(
            f"--inputs must name {number} from 0 to {network.num_inputs - 1:,}, got {','.join(map(str, chosen))}"
        )
    window = box_of(given.box, len(chosen))
    axes = tuple(f"input {one}" for one in chosen)
    named = " and ".join(axes) if len(axes) <= MAX_NAMED else f"{len(axes):,} inputs"
    if len(chosen) == network.num_inputs and chosen == tuple(range(len(chosen))):
        return OpenedDomain(window, f"the {window.describe()}", axes=axes)
    origin = rest.copy()
    origin[list(chosen)] = 0.0
    basis = np.eye(network.num_inputs)[list(chosen)]
    words = f"the {window.describe()} of {named}, the others at {rest_words}"
    return OpenedDomain(Slice(origin, basis, window), words, axes=axes)
