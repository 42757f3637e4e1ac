"""``reluscope codes``: numbers against a plain count, files that can be read back."""

import csv
import json

import numpy as np
import pyarrow.parquet
import pytest

import reluscope as rs
from cli.running import is_one_sentence, reluscope
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits

DATA = digits("test")
NET = ("my_models:Net", "--weights", "net.safetensors")


@pytest.fixture(scope="module")
def pieces():
    """The pieces of all units by gate, from pre-activations and a sign."""
    network = rs.load(demo_network(), input_shape=(1, 8, 8))
    return [
        (pre > 0).int().numpy() if pre.ndim == 2 else pre.argmax(-1).numpy()
        for pre in network.preactivations(DATA.points)
    ]


def test_numbers_are_those_of_a_plain_count(folder, pieces):
    result = reluscope("codes", *NET, "--data", "data.npz", "--json")
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    for gate, part in zip(plain["gates"], pieces, strict=True):
        assert gate["distinct"]["value"] == len({row.tobytes() for row in part})
        still = (part == part[0]).all(0)
        assert gate["dead"]["value"] + gate["always_on"]["value"] == still.sum()
        assert gate["changing"]["value"] == (~still).sum()
        _, counts = np.unique(part, axis=0, return_counts=True)
        assert gate["entropy"]["value"] == pytest.approx(-(counts / len(part) * np.log2(counts / len(part))).sum())
    together = np.concatenate(pieces, axis=1)
    assert plain["total"]["distinct"]["value"] == len(np.unique(together, axis=0))
    assert 0 < plain["information_on_the_class"]["value"] <= np.log2(10)
    assert plain["distinct_correctly_classified"]["value"] <= plain["total"]["distinct"]["value"]
    assert [one["class"] for one in plain["classes"]] == list(range(10))
    assert [one["samples"] for one in plain["classes"]] == np.bincount(DATA.labels).tolist()
    assert [one["distinct"]["value"] for one in plain["classes"]] == [
        len(np.unique(together[DATA.labels == label], axis=0)) for label in range(10)
    ]
    distances = (together[:, None] != together[None]).sum(-1)
    same = DATA.labels[:, None] == DATA.labels[None]
    within = distances[same & ~np.eye(len(DATA), dtype=bool)].mean()
    assert plain["distance_within_classes"]["value"] == pytest.approx(within)
    assert plain["distance_between_classes"]["value"] == pytest.approx(distances[~same].mean())


def test_the_table_says_the_same(folder):
    result = reluscope("codes", *NET, "--data", "data.npz")
    plain = json.loads(reluscope("codes", *NET, "--data", "data.npz", "--json").stdout)
    assert result.exit_code == 0
    for gate in (*plain["gates"], plain["total"]):
        row = next(line for line in result.stdout.splitlines() if line.startswith(f" {gate['name']} "))
        numbers = [gate["num_units"], gate["num_pieces"]]
        numbers += [gate[key]["value"] for key in ("distinct", "dead", "always_on", "changing", "duplicates")]
        shown = [f"{number:,}" for number in numbers]
        shown.insert(3, f"{gate['entropy']['value']:.2f}")
        assert row.split()[-8:] == shown
    assert "EXACT" in result.stdout


def test_without_labels_there_are_no_classes(folder):
    plain = json.loads(reluscope("codes", *NET, "--data", "x.npy", "--samples", "7", "--json").stdout)
    assert plain["classes"] == []
    assert plain["shared_by_classes"] is plain["distance_within_classes"] is None
    assert plain["data"]["samples"] == 7
    labelled = json.loads(reluscope("codes", *NET, "--data", "x.npy", "--labels", "y.npy", "--json").stdout)
    assert len(labelled["classes"]) == 10


def test_saved_codes_are_the_codes(folder, pieces):
    together = np.concatenate(pieces, axis=1)
    files = [f"codes{suffix}" for suffix in (".npz", ".parquet", ".csv")]
    result = reluscope("codes", *NET, "--data", "data.npz", *(part for name in files for part in ("-o", name)), "-q")
    assert (result.exit_code, result.output) == (0, "")
    arrays = np.load("codes.npz")
    np.testing.assert_array_equal(arrays["pieces"], together)
    np.testing.assert_array_equal(arrays["labels"], DATA.labels)
    assert arrays["gate_units"].tolist() == [part.shape[1] for part in pieces]
    assert arrays["gate_pieces"].tolist() == [2, 4, 2]
    equal = arrays["code"][:, None] == arrays["code"][None]
    np.testing.assert_array_equal(equal, (together[:, None] == together[None]).all(-1))
    table = pyarrow.parquet.read_table("codes.parquet")
    with open("codes.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert table.column_names == list(rows[0])
    for name, part in zip(arrays["gate_names"], pieces, strict=True):
        np.testing.assert_array_equal(np.array(table[f"gate_{name}"].to_pylist()), part)
        np.testing.assert_array_equal([[int(digit) for digit in row[f"gate_{name}"]] for row in rows], part)
    assert [int(row["label"]) for row in rows] == DATA.labels.tolist() == table["label"].to_pylist()


def test_a_network_without_gates_has_one_code(folder):
    np.save("points.npy", np.eye(2))
    result = reluscope("codes", "my_models:affine", "--data", "points.npy", "-o", "c.npz", "-o", "c.csv", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["total"]["distinct"]["value"] == 1
    assert np.load("c.npz")["pieces"].shape == (2, 0)
    assert reluscope("codes", "my_models:affine", "--data", "points.npy").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--data", "x.npy", "--labels", "short.npy"), "short.npy must have one entry per sample"),
        (("--data", "x.npy", "--labels", "words.npy"), "words.npy"),
        (("--data", "empty.npy"), "holds no samples"),
        (("--data", "wide.npy", "--input-shape", "1,8,8"), "each sample of wide.npy has shape (65,)"),
        (("--data", "x.npy", "-o", "codes.txt"), "must end in .npz (arrays), .parquet (a table), .csv (a table)"),
        (("--data", "x.npy", "-o", "y.npy/codes.npz"), "is a file"),
        (("--data", "x.npy", "-o", "data.npz"), "add --force"),
        (("--data", "pickled.npy"), "pickled.npy"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(folder, arguments, words):
    np.save("short.npy", DATA.labels[:5])
    np.save("words.npy", DATA.labels.astype(str))
    np.save("empty.npy", np.zeros((0, 64)))
    np.save("wide.npy", np.zeros((3, 65)))
    np.save("pickled.npy", np.array([{}, []], dtype=object))
    result = reluscope("codes", *NET, *arguments)
    assert result.exit_code == 1, result.output
    assert words in result.stderr
    assert is_one_sentence(result.stderr), result.stderr
    assert result.stdout == ""
