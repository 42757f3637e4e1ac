"""Shell completion: commands, options, choices and named data; models and files are left to the shell."""

import os
import shutil
import subprocess
import sys

import pytest

from reluscope.cli.parsing import complete_data


def complete(line, shell="bash"):
    words = line.split(" ")
    environment = {
        **os.environ,
        "_RELUSCOPE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
    }
    script = "import sys; sys.argv[0] = 'reluscope'; from reluscope.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("reluscope p", ["partition"]),
        ("reluscope partition net.onnx --col", ["--color"]),
        ("reluscope partition net.onnx --color a", ["activation_rate", "area"]),
        ("reluscope analyze net.onnx --data digits:te", ["digits:test"]),
        ("reluscope info ne", []),
        ("reluscope analyze net.onnx --labels y", []),
        ("reluscope analyze net.onnx -o ou", []),
    ],
)
def test_what_is_completed(tmp_path, monkeypatch, line, found):
    monkeypatch.chdir(tmp_path)
    assert complete(line) == found


def test_files_come_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert complete_data("dig") == ["digits", "digits:train", "digits:test"]
    (tmp_path / "digit-images.npy").write_text("")
    assert complete_data("dig") == []


def test_zsh_falls_back_to_files():
    assert complete("reluscope info ne", "zsh") == ["_files"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_a_model_to_a_file(tmp_path):
    # The script that --show-completion prints, driven as bash drives it.
    environment = {**os.environ, "_RELUSCOPE_COMPLETE": "source_bash"}
    script = "import sys; sys.argv[0] = 'reluscope'; from reluscope.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert "complete -o default -F _reluscope_completion reluscope" in done.stdout
