"""Bad values for every kind of argument: wrong type, shape and length, NaN, infinity, empty, out of range, unknown.

A kind is a word, or a word and what belongs to it. ``bad_values(kind, valid)`` lists (label, value) for it, with
lengths and shapes off those of a valid value.
"""

import re

import numpy as np
import torch

import reluscope as rs

NAN, INF = float("nan"), float("inf")


class Stranger:
    """An object of a class that nobody knows."""


STRANGER = ("a stranger", Stranger())
NONE = ("None", None)
TEXT = ("text", "foo")
UNLOADED = [("an nn.Module", torch.nn.Linear(2, 2)), NONE, TEXT, STRANGER]
NO_NUMBER = [TEXT, STRANGER, NONE, ("NaN", NAN), ("a list", [1, 2]), ("a complex number", 1j)]
NO_WHOLE = [*NO_NUMBER, ("a fraction", 1.5), ("infinity", INF), ("True", True)]


def _numbers(extra):
    return [*NO_NUMBER, *((f"{value}", value) for value in extra)]


def _whole(extra):
    return [*NO_WHOLE, *((f"{value}", value) for value in extra)]


def _array(valid, *, may_be_empty=False, may_be_infinite=False):
    array = np.array(valid.detach() if hasattr(valid, "detach") else valid, dtype=float)
    found = [TEXT, STRANGER, NONE, ("text entries", np.full(array.shape, "a")), ("complex", array + 1j)]
    found += [("one axis more", np.stack([array, array])[None]), ("ragged", [[1.0], [1.0, 2.0]])]
    if not may_be_infinite:
        for label, value in (("NaN", NAN), ("infinity", INF)):
            bad = array.copy()
            bad.reshape(-1)[:1] = value
            found.append((label, bad))
    if not may_be_empty:
        found.append(("empty", array[:0]))
    return found


def _wider(valid):
    array = np.array(valid.detach() if hasattr(valid, "detach") else valid, dtype=float)
    return ("one entry more", np.concatenate([array, array[..., :1]], axis=-1))


def _labels(valid, *, classes=True):
    array = np.array(valid)
    found = [TEXT, STRANGER, NONE, ("text entries", array.astype(str)), ("two axes", array[:, None])]
    found += [("one less", array[:-1]), ("one more", np.append(array, 0)), ("empty", array[:0])]
    for value in (0.5, NAN, INF, -1, *((99,) if classes else ())):
        bad = array.astype(float if not isinstance(value, int) else int)
        bad[1] = value
        found.append((f"{value}", bad))
    return found


def _option(valid):
    return [TEXT, ("a number", 3), NONE, STRANGER, ("a list", [valid]), ("empty text", "")]


def _sequence(entries):
    """Sequences in which one entry is bad, and what is no sequence."""
    return [TEXT, STRANGER, NONE, ("a number", 3), *((f"[{label}]", [value]) for label, value in entries)]


def _path_read():
    return [
        NONE,
        ("a number", 3),
        STRANGER,
        ("a missing file", "/nowhere/missing.file"),
        ("a folder", "/"),
        ("empty", ""),
    ]


def bad_values(kind, valid):
    """Return (label, value) of everything that is bad for a kind of argument."""
    word, _, rest = kind.partition(" ")
    if valid is None and word in _ARRAYS:
        valid = np.zeros(6, dtype=int) if word in ("labels", "classes") else np.zeros((6, 2))
    if word in _SIMPLE:
        return _SIMPLE[word](valid)
    if word == "open":  # the ends of a share are not in
        return _numbers([0.0, 1.0, INF])
    if word == "range":  # range whole 1 9, range number 0 1
        form, *ends = rest.split()
        low, high = (float(end) for end in ends)
        extra = [low - 1] * (low > -INF) + [high + 1] * (high < INF)
        extra = [int(one) if form == "whole" else one for one in extra]
        return _whole(extra) if form == "whole" else _numbers([*extra, INF])
    if word == "each":  # a sequence of so many
        inner = bad_values(rest, valid[0] if len(valid) else None)
        return _sequence([one for one in inner if one[0] not in ("empty",)])
    if word == "values":  # a mapping of names to so many
        inner = bad_values(rest, next(iter(valid.values())))
        key = next(iter(valid))
        return [TEXT, STRANGER, NONE, ("a number", 3), *((f"{{{label}}}", {key: value}) for label, value in inner)]
    raise KeyError(f"no such kind: {kind}")


