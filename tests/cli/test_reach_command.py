"""``reluscope reach``: steps, exit codes, files, and what is refused."""

import json

import numpy as np
import pytest

import reluscope as rs
from cli.running import is_one_sentence, reluscope

PLANT = '{"A": [[1, 0.1], [0, 1]], "B": [[0.005], [0.1]], "c": [0, 0]}'
BOX = ("--box", "0.5,1", "--box", "-0.5,0.5")


def reached(folder, *arguments, plant=PLANT, model="my_models:clamp"):
    (folder / "plant.json").write_bytes(plant.encode("latin-1"))
    return reluscope("reach", model, "plant.json", *arguments)


def test_steps_and_files(folder):
    names = ["a.csv", "a.parquet", "a.arrow", "a.json", "a.png"]
    result = reached(folder, *BOX, "--steps", "3", "--json", *(part for name in names for part in ("-o", name)))
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [(one["step"], one["claim"], one["within"]) for one in found["steps"]] == [
        (step, "EXACT", None) for step in range(4)
    ]
    # From the corners, of which those of the largest and the least first state stay so.
    x = np.array([[p, v] for p in (0.5, 1) for v in (-0.5, 0.5)])
    for step in found["steps"]:
        assert (x.min(axis=0) >= np.array(step["lower"]) - 1e-12).all()
        assert (x.max(axis=0) <= np.array(step["upper"]) + 1e-12).all()
        assert x[:, 0].max() == pytest.approx(step["upper"][0])
        u = np.clip(x @ [-2.0, -3.0], -1, 1)
        x = x @ [[1, 0], [0.1, 1]] + u[:, None] * [0.005, 0.1]
    assert json.loads((folder / "a.json").read_text(encoding="utf-8")) == found
    assert len((folder / "a.csv").read_text(encoding="utf-8").splitlines()) == 5
    assert rs.reachability.ReachableSets.load("a.arrow").num_exact == 4
    assert (folder / "a.png").stat().st_size > 10_000
    assert is_one_sentence(reached(folder, *BOX, "-o", "a.csv").stderr)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("within", "regions", "code", "said"),
    [
        ("-2,2", None, 0, "All states stay within the box [-2, 2]^2"),
        ("-2,0.75", None, 3, "Some first states are surely outside"),
        ("-0.55,1.01", None, 3, "After 1 step some states are surely outside"),
        ("-0.5922,1.126", "2", 4, "is not known from step 7"),
    ],
)
def test_exit_codes(folder, within, regions, code, said):
    limit = () if regions is None else ("--regions", regions)
    result = reached(folder, *BOX, "--steps", "7", "--within", within, *limit)
    assert (result.exit_code, said in result.stdout) == (code, True), result.output
    assert ("boxes hold all states" in result.stdout) == (regions is not None)


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("plant", "said"),
    [
        ("{", "line 1"),
        ("[1]", "got list"),
        ('{"A": [[1]]}', "got A"),
        (PLANT.replace("c", "d"), "got A, B, d"),
        ('{"A": [[1]], "B": [["x"]]}', "B has entries"),
        ('{"A": [[1]], "B": [["1"]]}', "B has entries"),
        ('{"A": [[1]], "B": [[true]]}', "B has entries"),
        ('{"A": [[1, 2], [3]], "B": [[1]]}', "the rows of A"),
        ('{"A": [1], "B": [[1]]}', "A has 1 dim"),
        (PLANT.replace("0.005", "NaN"), "plant.json: B must be finite"),
        (PLANT.replace("0.005", "1" * 5000), "plant.json: B must be finite"),
        ('{"A": [[1, 0]], "B": [[1]]}', "plant.json: A (n, n), B (n, m) and c (n,) must agree"),
        (
            '{"A": [[1]], "B": [[1]]}',
            "plant.json: expected a network with as many",
        ),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}", "no text"),
    ],
)
def test_plants_that_are_none_are_one_sentence(folder, plant, said):
    result = reached(folder, "--box", "0,1", plant=plant)
    assert result.exit_code == 1
    assert is_one_sentence(result.stderr)
    assert said in result.stderr


def test_wrong_boxes_and_states(folder):
    assert "once for each of the 2" in reached(folder, *BOX, "--box", "0,1").stderr
    assert "--within once" in reached(folder, *BOX, *("--within", "0,1") * 3).stderr
    assert "--within" in reached(folder, *BOX, "--within", "1").stderr
    assert reached(folder).exit_code == reached(folder, *BOX, "--states", "0").exit_code == 2
    assert "2 and 1, got 2 and 2" in reached(folder, *BOX, model="my_models:cross").stderr


def test_axes_that_are_none_are_refused_before_any_work(folder, monkeypatch):
    monkeypatch.setattr("reluscope.cli.properties.reach_command.find", None)
    result = reached(folder, *BOX, "--states", "0,5", "-o", "a.arrow", "-o", "a.png")
    assert is_one_sentence(result.stderr)
    assert "states must be from 0 to 1" in result.stderr


def test_what_windows_writes_before_a_text_is_no_part_of_it(folder):
    assert reached(folder, *BOX, "--steps", "0", plant="\xef\xbb\xbf" + PLANT).exit_code == 0
