import re
import unicodedata

import pytest

from reluscope.citations import _SOURCES, CITATIONS, bibliography


@pytest.mark.parametrize("source", _SOURCES, ids=lambda source: source.key)
def test_keys_are_first_author_and_year(source):
    plain = unicodedata.normalize("NFKD", source.authors[0]).encode("ascii", "ignore").decode()
    assert source.key == f"{plain.split()[-1].lower()}{source.year}"
    assert re.fullmatch(r"[^.]+", source.title)
    assert source.venue


def test_no_key_twice():
    assert len(CITATIONS) == len(_SOURCES)


def test_the_five_papers_are_there():
    assert {"shepeleva2020", "behrmann2018", "sattelberg2026", "serra2018", "zhang2020"} <= set(CITATIONS)


def test_unknown_key():
    with pytest.raises(KeyError, match="'serra2081' came"):
        bibliography(["serra2018", "serra2081"])
