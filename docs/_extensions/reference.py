"""The reference: one page for every public name, written before Sphinx reads its sources.

Names are those of ``reluscope.__all__``, of the namespaces in it, and of the public modules of ``reluscope_studies``.
"""

import enum
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

from matplotlib.colors import Colormap

import reluscope as rs
import reluscope_studies
from reluscope.moved_names import RETURNED

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "reference"
# Nobody calls a class with more of them.
MOST_PARAMETERS = 7
STUDIES = "reluscope_studies"


class PublicName(NamedTuple):
    """A public name, the namespace it is in ("" for reluscope itself, whole for studies), and what it stands for."""

    namespace: str
    name: str
    value: Any

    @property
    def dotted(self) -> str:
        """As a reader writes it, without the ``rs.``."""
        return f"{self.namespace}.{self.name}" if self.namespace else self.name

    @property
    def kind(self) -> str:
        """Its folder; on some file systems ``Region`` and ``region`` are the same name."""
        if isinstance(self.value, type):
            return "classes"
        return "functions" if isinstance(inspect.unwrap(self.value), FunctionType) else "values"

    @property
    def summary(self) -> str:
        """The first line of its docstring, or what it holds."""
        if self.kind == "values":
            return contents(self.value)
        return escaped(" ".join((inspect.getdoc(self.value) or "").partition("\n\n")[0].split()))

    @property
    def page(self) -> str:
        """Its page, below the folder of documents."""
        return f"{FOLDER}/{self.kind}/{self.dotted}"


def public_in(module: ModuleType) -> list[str]:
    """Return the public names of a namespace: what it says, else what it defines or imports that is no module."""
    said = getattr(module, "__all__", None)
    if said is not None:
        return list(said)
    home = module.__name__
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and str(getattr(value, "__module__", "")).startswith(home)
    ]


def namespaces() -> dict[str, ModuleType]:
    """Return the public modules by what follows ``rs.``, those within others after them."""
    found = {name: getattr(rs, name) for name in rs.__all__ if isinstance(getattr(rs, name), ModuleType)}
    inner = {
        f"{name}.{one}": getattr(module, one)
        for name, module in found.items()
        for one in getattr(module, "__all__", ())
        if isinstance(getattr(module, one), ModuleType)
    }
    beside = {f"{STUDIES}.{one}": import_module(f"{STUDIES}.{one}") for one in reluscope_studies.OBJECTS}
    return dict(sorted({**found, **inner, **beside}.items()))


def written(dotted: str) -> str:
    """Return a name as a reader writes it."""
    return dotted if dotted.startswith(STUDIES) else f"rs.{dotted}" if dotted else "rs"


def importable(namespace: str) -> str:
    """Return the module of a namespace."""
    return namespace if namespace.startswith(STUDIES) else f"reluscope.{namespace}" if namespace else "reluscope"


def all_public_names() -> list[PublicName]:
    """Return every public name that is no namespace."""
    modules = {"": rs, **namespaces()}
    return [
        PublicName(namespace, name, getattr(module, name))
        for namespace, module in modules.items()
        for name in sorted(public_in(module), key=str.lower)
        if not isinstance(getattr(module, name), ModuleType)
    ]


def heading(text: str) -> Iterator[str]:
    """Yield a title."""
    yield from (text, "=" * len(text), "")


def page_of(name: PublicName) -> str:
    """Return the page of a name, with the types that it alone returns."""
    lines = [*heading(written(name.dotted)), f".. currentmodule:: {importable(name.namespace)}", ""]
    if name.kind == "values":
        lines += [f".. py:data:: {name.name}", "", f"   {contents(name.value)}"]
    elif name.kind == "functions":
        lines += [f".. autofunction:: {name.name}"]
    else:
        lines += class_of(name.name, name.value)
    for kind in returned_by(name.dotted):
        lines += ["", *class_of(kind.__name__, kind)]
    return "\n".join(lines) + "\n"


def class_of(name: str, value: type) -> list[str]:
    """Return the directive that documents a class."""
    plain = issubclass(value, enum.Enum | tuple)
    others = "object, Exception, ValueError, IndexError, Module"
    shown = "   :undoc-members:" if plain else f"   :inherited-members: {others}"
    return [f".. autoclass:: {name}", "   :members:", shown]


def returned_by(dotted: str) -> list[type]:
    """Return the types without a public name that a function, or a member of a class, returns."""
    asked = f"reluscope.{dotted}"
    return [
        getattr(import_module(module), kind.rpartition(".")[2])
        for kind, (returner, module) in RETURNED.items()
        if returner == asked or returner.startswith(f"{asked}.")
    ]


