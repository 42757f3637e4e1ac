"""Data: the user's own files, and problems of known structure."""

from typing import NoReturn

from reluscope.datasets.ball_shell import ball_shell
from reluscope.datasets.cifar10 import CIFAR10_CLASSES, cifar10
from reluscope.datasets.circle_annulus import circle_annulus, xor_annulus
from reluscope.datasets.dataset import Dataset, dataset_of
from reluscope.datasets.demo import demo_network
from reluscope.datasets.demo_surface import surface_network
from reluscope.datasets.digits import digits
from reluscope.datasets.mnist import mnist
from reluscope.datasets.opened_data import open_dataset
from reluscope.datasets.spirals import spirals
from reluscope.moved_names import refuse

__all__ = [
    "CIFAR10_CLASSES",
    "Dataset",
    "ball_shell",
    "cifar10",
    "circle_annulus",
    "dataset_of",
    "demo_network",
    "digits",
    "mnist",
    "open_dataset",
    "spirals",
    "surface_network",
    "xor_annulus",
]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.datasets", name)
