"""A reader for every annotation: what an argument may be, in words, and the function that reads it.

Not read here, because only the function knows what fits: points (`Points`, read with the network's input shape) and
`ArrayLike` (read by `read_array` with the number of axes); of these, only None and text are refused.
"""

import collections.abc
import math
import os
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

from reluscope.arguments.argument_sentences import describe, listed
from reluscope.arguments.number_arguments import ANY, Range, read_number, read_whole
from reluscope.arguments.option_arguments import read_option
from reluscope.errors import InputError, ReluscopeError, ShapeError

Sizes = dict[str, tuple[int, str]]  # length of an axis by its letter, and the argument that fixed it

# Advice where something else came than an instance of a class, by its name; classes of other packages have an `ADVICE`.
_ADVICE = {
    "Network": "open the model with reluscope.load(model)",
    "Partition": "make one with reluscope.partition(network, domain)",
    "Box": "give reluscope.Box(lo, hi)",
    "Budget": "give reluscope.Budget(seconds=60)",
    "Tolerance": "give reluscope.Tolerance(resolution=...)",
    "Codes": "take those of network.codes(x)",
    "Region": "take reluscope.region(network, x)",
}


@dataclass(frozen=True)
class Reader:
    """What one argument may be."""

    phrase: str  # in words, as they stand after "must be"
    read: Callable[[Any, str, Sizes], Any]  # from value, name and axis lengths known so far


class ForEach:
    """Metadata of a budget that is one for each of several things: Annotated[Budget, ForEach()]."""


@dataclass(frozen=True)
class Also:
    """A further reading of an argument, as metadata of an annotation: ``Annotated[Budget, Also(read)]``."""

    read: Callable[[Any, str], Any]  # from the value that its type let through, and its name


def reader_of(annotation: Any, *, has_gaps: bool = False) -> Reader | None:
    """Return the reader of an annotation, None if it allows everything; with gaps, arrays may hold NaN and infinity."""
    origin, members = get_origin(annotation), get_args(annotation)
    if annotation is None or annotation is type(None):
        return _instances_of(type(None), "None")
    if origin is Annotated:
        within = next((one for one in members[1:] if isinstance(one, Range)), ANY)
        reader = _within(members[0], within, has_gaps)
        also = [one for one in members[1:] if isinstance(one, Also)]
        return _and_also(reader or _ANYTHING, also[0]) if also else reader
    if annotation in (int, float):
        return _within(annotation, ANY, has_gaps)
    if annotation is bool:
        return _instances_of((bool, np.bool_), "True or False")
    if annotation is str:
        return _instances_of(str, "text")
    if origin is Literal:
        return Reader(listed([repr(one) for one in members]), lambda value, name, _: read_option(value, name, members))
    if origin in (Union, types.UnionType):
        return _one_of(members, has_gaps)
    if hasattr(annotation, "dims") and hasattr(annotation, "dtypes"):
        return _array(annotation, has_gaps)
    if origin is tuple:
        return _tuple(members, has_gaps)
    if origin in _COLLECTIONS or annotation in _COLLECTIONS:
        return _collection(origin or annotation, members, has_gaps)
    if origin in _MAPPINGS or annotation in _MAPPINGS:
        return _mapping(members, has_gaps)
    if annotation is collections.abc.Callable or origin is collections.abc.Callable:
        return Reader(
            "a function", lambda value, name, _: value if callable(value) else _refuse(value, name, "a function")
        )
    if origin is os.PathLike or annotation is os.PathLike:
        return _instances_of(os.PathLike, "a path")
    kind = origin or annotation
    return _instances_of(kind, f"a {kind.__name__}") if _has_instances(kind) else None


_ANYTHING = Reader("anything", lambda value, name, _: value)
_COLLECTIONS = (
    list,
    collections.abc.Sequence,
    collections.abc.Iterable,
    collections.abc.Collection,
)
_MAPPINGS = (dict, collections.abc.Mapping)


def _refuse(value: Any, name: str, phrase: str, advice: str = "") -> Any:
    raise InputError(f"{name} must be {phrase}, got {describe(value)}" + (f": {advice}" if advice else ""))


def _has_instances(kind: Any) -> bool:
    try:
        isinstance(None, kind)
    except TypeError:
        return False
    return isinstance(kind, type) and kind is not object


def _instances_of(kind: Any, phrase: str) -> Reader:
    advice = _ADVICE.get(getattr(kind, "__name__", ""), getattr(kind, "ADVICE", ""))
    if phrase[2:3].lower() in "aeiou" and phrase.startswith("a "):
        phrase = f"an {phrase[2:]}"

    def read(value: Any, name: str, _: Sizes) -> Any:
        return value if isinstance(value, kind) else _refuse(value, name, phrase, advice)

    return Reader(phrase, read)


