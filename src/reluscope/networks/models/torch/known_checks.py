"""Checks in a forward pass that cannot fail on numbers, and constants that it asks for.

``torch.export`` traces without values, so that ``assert not x.isnan().any()`` stops it. Here a pass with values comes
first. What it asks of tensors that do not depend on the input is answered in the trace as it was there; whether a
tensor is NaN or infinite does not depend on it, because inputs are numbers.
"""

import linecache
import sys
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from reluscope.errors import UnsupportedOperatorError

NUMBERS_NOTE = "Checks for NaN and infinite numbers in the forward pass were left out: inputs are numbers."
# Files whose code asks on behalf of a model.
_LIBRARY = (str(Path(torch.__file__).parent), __file__)
_NUMBER_CHECKS = {
    getattr(home, name)
    for home in (torch, Tensor)
    for name in ("isnan", "isinf", "isfinite", "isposinf", "isneginf", "isreal")
}
_COMPARISONS = {torch.eq, torch.ne, Tensor.eq, Tensor.ne, Tensor.__eq__, Tensor.__ne__}
_QUESTIONS = {Tensor.__bool__, Tensor.item, Tensor.__int__, Tensor.__float__, Tensor.__index__, Tensor.tolist}
_DEPENDS = "_reluscope_depends"

Line = tuple[str, int]


class KnownAnswers:
    """Answers of one pass to what its code asks of tensors, by the lines that ask."""

    def __init__(self, notes: list[str]) -> None:
        self.notes = notes
        self.answers: defaultdict[Line, deque[Any]] = defaultdict(deque)
        self.taken: list[Line] = []  # where numbers that depend on the input are taken out of tensors

    @contextmanager
    def listening(self, x: Tensor) -> Iterator[None]:
        """Within, keep the answers of a pass that begins at points.

        Raises UnsupportedOperatorError for a branch that depends on the input, with its line.
        """
        setattr(x, _DEPENDS, True)
        with _Listening(self):
            yield

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Within, give the answers that were kept, in their order at each line."""
        with _Answering(self):
            yield


class _Listening(TorchFunctionMode):
    """Follows what depends on the input, and keeps what is asked of everything else."""

    def __init__(self, known: KnownAnswers) -> None:
        super().__init__()
        self._known = known

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        depends = any(_depends(leaf) for leaf in tree_leaves((args, kwargs)))
        if func is Tensor.__bool__ and depends:
            raise _branch(_line())
        result = func(*args, **kwargs)
        if func in _QUESTIONS:
            if depends:
                self._known.taken.append(_line())
            else:
                self._known.answers[_line()].append(result)
        elif depends and _is_number_check(func, args):
            self._known.notes.append(NUMBERS_NOTE)
        elif func is torch.broadcast_tensors:
            for given, made in zip(args, result, strict=True):
                setattr(made, _DEPENDS, _depends(given))
        elif depends:
            written = args[:1] if func is Tensor.__setitem__ else ()
            for leaf in (*tree_leaves(result), *written):
                if isinstance(leaf, Tensor):
                    setattr(leaf, _DEPENDS, True)
        return result


class _Answering(TorchFunctionMode):
    """Answers as the pass before did."""

    def __init__(self, known: KnownAnswers) -> None:
        super().__init__()
        self._known = known

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _QUESTIONS or func is torch._assert:
            kept = self._known.answers.get(_line())
            if kept:
                answer = kept.popleft()
                return None if func is torch._assert else answer
        return func(*args, **kwargs or {})


def _depends(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and getattr(leaf, _DEPENDS, False)


def _is_number_check(func: Any, args: Any) -> bool:
    """Whether a function is known for numbers: a comparison of a tensor with itself tells NaN from them."""
    return func in _NUMBER_CHECKS or (func in _COMPARISONS and len(args) > 1 and args[0] is args[1])


def _line() -> Line:
    """Return the line of a model's own code that is running."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _branch(line: Line) -> UnsupportedOperatorError:
    return UnsupportedOperatorError(
        f"expected a forward pass without branches that depend on the input, but {_shown(line)} has one: write it with "
        "where, maximum or clamp, or leave the check out"
    )


def number_taken(line: Line) -> UnsupportedOperatorError:
    """Return the error for a line that takes a number out of a tensor that depends on the input."""
    return UnsupportedOperatorError(
        f"expected a forward pass that computes with tensors, but {_shown(line)} takes a number out of one that "
        "depends on the input: leave out item, int, float and tolist"
    )


def _shown(line: Line) -> str:
    file, number = line
    code = linecache.getline(file, number).strip()
    return f"line {number} of {Path(file).name}{f', {code!r},' if code else ''}"
