"""Tables fit: into a hundred columns in pipes and files, and into as many as COLUMNS says."""

import numpy as np
import pytest

from cli.running import reluscope

NET, DATA = "my_models:cross", ("--data", "points.npz")
COMMANDS = {
    "info": ("info", NET),
    "compare": ("compare", NET, "my_models:cross", *DATA),
    "codes": ("codes", NET, *DATA),
    "bounds": ("bounds", "--arch", "2,16,16,3"),
    "count": ("count", NET, "--box", "-1,1"),
    "region": ("region", NET, *DATA, "--sample", "3"),
    "partition": ("partition", NET, "--box", "-1,1"),
}


def widths(command):
    """Return how wide the tables are that a command prints: as wide as the rule below their headings."""
    points = np.random.default_rng(0).normal(size=(40, 2))
    np.savez("points.npz", x=points, y=(points[:, 0] > 0).astype(int))
    result = reluscope(*COMMANDS[command])
    assert result.exit_code == 0, result.output
    return [len(line) for line in result.stdout.splitlines() if line.strip() and not line.strip(" ─")]


@pytest.mark.parametrize("command", COMMANDS)
def test_pipes_get_a_hundred_columns(folder, monkeypatch, command):
    monkeypatch.delenv("COLUMNS", raising=False)
    found = widths(command)
    assert found
    assert max(found) <= 100


def test_what_does_not_fit_follows_below(folder, monkeypatch):
    found = {}
    for columns in (80, 160):
        monkeypatch.setenv("COLUMNS", str(columns))
        found[columns] = widths("codes")
        assert max(found[columns]) <= columns
    assert len(found[80]) > len(found[160])
