"""``reluscope boolean``: every way to name a function, the same numbers as the library, and what is refused."""

import json

import pytest

from cli.running import is_one_sentence, reluscope
from reluscope_studies.commands.boolean_summary import read_function


def asked(*arguments):
    result = reluscope("boolean", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def values(plain):
    return {finding["name"]: (finding["value"], finding["claim"]) for finding in plain["findings"]}


def test_three_ways_to_name_a_function():
    plain = asked("x1 ^ x2 ^ x3 ^ x4")
    assert plain["number"] == "27030"
    assert plain["class"] == {"representative": "27030", "size": 2}
    assert plain["spectrum"] == [{"inputs": ["x1", "x2", "x3", "x4"], "coefficient": -1.0}]
    assert values(plain)["swaps value"] == (4, "EXACT")
    assert values(plain)["hidden units"] == (3, "UPPER")
    assert plain["threshold"] is None
    for other in (("0110100110010110",), ("27030", "--inputs", "4")):
        again = asked(*other)
        assert {**again, "text": "", "findings": []} == {**plain, "text": "", "findings": []}


def test_what_is_printed():
    result = reluscope("boolean", "x1 & x2")
    assert result.exit_code == 0
    for words in ("NPN class 1, of 8 functions", "no hidden units", "swaps value", "sattelberg2026: Ben"):
        assert words in result.stdout
    assert "The value is 0 at every input." in reluscope("boolean", "x1 & ~x1").stdout
    assert "2 hidden units" in reluscope("boolean", "x1 ^ x2 ^ x3", "--leak", "0.1").stdout


def test_files(folder):
    printed = reluscope("boolean", "x1", "-o", "a.json", "--json").stdout
    assert json.loads((folder / "a.json").read_text(encoding="utf-8")) == json.loads(printed)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("x1 & y",), "'y' is none of these"),
        (("011",), "2^n values"),
        (("27030",), "add --inputs"),
        (("16", "--inputs", "2"), "2^4 - 1"),
        (("0110", "--inputs", "3"), "2^3 digits"),
        (("x3", "--inputs", "2"), "up to x2"),
        (("x11",), "at most 10 inputs"),
        (("x1 ^ x2", "--leak", "1"), "less than 1"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(arguments, words):
    result = reluscope("boolean", *arguments)
    assert result.exit_code == 1
    assert words in result.stderr
    assert is_one_sentence(result.stderr), result.stderr


def test_digits_are_a_number_where_the_inputs_say_so():
    assert read_function("10", 4).number == 10
    assert read_function("1", 3).number == 1
    assert read_function("0110", None).number == 6
    assert read_function("0110", 2).number == 6
