"""The subject of a report: a network, data, and settings with the limits of the work.

How much a section does follows from the size of the network, in seconds of work as constants of this module and of the
sections count them, and not from a clock: every machine gives the same report.
"""

import time
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.classification.class_predictions import check_classes, predicted_classes
from reluscope.analyses.samples.choosing import Pairs, choose_pairs, choose_triple
from reluscope.analyses.samples.regression import check_number_of_targets
from reluscope.budget import Budget
from reluscope.datasets.dataset import Dataset
from reluscope.datasets.image_shapes import is_image
from reluscope.errors import InputError
from reluscope.networks.evaluation.pass_time import pass_seconds
from reluscope.networks.network import Network
from reluscope.progress import ProgressFunction
from reluscope.tolerance import Tolerance

# Seconds of one piece of work, so that their number is finite.
LEAST_SECONDS = 1e-12
# Seconds of work that a report plans where no limit is given, and how many times longer work may then take before it is
# ended: no machine that does not fail comes near it.
PLANNED, GENEROUS = 60.0, 30.0
# A forward pass is timed on so many samples, or on fewer once it takes long enough to be told from chance, in seconds.
MOST_TIMED, TIMED = 256, 0.25
# So many passes over all samples a section makes that looks at all of them, its classes and bounds on rounding too.
PASSES = 5
# However slow a network is, so many samples are looked at, and so many regions.
MIN_SAMPLES, MIN_REGIONS = 16, 100
# Seconds that a region takes beside a forward pass, to be found and drawn.
DRAWN = 2e-5
Task = Literal["auto", "classification", "regression"]


@dataclass(frozen=True)
class Settings:
    """Choices that the numbers of a report depend on.

    A partition cut off at ``regions`` is a lower bound. Task ``auto`` is classification unless labels are real numbers.
    Without ``seconds`` the work does what is planned.
    """

    seed: int = 0  # of the choice of samples
    margin: float = 0.25  # of the window around the samples, share of longer side
    num_segments: int = 50  # within classes, and as many between classes
    seconds: float | None = None  # limits the plane's work, and in shares other sections'
    regions: int = 300_000  # where the work on a partition stops
    tolerance: Tolerance = field(default_factory=Tolerance)
    task: Task = "auto"  # ``classification``, ``regression`` or ``auto``

    @property
    def planned_seconds(self) -> float:
        """Seconds of work that the plane plans for, and in shares the other sections."""
        return PLANNED if self.seconds is None else self.seconds

    def budget(self, share: float, memory: int | None = None) -> Budget:
        """Return where work ends that is planned for a share of the seconds."""
        seconds = GENEROUS * PLANNED if self.seconds is None else self.seconds
        return Budget(seconds=share * seconds, memory=memory)

    def effort(
        self, share: float, progress: ProgressFunction, until: float, memory: int | None = None
    ) -> dict[str, Any]:
        """Return budget and tolerance of work planned for a share of the seconds, after which ``until`` is done."""
        budget, tolerance = self.budget(share, memory), self.tolerance
        return {"budget": budget, "tolerance": tolerance, "progress": lambda done: progress(until * done)}

    def affordable(self, share: float, each: float, most: int) -> int:
        """Return how many pieces of work of some seconds each a share of the seconds suffices for, at least one."""
        return int(max(1.0, min(most, share * self.planned_seconds / max(each, LEAST_SECONDS))))


def is_classification(data: Dataset, task: Task) -> bool:
    """Return whether the largest output is read as a class."""
    if task != "auto":
        return task == "classification"
    return data.labels is not None or data.targets is None


def check_labels(data: Dataset, num_outputs: int, task: Task) -> None:
    """Check that labels fit a network with so many outputs, and the task.

    Raises InputError or ShapeError if they do not.
    """
    if is_classification(data, task):
        if data.labels is not None:
            check_classes(data.labels, num_outputs)
        elif data.targets is not None:
            raise InputError(
                f"the labels of {data.name} must be class numbers 0, 1, 2, ... for classification: give class "
                "numbers, or say --task regression"
            )
    elif data.targets is not None:
        check_number_of_targets(data.targets, num_outputs)


