"""Studies of published papers with reluscope: one module per figure or table, each a protocol that ends in findings.

What papers study beside networks is public here, a module each: ``from reluscope_studies import boolean``.

A paper is a folder named by its key in reluscope's citations, with the chapter behind an underscore where it is a book
(``sattelberg2026_ch6_training`` is called sattelberg2026-ch6-training); a study is a module in it, found by being
there. It has a ``SENTENCE`` that says what it is about, a ``POSITION`` by which the studies of a paper are ordered,
``DATA``, which names the data that the paper takes, or None, and ``protocol(setting)``, which returns an `Outcome`;
``BESIDE`` names data of another kind that it looks at too where they are given. ``REPEATS`` has the figures and tables
of the paper that it repeats, as `printed.figures` names them, with the part that makes each where there are parts.
``IS_SHORT`` marks studies whose small size takes a moment, which ``--kick-the-tires`` runs.
``CHANGES`` says which of replicates, points and epochs the user may set (see `sizes`), ``PARTS`` what the parts for
``--only`` are called.
Modules whose names begin with an underscore help studies and are none. Protocols write no files and show nothing: what
must survive an interruption goes into the setting's records, and how far they are goes to its ``progress``.
"""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reluscope.studies import Outcome, Setting, Study

# Public modules about what papers study.
OBJECTS = ("annulus", "boolean", "bounds", "interpolation", "lemmas", "pictures", "preimages", "pruning", "stacked")
# Other packages that hold no paper.
HELPERS = ("commands", "plots", "printed")


def all_studies() -> "tuple[Study, ...]":
    """Return the studies of this package; ``reluscope reproduce`` finds them by its entry point.

    Examples
    --------
    >>> study = next(one for one in all_studies() if one.name == "serra2018/one_input")
    >>> study.sentence
    'with one input, networks that have exactly as many regions as the bound allows'
    """
    from reluscope.studies import Study
    from reluscope_studies.sizes import ToTrainOn

    found = []
    for paper in pkgutil.iter_modules(__path__):
        if not paper.ispkg or paper.name in OBJECTS + HELPERS:
            continue
        package = import_module(f"{__name__}.{paper.name}")
        for figure in pkgutil.iter_modules(package.__path__):
            if figure.name.startswith("_"):
                continue
            module = import_module(f"{package.__name__}.{figure.name}")
            changes = getattr(module, "CHANGES", {})
            trains_on_points = isinstance(changes, Mapping) and isinstance(changes.get("points"), ToTrainOn)
            about = (module.SENTENCE, module.POSITION, module.DATA, getattr(module, "BESIDE", None))
            found.append(
                Study(
                    paper.name.replace("_", "-"),
                    figure.name,
                    *about,
                    partial(_repeated, module.protocol, trains_on_points),
                    frozenset(changes),
                    getattr(module, "PARTS", ""),
                    _with_parts(getattr(module, "REPEATS", ())),
                    getattr(module, "IS_SHORT", False),
                )
            )
    return tuple(found)


def _with_parts(figures: "Mapping[str, str] | Sequence[str]") -> dict[str, str]:
    return dict(figures) if isinstance(figures, Mapping) else dict.fromkeys(figures, "")


def _repeated(protocol: "Callable[[Setting], Outcome]", trains_on_points: bool, setting: "Setting") -> "Outcome":
    """Return what a protocol gives; networks trained for other epochs, or on fewer images, decide nothing."""
    from reluscope_studies.verdicts import not_comparable

    outcome = protocol(setting)
    is_as_sized = setting.epochs is None and (setting.points is None or not trains_on_points)
    return outcome if is_as_sized else replace(outcome, verdicts=not_comparable(outcome.verdicts))
