"""Annotations of reluscope checked at calls: beartype reads them, jaxtyping knows the shapes (see conftest).

What jaxtyping's own hook does, done once: parameters are checked once in a call and not again with its result, a
function is prepared when it is first called, and letters of axes are read when an annotation is first met. Nearly all
calls are right, and to see that took half of the time of all tests.
"""

import ast
import functools
import importlib.machinery
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import is_dataclass
from importlib.abc import MetaPathFinder
from importlib.util import cache_from_source
from types import CodeType, FunctionType
from typing import Any, Self, get_type_hints
from unittest.mock import patch

from beartype import BeartypeConf, FrozenDict, beartype
from beartype.roar import BeartypeDecorHintException
from jaxtyping import Shaped, TypeCheckError, jaxtyped
from jaxtyping._storage import get_shape_memo, pop_shape_memo, push_shape_memo, shape_str

_decorate = beartype(
    conf=BeartypeConf(
        # An int is a float and a complex number, as for static type checkers; numpy's ArrayLike relies on it.
        is_pep484_tower=True,
        # Methods are decorated one by one, where beartype cannot know which class `Self` stands for.
        hint_overrides=FrozenDict({Self: Any}),
        # A TypeError, as the library expects where it reads what may be anything.
        violation_type=TypeCheckError,
    )
)


class Calls:
    """Of which test the calls are that are counted: within one, most calls of a function are alike."""

    test = 0
    # So many of each function are checked, and then one of so many.
    first, each = 8, 32


# How often a function was prepared, by its code: one within another function is made anew at each call of that.
_prepared: Counter[CodeType] = Counter()


def check_calls(modules: Collection[str]) -> None:
    """Check the annotations of all functions and dataclasses of modules that are not yet imported."""
    sys.meta_path.insert(0, _Finder(frozenset(modules)))


def check(target: Any) -> Any:
    """Check the annotations of a function, or of what makes a dataclass, at calls: all of them but in a test's loops.

    Letters of shapes stand for one number each from the parameters of a call to its result.
    """
    if isinstance(target, type):
        if is_dataclass(target) and not hasattr(target.__init__, "__checked__"):
            target.__init__ = check(target.__init__)
        return target
    if inspect.isgeneratorfunction(target):  # beartype would check what it yields, too, when the call is long over
        return jaxtyped(target, typechecker=_checked)
    checked: Callable | None = None
    test, calls = -1, 0

    @functools.wraps(target)
    def checking(*args: Any, **kwargs: Any) -> Any:
        nonlocal checked, test, calls
        if test != Calls.test:
            test, calls = Calls.test, 0
        calls += 1
        if calls > Calls.first and calls % Calls.each:
            return target(*args, **kwargs)
        if checked is None:
            _prepared[target.__code__] += 1
            is_due = _prepared[target.__code__] <= Calls.first or _prepared[target.__code__] % Calls.each == 0
            checked = _checked(_resolved(target)) if is_due else target
        memos = push_shape_memo({})
        try:
            return checked(*args, **kwargs)
        except TypeCheckError as error:
            if not hasattr(error, "__notes__"):  # not yet that of a call within
                error.add_note(shape_str(memos))
            raise
        finally:
            pop_shape_memo()

    checking.__checked__ = True
    return checking


def _checked(function: Any) -> Callable:
    """Return the function with checks, or as it is where an annotation is for static checkers alone."""
    try:
        return _decorate(function)
    except BeartypeDecorHintException:  # for instance a Protocol that is not runtime_checkable
        return function


def _resolved(function: Any) -> FunctionType:
    """Return a copy whose annotations are types; those of modules that are imported for static checkers are ``Any``."""

    def hint_of(annotation: Any) -> Any:
        def one(value):
            del value

        one.__annotations__ = {"value": annotation}
        try:
            return get_type_hints(one, function.__globals__, include_extras=True)["value"]
        except Exception:  # whatever the expression in a string raises
            return Any

    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    copy.__annotations__ = {name: hint_of(annotation) for name, annotation in function.__annotations__.items()}
    return copy


_Arrays: Any = type(Shaped[Any, ""])
_read_anew = _Arrays.__instancecheck__
# Of each annotation: for every axis its letter, its length or, where it may have any, nothing; None where there is more
# to it. And of each annotation with a type of numbers, whether they fit.
_axes: dict[Any, tuple[str | int | None, ...] | None] = {}
_fits: dict[Any, bool] = {}


def _is_instance(kind: Any, value: Any) -> bool:
    """Return what jaxtyping says, which reads an annotation anew each time, be it as plain as letters and numbers."""
    try:
        axes = _axes[kind]
    except KeyError:
        axes = _axes[kind] = _plain_axes(kind)
    if axes is None:
        return _read_anew(kind, value)
    if not isinstance(value, kind.array_type):
        return False
    shape, dtype = value.shape, value.dtype
    if len(shape) != len(axes):
        return False
    try:
        fits = _fits[kind, dtype]
    except KeyError:
        fits = _fits[kind, dtype] = _read_anew(kind.dtype[kind.array_type, "..."], value)
    if not fits:
        return False
    known = get_shape_memo()[0]
    new = {}
    for axis, length in zip(axes, shape):  # noqa: B905, as long as each other: strict=True would cost a tenth of it all
        if axis is None:
            continue
        expected = axis if type(axis) is int else known.get(axis, new.get(axis))
        if expected is None:
            new[axis] = length
        elif expected != length:
            return False
    known.update(new)
    return True


def _plain_axes(kind: Any) -> tuple[str | int | None, ...] | None:
    axes = kind.dim_str.split()
    if not isinstance(kind.array_type, type) or not all(axis.isidentifier() or axis.isdecimal() for axis in axes):
        return None
    return tuple(int(axis) if axis.isdecimal() else None if axis.startswith("_") else axis for axis in axes)


_Arrays.__instancecheck__ = _is_instance


class _Finder(MetaPathFinder):
    def __init__(self, modules: frozenset[str]):
        self.modules = modules

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in self.modules:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(fullname, spec.origin)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Puts ``check`` next to every function, and above all other decorators of a class, to see what they return."""

    def source_to_code(self, data, path, *, _optimize=-1):
        tree = ast.parse(data, path)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node.decorator_list.append(_decorator(node))
            elif isinstance(node, ast.ClassDef):
                node.decorator_list.insert(0, _decorator(node))
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    def exec_module(self, module):
        vars(module)["__check_annotations__"] = check
        # Compiled code of its own, which tells it from that of the module as others import it.
        with patch(
            "importlib._bootstrap_external.cache_from_source",
            functools.partial(cache_from_source, optimization="checked"),
        ):
            super().exec_module(module)


def _decorator(node: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name("__check_annotations__", ast.Load()), node)
