"""What a lesson is: the data, the layers and the optimiser of a training, and the seed that decides all that is drawn.

Everything is plain values, so that a page can show and send a lesson, and two equal lessons take the same steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, get_args, get_type_hints

from reluscope.arguments import Range, describe
from reluscope.arguments.annotations import reader_of
from reluscope.errors import InputError

Activation = Literal["relu", "leaky_relu", "hardtanh", "relu6"]
Optimiser = Literal["adam", "sgd"]

# Settings of the optimiser, which hold from the next step on; the others begin a new training.
AT_ONCE = frozenset({"rate", "weight_decay", "batch_size"})
# Settings of a model that is made for the lesson; a model that is given has its own.
OF_LAYERS = frozenset({"hidden", "width", "activation", "batch_norm", "dropout"})


@dataclass(frozen=True)
class Lesson:
    """Settings of a training: `hidden` layers of `width` units each, and how they are trained."""

    hidden: Annotated[int, Range(least=1, most=8)] = 3
    width: Annotated[int, Range(least=1, most=256)] = 16
    activation: Activation = "relu"
    batch_norm: bool = False
    dropout: Annotated[float, Range(least=0, most=0.9)] = 0.0
    optimiser: Optimiser = "adam"
    rate: Annotated[float, Range(above=0, most=10)] = 0.003
    weight_decay: Annotated[float, Range(least=0, most=1)] = 0.0
    batch_size: Annotated[int, Range(least=1, most=100_000)] = 32
    seed: Annotated[int, Range(least=0, most=2**32 - 1)] = 0

    @property
    def name(self) -> str:
        """The layers, as a reader calls the model."""
        return f"{self.hidden} x {self.width}"


_HINTS = get_type_hints(Lesson, include_extras=True)
NAMES = tuple(field.name for field in fields(Lesson))


def read_lesson(given: Any, name: str, before: Lesson | None = None, *, own_layers: bool = True) -> Lesson:
    """Return the lesson that settings describe; settings left out are those of `before`, or the defaults.

    `given` is True, a Lesson, or a mapping from names of settings to values. Without `own_layers` the model is given,
    and settings of layers raise InputError.
    """
    if isinstance(given, Lesson):
        return given
    if given is True:
        return before or Lesson()
    if not isinstance(given, Mapping):
        raise InputError(f"{name} must be True or a mapping of settings to values, got {describe(given)}")
    values = {}
    for key, value in given.items():
        if key not in NAMES:
            raise InputError(f"{name} has no setting {describe(key)}: choose among {', '.join(NAMES)}")
        if not own_layers and key in OF_LAYERS:
            raise InputError(f"{key} of {name} is for models made by the explorer, and a model was given: leave it out")
        reader = reader_of(_HINTS[key])
        assert reader is not None
        values[key] = reader.read(value, f"{key} of {name}", {})
    return replace(before or Lesson(), **values)


def choices_of(name: str) -> tuple[str, ...]:
    """Return the words that a setting may be; none if it is a number or a truth value."""
    return tuple(one for one in get_args(_HINTS[name]) if isinstance(one, str))


def range_of(name: str) -> tuple[float, float] | None:
    """Return the least and the largest value of a setting; None if it is no number."""
    within = next((one for one in get_args(_HINTS[name]) if isinstance(one, Range)), None)
    return None if within is None else (max(within.least, within.above), within.most)


def begins_anew(before: Lesson, after: Lesson) -> bool:
    """Tell whether a change of settings needs a new training."""
    return any(getattr(before, name) != getattr(after, name) for name in NAMES if name not in AT_ONCE)
