"""Values and choices in the words of a sentence."""

from collections.abc import Sequence
from math import prod

MAX_CHARACTERS = 40  # of a value that a sentence repeats


def describe(value: object) -> str:
    """Describe a value in few words: short values as they are, others by their type and shape."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        said = repr(value)
        return said if len(said) <= MAX_CHARACTERS else f"{said[:MAX_CHARACTERS]}..."
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return (
            f"{_with_article(type(value).__name__)} of shape {tuple(shape)}" if shape else str(value)[:MAX_CHARACTERS]
        )
    if isinstance(value, list | tuple | set | dict):
        # Readers of unions refuse on their way to the kind that fits, and arrays take long to be written.
        said = repr(value) if _num_entries(value) <= MAX_CHARACTERS // 2 else ""
        if 0 < len(said) <= MAX_CHARACTERS and "\n" not in said and " at 0x" not in said:
            return said
        return f"{_with_article(type(value).__name__)} of {len(value)} {'entry' if len(value) == 1 else 'entries'}"
    return f"the class {value.__name__}" if isinstance(value, type) else _with_article(type(value).__name__)


def _num_entries(value: object) -> int:
    """Return how many numbers and words a value is made of, counted as far as it matters."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple | set):
        return sum(map(_num_entries, list(value)[:MAX_CHARACTERS]))
    return prod(getattr(value, "shape", ()) or (1,))


def listed(words: Sequence[str], last: str = "or") -> str:
    """Return ``a, b or c``."""
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else "".join(words)


def _with_article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
