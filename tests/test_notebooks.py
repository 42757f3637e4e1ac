"""What notebooks show of networks, partitions, findings and codes: the right numbers, well-formed, escaped."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import reluscope as rs
from empty_partitions import empty_partition
from reluscope import markup
from reluscope.testing import default_network

NET = rs.load(default_network([2, 16, 16, 3], seed=0))
BOX = rs.Box(-1, 1, 2)
PART = rs.partition(NET, BOX)
POINTS = np.random.default_rng(0).normal(size=(50, 2))
PROPERTY = rs.verification.Property(
    [rs.verification.Case(-np.ones(2), np.ones(2), [rs.Polyhedron([[-1.0, 0.0, 0.0]], [0.3])])]
)


def read(thing):
    """Return the HTML as a tree, which must be well-formed, and as words."""
    tree = ElementTree.fromstring(thing._repr_html_())
    return tree, " ".join("".join(element.itertext()) for element in [tree])


def cells(tree):
    return [["".join(cell.itertext()) for cell in row] for row in tree.iter("tr")]


@pytest.mark.parametrize(
    "thing",
    [
        NET,
        rs.load([(np.eye(2), np.zeros(2))]),
        rs.load(default_network([2, *[3] * 60, 1])),
        PART,
        empty_partition(NET, BOX),
        rs.partition(NET, rs.Segment([0, 0], [1, 1])),
        PART.finding(),
        NET.codes(POINTS),
        NET.codes(POINTS)[:0],
        rs.region(NET, POINTS[0]),
        rs.decision_boundary(PART),
        rs.decision_boundary(rs.load(default_network([3, 8, 3])), rs.Box(-1, 1, 3)),
        rs.datasets.digits("test"),
        rs.verify(NET, PROPERTY),
        rs.verify(NET, PROPERTY).counterexample,
        rs.certify(rs.partition(NET, BOX)).certificate,
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_html_is_well_formed_and_brings_no_colours(thing):
    tree, _ = read(thing)
    styles = [element.get("style", "") for element in tree.iter()]
    assert not any("color:" in style.replace("currentColor", "") for style in styles)


def test_a_network_shows_its_gates_shapes_notes_and_how_it_was_checked():
    tree, words = read(NET)
    table = cells(tree)
    for index, gate in enumerate(NET.gates):
        shape = " × ".join(map(str, gate.shape))
        assert [str(index + 1), gate.name, gate.kind, shape, str(gate.num_units), str(gate.num_pieces)] in table
    assert ["input", "2"] in table
    assert ["units", "32 in 2 gates"] in table
    assert NET.verification.reference in words
    assert NET.fingerprint[:12] in words
    restricted = NET.restrict(rs.Segment([0, 0], [1, 1]))
    assert "not compared with a model" in read(restricted)[1]


def test_results_full_of_numbers_are_one_line():
    """Seen red with the line that dataclasses make of themselves: all numbers, of a certificate 300,000 letters."""
    found = rs.verify(NET, PROPERTY)
    for thing in (
        rs.region(NET, POINTS[0]),
        rs.decision_boundary(PART),
        rs.certify(rs.partition(NET, BOX)).certificate,
        rs.neighbors(NET, POINTS[0]),
        rs.datasets.digits("test"),
        found,
    ):
        assert repr(thing).startswith(f"{type(thing).__name__}(")
        assert len(repr(thing)) < 700
        assert "\n" not in repr(thing)
    assert (str(found), "verdict=VIOLATED" in repr(found)) == ("VIOLATED", True)
    assert ["verdict", "VIOLATED"] in cells(read(found)[0])


def test_figures_are_pictures_by_themselves():
    """Notebooks know figures of pyplot only, and show the others as a line of text."""
    for figure in (rs.plots.partition(PART), rs.plots.codes(NET.codes(POINTS))):
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_an_error_shows_the_call_and_not_the_way_through_readers():
    with pytest.raises(rs.errors.InputError, match="part must be") as caught:
        rs.topology.betti(NET)
    # The checks of annotations are those of the tests.
    assert [entry.name for entry in caught.traceback if entry.name != "checking"][1:] == ["read_and_call"]


def test_notes_are_escaped():
    net = rs.Network(NET.nodes, NET.output, ("a < b & c",))
    assert "a < b & c" in read(net)[1]


def test_of_many_gates_some_are_shown():
    tree, _ = read(rs.load(default_network([2, *[3] * 60, 1])))
    table = cells(tree)
    assert any(row[1:2] == ["… 20 more gates"] for row in table)
    assert any(row[1:2] == ["relu 59"] for row in table)


def test_a_partition_shows_its_number_with_the_claim_and_a_picture():
    tree, words = read(PART)
    assert f"{len(PART):,} EXACT" in words
    assert f"{int(PART.adjacency_finding()):,} (EXACT)" in words
    path = tree.find(".//path").get("d")
    assert path.count("M") == len(PART.facets_with_ends.ends)
    large = rs.partition(rs.load(default_network([2, 64, 64, 1], seed=0)), BOX)
    assert len(large) > 1_000
    assert read(large)[0].find(".//path") is None


def test_a_picture_shows_the_boundaries_with_y_upwards():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    path = read(rs.partition(net, rs.Box([-1, -1], [1, 3])))[0].find(".//path").get("d")
    pieces = {frozenset(piece.split("L")) for piece in path.split("M")[1:]}
    # The window is 90 wide and 180 high; the axes cross 45 from the left and 135 from the top.
    assert frozenset(("45 135", "45 0")) in pieces
    assert frozenset(("45 135", "90 135")) in pieces


def test_a_partition_that_stopped_says_so():
    words = read(rs.partition(NET, BOX, budget=rs.Budget(regions=1)))[1]
    assert "LOWER" in words
    assert "budget" in words


def test_a_finding_shows_what_a_reader_needs():
    finding = rs.Finding(
        12_345,
        rs.Claim.LOWER,
        name="<regions>",
        interval=(12_345, 20_000),
        definition="a & b",
        domain="box",
        method="splitting",
        source="serra2018",
        tolerance=1e-9,
        num_undecided=7,
        work={"seconds": 1.5},
    )
    tree, words = read(finding)
    assert "<regions>: 12,345 LOWER, in [12,345, 20,000]" in words
    assert cells(tree) == [
        ["definition", "a & b"],
        ["domain", "box"],
        ["method", "splitting"],
        ["source", "serra2018"],
        ["tolerance", "1e-09"],
        ["undecided", "7"],
        ["seconds", "1.5"],
    ]
    assert repr(finding) == "Finding(<regions>: 12,345 (LOWER, in [12,345, 20,000]))"


def test_codes_show_how_many_differ(monkeypatch):
    codes = NET.codes(POINTS)
    table = cells(read(codes)[0])
    assert ["codes", "50"] in table
    assert ["different codes", str(len(codes.unique()))] in table
    for name, alone in codes.by_gate().items():
        assert [name, "16", "2", str(len(alone.unique()))] in table
    monkeypatch.setattr("reluscope.codes.packed.MAX_BYTES_COUNTED", 10)
    assert "not counted" in read(codes)[1]


def test_tables_escape_and_group_numbers():
    tree = ElementTree.fromstring(markup.table(["<a>"], [[12345], ["x & y"], [0.25]]))
    assert cells(tree) == [["<a>"], ["12,345"], ["x & y"], ["0.25"]]
