"""Studies: one module per figure or table of a paper, each a protocol that ends in findings and pictures.

A paper is a folder named by its key in `reluscope.citations`, with the chapter behind an underscore where it is a book
(``sattelberg2026_ch6_training`` is called sattelberg2026-ch6-training); a study is a module in it, found by being
there. It has a ``SENTENCE`` that says what it is about, a ``POSITION`` by which the studies of a paper are ordered,
``DATA``, which names the data that the paper takes, or None, and ``protocol(setting)``, which returns an `Outcome`;
``BESIDE`` names data of another kind that it looks at too where they are given.
Modules whose names begin with an underscore help studies and are none. Protocols write no files and show nothing: what
must survive an interruption goes into the setting's records, and how far they are goes to its ``tell``.
"""

import pkgutil
from importlib import import_module

from reluscope.studies.study import Film, Outcome, Picture, Record, Setting, Study, Table

__all__ = ["Film", "Outcome", "Picture", "Record", "Setting", "Study", "Table", "all_studies"]


def all_studies() -> tuple[Study, ...]:
    """Return all studies, by paper and then in the paper's order.

    Examples
    --------
    >>> [study.name for study in all_studies() if study.paper == "serra2018"]
    ['serra2018/splits', 'serra2018/depth_and_width', 'serra2018/one_input']
    """
    found = []
    for paper in pkgutil.iter_modules(__path__):
        if not paper.ispkg:
            continue
        package = import_module(f"{__name__}.{paper.name}")
        for figure in pkgutil.iter_modules(package.__path__):
            if figure.name.startswith("_"):
                continue
            module = import_module(f"{package.__name__}.{figure.name}")
            name = paper.name.replace("_", "-")
            beside = getattr(module, "BESIDE", None)
            about = (module.SENTENCE, module.POSITION, module.DATA, beside)
            found.append(Study(name, figure.name, *about, module.protocol))
    return tuple(sorted(found, key=lambda study: (study.paper, study.position, study.figure)))
