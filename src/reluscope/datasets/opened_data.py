"""Opening data from a file, or by the name of a known problem."""

import os
from dataclasses import replace
from pathlib import Path

from reluscope.arguments import read_arguments
from reluscope.datasets.cifar10 import cifar10
from reluscope.datasets.circle_annulus import circle_annulus, xor_annulus
from reluscope.datasets.dataset import Dataset, dataset_of
from reluscope.datasets.digits import digits
from reluscope.datasets.files import read_arrays
from reluscope.datasets.mnist import mnist
from reluscope.datasets.spirals import spirals
from reluscope.errors import InputError

ON_DISK = {"mnist": mnist, "cifar10": cifar10}
IN_THE_PLANE = {"spirals": spirals, "circle-annulus": circle_annulus, "xor-annulus": xor_annulus}


@read_arguments
def open_dataset(data: str | os.PathLike[str], labels: str | os.PathLike[str] | None = None) -> Dataset:
    """Open a data file or a named problem.

    Parameters
    ----------
    data : path or str
        A ``.npy``, ``.npz``, ``.csv`` or ``.parquet`` file, or ``digits``, ``digits:train``, ``digits:test``,
        ``mnist:DIR`` and ``cifar10:DIR`` (the test parts), ``mnist-train:DIR``, ``cifar10-train:DIR``, ``spirals``,
        ``circle-annulus``, ``xor-annulus``.
    labels : path, optional
        A file of class numbers, which replace labels in the data.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError, ShapeError
        One sentence on the error in a file or its content.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.datasets.open_dataset("digits").describe()
    'digits: 1,797 samples of 1 x 8 x 8 numbers, with labels'
    """
    problem = _named(os.fspath(data))
    if problem is None:
        points, own = read_arrays(data)
        problem = dataset_of(points, own, name=Path(data).name, labels_name=f"the labels in {Path(data).name}")
    if labels is None:
        return problem
    notes = problem.notes
    if problem.has_targets:
        notes = (*notes, f"labels were taken from {Path(labels).name}, not from {problem.name}")
    given = dataset_of(problem.points, read_labels(labels), name=problem.name, labels_name=Path(labels).name)
    return replace(problem, labels=given.labels, targets=given.targets, notes=notes)


def _named(data: str) -> Dataset | None:
    name, mark, rest = data.partition(":")
    if name == "digits":
        return digits(rest if mark else "all")
    if data in IN_THE_PLANE:
        return IN_THE_PLANE[data]()
    kind, _, part = name.partition("-")
    if kind in ON_DISK and part in ("", "train"):
        if not rest:
            raise InputError(f"{name} needs the folder of its files: {name}:DIR")
        return ON_DISK[kind](rest, part or "test")
    return None


def is_named(data: str) -> bool:
    """Whether data are a named problem rather than a file."""
    name = data.partition(":")[0]
    return name == "digits" or data in IN_THE_PLANE or name.partition("-")[0] in ON_DISK


def read_labels(path: str | os.PathLike[str]) -> object:
    """Read a file of labels of any type; InputError if it is missing or holds no array."""
    points, own = read_arrays(path)
    return points if own is None else own
