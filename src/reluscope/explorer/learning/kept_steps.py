"""Weights of the steps of a training, in bounded memory.

Kept are the newest step and all multiples of a stride. The stride is 1 until the bound is reached, and is doubled each
time it is reached again, which drops every second step; between half the bound and the bound is in use from then on.
"""

from collections.abc import Mapping

import numpy as np

from reluscope.errors import InputError

State = Mapping[str, np.ndarray]

MOST_BYTES = 64 * 2**20
# Of one array beside its numbers.
OVERHEAD = 200


class KeptSteps:
    """States by their steps, ascending."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.stride = 1
        self.bytes = 0
        self._most, self._states = most_bytes, dict[int, State]()

    @property
    def newest(self) -> int:
        """The last step; -1 before there is one."""
        return next(reversed(self._states), -1)

    @property
    def steps(self) -> tuple[int, ...]:
        """All steps that are kept, ascending."""
        return tuple(self._states)

    def keep(self, step: int, state: State) -> None:
        """Keep the state of a new step, or another state of the newest."""
        newest = self.newest
        if step < newest:
            raise ValueError(f"expected a step after {newest}, got {step}")
        if newest >= 0 and (step == newest or newest % self.stride):
            self._drop(newest)
        self._states[step] = state
        self.bytes += _size(state)
        while self.bytes > self._most and len(self._states) > 2:
            self.stride *= 2
            for one in [one for one in self._states if one % self.stride and one != step]:
                self._drop(one)

    def at(self, step: int) -> State:
        """Return the state of a step; InputError if it is not kept."""
        state = self._states.get(step)
        if state is None:
            each = "all of them" if self.stride == 1 else f"every {self.stride}th"
            raise InputError(
                f"step {step} is not kept: of steps 0 to {self.newest} {each} and the last are there, choose another"
            )
        return state

    def _drop(self, step: int) -> None:
        self.bytes -= _size(self._states.pop(step))


def _size(state: State) -> int:
    return sum(array.nbytes + OVERHEAD for array in state.values())
