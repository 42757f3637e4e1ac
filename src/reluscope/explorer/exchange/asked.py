"""A question as it comes in, from anybody: each field is read with its type and range, or refused in one sentence.

Questions are JSON from a browser. Nothing is taken as it is: numbers are finite and within their range, truth values
are no numbers, and a field that nobody asked for is a mistake of the sender.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from reprlib import Repr
from typing import Any

from reluscope.errors import InputError

# A sentence quotes what came, which can be of any length and depth.
_QUOTED = 60
_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxdict, _SHORT.maxlist, _SHORT.maxtuple = 2, 3, 4, 4
_MISSING = object()


class Asked:
    """Reads the fields of one question, one after the other.

    `what` names the question in error messages; `free` are fields that are read elsewhere.
    """

    def __init__(self, fields: Mapping[str, Any], what: str, free: Sequence[str] = ()) -> None:
        self._fields, self._what, self._read = fields, what, set(free)

    def given(self, name: str) -> Any:
        """Return a field as it came; None where it was left out."""
        self._read.add(name)
        return self._fields.get(name)

    def has(self, name: str) -> bool:
        """Tell whether a field is there and not null."""
        return self.given(name) is not None

    def whole(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """Return a whole number from ``low`` to ``high``, both included.

        InputError if the field is no such number, or missing without a default.
        """
        value = self._value(name, default)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if isinstance(value, float) and isfinite(value) and value == int(value):
            value, is_whole = int(value), True
        if not is_whole or not low <= value <= high:
            raise self.wrong(name, f"a whole number from {low} to {high}", value)
        return int(value)

    def number(self, name: str, low: float, high: float, default: float | None = None) -> float:
        """Return a finite number from ``low`` to ``high``, both included."""
        value = self._value(name, default)
        if not _is_number(value) or not low <= value <= high:
            raise self.wrong(name, f"a number from {low:g} to {high:g}", value)
        return float(value)

    def numbers(self, name: str, count: int, limit: float = 1e300) -> tuple[float, ...]:
        """Return a list of so many finite numbers, none larger than the limit."""
        value = self._value(name, None)
        if not is_list_of_numbers(value, count, limit):
            raise self.wrong(name, f"a list of {count} finite numbers", value)
        return tuple(float(entry) for entry in value)

    def points(self, name: str, most: int, least: int = 1, limit: float = 1e6) -> list[tuple[float, float]]:
        """Return a list of pairs of finite numbers, ``least`` to ``most`` of them."""
        value = self._value(name, None)
        is_list = isinstance(value, list | tuple) and least <= len(value) <= most
        if not is_list or not all(is_list_of_numbers(entry, 2, limit) for entry in value):
            number = f"{least}" if least == most else f"{least} to {most}"
            raise self.wrong(name, f"a list of {number} points [x, y]", value)
        return [(float(x), float(y)) for x, y in value]

    def choice(self, name: str, options: Sequence[str], default: str | None = None) -> str:
        """Return one of some words."""
        value = self._value(name, default)
        if not isinstance(value, str) or value not in options:
            raise self.wrong(name, f"one of {', '.join(options)}", value)
        return value

    def truth(self, name: str, default: bool) -> bool:
        """Return a truth value."""
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false", value)
        return value

    def limits(
        self, regions: int | None, seconds: float | None, *, most_regions: int, most_seconds: float
    ) -> tuple[int | None, float | None]:
        """Return the regions and seconds of the field ``budget``, those given where it says nothing."""
        if not self.has("budget"):
            return regions, seconds
        fields = self.inner("budget")
        regions = fields.whole("regions", 1, most_regions, regions)
        seconds = fields.number("seconds", 0.0, most_seconds, seconds)
        fields.end()
        return regions, seconds

    def inner(self, name: str) -> "Asked":
        """Return the fields of a field."""
        value = self._value(name, None)
        if not isinstance(value, Mapping):
            raise self.wrong(name, "an object", value)
        return Asked(value, f"{name} of {self._what}")

    def end(self) -> None:
        """Raise InputError if there are fields that were not read."""
        for name in self._fields:
            if name not in self._read:
                raise InputError(f"{self._what} has no field {quoted(name)}: leave it out")

    def wrong(self, name: str, expected: str, value: Any) -> InputError:
        """Return the error about a field that is not what it has to be."""
        came = "nothing" if value is _MISSING else quoted(value)
        return InputError(f"{name} of {self._what} must be {expected}, got {came}")

    def _value(self, name: str, default: Any) -> Any:
        self._read.add(name)
        value = self._fields.get(name)
        if value is None:
            return _MISSING if default is None else default
        return value


def quoted(value: Any) -> str:
    """Return what came in as a sentence quotes it: of bearable length, whatever it is."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**18:
        return "a number of many digits"
    text = _SHORT.repr(value)
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"


def is_list_of_numbers(value: Any, count: int, limit: float) -> bool:
    """Tell whether something is a list of so many finite numbers within a limit."""
    is_list = isinstance(value, list | tuple) and len(value) == count
    return is_list and all(_is_number(entry) and abs(entry) <= limit for entry in value)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or isfinite(value)
