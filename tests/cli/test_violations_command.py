"""``reluscope violations``: volumes, exit codes, tables and pictures."""

import json

import pytest

from cli.running import is_one_sentence, reluscope
from cli.test_verify_command import TEXT


def violated(folder, level, *arguments):
    (folder / "safe.vnnlib").write_text(TEXT.replace("LEVEL", str(level)), encoding="utf-8")
    return reluscope("violations", "my_models:cross", "safe.vnnlib", *arguments)


@pytest.mark.parametrize(("level", "volume", "code"), [(1.5, 0.0, 0), (0.75, 0.25, 3)])
def test_volumes_and_exit_codes(folder, level, volume, code):
    result = violated(folder, level, "--json")
    assert result.exit_code == code, result.output
    found = json.loads(result.stdout)["findings"]
    assert [one["claim"] for one in found] == ["EXACT", "EXACT"]
    assert found[0]["value"] == pytest.approx(volume)
    assert "all inputs are decided" in violated(folder, level).stdout


@pytest.mark.slow
def test_files(folder):
    names = ["a.csv", "a.parquet", "a.arrow", "a.json", "a.svg", "a.png", "a.pdf"]
    result = violated(folder, 0.75, "-q", *(part for name in names for part in ("-o", name)))
    assert result.exit_code == 3, result.output
    assert all((folder / name).stat().st_size for name in names)
    header, *rows = (folder / "a.csv").read_text(encoding="utf-8").splitlines()
    assert header.replace('"', "").startswith("case,unsafe,is_box,volume,num_half_spaces,witness_0")
    assert len(rows) == json.loads((folder / "a.json").read_text(encoding="utf-8"))["pieces"] > 0
    assert is_one_sentence(violated(folder, 0.75, "-o", "a.csv").stderr)


def test_wrong_inputs_of_a_picture(folder, monkeypatch):
    """They are refused before any work, which would be lost."""
    monkeypatch.setattr("reluscope.cli.properties.violations_command.find", None)
    assert violated(folder, 0.75, "--inputs", "0,1,2").exit_code == 2
    result = violated(folder, 0.75, "--inputs", "0,7", "-o", "b.png")
    assert result.exit_code == 1
    assert is_one_sentence(result.stderr)
