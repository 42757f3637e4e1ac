"""Loss and accuracy over the steps of a training, in bounded memory."""

from dataclasses import dataclass, field

MOST_ENTRIES = 2_000


@dataclass(frozen=True)
class CurvePoint:
    """What was measured after a step, at samples that are learnt and at those held out; None where there is none."""

    step: int
    loss: float
    unseen_loss: float | None
    accuracy: float | None
    unseen_accuracy: float | None


@dataclass(eq=False)
class LearningCurve:
    """Measurements by step, ascending; every second one is dropped when there are too many."""

    entries: list[CurvePoint] = field(default_factory=list)

    def add(self, entry: CurvePoint) -> None:
        """Add the measurement of a new step, or another one of the newest."""
        if self.entries and self.entries[-1].step == entry.step:
            self.entries.pop()
        elif len(self.entries) >= MOST_ENTRIES:
            self.entries[:] = self.entries[::2]
        self.entries.append(entry)

    @property
    def newest(self) -> CurvePoint:
        """The last measurement."""
        return self.entries[-1]
