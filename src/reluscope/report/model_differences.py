"""What differs between models in a report of several: a sentence for every headline that tells them apart."""

from collections.abc import Sequence
from decimal import ROUND_FLOOR
from typing import Any

from reluscope.findings import Claim, Finding
from reluscope.report.parts.document import SectionResult
from reluscope.report.parts.sentences import ends_of, roughly, said

# What a model with the larger headline does, by section; the other one does it less.
MORE = {
    "network": "has more units",
    "fit": "fits more of the labels",
    "codes": "gives these samples more activation patterns",
    "maps": "has steeper local maps",
    "stability": "stretches directions more unevenly",
    "plane": "has more linear regions on the plane",
    "segments": "has more linear regions between samples",
    "balls": "is one affine map farther around a typical sample",
    "surrounding_regions": "has more linear regions around a typical sample",
    "classes": "has more classes in a linear region",
    "robustness": "keeps its class farther around a typical sample",
}
# Where headlines are errors, less is better.
ERRORS = "errs more on the targets"
# From this ratio on it is told how many times as much.
TIMES = 1.5


def differences_between(
    names: Sequence[str], models: Sequence[Sequence[SectionResult]], *, is_classifier: bool = True
) -> tuple[str, ...]:
    """Return sentences about models and their sections: what is proved to differ, then what is not.

    Of more than two models those with the most and the least are told apart. Numbers about different samples are not
    compared.
    """
    tables = [{one.name: one for one in sections} for sections in models]
    told, alike, unclear, apart = [], [], [], []
    for section in models[0]:
        headlines = [_headline(table.get(section.name)) for table in tables]
        if section.name not in MORE or any(one is None for one in headlines):
            continue
        known = [one for one in headlines if one is not None]
        if any(_looked_at(table[section.name]) != _looked_at(section) for table in tables):
            apart.append(known[0].name)
            continue
        phrase = MORE[section.name] if section.name != "fit" or is_classifier else ERRORS
        order = sorted(range(len(names)), key=lambda place: known[place].value)
        least, most = order[0], order[-1]
        if ends_of(known[most])[0] > ends_of(known[least])[1]:
            told.append(_sentence((names[most], known[most]), (names[least], known[least]), phrase))
        elif len({one.value for one in known}) == 1 and all(one.claim is Claim.EXACT for one in known):
            alike.append(known[0].name)
        else:
            unclear.append(known[0].name)
    if alike:
        told.append(f"Equal: {', '.join(alike)}.")
    if unclear:
        told.append(f"Not told apart by these numbers: {', '.join(unclear)}.")
    if apart:
        told.append(f"Not compared, as each model was asked at samples of its own: {', '.join(apart)}.")
    return tuple(told)


def _sentence(most: tuple[str, Finding], least: tuple[str, Finding], phrase: str) -> str:
    (first, larger), (second, smaller) = most, least
    low, high = ends_of(larger)[0], ends_of(smaller)[1]
    is_exact = all(one.claim is Claim.EXACT for one in (larger, smaller))
    times = ""
    if high > 0 and low >= TIMES * high:
        ratio = roughly(low / high, *(() if is_exact else (ROUND_FLOOR,)))
        times = f", {ratio} times as much{'' if is_exact else ' or more'}"
    return f"{first} {phrase} than {second}: {said(larger)} against {said(smaller)}{times}."


def _looked_at(section: SectionResult) -> list[Any]:
    """Return which samples a section chose, where it says so."""
    data = {} if section.content is None else section.content.data
    return [data.get(name) for name in ("samples", "first", "second")]


def _headline(section: SectionResult | None) -> Finding | None:
    if section is None or section.content is None or section.content.headline is None:
        return None
    return section.content.headline.finding
