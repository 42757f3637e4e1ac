"""Reading ``.pt2`` files without running what is in them.

``torch.export.load`` unpickles: tensors marked so, custom objects, and example inputs that are not plain tensors; and
it evaluates symbolic sizes as Python expressions. A file that would lead it there is refused before it is loaded.

Readers of archives disagree on members of one name, and ``torch.export.load`` turns to an older format, which it does
unpickle, where the newer one fails. PyTorch is therefore given another archive, of the members that were inspected.
"""

import ast
import io
import json
import logging
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram

from reluscope.errors import InputError
from reluscope.files.numpy_files import open_member

_SYMBOL = re.compile(r"[a-z]{1,8}_?\d+")
_PARTS = (ast.Expression, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.operator, ast.unaryop, ast.cmpop)
_PARTS = (*_PARTS, ast.Name, ast.Load, ast.Call, ast.keyword)
_FUNCTIONS = {
    *("Symbol", "Integer", "Rational", "Float", "Add", "Mul", "Pow", "Max", "Min", "Mod", "PythonMod", "FloorDiv"),
    *("CeilDiv", "CleanDiv", "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "Equality", "Unequality", "LessThan", "GreaterThan"),
    *("StrictLessThan", "StrictGreaterThan", "FloorToInt", "CeilToInt", "ToFloat", "floor", "ceiling"),
    *("oo", "int_oo", "IntInfinity", "NegativeIntInfinity", "true", "false"),
}


def read_program(path: Path) -> ExportedProgram:
    """Read an exported program that ``torch.export.save`` wrote.

    Raises InputError if the file is damaged, or loading it would run code that it contains.
    """
    members = _inspected(path.name, path.read_bytes())
    log = logging.getLogger("torch.export")
    was_disabled, log.disabled = log.disabled, True  # it would print where it failed
    try:
        return torch.export.load(_packed(members))
    except Exception as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(
            f"expected a program that this PyTorch ({torch.__version__}) can read, but {path.name} fails with "
            f"{first!r}: export the model again"
        ) from error
    finally:
        log.disabled = was_disabled


def _packed(members: Mapping[str, bytes]) -> io.BytesIO:
    """Return an archive of members in one folder, as PyTorch writes it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for member, entry in members.items():
            archive.writestr(zipfile.ZipInfo(f"archive/{member}"), entry)
    file.seek(0)
    return file


def _inspected(name: str, content: bytes) -> dict[str, bytes]:
    """Return the members of an archive, without their folder, unless it holds more than plain tensors and sizes."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            folders = {member: _read_member(archive, member) for member in names}
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError, ValueError, zlib.error) as error:
        raise InputError(f"expected a complete .pt2 file, but {name} is truncated or no archive: {error}") from error
    members = {member.partition("/")[2]: entry for member, entry in folders.items()}
    # PyTorch's reader finds members whatever their case.
    if len({member.lower() for member in members}) < len(names) or len({one.split("/")[0] for one in names}) > 1:
        raise InputError(
            f"expected a complete .pt2 file, one folder of members of different names, but {name} is another archive: "
            "save it again with torch.export.save of PyTorch 2.8 or newer"
        )
    of_models = re.compile(r"models/.*\.json", re.IGNORECASE | re.DOTALL)
    models = [member for member in members if of_models.fullmatch(member)]
    if len(models) != 1:
        raise InputError(
            f"expected a complete .pt2 file with one exported program, got {len(models)} in {name}: save it again "
            "with torch.export.save of PyTorch 2.8 or newer"
        )
    for member, entry in ((member.lower(), entry) for member, entry in members.items()):
        if member.endswith("_config.json"):
            _inspect_payloads(name, member, _parsed(name, entry))
        elif member.startswith(("data/sample_inputs/", "data/weights/", "data/constants/")) and member.endswith(".pt"):
            _inspect_pickle(name, member, entry)
        elif member.startswith("data/aotinductor/") or member.endswith((".so", ".py")):
            raise _refusal(name, f"compiled or Python code ({member})")
    try:
        expressions = _expressions(_parsed(name, members[models[0]]))
    except RecursionError as error:
        raise _damaged(name, error) from error
    for expression in expressions:
        _inspect_expression(name, expression)
    return members


def _read_member(archive: zipfile.ZipFile, member: str) -> bytes:
    with open_member(archive, member) as file:
        return file.read()


def _parsed(name: str, entry: bytes) -> Any:
    try:
        return json.loads(entry)
    except (ValueError, RecursionError) as error:
        raise _damaged(name, error) from error


def _damaged(name: str, error: Exception) -> InputError:
    return InputError(f"expected a complete .pt2 file, but {name} is damaged ({error}): export the model again")


def _inspect_payloads(name: str, member: str, config: Any) -> None:
    try:
        payloads = [
            (entry, payload, str(payload.get("path_name", ""))) for entry, payload in config.get("config", {}).items()
        ]
    except (AttributeError, TypeError) as error:
        raise _damaged(name, error) from error
    for entry, payload, path in payloads:
        if payload.get("use_pickle") or not path.startswith(("weight_", "tensor_")):
            raise _refusal(name, f"a pickled object ({entry} in {member})")


def _inspect_pickle(name: str, member: str, entry: bytes) -> None:
    """Accept a pickle only if PyTorch's restricted reader, which runs nothing, can read it."""
    if not entry:
        return
    try:
        torch.load(io.BytesIO(entry), weights_only=True)
    except Exception as error:
        raise _refusal(name, f"a pickle of more than tensors ({member})") from error


def _inspect_expression(name: str, expression: str) -> None:
    """Accept sums, products, comparisons and known functions of symbols and numbers."""
    try:
        parts = list(ast.walk(ast.parse(expression, mode="eval")))
    except (SyntaxError, ValueError, RecursionError):
        parts = [ast.Pass()]
    for part in parts:
        plain = isinstance(part, _PARTS)
        if isinstance(part, ast.Name):
            plain = part.id in _FUNCTIONS or _SYMBOL.fullmatch(part.id) is not None
        elif isinstance(part, ast.Call):
            plain = isinstance(part.func, ast.Name) and part.func.id in _FUNCTIONS
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            plain = _SYMBOL.fullmatch(part.value) is not None
        if not plain:
            raise _refusal(name, f"a size that is no plain expression ({expression[:60]!r})")


def _expressions(tree: Any) -> list[str]:
    """Return every symbolic expression in a program's description."""
    if isinstance(tree, dict):
        found = [str(entry) for key, entry in tree.items() if key == "expr_str"]
        return found + [text for entry in tree.values() for text in _expressions(entry)]
    if isinstance(tree, list):
        return [text for entry in tree for text in _expressions(entry)]
    return []


def _refusal(name: str, what: str) -> InputError:
    return InputError(
        f"expected a .pt2 file of tensors and operators, but {name} holds {what}, and reading it could run any code: "
        "export the model without custom objects"
    )
