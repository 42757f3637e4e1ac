"""Imports go down only: the floors in their order, and the rooms of a floor as CONTRIBUTING.md lists them.

Every import statement in the source counts, in functions and for annotations too.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "reluscope"

# From the bottom up. Root modules (findings, progress, ...) are below all of these but the readers of arguments, and
# import of ours what stands here; `effort` puts those of the second line together.
BELOW_ROOT = ("arguments", "errors", "markup", "stopping", "time_limits")
EFFORT = ("budget", "progress", "tolerance")
LAYERS = (
    "arguments",
    "findings",
    "files",
    "geometry",
    "codes",
    "networks",
    "regions",
    "partitions",
    "checking",  # shares nothing with what it checks but the nodes of a network
    "datasets",
    "analyses",
    "plots",
    "studies",
    "explorer",
    "report",
    "cli",
    "extending",
    "testing",  # strategies and oracles for users' tests may use everything; nothing may use them
)


MOST_MODULES = 25


@cache
def rooms():
    """Return the rooms of CONTRIBUTING.md with the rooms of their floor that they may import."""
    text = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Rooms")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w/]+)` \| (.+) \| (.*) \|$", text, re.MULTILINE)
    assert all(sentence.endswith(".") for _, sentence, _ in rows)
    floors = {room: room.split("/")[0] for room, _, _ in rows}
    return {
        room: {name if name == floors[room] else f"{floors[room]}/{name}" for name in re.findall(r"`([\w/]+)`", names)}
        for room, _, names in rows
    }


def room_of(name):
    """Return the room of a dotted module, or of what is imported from it."""
    parts = name.split(".")[1:]
    while len(parts) > 1 and not (PACKAGE.joinpath(*parts[:-1], f"{parts[-1]}.py")).is_file():
        if (PACKAGE.joinpath(*parts)).is_dir():
            return "/".join(parts)
        parts = parts[:-1]
    return "/".join(parts[:-1] or parts)


def imports_of_other_rooms(source, module):
    """Return one sentence per import of a room of the same floor that CONTRIBUTING.md does not allow."""
    own = room_of(module)
    found = []
    for line, name in imported_modules(source, module, is_package=False):
        other = room_of(name)
        if other != own and other.split("/")[0] == own.split("/")[0] and other not in rooms().get(own, ()):
            found.append(f"{module}:{line}: `{own}` may not import `{other}` ({name})")
    return found


@cache
def imported_modules(source, module, is_package):
    """Return (line, absolute name) of everything of reluscope that a source imports, inside functions too."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            origin = ".".join(part for part in (base, node.module) if part)
            # `from reluscope import geometry` imports reluscope.geometry.
            names = [f"{origin}.{alias.name}" for alias in node.names] if origin == "reluscope" else [origin]
        else:
            continue
        found += [(node.lineno, name) for name in names if name.split(".")[0] == "reluscope"]
    return found


def violations(source, module, is_package=False):
    """Return one sentence per import of the module that does not go down."""
    if module == "reluscope":
        return []  # the lazy public face
    own = module.split(".")[1]
    if module == "reluscope.__main__":
        own = "cli"
    found = []
    for line, name in imported_modules(source, module, is_package):
        target = name.split(".")[1] if "." in name else ""
        if target == own or (own, name) == ("testing", "reluscope"):
            continue  # what users test with may use the public face
        if own not in LAYERS and target not in (*BELOW_ROOT, *(EFFORT if own == "effort" else ())):
            found.append(f"{module}:{line} is a root module and imports {name}")
        elif target not in LAYERS and not list(PACKAGE.glob(f"{target}.py*")):
            found.append(f"{module}:{line} imports {name}, which is no layer and no root module")
        elif own in LAYERS and target in LAYERS and LAYERS.index(target) > LAYERS.index(own):
            found.append(f"{module}:{line} imports {name}, which is above {own}")
    return found


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        yield path, ".".join(parts[:-1] if is_package else parts), is_package


def test_imports_go_down_only():
    assert not [
        found
        for path, module, is_package in modules()
        for found in violations(path.read_text(encoding="utf-8"), module, is_package)
    ]


def test_rooms_import_what_they_may():
    assert not [
        found
        for path, module, is_package in modules()
        if not is_package  # faces of floors name what lies below them
        for found in imports_of_other_rooms(path.read_text(encoding="utf-8"), module)
    ]


def test_every_room_is_listed_and_small():
    folders = {path.parent for path in PACKAGE.rglob("*.py")} - {PACKAGE}
    assert {folder.relative_to(PACKAGE).as_posix() for folder in folders} == set(rooms())
    assert not [folder for folder in folders if len([*folder.glob("*.py")]) - 1 > MOST_MODULES]


def test_rooms_go_in_no_circles():
    left = dict(rooms())
    while free := {room for room, below in left.items() if not below & set(left)}:
        left = {room: below for room, below in left.items() if room not in free}
    assert not left


def test_a_room_that_may_not_be_imported_is_seen():
    source = "if TYPE_CHECKING:\n    from reluscope.networks.network import Network"
    assert len(imports_of_other_rooms(source, "reluscope.networks.passes.stages")) == 1
    assert not imports_of_other_rooms(source, "reluscope.networks.building.core")


def test_nothing_imports_the_studies():
    named = [module for path, module, _ in modules() if "reluscope_studies" in path.read_text(encoding="utf-8")]
    assert named == ["reluscope.moved_names"]


def test_every_package_is_a_layer():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages <= set(LAYERS)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("reluscope.geometry.polyhedra.domains", "from reluscope.networks import Network"),
        ("reluscope.geometry.polyhedra.domains", "def f():\n    import reluscope.codes.packed as packed"),
        ("reluscope.codes.packed", "from ..networks.graph import Node"),
        ("reluscope.codes.packed", "from .. import partitions"),
        ("reluscope.codes.packed", "from reluscope import load"),
        ("reluscope.findings", "from reluscope.geometry import Box"),
        ("reluscope.citations", "from . import progress"),
        ("reluscope.networks.graph.nodes", "if TYPE_CHECKING:\n    from reluscope.regions import Region"),
        ("reluscope.cli", "from reluscope.testing import strategies"),
    ],
)
def test_an_import_upwards_is_seen(module, source):
    assert len(violations(source, module, is_package=module == "reluscope.cli")) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("reluscope.regions.assembly", "from reluscope.networks import Network\nfrom reluscope import errors"),
        ("reluscope.codes.packed", "from .layout import CodeLayout\nfrom ..errors import InputError"),
        ("reluscope.codes.packed", "import numpy as np\nfrom reluscope import _kernels"),
        ("reluscope", "from reluscope.networks import load"),
    ],
)
def test_imports_downwards_and_sideways_pass(module, source):
    assert violations(source, module, is_package=module == "reluscope") == []