def _and_also(reader: Reader, also: Also) -> Reader:
    return Reader(reader.phrase, lambda value, name, sizes: also.read(reader.read(value, name, sizes), name))


def _within(kind: Any, within: Range, has_gaps: bool) -> Reader | None:
    if kind is int:
        return Reader(within.describe("a whole number"), lambda value, name, _: read_whole(value, name, within))
    if kind is float:

        def read(value: Any, name: str, _: Sizes) -> float:
            is_gap = has_gaps and within == ANY and isinstance(value, float) and not math.isfinite(value)
            return value if is_gap else read_number(value, name, within)

        return Reader(within.describe("a number"), read)
    return reader_of(kind, has_gaps=has_gaps)


def _one_of(members: tuple[Any, ...], has_gaps: bool) -> Reader | None:
    """Return the reader of a union: the first member that can read the value does."""
    names = {getattr(one, "__name__", "") for one in members}
    if "_SupportsArray" in str(members) or {"Tensor", "ndarray"} <= names:
        return _data(type(None) in members)
    is_path = any(os.PathLike in (one, get_origin(one)) for one in members)
    others = [one for one in members if not (is_path and (one is str or os.PathLike in (one, get_origin(one))))]
    if is_path and not set(others) - {type(None)}:
        return _path(type(None) in members)
    readers = [reader_of(one, has_gaps=has_gaps) for one in others if one is not type(None)]
    if is_path:
        readers.insert(0, _path(False))
    if any(one is None for one in readers):
        return None
    known = [one for one in readers if one is not None]
    has_none = type(None) in members
    phrase = listed(list(dict.fromkeys(one.phrase for one in known)) + (["None"] if has_none else []))

    def read(value: Any, name: str, sizes: Sizes) -> Any:
        if value is None and has_none:
            return None
        if len(known) == 1:
            return known[0].read(value, name, sizes)
        for one in known:
            try:
                return one.read(value, name, sizes)
            except ReluscopeError:
                continue
        return _refuse(value, name, phrase)

    return Reader(phrase, read)


def _data(has_none: bool) -> Reader:
    """Return the reader of numbers in some array, which the function itself reads with the shape it needs."""
    phrase = "numbers in an array"

    def read(value: Any, name: str, _: Sizes) -> Any:
        if (value is None and not has_none) or isinstance(value, str | bytes):
            _refuse(value, name, phrase)
        return value

    return Reader(phrase, read)


def _path(has_none: bool) -> Reader:
    phrase = "a path"

    def read(value: Any, name: str, _: Sizes) -> Any:
        is_fitting = isinstance(value, str | os.PathLike) and "\0" not in (text := os.fspath(value)) and text
        return value if is_fitting or (value is None and has_none) else _refuse(value, name, phrase)

    return Reader(phrase, read)


def _tuple(members: tuple[Any, ...], has_gaps: bool) -> Reader:
    if not members or members[-1] is Ellipsis:
        return _collection(tuple, members[:1], has_gaps)
    readers = [reader_of(one, has_gaps=has_gaps) for one in members]
    phrase = f"a tuple of {len(members)} {'entry' if len(members) == 1 else 'entries'}"

    def read(value: Any, name: str, sizes: Sizes) -> Any:
        if not _is_sequence(value) or len(value) != len(readers):
            _refuse(value, name, phrase)
        return _same(
            value,
            tuple(
                one if reader is None else reader.read(one, f"{name}[{place}]", sizes)
                for place, (reader, one) in enumerate(zip(readers, value, strict=True))
            ),
        )

    return Reader(phrase, read)


def _collection(kind: Any, members: tuple[Any, ...], has_gaps: bool) -> Reader:
    reader = reader_of(members[0], has_gaps=has_gaps) if members else None
    phrase = "a sequence" if reader is None else f"a sequence, each entry {reader.phrase}"

    def read(value: Any, name: str, _: Sizes) -> Any:
        if kind is collections.abc.Iterable and not _is_sequence(value):
            # An iterator can be gone through once only, so that it is left to the function.
            is_fitting = isinstance(value, collections.abc.Iterable) and not isinstance(value, str | bytes)
            return value if is_fitting else _refuse(value, name, phrase)
        if not _is_sequence(value):
            _refuse(value, name, phrase)
        if reader is None:
            return value
        # Arrays of different lengths may stand in one sequence: no letter is shared between entries.
        entries = [reader.read(one, f"{name}[{place}]", {}) for place, one in enumerate(value)]
        return _same(value, tuple(entries) if kind is tuple or isinstance(value, tuple) else entries)

    return Reader(phrase, read)


