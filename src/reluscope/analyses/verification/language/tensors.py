"""Networks as VNN-LIB 2.0 declares them: tensors of inputs and outputs, whose entries are the variables."""

import re
from collections.abc import Mapping
from itertools import product
from math import prod

from reluscope.analyses.verification.language.expressions import Expression, Listed, Word, shown
from reluscope.errors import InputError

TYPES = ("real", "float16", "bfloat16", "float32", "float64")
# Entries of a tensor.
MAX_ENTRIES = 1_000_000
_NAME = re.compile(r"[A-Za-z]\w*")
_SHAPE = re.compile(r"\[(\d{1,9}(,\d{1,9})*)?\]")
_BLANKS = re.compile(r"(?<=[\[,\d])[^\S\n]+(?=[\],\d])")
_BRACKETS = re.compile(r"\[[^\[\]\n]*\]")


def without_blanks(text: str) -> str:
    """Return a text without the blanks in brackets, so that ``X[0, 1]`` is one word."""
    return _BRACKETS.sub(lambda found: _BLANKS.sub("", found[0]), text)


def entries(command: Listed) -> dict[str, str]:
    """Return the entries of a network's input and output, with their names in VNN-LIB 1.0.

    Anything but one input and one output raises InputError with the line.
    """
    found: dict[str, str] = {}
    letters: list[str] = []
    for part in command.parts[2:]:
        words = [one.text if isinstance(one, Word) else "" for one in part.parts] if isinstance(part, Listed) else []
        match words:
            case ["declare-input" | "declare-output" as kind, name, type_, shape]:
                letter = "X" if kind == "declare-input" else "Y"
                if letter in letters:
                    raise InputError(f"line {part.line}: expected a network of one input and one output, got more")
                letters.append(letter)
                sizes = _sizes(name, type_, shape, part.line)
                if any(word.partition("[")[0] == name for word in found):
                    raise InputError(f"line {part.line}: expected each variable once, got {name} again")
                for place, index in enumerate(product(*map(range, sizes))):
                    found[f"{name}[{','.join(map(str, index))}]" if sizes else name] = f"{letter}_{place}"
                if not sizes:
                    found[f"{name}[0]"] = f"{letter}_0"
            case _:
                raise InputError(
                    f"line {part.line}: expected (declare-input NAME TYPE [SHAPE]) and (declare-output NAME TYPE "
                    f"[SHAPE]) alone, got {shown(words)}"
                )
    if sorted(letters) != ["X", "Y"]:
        raise InputError(f"line {command.line}: expected a network of one input and one output, got fewer")
    return found


def _sizes(name: str, type_: str, shape: str, line: int) -> list[int]:
    """Return the sizes of a tensor."""
    if not _NAME.fullmatch(name):
        raise InputError(f"line {line}: expected a name, got {name[:40]!r}")
    if type_.lower() not in TYPES:
        raise InputError(f"line {line}: expected one of the types {', '.join(TYPES)}, got {type_[:40]!r}")
    if not _SHAPE.fullmatch(shape):
        raise InputError(f"line {line}: expected a shape such as [1,5], got {shape[:40]!r}")
    sizes = [int(size) for size in shape[1:-1].split(",") if size]
    if not 0 < prod(sizes) <= MAX_ENTRIES:
        raise InputError(f"line {line}: expected a shape of 1 to {MAX_ENTRIES:,} entries, got {shape[:40]}")
    return sizes


def renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """Return an expression with other names of its variables."""
    if isinstance(expression, Word):
        return expression._replace(text=names.get(expression.text, expression.text))
    return Listed([renamed(part, names) for part in expression.parts], expression.line)
