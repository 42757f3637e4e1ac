"""Pictures of runs: what they show, and that few or missing numbers do not break them."""

import pytest

import reluscope as rs
from analyses.tracking.runs import make_model, step, track
from reluscope.analyses.tracking import Records


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    model = make_model()
    with track(model, tmp_path_factory.mktemp("run") / "digits.parquet", plane=(0, 1, 2)) as tracker:
        for epoch in range(3):
            step(model, epoch)
            tracker.record()
    return tracker.records


def with_rows(records, rows):
    return Records(records.path, tuple(rows), records.settings)


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes if axes.axison]


@pytest.mark.slow
def test_a_panel_for_each_kind_of_number(records):
    figure = rs.plots.tracking(records)
    assert titles(figure) == [
        "accuracy",
        "cross-entropy",
        "distinct codes",
        "distinct codes by gate",
        "share of samples with a new code",
        "changed units per sample",
        "activation rate",
        "dead units",
        "always-on units",
        "regions on segments",
        "median norm of the Jacobian",
        "regions on the plane",
    ]
    assert figure.axes[0].lines[0].get_ydata() == pytest.approx(records["accuracy"])
    assert all(axes.get_xlabel() == "epoch" for axes in figure.axes)
    assert "3 records of 40 samples; recording took" in figure.get_suptitle()
    legend = [text.get_text() for text in figure.axes[7].get_legend().get_texts()]
    assert legend == list(records.gates)
    rs.plots.to_svg(figure)


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [0, 1])
def test_few_records(records, number):
    figure = rs.plots.tracking(with_rows(records, records.rows[:number]))
    rs.plots.to_svg(figure)
    assert len(titles(figure)) == (10 if number else 1)
    if not number:
        assert figure.axes[0].texts[0].get_text() == "no numbers yet"


@pytest.mark.slow
def test_missing_columns_and_records_without_numbers(records):
    names = ("accuracy", "cross_entropy", "segment_regions", "median_segment_regions")
    rows = [{name: value for name, value in row.items() if not name.startswith(names)} for row in records.rows]
    found = titles(rs.plots.tracking(with_rows(records, rows)))
    assert not {"accuracy", "cross-entropy", "regions on segments"} & set(found)
    assert "distinct codes" in found
    empty = dict.fromkeys(records.rows[1]) | {"epoch": 1, "seconds": 0.0, "seconds_between": 1.0}
    rs.plots.to_svg(rs.plots.tracking(with_rows(records, [records.rows[0], empty, records.rows[2]])))


def test_bounds_are_hollow_and_named(records):
    rows = [dict(row) for row in records.rows]
    rows[1]["plane_regions_claim"] = "LOWER"
    axes = rs.plots.tracking(with_rows(records, rows)).axes[11]
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    assert [list(line.get_xdata()) for line in hollow] == [[1.0]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["bound"]


@pytest.mark.slow
def test_epochs_recorded_twice_do_not_fold(records):
    rows = [{**row, "epoch": epoch} for row, epoch in zip(records.rows, (0, 1, 1), strict=True)]
    axes = rs.plots.tracking(with_rows(records, rows)).axes[0]
    assert axes.get_xlabel() == "record"
    assert list(axes.lines[0].get_xdata()) == [0.0, 1.0, 2.0]
