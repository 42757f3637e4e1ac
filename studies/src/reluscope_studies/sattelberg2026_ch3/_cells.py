"""The training atlas: the 222 classes of four inputs by networks of a width, depth and leak; kept in the records."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

import reluscope as rs
from reluscope.studies import Record, Setting
from reluscope_studies.sattelberg2026_ch3._measures import representatives
from reluscope_studies.sattelberg2026_ch3._networks import EPOCHS, learn, seeds_of

NUM_INPUTS = 4


@dataclass(frozen=True, eq=False)
class Cell:
    """The networks of one width, depth and leak.

    Parameters
    ----------
    width, depth : int
        Units of every hidden layer, and hidden layers.
    leak : float
    epochs : (t, 222) int16
        Passes until all inputs were right, trial by trial and class by class; -1 where they never were.
    """

    width: int
    depth: int
    leak: float
    epochs: Int[np.ndarray, "t k"]

    @property
    def rates(self) -> Float[np.ndarray, " k"]:
        """The share of trials that solve each class."""
        return (self.epochs >= 0).mean(axis=0)

    @property
    def solved(self) -> rs.Finding:
        """How many networks solve their function."""
        return self._finding(int((self.epochs >= 0).sum()), "networks that succeed", "networks that have")

    @property
    def never_solved(self) -> rs.Finding:
        """How many classes no trial solves."""
        number = int((self.epochs < 0).all(axis=0).sum())
        return self._finding(number, "classes without success", "classes for which no network has")

    def _finding(self, number: int, name: str, definition: str) -> rs.Finding:
        trials, classes = self.epochs.shape
        return rs.Finding.of(
            number,
            name=f"{name}: leak {self.leak:g}, {self.depth} x {self.width} units",
            definition=f"{definition} all inputs right in float32 within {EPOCHS:,} epochs",
            domain=f"{classes} classes of {NUM_INPUTS} inputs, {trials} seeded first weights each",
            source="sattelberg2026",
        )


def cell(setting: Setting, width: int, depth: int, leak: float, trials: int) -> Cell:
    """Return the networks in the records, or those trained now, which are put there.

    Networks of both leaks begin with the same seeds.
    """
    name = f"atlas-{leak:g}-{width}x{depth}"
    record = setting.records.get(name)
    if record is None:
        functions = representatives(NUM_INPUTS)
        seeds = seeds_of(setting, (width, depth), trials, len(functions))
        learned = learn(functions, (width,) * depth, seeds, leak=leak, epochs=EPOCHS, device=setting.device)
        plain = {"width": width, "depth": depth, "leak": leak}
        record = setting.records[name] = Record(plain, {"seeds": seeds, "epochs": learned.epochs})
    return Cell(width, depth, leak, record.arrays["epochs"])