def _mapping(members: tuple[Any, ...], has_gaps: bool) -> Reader:
    key_reader, reader = (reader_of(one, has_gaps=has_gaps) for one in members) if members else (None, None)

    def read(value: Any, name: str, _: Sizes) -> Any:
        if not isinstance(value, Mapping):
            _refuse(value, name, "a mapping of names to values")
        for key, one in value.items():
            if key_reader is not None:
                key_reader.read(key, f"a key of {name}", {})
            if reader is not None:
                reader.read(one, f"{name}[{key!r}]", {})
        return value

    return Reader("a mapping of names to values", read)


def _is_sequence(value: Any) -> bool:
    if isinstance(value, str | bytes | Mapping):
        return False
    return isinstance(value, Sequence) or (hasattr(value, "ndim") and value.ndim > 0 and hasattr(value, "__getitem__"))


def _same(value: Any, entries: Any) -> Any:
    """Return the value itself if reading changed nothing in it."""
    if isinstance(value, list | tuple) and all(a is b for a, b in zip(value, entries, strict=True)):
        return value if isinstance(value, type(entries)) else entries
    return entries


def _array(annotation: Any, has_gaps: bool) -> Reader:
    """Return the reader of an array whose shape and kind of numbers jaxtyping declares."""
    dtypes = annotation.dtypes if isinstance(annotation.dtypes, tuple | list) else ()
    has_floats, has_integers, has_booleans = (one in dtypes for one in ("float64", "int64", "bool"))
    letters = annotation.dim_str.split()
    shape = f"({', '.join(letters)}{',' if len(letters) == 1 else ''})"
    noun = (
        "numbers" if has_floats else "whole numbers" if has_integers else "true or false" if has_booleans else "values"
    )
    phrase = f"an array of {noun} {shape}"
    is_tensor = annotation.array_type.__module__.split(".")[0] == "torch"

    def read(value: Any, name: str, sizes: Sizes) -> Any:
        if is_tensor:
            if not isinstance(value, annotation.array_type):
                _refuse(value, name, f"a tensor {shape}")
            _check_shape(tuple(value.shape), letters, name, phrase, sizes)
            return value  # finite or not: networks that diverge are trained beside others
        array = _as_array(value, name, phrase)
        kind = array.dtype.kind
        if dtypes:
            if kind not in "biuf":
                _refuse(value, name, phrase)
            if kind == "f" and not (has_gaps and has_floats) and not np.isfinite(array).all():
                _refuse_infinite(name)
            if not has_floats and kind == "f":
                if not has_integers or (np.floor(array) != array).any():
                    _refuse(value, name, phrase)
                array = array.astype(np.int64)
            elif not has_integers and has_floats and kind != "f":
                array = array.astype(np.float64)
            elif has_integers and kind in "bu":
                array = array.astype(np.int64)
            elif has_booleans and not has_integers and kind != "b":
                _refuse(value, name, phrase)
        _check_shape(array.shape, letters, name, phrase, sizes)
        return array

    return Reader(phrase, read)


def _as_array(value: Any, name: str, phrase: str) -> np.ndarray:
    if value is None or isinstance(value, (str, bytes)):
        _refuse(value, name, phrase)
    elif hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{name} must be {phrase}, got rows that do not fit together") from error


def _refuse_infinite(name: str) -> Any:
    raise InputError(f"{name} must be finite, got NaN or infinite entries: remove or repair them")


def _check_shape(found: tuple[int, ...], letters: list[str], name: str, phrase: str, sizes: Sizes) -> None:
    """Raise unless the shape is the declared one, and axes of one letter are equally long in all arguments."""
    if any(letter.startswith(("...", "*", "#")) for letter in letters):
        return
    if len(found) != len(letters):
        raise ShapeError(f"{name} must be {phrase}, got an array of shape {found}")
    for letter, length in zip(letters, found, strict=True):
        if letter.isdigit() and int(letter) != length:
            raise ShapeError(f"{name} must be {phrase}, got an array of shape {found}")
        if letter.isidentifier() and not letter.startswith("_"):
            first, owner = sizes.setdefault(letter, (length, name))
            if first != length:
                raise ShapeError(
                    f"{name} must fit {owner}, got an axis {letter!r} of length {length} where {owner} has {first}"
                )
