"""What one explorer looks at: a network, data, a training, and the planes that were looked at last."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.classification.class_predictions import num_classes, predicted_classes, read_classes
from reluscope.analyses.tracking.records import Records, read_records
from reluscope.analyses.tracking.tracker import Tracker
from reluscope.arguments import describe, refuse_jumps
from reluscope.budget import Budget
from reluscope.codes.packed import Codes
from reluscope.datasets.dataset import Dataset, dataset_of
from reluscope.errors import InputError
from reluscope.networks.network import Network

if TYPE_CHECKING:
    from reluscope.explorer.learning.course import Course
    from reluscope.explorer.scene.planes import AnsweredView

BUDGET = Budget(regions=200_000, seconds=5.0)
# Pictures that are kept, so that questions about them can be asked; and regions of all of them together.
MOST_VIEWS, MOST_REGIONS = 8, 1_000_000
# Networks of a training's epochs that are kept.
MOST_EPOCHS = 16


@dataclass(eq=False)
class Session:
    """The subject of an explorer and what it remembers; made by `Session.of`."""

    network: Network
    data: Dataset | None  # in the network's input shape
    name: str  # what a reader calls the model
    class_names: tuple[str, ...] | None
    records: Records | None  # of a training
    budget: Budget  # of one plane, if the question brings none
    seed: int  # of the samples that are chosen first
    views: "OrderedDict[int, AnsweredView]" = field(default_factory=OrderedDict)
    sample_codes: dict[str, Codes] = field(default_factory=dict)
    epochs: OrderedDict[int, Network] = field(default_factory=OrderedDict)
    versions: "count[int]" = field(default_factory=lambda: count(1))
    course: "Course | None" = None  # of a network that is trained while it is looked at

    @staticmethod
    def of(
        network: Network,
        data: Any = None,
        *,
        labels: Any = None,
        class_names: Sequence[str] | None = None,
        tracker: Any = None,
        budget: Budget | None = None,
        seed: int = 0,
        name: str = "model",
    ) -> "Session":
        """Return a session, after checking that data, labels and training fit the network.

        `labels` go with an array; a dataset brings its own. The records of `tracker` must hold weights. The budget of
        one plane is 200,000 regions and 5 seconds by default.
        """
        if network.num_inputs < 2:
            raise InputError(
                "the explorer shows planes of the input space, and this network has one input: rs.partition and "
                "rs.plots.partition show its regions"
            )
        refuse_jumps("the explorer", network)
        dataset = _dataset(network, data, labels)
        names = None if class_names is None else tuple(map(str, class_names))
        session = Session(network, dataset, str(name), names, _records(tracker), budget or BUDGET, int(seed))
        if dataset is not None and dataset.labels is not None and session.is_classifier:
            read_classes(network, dataset.labels)
        return session

    @cached_property
    def is_classifier(self) -> bool:
        """Whether the largest output is read as a class: unless the data bring target values that are none."""
        if self.data is None or not self.data.has_targets:
            return True
        labels, targets = self.data.labels, self.data.targets
        if labels is None:
            return False
        fits = len(labels) == 0 or int(labels.max()) < num_classes(self.network)
        # Whole numbers that are no classes of this network may be values that it is to reproduce.
        return fits or targets is None or targets.shape[1] != self.network.num_outputs

    @property
    def num_classes(self) -> int:
        """How many classes there are."""
        return num_classes(self.network)

    @property
    def is_plane(self) -> bool:
        """Whether the input space is itself the plane that is shown."""
        return self.network.num_inputs == 2

    @cached_property
    def points(self) -> Float[np.ndarray, "s n"]:
        """The samples as flat rows; none without data."""
        if self.data is None:
            return np.zeros((0, self.network.num_inputs))
        return self.data.points.reshape(len(self.data), -1)

    @cached_property
    def classes(self) -> Int[np.ndarray, " s"]:
        """The predicted class of every sample, -1 if the network is no classifier."""
        if self.data is None or not self.is_classifier:
            return np.full(len(self.points), -1, dtype=np.int64)
        return predicted_classes(self.network, self.data.points).astype(np.int64)

    @property
    def labels(self) -> Int[np.ndarray, " s"] | None:
        """The true class of every sample, where there are classes and they are known."""
        return self.data.labels if self.data is not None and self.is_classifier else None

    @cached_property
    def low_and_high(self) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """The box that the samples span; without any, from -1 to 1."""
        if not len(self.points):
            return np.full(self.network.num_inputs, -1.0), np.full(self.network.num_inputs, 1.0)
        return self.points.min(axis=0), self.points.max(axis=0)

    def codes_of(self, network: Network) -> Codes:
        """Return the codes of the samples in a network: that of the session, or of an epoch."""
        if network.fingerprint not in self.sample_codes:
            self.sample_codes.clear()
            assert self.data is not None
            self.sample_codes[network.fingerprint] = network.codes(self.data.points)
        return self.sample_codes[network.fingerprint]

    def class_name(self, one: int) -> str:
        """Return what a class is called."""
        names = self.class_names
        return f"class {one}" if names is None or not 0 <= one < len(names) else names[one]

    def output_name(self, one: int) -> str:
        """Return what an output is called."""
        if not self.is_classifier:
            return f"output {one}"
        # A single output is the logit of class 1.
        return self.class_name(1 if self.network.num_outputs == 1 else one)

    def drawn_rows(self, most: int) -> Int[np.ndarray, " k"]:
        """Return rows of samples, ascending: all, or so many drawn at random."""
        number = len(self.points)
        if number <= most:
            return np.arange(number)
        return np.sort(np.random.default_rng(self.seed).choice(number, most, replace=False))

    def show(self, network: Network) -> None:
        """Look at the same network with other weights from now on."""
        self.network = network
        self.__dict__.pop("classes", None)

    def begin(self, network: Network, data: Dataset, name: str) -> None:
        """Look at another network and other data; pictures of the ones before are no longer kept."""
        self.network, self.data, self.name = network, data, name
        for derived in ("is_classifier", "points", "classes", "low_and_high"):
            self.__dict__.pop(derived, None)
        for kept in (self.views, self.sample_codes, self.epochs):
            kept.clear()

    def keep_epoch(self, record: int, network: Network) -> None:
        """Keep the network of a record of the training, and let go of the oldest where there are many."""
        self.epochs[record] = network
        while len(self.epochs) > MOST_EPOCHS:
            self.epochs.popitem(last=False)

    def remember(self, view: "AnsweredView") -> None:
        """Keep a picture, and let go of the oldest where there are too many."""
        self.views[view.version] = view
        while len(self.views) > 1 and (
            len(self.views) > MOST_VIEWS or sum(len(one.part) for one in self.views.values()) > MOST_REGIONS
        ):
            self.views.popitem(last=False)


def _dataset(network: Network, data: Any, labels: Any) -> Dataset | None:
    if data is None:
        if labels is not None:
            raise InputError("labels came without data: give the points that they belong to")
        return None
    if isinstance(data, Dataset):
        if labels is not None:
            data = dataset_of(data.points, labels, name=data.name)
    else:
        if hasattr(data, "detach"):
            data = data.detach().cpu().numpy()
        data = dataset_of(data, labels)
    return data.reshaped(network.input_shape)


def _records(tracker: Any) -> Records | None:
    if tracker is None or isinstance(tracker, Records):
        return tracker
    if isinstance(tracker, str | PathLike):
        return read_records(tracker)
    if isinstance(tracker, Tracker):
        return tracker.records
    raise InputError(f"tracker must be a Tracker, its Records or the path of its file, got {describe(tracker)}")
