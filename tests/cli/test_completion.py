"""Shell completion: commands, options, choices and named data; models and files are left to the shell."""

import os
import shutil
import subprocess
import sys

import pytest

from reluscope.cli.reading.parsing import complete_data


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


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("reluscope p", ["preimage", "partition"]),
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
    (tmp_path / "digit-images.npy").write_text("", encoding="utf-8")
    assert complete_data("dig") == []


@pytest.mark.slow
def test_zsh_falls_back_to_files():
    assert complete("reluscope info ne", "zsh") == ["_files"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_in_bash(tmp_path):
    # The script that --show-completion prints, called as bash calls it; no reply leaves the word to bash, as a path.
    (tmp_path / "reluscope").write_text(
        f"#!{sys.executable}\nfrom reluscope.cli import main\nmain()\n", encoding="utf-8"
    )
    (tmp_path / "reluscope").chmod(0o755)
    script = """
        source <(_RELUSCOPE_COMPLETE=source_bash reluscope)
        COMP_WORDS=(reluscope partition net.onnx --color a); COMP_CWORD=4
        _reluscope_completion reluscope a --color; echo "${COMPREPLY[@]}"
        COMP_WORDS=(reluscope info ne); COMP_CWORD=2
        _reluscope_completion reluscope ne info; echo "[${COMPREPLY[@]}]"
        complete -p reluscope
    """
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
    )
    colours, nothing, how = done.stdout.splitlines()
    assert (colours, nothing) == ("activation_rate area", "[]")
    assert "-o default" in how
