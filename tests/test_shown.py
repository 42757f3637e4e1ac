"""What users meet prints as one line, however many numbers it holds."""

import dataclasses
import inspect

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.shown import one_line


def public_classes():
    """Return the public classes, and those that public functions return."""
    found, modules = {}, [rs]
    while modules:
        module = modules.pop()
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                modules.append(thing)
            elif inspect.isclass(thing):
                found[thing] = name
            elif callable(thing):
                kinds = [returned(inspect.unwrap(thing))]
                while kinds:
                    kind = kinds.pop()
                    kinds += getattr(kind, "__args__", ()) or ()
                    if inspect.isclass(kind) and kind.__module__.startswith("reluscope"):
                        found[kind] = name
    return found


def returned(function):
    hint = getattr(function, "__annotations__", {}).get("return")
    # A name in quotes may be one that is imported for type checkers alone.
    return vars(inspect.getmodule(function)).get(hint) if isinstance(hint, str) else hint


def holds_arrays(kind: type) -> bool:
    hints = map(str, getattr(kind, "__annotations__", {}).values())
    return any("ndarray" in hint or "Tensor" in hint or "Float[" in hint for hint in hints)


def test_no_public_class_with_arrays_prints_them_all():
    classes = [kind for kind in public_classes() if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")]
    with_arrays = [kind for kind in classes if holds_arrays(kind)]
    assert len(with_arrays) > 40
    for kind in with_arrays:
        owner = next(base for base in kind.__mro__ if "__repr__" in vars(base))
        code = getattr(inspect.unwrap(vars(owner)["__repr__"]), "__code__", None)
        # Those that dataclasses and named tuples are given come from no file of ours.
        is_own = code is not None and "reluscope" in code.co_filename
        assert is_own, f"{kind.__name__} prints all its numbers: see reluscope.shown"


def test_objects_of_a_wide_network_print_as_one_short_line():
    generator = np.random.default_rng(0)
    net = rs.load([(generator.normal(size=(64, 50)), np.zeros(64)), (np.ones((3, 64)), np.zeros(3))])
    x = np.ones((2, 50))
    region = rs.region(net, x[:1])
    things = [region, region.polyhedron, region.map, net.at(x), rs.Box(0, 1, 50)]
    things += [rs.datasets.digits(), rs.Plane(*np.eye(3, 50))]
    for thing in things:
        text = repr(thing)
        assert "\n" not in text
        assert len(text) < 300
        assert text.startswith(type(thing).__name__ + "(")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([0.5, 1 / 3]), "[0.5, 0.333333]"),
        (np.zeros(0), "[]"),
        (np.arange(5), "int64 (5,)"),
        (np.zeros((1, 2)), "float64 (1, 2)"),
        (torch.zeros(2, 3, dtype=torch.float64), "float64 (2, 3)"),
        (np.float64(0.1), "0.1"),
        ((np.zeros(9),), "1 item"),
        ((1, 2), "(1, 2)"),
        (["x" * 40, "y" * 40], "2 items"),
        ("z" * 100, repr("z" * 100)[:57] + "..."),
        (None, "None"),
    ],
)
def test_values(value, text):
    from typing import NamedTuple

    class One(NamedTuple):
        it: object

    assert one_line(One(value)) == f"One(it={text})"
