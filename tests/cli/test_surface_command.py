"""``reluscope surface``: numbers and files of level sets, budgets, and what is refused before any work."""

import json

import numpy as np
import pytest

import reluscope as rs
from cli.running import is_one_sentence, reluscope
from partitions.test_level_files import read_ply

BALL = """\
import torch
from torch import nn
def ball():
    model = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1))
    model.load_state_dict({"0.weight": torch.cat([torch.eye(3), -torch.eye(3)]), "0.bias": torch.zeros(6),
                           "2.weight": torch.ones(1, 6), "2.bias": -torch.ones(1)})
    return model
def wide():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 3))
def tiny():
    model = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1))
    model.load_state_dict({"0.weight": torch.cat([torch.eye(3), -torch.eye(3)]),
                           "0.bias": torch.tensor([-1.0, -1, -1, 1, 1, 1]),
                           "2.weight": torch.ones(1, 6), "2.bias": -torch.full((1,), 1e-9)})
    return model
"""
BOX = ("--box", "-2,2")


@pytest.fixture
def here(folder):
    (folder / "bodies.py").write_text(BALL, encoding="utf-8")
    return folder


def numbers(*arguments):
    result = reluscope("surface", *arguments, "--json")
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    return plain, {one["name"]: (one["value"], one["claim"]) for one in plain["findings"]}


def test_the_numbers_of_a_ball(here):
    plain, found = numbers("bodies:ball", *BOX)
    assert found["level set pieces"] == (8, "EXACT")
    assert found["level set enclosed volume"] == (pytest.approx(4 / 3), "EXACT")
    assert found["level set euler characteristic"] == (2, "EXACT")
    assert plain["is_closed"]
    assert plain["level"] == 0
    said = reluscope("surface", "bodies:ball", *BOX).stdout
    assert "The surface is closed." in said
    assert "EXACT" in said


def test_a_level_that_is_open_not_there_or_negative(here):
    assert "a larger --box may close it" in reluscope("surface", "bodies:ball", "--box", "-0.9,0.9").stdout
    plain, found = numbers("bodies:ball", *BOX, "--level", "-0.5")
    assert found["level set enclosed volume"][0] == pytest.approx(4 / 3 / 8)
    assert "is not crossed there" in reluscope("surface", "bodies:ball", *BOX, "--level", "-1.5").stdout
    del plain


@pytest.mark.slow
def test_every_kind_of_file(here):
    names = [
        f"out/ball{suffix}" for suffix in (".ply", ".obj", ".glb", ".stl", ".arrow", ".json", ".svg", ".png", ".pdf")
    ]
    options = [part for name in names for part in ("-o", name)]
    result = reluscope("surface", "bodies:ball", *BOX, "--color", "region", *options)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert all((here / name).stat().st_size for name in [*names, "out/ball.mtl"])
    vertices, polygons, colors = read_ply(here / "out" / "ball.ply")
    assert (len(vertices), len(polygons)) == (6, 8)
    assert len(set(colors)) > 4
    assert len(rs.LevelSet.load(here / "out" / "ball.arrow")) == 8
    assert json.loads((here / "out" / "ball.json").read_text(encoding="utf-8"))["files"] == names
    again = reluscope("surface", "bodies:ball", *BOX, "-o", "out/ball.ply")
    assert again.exit_code == 1
    assert "--force" in again.stderr


def test_colors_in_a_file_that_nobody_named(here):
    (here / "ball.mtl").write_text("mine", encoding="utf-8")
    result = reluscope("surface", "bodies:ball", *BOX, "--color", "normal", "-o", "ball.obj")
    assert result.exit_code == 1
    assert "ball.mtl is there already" in result.stderr
    assert reluscope("surface", "bodies:ball", *BOX, "-o", "ball.obj").exit_code == 0
    assert (here / "ball.mtl").read_text(encoding="utf-8") == "mine"


@pytest.mark.slow
def test_differences_in_some_inputs_and_on_planes(here):
    wide = ("bodies:wide", "--inputs", "0,2,4", "--box", "-1,1", "--of", "0-1")
    plain, found = numbers(*wide, "--color", "class", "-o", "a.ply", "-o", "a.svg")
    assert plain["output"] == [0, 1]
    assert plain["domain"]["dimensions"] == 3
    import torch

    torch.manual_seed(0)
    network = rs.load(
        torch.nn.Sequential(torch.nn.Linear(5, 12), torch.nn.ReLU(), torch.nn.Linear(12, 3)), input_shape=(5,)
    )
    slice_ = rs.Slice(np.zeros(5), np.eye(5)[[0, 2, 4]], rs.Box(-1, 1, 3))
    assert found["level set pieces"][0] == len(rs.level_set(network, slice_, output=(0, 1))) > 0
    np.save("points.npy", np.random.default_rng(0).normal(size=(3, 5)))
    curve, _ = numbers("bodies:wide", "--plane", "points.npy", "--of", "0-2", "-o", "curve.png", "--color", "class")
    assert curve["domain"]["dimensions"] == 2


def test_budgets_workers_and_checkpoints(here):
    result = reluscope("surface", "bodies:wide", "--inputs", "0,1,2", "--box", "-9,9", "--regions", "3", "--json")
    plain = json.loads(result.stdout)
    assert result.exit_code == 0
    assert plain["stopped"] == "budget of 3 regions"
    assert plain["num_open"]
    assert "this is a part" in reluscope("surface", "bodies:ball", *BOX, "--regions", "1").stdout
    for _ in range(2):
        _, found = numbers("bodies:ball", *BOX, "--checkpoint", "kept", "--workers", "1")
        assert found["level set pieces"] == (8, "EXACT")


def test_vertices_that_fall_together_are_said(here):
    result = reluscope("surface", "bodies:tiny", *BOX, "-o", "tiny.stl")
    assert result.exit_code == 0
    assert is_one_sentence(result.stderr)
    assert "fall together with others in 32-bit floats" in result.stderr


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("bodies:ball", *BOX, "-o", "ball.xyz"), 1, "must end in .ply"),
        (("bodies:ball", *BOX, "-o", "folder"), 1, "must end in .ply"),
        (("bodies:ball", *BOX, "--of", "1"), 1, "output must be"),
        (("bodies:ball", *BOX, "--of", "1-1"), 2, "give an output, as in 2"),
        (("bodies:ball", *BOX, "--of", "-1"), 2, "give an output, as in 2"),
        (("bodies:wide", "--box", "-1,1"), 1, "name inputs, as in --inputs 0,1,2"),
        (("bodies:wide", "--inputs", "0", "--box", "-1,1"), 1, "two or three dimensions, got 1"),
        (("bodies:wide", "--inputs", "0,1", "--box", "-1,1", "-o", "a.stl"), 1, "a curve goes to .svg"),
        (("bodies:ball",), 2, "say where to look"),
        (("bodies:ball", *BOX, "--level", "nan"), 1, "level must be"),
    ],
)
def test_refusals(here, arguments, code, said):
    result = reluscope("surface", *arguments)
    assert result.exit_code == code
    assert said in result.stderr
    assert not {".xyz", ".stl"} & {path.suffix for path in here.iterdir()}
