"""Data as studies take them: flat points, each with a class."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

import reluscope as rs
from reluscope.studies import Data, Setting


@dataclass(frozen=True, eq=False)
class Labelled:
    """Flat points (s, n), their classes, a name, the shape of a point, and notes on how they were prepared."""

    points: Float[np.ndarray, "s n"]
    labels: Int[np.ndarray, " s"]
    name: str
    shape: tuple[int, ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.points)


def labelled(data: rs.datasets.Dataset) -> Labelled:
    """Return data with their classes.

    Raises
    ------
    InputError
        If they have none.
    """
    if data.labels is None:
        raise rs.errors.InputError(f"this study needs the classes of the samples, and {data.name} comes without labels")
    return Labelled(data.points.reshape(len(data), -1), data.labels, data.name, data.shape, data.notes)


def labelled_data(setting: Setting) -> tuple[Labelled, Labelled]:
    """Return the data of a setting to train on and to measure with.

    Raises
    ------
    InputError
        If there are none, or they have no classes.
    """
    if setting.train is None or setting.test is None:
        raise rs.errors.InputError("this study trains networks and needs data: give train and test")
    return labelled(setting.train), labelled(setting.test)


def stands_beside(part: Labelled, data: Data) -> bool:
    """Return whether numbers of networks trained on these data may stand beside a paper's: digits are no CIFAR-10.

    Examples
    --------
    >>> digits = Labelled(np.zeros((1, 2)), np.zeros(1, dtype=int), "digits (train part)", (2,))
    >>> stands_beside(digits, "mnist"), stands_beside(digits, "cifar10")
    (True, False)
    """
    return data == "mnist" or part.name.startswith("CIFAR-10")