def contents(value: Any) -> str:
    """Return what a public value is, in a line."""
    if get_origin(value) is Literal:
        return "One of " + ", ".join(f"``{one!r}``" for one in get_args(value)) + "."
    if isinstance(value, Mapping):
        return "By name: " + ", ".join(f"``{one!r}``" for one in value) + "."
    if isinstance(value, Colormap):
        return f"A colour map of matplotlib, ``{value.name!r}``."
    return f"``{value!r}``"


def page_of_namespace(namespace: str, module: ModuleType, names: list[PublicName]) -> str:
    """Return the page of a namespace: what it is, and a table of its names."""
    about = inspect.getdoc(module) or ""
    lines = [*heading(written(namespace))]
    if namespace:
        lines += [about, ""]
    lines += [".. list-table::", "   :widths: 1 2", ""]
    for one in names:
        lines += [f"   * - :doc:`{one.name} </{one.page}>`", f"     - {one.summary}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [f"   {written(one.dotted)} </{one.page}>" for one in names]
    return "\n".join(lines) + "\n"


def page_of_all(modules: Mapping[str, ModuleType]) -> str:
    """Return the page of all namespaces."""
    lines = [*heading("Reference"), "Every public name, as it is written after ``import reluscope as rs``.", ""]
    lines += [".. list-table::", "   :widths: 1 3", ""]
    rows = {written(one): (f"/{FOLDER}/{one or 'nouns'}", module) for one, module in modules.items()}
    for title, (page, module) in rows.items():
        about = " ".join((inspect.getdoc(module) or "").partition("\n\n")[0].split())
        lines += [f"   * - :doc:`{title} <{page}>`", f"     - {escaped(about)}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [f"   {title} <{page}>" for title, (page, _) in rows.items()]
    return "\n".join(lines) + "\n"


def escaped(line: str) -> str:
    """Return a line of a docstring whose stars and bars are those of mathematics, as reStructuredText."""
    pieces = re.split(r"(``.*?``)", line)
    return "".join(
        piece
        if piece.startswith("``")
        else re.sub(r"(?<=[(, ])\*(?=[a-z])(?!\w[^*]*\w\*)", r"\\*", re.sub(r"\|(?=\S)|(?<=\S)\|", r"\\|", piece))
        for piece in pieces
    )


def escape_docstring(app: "Sphinx", what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Escape all lines of a docstring that are no example."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else escaped(line) for line in lines]


def is_returned(kind: object) -> bool:
    """Whether a class is what functions return, and nobody calls it: its parameters are what it has."""
    if not isinstance(kind, type) or issubclass(kind, Exception):
        return False
    return len(inspect.signature(kind).parameters) > MOST_PARAMETERS


def hide_constructor(app: "Sphinx", what: str, name: str, obj: object, *others: object) -> tuple[str, None] | None:
    """Show no signature of a class that functions return."""
    return ("", None) if what == "class" and is_returned(obj) else None


def name_attributes(app: "Sphinx", what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Call the parameters of a class that functions return its attributes."""
    if what == "class" and is_returned(obj) and "Parameters" in lines:
        place = lines.index("Parameters")
        lines[place : place + 2] = ["Attributes", "----------"]


def write_pages(app: "Sphinx") -> None:
    """Write all pages, and leave those alone that would not change."""
    folder = Path(app.srcdir)
    modules = {"": rs, **namespaces()}
    for namespace, module in modules.items():
        # A reader's name of a module, under which autodoc can import it.
        sys.modules.setdefault(importable(namespace), module)
    names = all_public_names()
    for one in names:
        for kind in returned_by(one.dotted):
            setattr(modules[one.namespace], kind.__name__, kind)  # where autodoc looks for it
    pages = {one.page: page_of(one) for one in names}
    for namespace, module in modules.items():
        within = [one for one in names if one.namespace == namespace]
        pages[f"{FOLDER}/{namespace or 'nouns'}"] = page_of_namespace(namespace, module, within)
    pages[f"{FOLDER}/index"] = page_of_all(modules)
    wanted = {folder / f"{page}.rst": text for page, text in pages.items()}
    for path in (folder / FOLDER).rglob("*.rst"):
        if path not in wanted:
            path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Write the pages once the configuration is known, before sources are looked for."""
    app.connect("config-inited", lambda app, config: write_pages(app))
    app.connect("autodoc-process-docstring", escape_docstring, priority=100)
    app.connect("autodoc-process-docstring", name_attributes, priority=100)
    app.connect("autodoc-process-signature", hide_constructor)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
