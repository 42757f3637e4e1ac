"""reluscope.datasets."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import FOLDER, X, Y

_DATA = rs.datasets.dataset_of(X, Y)


def _mnist():
    folder = FOLDER / "mnist"
    folder.mkdir(exist_ok=True)
    images = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28]) + bytes(2 * 28 * 28)
    (folder / "t10k-images-idx3-ubyte").write_bytes(images)
    (folder / "t10k-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 1, 7]))
    return folder


def _cifar():
    from PIL import Image

    for name in (
        "airplane",
        "automobile",
        "bird",
        "cat",
        "deer",
        "dog",
        "frog",
        "horse",
        "ship",
        "truck",
    ):
        folder = FOLDER / "cifar" / "test" / name
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (32, 32)).save(folder / "0.jpg")
    return FOLDER / "cifar"


def _points():
    np.savez(FOLDER / "data.npz", x=X, y=Y)
    return FOLDER / "data.npz"


_RADII = {"inner": "nonnegative", "outer": "positive"}

ROWS = {
    "datasets.Dataset.reshaped": row(on=_DATA, input_shape=(1, 2)),
    "datasets.Dataset.limited": row(on=_DATA, most=3),
    "datasets.ball_shell": row(count=5, dim=2, kinds=_RADII),
    "datasets.cifar10": row(place=Later(_cifar), kinds={"place": "read"}),
    "datasets.circle_annulus": row(count=5, kinds=_RADII),
    "datasets.dataset_of": row(points=X, labels=Y, kinds={"points": "array", "labels": "targets", "notes": "texts"}),
    "datasets.digits": row(part="test"),
    "datasets.mnist": row(folder=Later(_mnist), kinds={"folder": "read"}),
    "datasets.open_dataset": row(data=Later(_points), kinds={"data": "read", "labels": "read"}),
    "datasets.spirals": row(count=5, kinds={"turns": "positive"}),
    "datasets.xor_annulus": row(count=5, kinds=_RADII),
}
