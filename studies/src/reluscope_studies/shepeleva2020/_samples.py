"""Samples that the studies train on and look at: as many as a size takes, of all classes or of some."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

import reluscope as rs
from reluscope.studies import Setting
from reluscope_studies.labelled import Labelled, labelled_data


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples to train on and to look at, and what their classes are called.

    Parameters
    ----------
    training, validation : Labelled
        Classes are numbers from 0 without gaps.
    names : tuple of str
        Of the classes.
    """

    training: Labelled
    validation: Labelled
    names: tuple[str, ...]

    def parts(self) -> dict[str, Labelled]:
        """Return both parts by name."""
        return {"training": self.training, "validation": self.validation}

    def describe(self) -> str:
        """Return one phrase."""
        return (
            f"{len(self.training):,} samples of {self.training.name} to train on and {len(self.validation):,} of "
            f"{self.validation.name} to validate with"
        )


def samples_of(setting: Setting, most: tuple[int, int] | None, trained_on: int | None = None) -> Samples:
    """Return the setting's samples, of each part at most so many, drawn at random, with pixels in [0, 1].

    Parameters
    ----------
    setting : Setting
    most : tuple of int, optional
        To train on and to validate with.
    trained_on : int, optional
        In place of these: to train on, and a quarter as many to validate with.
    """
    parts = labelled_data(setting)
    most = most if trained_on is None else (trained_on, -(-trained_on // 4))
    if most is not None:
        drawn = zip(parts, most, strict=True)
        parts = tuple(_drawn(part, number, setting.seed) for part, number in drawn)
    training, validation = parts
    number = int(max(training.labels.max(), validation.labels.max())) + 1
    named = training.name.startswith("CIFAR-10") and number <= len(rs.datasets.CIFAR10_CLASSES)
    return Samples(
        training, validation, rs.datasets.CIFAR10_CLASSES[:number] if named else tuple(map(str, range(number)))
    )


def pair_of(samples: Samples) -> Samples:
    """Return the samples of the two classes that the paper finds hardest to separate: 4 and 9, or frog and deer."""
    pair = [samples.names.index(name) for name in ("deer", "frog")] if "deer" in samples.names else [4, 9]
    return _of_classes(samples, pair)


def _of_classes(samples: Samples, classes: Sequence[int]) -> Samples:
    if max(classes) >= len(samples.names):
        raise rs.errors.InputError(f"this study needs the classes {classes}, and the samples have {len(samples.names)}")
    training, validation = (_restricted(part, classes) for part in samples.parts().values())
    return Samples(training, validation, tuple(samples.names[one] for one in classes))


def _restricted(data: Labelled, classes: Sequence[int]) -> Labelled:
    rows = np.flatnonzero(np.isin(data.labels, classes))
    return replace(data, points=data.points[rows], labels=np.searchsorted(classes, data.labels[rows]))


def _drawn(data: Labelled, most: int, seed: int) -> Labelled:
    if len(data) <= most:
        return data
    rows = np.sort(np.random.default_rng(seed).permutation(len(data))[:most])
    return replace(data, points=data.points[rows], labels=data.labels[rows])
