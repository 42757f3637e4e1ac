"""Which names of reluscope a source uses that are not public: what users are shown, users can write."""

import ast
from importlib import import_module
from types import ModuleType

import reluscope as rs
from reluscope import extending
from reluscope.moved_names import RETURNED

# Modules for packages beside this one, which `docs/extending.md` names; users do without them.
FOR_PACKAGES = (
    "reluscope.arguments",
    "reluscope.stopping",
    *(f"reluscope.extending.{one}" for one in extending.__all__),
)


def public_names(module):
    """Return the names that a module of the public face offers."""
    return getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]


def returned_types(namespace):
    """Return the types without a public name that functions of a namespace return, by their names."""
    return {
        kind.rpartition(".")[2]: getattr(import_module(module), kind.rpartition(".")[2])
        for kind, (_, module) in RETURNED.items()
        if kind.rpartition(".")[0] == namespace
    }


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


def violations(source, for_packages=()):
    """Return one sentence per private name of reluscope that a source uses, names of some modules aside."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "reluscope" and (alias.name, alias.asname) != ("reluscope", "rs"):
                    found.append(f"line {node.lineno}: write import reluscope as rs")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "reluscope":
            if node.module in for_packages:
                names, offered = {alias.name for alias in node.names}, import_module(node.module).__all__
                found += [f"line {node.lineno}: {node.module} has no name {name}" for name in names - set(offered)]
                continue
            chains = [[*node.module.split(".")[1:], alias.name] for alias in node.names]
            found += [f"line {node.lineno}: {why}" for chain in chains if (why := refusal(*chain))]
        elif isinstance(node, ast.Attribute) and (names := dotted(node)) and (why := refusal(*names)):
            found.append(f"line {node.lineno}: {why}")
    return found