_SIMPLE = {
    "free": lambda valid: [],
    "network": lambda valid: UNLOADED,
    "ours": lambda valid: [NONE, TEXT, STRANGER, ("a number", 3)],
    "samples": lambda valid: [*_array(valid), _wider(valid)],
    "labels": lambda valid: _labels(valid),
    "classes": lambda valid: _labels(valid, classes=False),
    "gate": lambda valid: [
        ("99", 99),
        ("-99", -99),
        TEXT,
        ("a fraction", 0.5),
        STRANGER,
        ("a list", [0]),
        ("NaN", NAN),
    ],
    "outputs": lambda valid: [
        ("[99]", [99]),
        ("[-99]", [-99]),
        ("['a']", ["a"]),
        ("[0.5]", [0.5]),
        ("[NaN]", [NAN]),
        ("[None]", [None]),
        ("empty", []),
        TEXT,
        STRANGER,
        ("a number", 0.5),
    ],
    "domain": lambda valid: [*UNLOADED, ("five dimensions", rs.Box(-1, 1, dim=5)), ("a list", [1, 2])],
    "box": lambda valid: [*UNLOADED, ("five dimensions", rs.Box(-1, 1, dim=5)), ("a space", rs.Space(2))],
    "option": _option,
    "text": lambda valid: [NONE, ("a number", 3), STRANGER],
    "flag": lambda valid: [TEXT, ("2", 2), STRANGER, ("a list", [])],
    "count": lambda valid: _whole([0, -5]),
    "natural": lambda valid: _whole([-1]),
    "whole": lambda valid: _whole([]),
    "index": lambda valid: _whole([99, -99]),
    "seed": lambda valid: _whole([-1]),
    "positive": lambda valid: _numbers([0.0, -1.0, INF]),
    "ratio": lambda valid: _numbers([0.0, -1.0]),
    "nonnegative": lambda valid: _numbers([-1.0, INF]),
    "share": lambda valid: _numbers([-0.1, 1.1, INF]),
    "number": lambda valid: _numbers([INF]),
    "seconds": lambda valid: _numbers([-1.0]),
    "tolerance": lambda valid: [("a number", 1e-9), TEXT, STRANGER],
    "budget": lambda valid: [TEXT, STRANGER, ("-5", -5), ("a fraction", 1.5), ("True", True), ("NaN", NAN)],
    "executor": lambda valid: [TEXT, ("a number", 4), STRANGER],
    "function": lambda valid: [TEXT, ("a number", 3), NONE],
    "axes": lambda valid: [TEXT, ("a number", 3), STRANGER],
    "array": lambda valid: _array(valid),
    "points": lambda valid: [
        *(one for one in _array(valid, may_be_empty=True) if one[0] not in ("one axis more", "infinity")),
        _wider(valid),
    ],
    "order": lambda valid: [one for one in _whole([-1]) if one[0] != "a list"],
    "widths": lambda valid: [one for one in bad_values("each count", valid) if one[0] != "[a list]"],
    "ends": lambda valid: [
        TEXT,
        STRANGER,
        ("a number", 3.0),
        ("one", (1.0,)),
        ("NaN", (NAN, 1.0)),
        ("text", ("a", "b")),
    ],
    "numbers": lambda valid: [TEXT, STRANGER, NONE, ("fractions", np.array(valid) + 0.5), ("text", ["a", "b"])],
    "output_of": lambda valid: [("99", 99), ("-99", -99), TEXT, STRANGER, ("a fraction", 0.5), ("three", (0, 1, 2))],
    "color": lambda valid: [("a number", 3), STRANGER, TEXT, ("short", np.zeros(1))],
    "fade": lambda valid: _numbers([-0.5, 1.5]),
    "color_name": lambda valid: [("a number", 3), STRANGER, ("no colour", "no such colour")],
    "maps": lambda valid: [TEXT, STRANGER, NONE, ("ragged", [[1.0], [1.0, 2.0]])],
    "parts": lambda valid: [one for one in bad_values("each each ours", valid) if one[0] != "[[None]]"],
    "band": lambda valid: [
        TEXT,
        STRANGER,
        ("one", (0.5,)),
        ("NaN", (NAN, 0.5)),
        ("above 1", (0.5, 2.0)),
        ("text", ("a", "b")),
    ],
    "grid": lambda valid: [one for one in [*_array(valid, may_be_empty=True), _wider(valid)] if one[0] != "infinity"],
    "gaps": lambda valid: _array(valid, may_be_empty=True, may_be_infinite=True),
    "list": lambda valid: _array(valid, may_be_empty=True),
    "vector": lambda valid: [*_array(valid), _wider(valid)],
    "names": lambda valid: (
        [("a number", 3), STRANGER, ("numbers", [1] * len(valid)), ("one more", [*valid, "more"])]
        if valid
        else [("a number", 3), STRANGER]
    ),
    "texts": lambda valid: [("a number", 3), STRANGER, ("numbers", [1, 2])],
    "mapping": lambda valid: [
        NONE,
        TEXT,
        STRANGER,
        ("a number", 3),
        ("a wrong value", dict.fromkeys(valid or {"a": 1}, Stranger())),
    ],
    "shape": lambda valid: [TEXT, STRANGER, ("fractions", [1.5, 2.0]), ("negative", [-1, -2]), ("too many", [99, 99])],
    "read": lambda valid: _path_read(),
    "write": lambda valid: [
        NONE,
        ("a number", 3),
        STRANGER,
        ("a folder that is not", "/dev/null/at/all.file"),
        ("empty", ""),
    ],
    "rows": lambda valid: [("99", [99]), ("-99", [-99]), TEXT, STRANGER, NONE, ("fractions", [0.5]), ("text", ["a"])],
    "places": lambda valid: [
        TEXT,
        STRANGER,
        NONE,
        ("99", [99]),
        ("-1", [-1]),
        ("fractions", [0.5]),
        ("two axes", [[0]]),
    ],
    "classes_of_units": lambda valid: [
        *_array(valid),
        ("fractions", valid + 0.5),
        ("-1", valid - 1),
        ("99", valid + 99),
    ],
    "planes": lambda valid: [
        TEXT,
        STRANGER,
        NONE,
        ("numbers", valid + 0.5),
        ("bits past the end", valid + 255),
        ("flat", valid[0]),
    ],
    "tensor": lambda valid: [
        TEXT,
        STRANGER,
        NONE,
        ("wide", torch.zeros(3, 5).double()),
        ("an array", np.zeros((1, 7))),
    ],
    "window": lambda valid: [
        TEXT,
        STRANGER,
        ("a number", 3),
        ("NaN", [[NAN, 1.0], [0.0, 1.0]]),
        ("short", [[0.0, 1.0]]),
    ],
    "part": lambda valid: [NONE, TEXT, STRANGER, ("a number", 3)],
    "batch": lambda valid: [NONE, TEXT, STRANGER, ("a number", 3), ("empty", []), _wider(valid)],
    "model": lambda valid: [
        NONE,
        STRANGER,
        ("a number", 3),
        ("a list", [1, 2]),
        ("empty", []),
        ("a file", "/nowhere/x.onnx"),
    ],
    "layers": lambda valid: [
        *(one for one in UNLOADED if one[0] != "an nn.Module"),
        ("empty", []),
        ("numbers", [1, 2]),
        ("one", valid[:1]),
        ("NaN", [(np.full_like(valid[0][0], NAN), valid[0][1]), *valid[1:]]),
        ("wrong shapes", [valid[1], valid[0]]),
    ],
    "architecture": lambda valid: [
        *UNLOADED,
        ("a fraction", [2, 1.5]),
        ("empty", []),
        ("-1", [2, -1]),
        ("text", ["a"]),
    ],
    "bits": lambda valid: [
        STRANGER,
        NONE,
        ("two", [2, 2]),
        ("fractions", [0.5, 0.5]),
        ("text", "foo"),
        ("three", [0, 1, 1]),
    ],
    "formula": lambda valid: [
        STRANGER,
        NONE,
        ("a number", 3),
        ("broken", "x1 &"),
        ("a call", "open(1)"),
        ("empty", ""),
    ],
    "direction": lambda valid: [
        TEXT,
        STRANGER,
        NONE,
        ("one more", [1, 1, 1]),
        ("NaN", [NAN, 1]),
        ("empty", []),
        ("a number", 3),
    ],
    "other": lambda valid: [one for one in UNLOADED if one[0] != "an nn.Module"],
    "targets": lambda valid: [
        one for one in [*_array(valid), ("one less", np.array(valid)[:-1])] if one[0] not in ("one axis more",)
    ],
    "chosen": lambda valid: [one for one in _labels(valid) if one[0] not in ("one less", "one more", "empty")],
    "features": lambda valid: [*_array(valid), _wider(valid)],
    "layer_of": lambda valid: [
        *(one for one in UNLOADED if one[0] != "an nn.Module"),
        ("one entry", (valid[0],)),
        ("numbers", (1, 2)),
        ("NaN", (np.full_like(valid[0], NAN), valid[1])),
        ("wrong shapes", (valid[0], valid[1][:-1])),
    ],
    "matrix": lambda valid: _array(valid),
    "corner": lambda valid: [*_array(valid), _wider(valid), ("on a line", [2.0, 0.0])],
    "pair": lambda valid: [
        NONE,
        TEXT,
        STRANGER,
        ("one", ("a",)),
        ("unknown", ("a", "foo")),
        ("99", (0, 99)),
        ("a number", 1),
    ],
    "mask": lambda valid: [
        TEXT,
        STRANGER,
        NONE,
        ("one more", [*valid, True]),
        ("halves", [0.5] * len(valid)),
        ("empty", []),
    ],
    "rationals": lambda valid: [TEXT, STRANGER, NONE, ("text entries", ["a", "b"]), ("empty", []), ("a number", 1.5)],
    "rational": lambda valid: [TEXT, STRANGER, NONE, ("NaN", NAN)],
    "device": lambda valid: [TEXT, ("a number", 3.5), STRANGER, NONE],
}

_ARRAYS = ("samples", "labels", "classes", "array", "gaps", "list", "points", "vector", "grid", "features")
_SENTENCE = re.compile(r"[.!?]\s+[A-Z]")


def is_one_sentence(text):
    """Return whether a message is one sentence of a readable length."""
    return 10 <= len(text) <= 600 and "\n" not in text and not _SENTENCE.search(text)
