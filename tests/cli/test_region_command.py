"""``reluscope region``: closed forms in a quadrant, other boxes, numbers instead of classes, and what is refused."""

import json

import numpy as np
import pytest

from cli.running import is_one_sentence, reluscope

CROSS = ("region", "my_models:cross", "--data", "points.npy")
POINTS = np.array([[1.0, 0.5], [-1.0, -1.0], [0.0, 2.0]])


@pytest.fixture
def points(folder):
    np.save("points.npy", POINTS)
    return folder


def found(*arguments):
    result = reluscope(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def values(plain):
    return {finding["name"]: finding["value"] for finding in plain["findings"]}


def test_a_quadrant(points):
    """Outputs are x and y where both are positive, and the data reach from -1 to 1 and from -1 to 2."""
    plain = found(*CROSS, "--sample", "0")
    assert (plain["sample"], plain["class"], plain["label"]) == (0, 0, None)
    assert plain["is_bounded"] is False
    assert plain["gates"] == [{"name": "1", "num_units": 2, "half_spaces": 2, "facets": 2}]
    assert plain["bends_first"][0] == {"norm": "l2", "unit": {"gate": "1", "unit": 1, "piece_beyond": 0}}
    assert [one["class"] for one in plain["classes"] if one["occurs"]] == [0, 1]
    expected = {
        "half-spaces": 2,
        "hyperplanes that are facets": 2,
        "boundary distance in l2": 0.5,
        "boundary distance in linf": 0.5,
        "inradius": 0.5,
        "minimal width": 1.0,
        "diameter": np.hypot(1.0, 2.0),
        "number of classes": 2,
        "number of classes at likeliest": 2,
        "distortion": np.hypot(1.0, 1.5),
        "decision distance within in l2": 0.5 / np.sqrt(2),
        "decision distance within in linf": 0.25,
    }
    assert values(plain) == pytest.approx(expected, abs=1e-6)
    claims = {finding["name"]: finding["claim"] for finding in plain["findings"]}
    assert claims["number of classes"] == "EXACT"
    assert claims["number of classes at likeliest"] == "EXACT"
    assert plain["findings"][4]["tolerance"] <= 1e-6


def test_of_a_network_too_large_for_programs_the_nearest_facets_are_left(points, monkeypatch):
    monkeypatch.setattr("reluscope.cli.models.region_command.LONGEST_BALL", 0.0)
    plain = found(*CROSS, "--sample", "0")
    assert plain["class"] == 0
    assert plain["is_bounded"] is None
    assert plain["gates"] == [{"name": "1", "num_units": 2, "half_spaces": None, "facets": None}]
    assert values(plain) == {"boundary distance in l2": 0.5, "boundary distance in linf": 0.5}
    said = reluscope(*CROSS, "--sample", "0", "--facets").output
    assert "were left out" in said
    assert "half-spaces  " not in said


def test_a_box_cuts_the_region_down(points):
    assert values(found(*CROSS, "--sample", "0", "--box", "-8,8"))["inradius"] == pytest.approx(4.0)
    two = values(found(*CROSS, "--sample", "0", "--box", "0.9,2", "--box", "0.1,0.6"))
    assert two["inradius"] == pytest.approx(0.25)
    assert two["number of classes"] == 1
    assert two["decision distance within in l2"] == "inf"
    assert two["hyperplanes that are facets"] == 0


def test_findings_name_the_sample_that_was_asked_for(points):
    """Seen red where each said sample 0."""
    domains = [one["domain"] for one in found(*CROSS, "--sample", "2")["findings"]]
    assert sum("sample 2" in domain for domain in domains) >= 6
    assert not any("sample 0" in domain for domain in domains)


def test_what_is_printed(points):
    np.save("y.npy", np.array([0, 1, 1]))
    printed = reluscope(*CROSS, "--sample", "0", "--labels", "y.npy").stdout
    for words in (
        "The region of sample 0 of points.npy, class 0, label 0, in my_models:cross",
        "Without any box the region is unbounded.",
        "The first to bend, in l2: unit 1 of 1, which changes to piece 0 there.",
        "Classes with a point of the region: 0, 1.",
        "inradius",
        "EXACT",
    ):
        assert words in printed
    assert "∞" in reluscope(*CROSS, "--sample", "0", "--box", "0.9,2", "--box", "0.1,0.6").stdout


def test_facets_of_larger_networks_wait_to_be_asked_for(points, monkeypatch):
    monkeypatch.setattr("reluscope.cli.models.region_command.facets_are_quick", lambda network: False)
    assert found(*CROSS, "--sample", "0")["gates"][0]["facets"] is None
    assert "--facets does" in reluscope(*CROSS, "--sample", "0").stdout
    assert found(*CROSS, "--sample", "0", "--facets")["gates"][0]["facets"] == 2


def test_numbers_are_no_classes(points):
    np.save("y.npy", np.array([[0.5, 0.1], [1.5, 0.2], [2.5, 0.1]]))
    plain = found(*CROSS, "--sample", "1", "--labels", "y.npy")
    assert (plain["class"], plain["classes"]) == (None, [])
    assert "distortion" not in values(plain)
    assert "labels are numbers, not classes" in reluscope(*CROSS, "--sample", "1", "--labels", "y.npy").stdout


def test_a_sample_on_a_kink_stands_for_the_region_of_its_code(points):
    plain = found(*CROSS, "--sample", "2")
    assert values(plain)["boundary distance in l2"] == 0
    assert values(plain)["inradius"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--sample", "3"), "points.npy has 3 samples, 0 to 2"),
        (("--sample", "0", "--box", "2,3"), "sample 0 lies outside the box"),
        (("--sample", "0", *("--box", "0,1") * 3), "each of the 2, got 3 boxes"),
        (("--sample", "0", "-o", "a.svg"), "must end in .json"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(points, arguments, words):
    result = reluscope(*CROSS, *arguments)
    assert result.exit_code == 1
    assert words in result.stderr
    assert is_one_sentence(result.stderr), result.stderr


def test_networks_and_data_without_a_region_to_show(points):
    affine = reluscope("region", "my_models:affine", "--data", "points.npy", "--sample", "0")
    assert "has no gates" in affine.stderr
    np.save("same.npy", np.ones((3, 2)))
    assert "has no range: give --box" in reluscope(*CROSS[:3], "same.npy", "--sample", "0").stderr
    assert is_one_sentence(affine.stderr)
    assert reluscope(*CROSS[:3], "points.npy").exit_code == 2
