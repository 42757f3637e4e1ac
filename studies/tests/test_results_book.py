"""The book of results in the repository: what is in it, and that runs of today give its numbers."""

import json
import re
from pathlib import Path

import pytest

from cli.running import reluscope
from reluscope.extending.pictures import MAX_PICTURE_BYTES
from reluscope.findings import Finding
from reluscope.studies import all_studies
from reluscope_studies.book import NUMBERS, PAGE, results

BOOK = Path(__file__).parents[1] / "results"
KEPT = list(results(BOOK))
STUDIES = {study.name: study for study in all_studies()}


WORDS = {"confirmed", "not confirmed", "contradicted", "not comparable"}


def test_there_are_results():
    assert len(KEPT) > 15
    assert {plain["name"].split("/")[0] for _, plain in KEPT} >= {"serra2018", "zhang2020", "behrmann2018"}


def test_the_page_of_studies_says_which_are_smaller():
    page = (BOOK.parents[1] / "docs" / "studies.md").read_text(encoding="utf-8")
    told = page.partition("no run at full size:")[2].partition("All others are in the book at full size.")[0]
    whole = {plain["name"] for _, plain in KEPT if plain["variant"] == "full"}
    assert set(re.findall("`([^`]+)`", told)) == {plain["name"] for _, plain in KEPT} - whole


@pytest.mark.parametrize(("folder", "plain"), KEPT, ids=["/".join(folder.parts[-3:]) for folder, _ in KEPT])
def test_each_result_can_be_repeated(folder, plain):
    assert folder.relative_to(BOOK).as_posix() == f"{plain['name']}/{plain['variant']}"
    assert plain["complete"]
    assert plain["size"] in plain["variant"]
    assert plain["machine"]["processor"]
    assert plain["command"].startswith(f"reluscope reproduce {plain['name']} --size {plain['size']}")
    assert "/" not in plain["command"].replace(plain["name"], "")  # no folder of whoever ran it
    (study,) = plain["studies"]
    assert set(plain["changes"]) <= {*STUDIES[study["name"]].changes, "only"}
    assert study["processor_seconds"] > 0
    assert [Finding.from_dict(one) for one in study["findings"]]
    assert {verdict["word"] for verdict in study["verdicts"]} <= WORDS
    for path in folder.iterdir():
        assert path.name in (NUMBERS, PAGE) or path.stem in study["pictures"]
        assert path.suffix != ".svg" or path.stat().st_size <= MAX_PICTURE_BYTES
    shown = re.findall(r"\]\(([^()\s]+\.(?:svg|png|gif))\)", (folder / PAGE).read_text(encoding="utf-8"))
    assert all((folder / name).is_file() for name in shown)


# What needs neither training nor time gives the same numbers on every processor.
@pytest.mark.few(1)
@pytest.mark.parametrize(
    "name",
    [
        "serra2018/one_input",
        "serra2018/depth_and_width",
        pytest.param("sattelberg2026-ch3/representation", marks=pytest.mark.slow),
        pytest.param("sattelberg2026-ch4/solutions", marks=pytest.mark.slow),
        "sattelberg2026-ch5/interpolants",
        "sattelberg2026-ch5/one_code",
        "sattelberg2026-ch6/illustrations",
        "behrmann2018/omnidirectional",
    ],
)
def test_todays_numbers_are_those_of_the_book(folder, name):
    result = reluscope("reproduce", name, "--size", "full", "-o", "out", "--compare", str(BOOK), "--json")
    assert result.exit_code == 0, result.output
    (compared,) = json.loads(result.stdout)["compared"]
    assert set(compared["counts"]) <= {"equal", "within tolerance"}
