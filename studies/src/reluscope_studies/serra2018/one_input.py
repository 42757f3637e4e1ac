"""With one input the paper's bound is exact: networks that reach prod (n_l + 1), counted."""

from math import prod

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import plots
from reluscope_studies.bounds import montufar_lower, pascanu_lower, serra_lower, serra_upper
from reluscope_studies.serra2018._zigzag import zigzag
from reluscope_studies.sizes import number_of

SENTENCE = "with one input, networks that have exactly as many regions as the bound allows"
POSITION = 30
DATA = None
IS_SHORT = True

DEPTHS = {"small": 4, "full": 7}
MIXED = ((3,), (7,), (22,), (3, 4, 5), (11, 11), (5, 3, 8))


def protocol(setting: Setting) -> Outcome:
    """Build networks that reach the bound, and count their regions on [0, 1]."""
    deep = [(3,) * depth for depth in range(1, number_of(setting, DEPTHS) + 1)]
    counts: dict[tuple[int, ...], rs.Finding] = {}
    every = [*deep, *(widths for widths in MIXED if widths not in deep)]
    for index, widths in enumerate(every):
        setting.progress("Counting zigzags", index / len(every))
        counts[widths] = rs.partition(zigzag(widths), rs.Box(0, 1, 1)).finding()
    bounds = {
        name: [ask((1, *widths)) for widths in deep]
        for name, ask in (
            ("upper, Serra 2018", serra_upper),
            ("lower, Montúfar 2014", montufar_lower),
            ("lower, Pascanu 2013", pascanu_lower),
        )
    }
    rows = tuple(
        (
            ", ".join(map(str, widths)),
            f"{prod(width + 1 for width in widths):,}",
            f"{int(serra_lower((1, *widths))):,}",
            f"{int(serra_upper((1, *widths))):,}",
            f"{int(count):,} ({count.claim})",
        )
        for widths, count in counts.items()
    )
    columns = ("layers", "prod (n + 1)", "lower bound", "upper bound", "counted")
    reached = sum(int(count) == int(serra_upper((1, *widths))) for widths, count in counts.items())
    sentence = (
        f"The bound of Serra 2018 is reached by {reached} of {len(counts)} networks with one input, built layer by "
        "layer from zigzags and counted on [0, 1]; two units in a layer are not enough for a zigzag."
    )
    picture = Picture(
        "one_input",
        plots.bounds_and_counts(
            range(1, len(deep) + 1),
            bounds,
            {"zigzag": [[counts[widths]] for widths in deep]},
            xlabel="layers of three units, one input",
        ),
        "Regions of the zigzags, which reach the upper bound, and earlier lower bounds.",
    )
    found = (*counts.values(), *(one for curve in bounds.values() for one in curve))
    verdict = StatementVerdict(
        "the bound is exact for networks with one input",
        "section 6, item 1",
        "equality",
        f"reached by {reached} of {len(counts)} networks of three or more units in each layer",
        reached == len(counts),
    )
    return Outcome((sentence,), found, (Table(columns, rows),), (picture,), verdicts=(verdict,))
