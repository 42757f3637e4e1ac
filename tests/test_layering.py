"""Imports go down only: the order of the layers, kept by reading every import statement in the source."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "reluscope"

# From the bottom up. Root modules (findings, progress, ...) are below all of these but the readers of arguments, and
# import nothing else of ours.
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
    "testing",  # strategies and oracles for users' tests may use everything; nothing may use them
)


def imported_modules(source, module, is_package):
    """Yield (line, absolute name) of everything of reluscope that a source imports, inside functions too."""
    package = module.split(".") if is_package else module.split(".")[:-1]
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
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "reluscope")


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
        if own not in LAYERS and target not in ("arguments", "errors", "markup"):
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


def test_nothing_imports_the_studies():
    assert not [path for path, _, _ in modules() if "reluscope_studies" in path.read_text(encoding="utf-8")]


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
