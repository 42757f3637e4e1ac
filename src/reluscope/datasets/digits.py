"""The 1,797 handwritten digits that come with scikit-learn: 8 x 8 images, scaled to [0, 1], ten classes."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from reluscope.arguments import read_arguments
from reluscope.datasets.dataset import Dataset, dataset_of
from reluscope.errors import InputError


@read_arguments
def digits(part: str = "all") -> Dataset:
    """Return the digits, or one part of them.

    Parameters
    ----------
    part : {"all", "train", "test"}
        Every fifth image, beginning with the first, is in the test part (360 images); the others are for training.

    Returns
    -------
    Dataset
        Points ``(s, 1, 8, 8)``: the original whole numbers 0 to 16, divided by 16.

    Raises
    ------
    InputError
        If the part does not exist.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.datasets.digits("test").describe()
    'digits (test part): 360 samples of 1 x 8 x 8 numbers, with labels'
    """
    if part not in ("all", "train", "test"):
        raise InputError(f"the digits have two parts, got {part!r}: say digits (for both), digits:train or digits:test")
    rows, target = _read()
    images, labels = rows.reshape(-1, 1, 8, 8) / 16.0, target.astype(np.int64)
    is_test = np.arange(len(labels)) % 5 == 0
    kept = {"all": np.full(len(labels), True), "train": ~is_test, "test": is_test}[part]
    return dataset_of(images[kept], labels[kept], name="digits" if part == "all" else f"digits ({part} part)")


def _read() -> tuple[np.ndarray, np.ndarray]:
    """Read scikit-learn's file where it has always lain: scikit-learn itself takes a second to import."""
    spec = find_spec("sklearn")
    for folder in [] if spec is None else spec.submodule_search_locations or []:
        path = Path(folder, "datasets", "data", "digits.csv.gz")
        if path.is_file():
            table = np.loadtxt(path, delimiter=",")
            return table[:, :-1], table[:, -1]
    from sklearn.datasets import load_digits

    rows, target = load_digits(return_X_y=True)
    return np.asarray(rows), np.asarray(target)
