"""Printed numbers: the file, transcribed from the papers' text by a program, against what studies were given."""

import re
from math import comb

import pytest

from reluscope_studies import printed
from reluscope_studies.sattelberg2026_ch3 import atlas, classes, local_optima, pruned_deep, pruned_parity
from reluscope_studies.sattelberg2026_ch4 import hyperparameters, solutions
from reluscope_studies.sattelberg2026_ch5 import sine
from reluscope_studies.zhang2020 import convolutional, dense

DISSERTATION = "sattelberg2026"


@pytest.mark.parametrize(("paper", "table"), printed.names())
def test_rows_have_the_columns_and_a_place(paper, table):
    found = printed._tables()[paper][table]
    assert {len(row) for row in found["rows"]} == {len(found["columns"])}
    assert printed.place(paper, table).startswith("section")
    assert found["what"]


def test_boolean_functions():
    assert {int(n): value for n, value in printed.rows(DISSERTATION, "Table 3.1")} == {
        inputs: value for inputs, value in classes.PRINTED.items() if inputs < 5
    }
    rows = printed.rows(DISSERTATION, "Table 3.3")
    for first, leak in ((0, 0.0), (3, atlas.LEAK)):
        assert {int(row[first]): int(row[first + 2]) for row in rows} == atlas.PRINTED[leak]
        assert all(int(row[first + 1].replace(" ", ""), 2) == int(row[first]) for row in rows)


def test_steady_states():
    """Active where ``w x + b`` is not negative, read from the printed inequalities."""
    found = {}
    for loss, solution, times in printed.rows(DISSERTATION, "Table 3.2"):
        units = []
        for unit in "12":
            at = [
                re.search(rf"(?<![\w{{]){re.escape(place.replace('u', unit))} (<|\\geq) 0", solution)
                for place in ("b_u - w_u", "b_u", "b_u + w_u")
            ]
            units.append("".join("01"[one[1] != "<"] for one in at if one))
        found.setdefault((loss, *units), []).append(int(times))
    assert {key: tuple(times) for key, times in found.items()} == local_optima.PRINTED


def test_pruned_parity():
    rows = printed.rows(DISSERTATION, "Table 3.4")
    for digits, (first, entries) in pruned_parity.PRINTED.items():
        column = {int(row[0]): row[digits] for row in rows if row[digits] != "-"}
        assert min(column) == first
        for (width, entry), own in zip(column.items(), entries, strict=True):
            pruned, ways, every = map(int, re.fullmatch(r"(\d+), (\d+)/(\d+)", entry).groups())
            assert (pruned, ways) == own
            # 1/128 of width 9, six digits, is the one misprint: there are 126 subnetworks of 5 of 9 units.
            assert every == comb(width, pruned) or (width, digits, every) == (9, 6, 128)
    for digits, widths in printed.rows(DISSERTATION, "Table 3.5"):
        hidden = ["-".join(one.split("-")[1:-1]) for one in widths.split("; ")]
        assert " or ".join(hidden) == pruned_deep.PRINTED[int(digits)]


def test_circle_and_annulus():
    radii = {int(dim): float(radius) for dim, radius in printed.rows(DISSERTATION, "Table 4.1")}
    assert radii == solutions.PRINTED
    found = {
        (loss.lower(), float(leak), int(batch), normalised): int(number)
        for loss, leak, batch, normalised, number in printed.rows(DISSERTATION, "Table 4.2")
    }
    own = {
        (*key, str(is_normalized)): pair[is_normalized]
        for key, pair in hyperparameters.PRINTED.items()
        for is_normalized in (False, True)
    }
    assert found == own
    # Table 4.3 has the means of Table 4.2, rounded to whole numbers.
    places = {"loss": 0, "leak": 1, "batch": 2, "normalised": 3}
    means = printed._tables()[DISSERTATION]["Table 4.3"]
    for column, name in enumerate(means["columns"]):
        for row in means["rows"] if name in places else ():
            if row[column]:
                chosen = [n for key, n in found.items() if str(key[places[name]]).lower() in _names(row[column])]
                assert abs(sum(chosen) / len(chosen) - int(row[column + 1])) <= 0.5


def _names(said):
    return {said.lower(), f"{float(said)}" if said[0].isdigit() else said.lower()}


def test_sine_and_linear_regions():
    rows = printed.rows(DISSERTATION, "Table 5.1")
    assert tuple(tuple(None if one == "-" else int(one) for one in row[1:]) for row in rows) == sine.PAPER
    assert printed.rows(DISSERTATION, "Table 6.1") == printed.rows(DISSERTATION, "Table 7.1")
    names = {"number": "classes, the paper's test", "distortion": "distortion"}
    found = {("test accuracy", float(rate)): row for rate, *row in printed.rows("zhang2020", "Table 1")}
    found |= {(names[what], float(rate)): row for what, rate, *row in printed.rows("zhang2020", "Table 2")}
    assert {key: tuple(map(float, row)) for key, row in found.items()} == dense.PAPER
    of_images = {(names[what], 1e-3): tuple(map(float, row)) for what, *row in printed.rows("zhang2020", "Table 4")}
    assert of_images.items() <= convolutional.PAPER.items()
