"""Budget, executor, progress and tolerance go down as one `Effort`; public functions alone have them one by one."""

import ast
from pathlib import Path

import reluscope

PACKAGE = Path(reluscope.__file__).parent
ROOMS = ("analyses", "regions", "partitions", "explorer", "report", "cli")
PARTS = {"budget", "executor", "progress", "tolerance"}
# Functions with these decorators read arguments, or say which there are.
READERS = {"read_arguments", "read_drawn", "overload"}


def split_efforts(source: str) -> list[str]:
    """Return the functions that are no readers of arguments and take several parts of an effort."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and not READERS & {ast.unparse(one) for one in node.decorator_list}:
            names = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
            if len(PARTS & names) > 1:
                found.append(node.name)
    return found


def test_private_functions_take_an_effort():
    for room in ROOMS:
        for path in (PACKAGE / room).rglob("*.py"):
            assert split_efforts(path.read_text(encoding="utf-8")) == [], path


def test_split_efforts_are_seen():
    own = "def _own(network, *, budget, progress): ..."
    assert split_efforts(own) == ["_own"]
    assert split_efforts("@read_arguments\n" + own) == split_efforts("def _own(network, effort, seed): ...") == []
