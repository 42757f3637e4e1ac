"""Discovery of studies: packages name theirs by entry points, so that this package need not know them."""

from importlib.metadata import entry_points

from reluscope.errors import InputError
from reluscope.studies.study import Study

GROUP = "reluscope.studies"


def all_studies() -> tuple[Study, ...]:
    """Return the studies of all installed packages, by paper and then in the paper's order.

    Raises
    ------
    InputError
        If no package with studies is installed.

    Examples
    --------
    >>> import reluscope as rs
    >>> [study.name for study in rs.studies.all_studies() if study.paper == "serra2018"]  # doctest: +SKIP
    ['serra2018/splits', 'serra2018/depth_and_width', 'serra2018/one_input']
    """
    offered = entry_points(group=GROUP)
    if not offered:
        raise InputError("the studies of papers are a package of their own: pip install reluscope-studies")
    found = [study for one in offered for study in one.load()()]
    return tuple(sorted(found, key=lambda study: (study.paper, study.position, study.figure)))
