"""Studies are written as a user would write them: with public names of reluscope alone, kept by reading the source."""

import ast
from pathlib import Path
from types import ModuleType

import pytest

import reluscope as rs

SOURCE = Path(__file__).parents[1] / "src"


def public_names(module):
    """Return the names that a module of the public face offers."""
    return getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]


def refusal(*names):
    """Return why ``rs.a.b.c`` is not public, None if it is; attributes of classes and objects are not looked at."""
    home, said = rs, "reluscope"
    for name in names:
        if not isinstance(home, ModuleType):
            return None
        if name not in public_names(home):
            return f"{said} has no public name {name}"
        home, said = getattr(home, name), f"{said}.{name}"
    return None


def dotted(node):
    """Return the names behind ``rs`` of a chain of attributes, None if it begins elsewhere."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return names[::-1] if isinstance(node, ast.Name) and node.id == "rs" else None


def violations(source):
    """Return one sentence per private name of reluscope that a source uses."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "reluscope" and (alias.name, alias.asname) != ("reluscope", "rs"):
                    found.append(f"line {node.lineno}: write import reluscope as rs")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "reluscope":
            chains = [[*node.module.split(".")[1:], alias.name] for alias in node.names]
            found += [f"line {node.lineno}: {why}" for chain in chains if (why := refusal(*chain))]
        elif isinstance(node, ast.Attribute) and (names := dotted(node)) and (why := refusal(*names)):
            found.append(f"line {node.lineno}: {why}")
    return found


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_studies_use_public_names_alone(path):
    assert not violations(path.read_text())


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize(
    "source",
    [
        "import reluscope",
        "import reluscope.analyses.counting as counting",
        "from reluscope.analyses.bounds import serra_upper",
        "from reluscope.studies.discovery import GROUP",
        "from reluscope.plots.shapes import fill",
        "import reluscope as rs\nrs.plots.shapes.fill",
        "import reluscope as rs\ndef f():\n    rs.analyses",
        "import reluscope as rs\nrs.bounds.claims.upper",
        "import reluscope as rs\nrs._HOMES",
    ],
)
def test_a_private_name_is_seen(source):
    assert violations(source)


def test_public_names_pass():
    source = "import reluscope as rs\nfrom reluscope.studies import Setting\nfrom reluscope import plots\nrs.Box.lo\n"
    assert not violations(source + "from reluscope.plots.style import INK\nrs.plots.style.INK\nrs.errors.InputError")
