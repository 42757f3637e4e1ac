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
    gates, whole = plain["gates"], plain["gates"]["summary"]
    for row, part in enumerate(pieces):
        assert gates["num_distinct_codes"]["value"][row] == len({row.tobytes() for row in part})
        still = (part == part[0]).all(0)
        assert gates["num_dead_units"]["value"][row] + gates["num_always_on_units"]["value"][row] == still.sum()
        assert gates["num_changing_units"]["value"][row] == (~still).sum()
        _, counts = np.unique(part, axis=0, return_counts=True)
        entropy = -(counts / len(part) * np.log2(counts / len(part))).sum()
        assert gates["code_entropy"]["value"][row] == pytest.approx(entropy)
    together = np.concatenate(pieces, axis=1)
    assert whole["num_distinct_codes"]["value"] == [len(np.unique(together, axis=0))]
    assert 0 < whole["information_on_class"]["value"][0] <= np.log2(10)
    assert plain["distinct_correctly_classified"]["value"] <= whole["num_distinct_codes"]["value"][0]
    assert plain["classes"]["keys"]["class"] == list(range(10))
    assert plain["classes"]["num_samples"]["value"] == np.bincount(DATA.labels).tolist()
    assert plain["classes"]["num_distinct_codes"]["value"] == [
        len(np.unique(together[DATA.labels == label], axis=0)) for label in range(10)
    ]
    distances = (together[:, None] != together[None]).sum(-1)
    same = DATA.labels[:, None] == DATA.labels[None]
    within = distances[same & ~np.eye(len(DATA), dtype=bool)].mean()
    rows = zip(plain["distances"]["keys"]["pairs"], plain["distances"]["keys"]["gate"], strict=True)
    means = dict(zip(rows, plain["distances"]["mean_code_distance"]["value"], strict=True))
    assert means["within classes", "all gates"] == pytest.approx(within)
    assert means["between classes", "all gates"] == pytest.approx(distances[~same].mean())


def test_the_table_says_the_same(folder):
    result = reluscope("codes", *NET, "--data", "data.npz")
    plain = json.loads(reluscope("codes", *NET, "--data", "data.npz", "--json").stdout)
    assert result.exit_code == 0
    gates = plain["gates"]
    tables = [(name, gates, row) for row, name in enumerate(gates["keys"]["gate"])]
    for name, table, place in [*tables, ("all gates", gates["summary"], 0)]:
        # Columns that do not fit beside the keys follow in another table, below.
        row = " ".join(line for line in result.stdout.splitlines() if line.startswith(f" {name} "))
        for key in ("num_distinct_codes", "num_dead_units", "num_changing_units", "num_duplicate_units"):
            assert f" {table[key]['value'][place]:,.0f} " in row + " "
    assert "EXACT" in result.stdout


def test_without_labels_there_are_no_classes(folder):
    plain = json.loads(reluscope("codes", *NET, "--data", "x.npy", "--samples", "7", "--json").stdout)
    assert plain["classes"] is plain["distances"] is None
    assert "information_on_class" not in plain["gates"]
    assert plain["data"]["samples"] == 7
    labelled = json.loads(reluscope("codes", *NET, "--data", "x.npy", "--labels", "y.npy", "--json").stdout)
    assert len(labelled["classes"]["status"]) == 10


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
    with open("codes.csv", newline="", encoding="utf-8") as file:
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
    assert json.loads(result.stdout)["gates"]["summary"]["num_distinct_codes"]["value"] == [1]
    assert np.load("c.npz")["pieces"].shape == (2, 0)
    assert reluscope("codes", "my_models:affine", "--data", "points.npy").exit_code == 0


@pytest.mark.few(5)
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