@dataclass(frozen=True, eq=False)
class Subject:
    """A network and the data that the report uses.

    Raises InputError or ShapeError if the labels do not fit the network's outputs, or the task.
    """

    network: Network
    data: Dataset  # in the network's input shape
    model: str  # what a reader calls the model
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        check_labels(self.data, self.network.num_outputs, self.settings.task)

    @property
    def is_classifier(self) -> bool:
        """Whether the largest output is read as a class."""
        return is_classification(self.data, self.settings.task)

    @property
    def image_shape(self) -> tuple[int, ...] | None:
        """The shape of a sample as an image, None where it is none: flat inputs are if the data came as such."""
        shapes = (self.network.input_shape, self.data.shape_before or ())
        return next((tuple(one) for one in shapes if is_image(one)), None)

    @property
    def noun(self) -> str:
        """What a sample is called: an image where it is one."""
        return "sample" if self.image_shape is None else "image"

    def drawn(self, number: int) -> Int[np.ndarray, " k"]:
        """Return the rows of so many samples at most, drawn at random."""
        return np.random.default_rng(self.settings.seed).permutation(len(self.data))[:number]

    @cached_property
    def points(self) -> Float[np.ndarray, "s n"]:
        """The samples as flat rows."""
        return self.data.points.reshape(len(self.data), -1)

    @cached_property
    def classes(self) -> Int[np.ndarray, " s"] | None:
        """The predicted class of every sample; None if the network is no classifier."""
        return predicted_classes(self.network, self.data.points) if self.is_classifier else None

    @property
    def labels(self) -> Int[np.ndarray, " s"] | None:
        """The true class of every sample, where there are classes and they are known."""
        return self.data.labels if self.is_classifier else None

    @cached_property
    def triple(self) -> tuple[int, int, int] | None:
        """Rows of three samples that span a plane, of three classes and classified as labelled where possible."""
        if self.labels is not None and self.classes is not None:
            right = np.flatnonzero(self.classes == self.labels)
            found = choose_triple(self.points[right], self.classes[right], seed=self.settings.seed)
            if found is not None:
                return int(right[found[0]]), int(right[found[1]]), int(right[found[2]])
        return choose_triple(self.points, self._groups, seed=self.settings.seed)

    @cached_property
    def pairs(self) -> Pairs:
        """Pairs of samples within and between classes; of any samples where there are none."""
        return choose_pairs(self.points, self._groups, self.settings.num_segments, seed=self.settings.seed)

    @property
    def _groups(self) -> Int[np.ndarray, " s"]:
        return np.zeros(len(self.data), dtype=np.int64) if self.classes is None else self.classes

    @cached_property
    def seconds_per_sample(self) -> float:
        """About how long a forward pass takes for one sample: the unit of what sections expect to take."""
        return pass_seconds(self.network)

    @cached_property
    def timed(self) -> "Subject":
        """The same subject, with passes that take as long as here: for what people are told of time, not for plans."""
        assert self.pairs is not None  # found once for both
        timed = copy(self)
        vars(timed)["seconds_per_sample"] = _measured(self.network, self.data.points)
        return timed

    def region_budget(self, share: float) -> Budget:
        """Return how many regions a share of the work planned suffices for, and where it ends whatever it has found."""
        regions = self.settings.affordable(share, self.seconds_per_sample + DRAWN, self.settings.regions)
        return replace(self.settings.budget(share), regions=max(regions, min(MIN_REGIONS, self.settings.regions)))

    @property
    def most_affordable(self) -> int:
        """How many samples a section that looks at all of them looks at: a power of two if not at all."""
        total = len(self.data)
        number = self.settings.affordable(1.0, PASSES * self.seconds_per_sample, total)
        return total if number == total else min(total, max(MIN_SAMPLES, 2 ** (number.bit_length() - 1)))

    def limited(self, most: int) -> "Subject":
        """Return the subject with ``most`` of its samples, drawn at random, and a note that says so."""
        data, total = self.data, len(self.data)
        if most >= total:
            return self
        rows = np.sort(np.random.default_rng(self.settings.seed).permutation(total)[:most])
        points, labels, targets = (
            None if part is None else part[rows] for part in (data.points, data.labels, data.targets)
        )
        assert points is not None
        note = f"{most:,} of {total:,} samples were drawn at random: there is no time for more (--seconds)"
        kept = replace(data, points=points, labels=labels, targets=targets, notes=(*data.notes, note))
        return replace(self, data=kept)


def _measured(network: Network, points: np.ndarray) -> float:
    """Return how long a forward pass takes for one sample, measured on a few."""
    network(points[:1])
    number, most = 1, min(len(points), MOST_TIMED)
    while True:
        began = time.perf_counter()
        network(points[:number])
        spent = time.perf_counter() - began
        if number == most or spent > TIMED:
            return spent / number
        number = min(4 * number, most)
