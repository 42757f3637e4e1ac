"""``reluscope track-report``: the page, its numbers as JSON, and what is said of bad files."""

import json

import pytest

from analyses.tracking.runs import make_model, step, track
from cli.running import is_one_sentence, reluscope


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The file of a run, and its partitions beside it."""
    file, model = tmp_path_factory.mktemp("run") / "run.parquet", make_model()
    with track(model, file, plane=(0, 1, 2)) as tracker:
        for epoch in range(2):
            step(model, epoch)
            tracker.record(loss=0.25)
    return file


@pytest.mark.slow
def test_the_page(written, tmp_path):
    result = reluscope("track-report", written, "-o", tmp_path / "page.html", "-o", tmp_path / "numbers.json")
    assert result.exit_code == 0, result.output
    assert "accuracy" in result.stdout
    assert "Recording took" in result.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for words in (
        "run <span",
        "What was tracked",
        "Through training",
        "The first and the last record",
        "What recording cost",
        "loss (logged)",
        "distinct codes, gate 2",
        "EXACT",
        "Epoch 1: ",
        "share of samples with a new code",
    ):
        assert words in page
    assert page.count("<svg") == 3  # the run, and a plane for each record
    numbers = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    assert [record["epoch"] for record in numbers["records"]] == [0, 1]
    assert all(found["claim"] for record in numbers["records"] for found in record["findings"])


@pytest.mark.slow
def test_a_run_without_records_labels_or_planes(tmp_path):
    file = tmp_path / "run.parquet"
    with track(make_model(), file, labels=None, segments=0, jacobians=0) as tracker:
        assert reluscope("track-report", file).exit_code == 0
        assert "no records in this file yet" in (tmp_path / "run.html").read_text(encoding="utf-8")
        tracker.record()
        assert reluscope("track-report", file, "--force", "--quiet").stdout == ""
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "There are no labels" in page
    assert 'id="planes"' not in page


@pytest.mark.slow
def test_partitions_that_are_gone_or_damaged(written, tmp_path):
    file = tmp_path / "run.parquet"
    file.write_bytes(written.read_bytes())
    assert reluscope("track-report", file).exit_code == 0
    folder = tmp_path / "run.partitions"
    folder.mkdir()
    (folder / "record-00001.arrow").write_bytes(b"damaged")
    assert reluscope("track-report", file, "--force").exit_code == 0
    assert "Epoch 1 cannot be shown" in (tmp_path / "run.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("options", [(), ("-o", "run.parquet"), ("-o", "page.pdf"), ("-o", "there.html")])
def test_bad_files(written, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.html").write_text("mine", encoding="utf-8")
    (tmp_path / "run.parquet").write_bytes(written.read_bytes() if options else b"foreign")
    result = reluscope("track-report", "run.parquet", *options)
    assert result.exit_code == 1
    assert is_one_sentence(result.stderr), result.stderr
    assert (tmp_path / "there.html").read_text(encoding="utf-8") == "mine"


def test_help_has_examples():
    assert "reluscope track-report run.parquet -o run.html" in reluscope("track-report", "--help").stdout
