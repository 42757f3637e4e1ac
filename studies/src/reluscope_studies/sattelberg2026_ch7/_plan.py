"""How much the studies on images do: the dissertation's networks and images, or smaller ones."""

from dataclasses import dataclass

from reluscope.studies import Change, Size
from reluscope_studies.labelled import Labelled
from reluscope_studies.sattelberg2026_images import SHAPE
from reluscope_studies.sattelberg2026_networks import Plan
from reluscope_studies.sizes import ToTrainOn


@dataclass(frozen=True)
class ComparisonPlan(Plan):
    """How much is done.

    Parameters
    ----------
    side : int or None
        Most pixels in a row of an image; None for the dissertation's 32 x 32 in three channels.
    training : int or None
        Most images to train on; None for all.
    per_test_image : int
        By which there are fewer to judge with.
    numbers : tuple of int
        Affine functions per output that networks are left.
    at_once : int
        Networks that are compared in one go, the sums of which are in memory together.
    memory : int
        Bytes for blocks and sums.
    """

    side: int | None
    training: int | None
    per_test_image: int
    numbers: tuple[int, ...]
    at_once: int
    memory: int

    @property
    def testing(self) -> int | None:
        """How many images networks are judged with at most; None for all."""
        return None if self.training is None else self.training // self.per_test_image

    def shape(self, part: Labelled) -> tuple[int, int, int]:
        """Return channels, height and width of the images that networks are to see."""
        if self.side is None:
            return SHAPE
        channels, *sides = part.shape
        height, width = (min(self.side, one) for one in sides)
        return channels, height, width


NUMBERS = (1, 2, 5, 10, 20, 50, 100)
CHANGES: dict[Change, str] = {"epochs": "epochs", "points": ToTrainOn("training")}
PLANS: dict[Size, ComparisonPlan] = {
    "small": ComparisonPlan(30, 32, 8, 12, 3_000, 3, NUMBERS, 14, 2**30),
    # The dissertation's networks, on fewer images of a quarter of the pixels: maps between Jacobians take hours.
    "medium": ComparisonPlan(3, 128, 32, 16, 10_000, 5, NUMBERS, 14, 6 * 2**30),
    "full": ComparisonPlan(15, 128, 32, None, None, 5, NUMBERS, 8, 5 * 2**30),
}
