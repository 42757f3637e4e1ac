"""What ``--json`` prints: keys and types, as they are promised. A change here is a change for whoever reads them."""

import json
from pathlib import Path

import numpy as np
import pytest

from analyses.tracking.runs import make_model, step, track
from cli.running import reluscope

SCHEMAS = Path(__file__).parent / "schemas"
DOCS = Path(__file__).parents[2] / "docs"
FINDING = {"name", "value", "claim", "interval", "definition", "domain", "method", "source", "tolerance"}
FINDING |= {"num_undecided", "num_samples", "work", "is_share"}
COMMANDS = {
    "analyze": ("analyze", "my_models:Net", "--weights", "net.safetensors", "--data", "data.npz", "--segments", "1"),
    "info": ("info", "my_models:cross"),
    "codes": ("codes", "my_models:cross", "--data", "points.npz"),
    "region": ("region", "my_models:cross", "--data", "points.npz", "--sample", "1"),
    "preimage": ("preimage", "my_models:cross", "--data", "points.npz", "--sample", "1"),
    "compare": ("compare", "my_models:cross", "my_models:affine", "--data", "points.npz"),
    "partition": ("partition", "my_models:cross", "--box", "-1,1", "-o", "a.svg"),
    "count": ("count", "my_models:cross", "--box", "-1,1"),
    "surface": ("surface", "my_models:cross", "--box", "-1,1", "--of", "0-1", "-o", "a.svg"),
    "snapshot": ("snapshot", "my_models:cross", "-o", "a.html"),
    "verify": ("verify", "my_models:cross", "safe.vnnlib"),
    "check": ("check", "my_models:cross", "unsafe.vnnlib", "result.txt"),
    "violations": ("violations", "my_models:cross", "safe.vnnlib"),
    "reach": ("reach", "my_models:clamp", "plant.json", "--box", "0,1", "--steps", "1"),
    "bounds": ("bounds", "my_models:cross"),
    "boolean": ("boolean", "x1 & (x2 | x3)"),
    "track-report": ("track-report", "run.parquet"),
    "reproduce": ("reproduce", "serra2018/one_input", "-o", "out"),
}
SAFE = """(declare-const X_0 Real) (declare-const X_1 Real) (declare-const Y_0 Real) (declare-const Y_1 Real)
(assert (<= 0 X_0 1)) (assert (<= 0 X_1 1)) (assert (>= Y_0 2))"""
# Names of gates, classes, sections: as many as there are.
BY_NAME = ("facets_by_gate", "logged", "work", "changes", "captions")


def schema(value, key=""):
    """Return keys and types: of lists the kinds of entries, each once; of mappings by name the kinds of values."""
    if isinstance(value, dict):
        if value.keys() >= {"name", "value", "claim"}:
            assert value.keys() <= FINDING
            return "finding"
        if key in BY_NAME:
            return {"*": kinds(value.values())}
        return {name: schema(entry, name) for name, entry in value.items()}
    if isinstance(value, list):
        return kinds(value)
    return "null" if value is None else "number" if type(value) in (int, float) else type(value).__name__


def kinds(values):
    return [json.loads(kind) for kind in sorted({json.dumps(schema(value), sort_keys=True) for value in values})]


def record_run(file):
    model = make_model()
    with track(model, file, plane=(0, 1, 2)) as tracker:
        for epoch in range(2):
            step(model, epoch)
            tracker.record(loss=0.5)


@pytest.mark.few(8)
@pytest.mark.parametrize("name", COMMANDS)
def test_keys_and_types(folder, quick_report, name):
    np.savez("points.npz", x=np.array([[-1.0, -1.0], [1.0, -1.0], [0.5, 2.0]]), y=[0, 1, 1])
    (folder / "safe.vnnlib").write_text(SAFE, encoding="utf-8")
    (folder / "plant.json").write_text('{"A": [[1, 0.5], [0, 1]], "B": [[0], [1]]}', encoding="utf-8")
    (folder / "unsafe.vnnlib").write_text(SAFE.replace("(>= Y_0 2)", "(>= Y_0 0)"), encoding="utf-8")
    (folder / "result.txt").write_text("sat ((X_0 1) (X_1 1) (Y_0 1) (Y_1 1))", encoding="utf-8")
    if name == "track-report":
        record_run(folder / "run.parquet")
    result = reluscope(*COMMANDS[name], "--json")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    if name == "analyze":  # what sections say is theirs; that they say it in one form is checked here
        sections = printed.pop("sections")
        assert sections.keys() >= {"network", "fit", "plane"}
        for section in sections.values():
            assert section.keys() <= {"title", "status", "seconds", "sentence", "findings", "data"}
            for finding in section.get("findings", ()):
                assert schema(finding) == "finding"
    found, path = schema(printed), SCHEMAS / f"{name}.json"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        pytest.fail(f"{path.name} was not there and has been written: look at it and run again")
    assert found == json.loads(path.read_text(encoding="utf-8"))
    page = (DOCS / ("report.md" if name == "analyze" else "command-line.md")).read_text(encoding="utf-8")
    for key in printed:
        assert f"`{key}`" in page, f"{key} is not documented"
