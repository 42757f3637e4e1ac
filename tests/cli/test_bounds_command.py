"""``reluscope bounds``: the numbers of the library, readable however long they are, and what is refused."""

import json

import pytest

from cli.running import is_one_sentence, reluscope
from reluscope.cli.terminal.printed_results import short
from reluscope_studies.bounds import serra_upper


def asked(*arguments):
    result = reluscope("bounds", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def values(plain):
    return {row["name"]: row["finding"] and row["finding"]["value"] for row in plain["bounds"]}


def test_an_architecture():
    plain = asked("--arch", "784,11,11")
    found = values(plain)
    assert (found["all codes"], found["Serra 2018"], found["Pascanu 2013"]) == (4194304, 2449868, None)
    assert plain["model"] is None
    assert plain["box"] is None
    assert all(bool(row["reason"]) == (row["finding"] is None) for row in plain["bounds"])
    assert {"serra2018", "hinz2021"} <= {source["key"] for source in plain["sources"]}


def test_long_numbers_have_all_their_digits_in_json():
    found = values(asked("--arch", "3,5000,5000"))
    assert found["all codes"] == 2**10000
    assert found["Serra 2018"] == int(serra_upper([3, 5000, 5000]))
    longer = reluscope("bounds", "--arch", "3,20000,20000", "--json").stdout  # more than Python reads unasked
    digits = [row["finding"]["value"] for row in json.loads(longer, parse_int=str)["bounds"] if row["finding"]]
    assert max(map(len, digits)) == 12042
    printed = reluscope("bounds", "--arch", "3,20000,20000").stdout
    assert "≤ 1.58e+12041" in printed  # log10(2) * 40000 = 12041.1998, and 10^0.1998 = 1.584


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999_999_999_999_999, "999,999,999,999,999"),
        (10**15, "1.00e+15"),
        (10**400 - 1, "1.00e+400"),
        (9_994 * 10**500, "9.99e+503"),
        (9_995 * 10**500 + 1, "1.00e+504"),
        (-(2**100), "-1.27e+30"),
    ],
)
def test_short_numbers(number, text):
    assert short(number) == text


def test_what_does_not_apply_says_why():
    printed = reluscope("bounds", "--arch", "5,4,4").stdout
    assert "none   needs a chain of ReLU layers of at least" in printed
    assert "serra2018: Thiago Serra" in printed
    assert "pascanu2013" not in printed


def test_maxout():
    found = values(asked("--arch", "2,3", "--rank", "3"))
    assert found["Montúfar 2017"] == 19
    assert found["Serra 2018, maxout"] == 46
    assert found["Serra 2018"] is None


def test_a_model_has_a_bound_of_its_own(folder):
    plain = asked("my_models:cross", "--box", "1,2")
    assert values(plain)["Serra 2020, this network"] == 1
    assert plain["box"] == "box [1, 2]^2"
    assert values(asked("my_models:cross", "--box", "-1,1", "--box", "1,2"))["Serra 2020, this network"] == 2
    unit = asked("my_models:cross")
    assert unit["box"] == "box [0, 1]^2"
    assert unit["model"]["num_units"] == 2
    printed = reluscope("bounds", "my_models:cross").stdout
    assert "in the box [0, 1]^2, and does not hold beyond" in printed


def test_a_network_that_is_no_chain_of_relus(folder):
    found = values(asked("my_models:Net", "--weights", "net.safetensors", "--input-shape", "1,8,8"))
    assert found["Serra 2018"] is None
    assert found["Serra 2020, this network"] is None
    assert found["Raghu 2017"] > 0


def test_a_network_without_gates(folder):
    assert set(values(asked("my_models:affine")).values()) <= {None, 1}


def test_files(folder):
    printed = reluscope("bounds", "--arch", "2,3", "-o", "a/b.json", "--json").stdout
    assert json.loads((folder / "a" / "b.json").read_text(encoding="utf-8")) == json.loads(printed)
    assert "--force" in reluscope("bounds", "--arch", "2,3", "-o", "a/b.json").stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give a MODEL"),
        (("net.onnx", "--arch", "2,3"), "give a MODEL"),
        (("--arch", "2"), "at least one layer"),
        (("--arch", "2,x"), "whole numbers with commas"),
        (("--arch", "2,0"), "all positive"),
        (("--arch", "2,-3"), "all positive"),
        (("--arch", "2,3", "--rank", "1"), "--rank"),
        (("--arch", "2,3", "--box", "0,1"), "has no weights"),
        (("net.onnx", "--rank", "3"), "its own pieces"),
        (("net.onnx", "--box", "1,0"), "must be below"),
    ],
)
def test_wrong_usage(arguments, words):
    result = reluscope("bounds", *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.replace("│", "").split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no.onnx",), "no.onnx"),
        (("my_models:cross", "--box", "0,1", "--box", "0,1", "--box", "0,1"), "each of the 2"),
        (("my_models:tanh", "--input-shape", "64"), "tanh"),
        (("--arch", "2,3", "-o", "a.txt"), "must end in .json"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(folder, arguments, words):
    result = reluscope("bounds", *arguments)
    assert result.exit_code == 1
    assert words in result.stderr
    assert is_one_sentence(result.stderr), result.stderr
