"""From trainings that were followed to tables, curves and grids of embeddings."""

from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import plots
from reluscope_studies.interruption import Interruption
from reluscope_studies.plots.training_curves import Line
from reluscope_studies.shepeleva2020._following import CLASSIFICATION, Followed, Plan, Run, follow
from reluscope_studies.verdicts import Rate

RIGHT = "correct codes"


def followed_outcome(
    setting: Setting,
    plan: Plan,
    runs: Iterable[Run],
    *,
    watched: Callable[[str], bool],
    pictures: Callable[[Sequence[Followed]], Iterable[Picture]],
    said: Callable[[Sequence[Followed]], Iterable[str]],
    verdicts: Callable[[Sequence[Followed]], tuple[StatementVerdict, ...]],
) -> Outcome:
    """Follow trainings, and return tables of their codes with what is drawn and said of them."""
    followed: list[Followed] = []
    drawn: tuple[Picture, ...] = ()
    with Interruption() as ctrl_c:
        for run in runs:
            followed.append(follow(run, setting, watched=watched, most_drawn=plan.most_drawn))
        drawn = tuple(pictures(followed))
    tables = (counts_table(followed), separation_table(followed, (0, *plan.until(plan.shown)))) if followed else ()
    sentences, judged = tuple(said(followed)), verdicts(followed)
    return Outcome(sentences, findings_of(followed), tables, drawn, ctrl_c.came, verdicts=judged)


def findings_of(followed: Iterable[Followed]) -> tuple[rs.Finding, ...]:
    """Return all numbers after the last epoch of every training."""
    return tuple(finding for one in followed for finding in one.findings(max(one.run.epochs)))


def counts_table(followed: Sequence[Followed]) -> Table:
    """Return numbers of codes after the last epoch, of both parts of the samples."""
    scores = list(dict.fromkeys(one.run.task.score for one in followed))
    rows = []
    for one in followed:
        for part, samples in one.run.samples.parts().items():
            last = max(one.run.epochs)
            deepest = f"codes of {one.gates[-1].name}"
            numbers = [one.finding(last, part, what) for what in ("codes", RIGHT, deepest, "codes of all gates")]
            found = [one.finding(last, part, score) for score in scores]
            rows.append(
                (
                    one.run.label,
                    f"{one.run.rate:g}",
                    f"{len(samples):,} {part}",
                    *("" if score is None else f"{float(score):.3f}" for score in found),
                    *("" if number is None else f"{int(number):,}" for number in numbers),
                )
            )
    columns = ("network", "rate", "samples", *scores, "codes", "with a correct sample", "last gate", "all gates")
    caption = (
        "After the last epoch: different codes of the dense gates together, those that hold a correctly classified "
        "sample, different codes of the last dense gate alone, and of all gates of the network."
    )
    return Table(columns, tuple(rows), caption)


def separation_table(followed: Sequence[Followed], epochs: Sequence[int]) -> Table:
    """Return how well every gate sorts the classes, after some epochs."""
    rows = []
    for one in followed:
        for gate in one.gates:
            shares, ratios = zip(*(_separation(one, epoch, gate.name) for epoch in epochs), strict=True)
            rows.append((one.run.label, f"{one.run.rate:g}", f"{gate.name} ({gate.num_units})", *shares, *ratios))
    columns = (
        "network",
        "rate",
        "gate",
        *(f"nearest, epoch {epoch}" for epoch in epochs),
        *(f"between / within, epoch {epoch}" for epoch in epochs),
    )
    caption = (
        "How classes lie in the code space of each gate: the share of validation samples whose nearest training code "
        "is of their class, and the mean Hamming distance between classes over that within one (1: no difference)."
    )
    return Table(columns, tuple(rows), caption)


def _separation(one: Followed, epoch: int, gate: str) -> tuple[str, str]:
    nearest, within, between = (
        one.finding(epoch, "validation", f"{what} {gate}") for what in ("nearest", "within", "between")
    )
    share = "" if nearest is None else f"{100 * float(nearest):.1f} %"
    ratio = "" if within is None or between is None or not float(within) else f"{float(between) / float(within):.2f}"
    return share, ratio


def nearest_shares(one: Followed, gates: Sequence[str], epoch: int | None = None) -> list[float]:
    """Return the share of nearest codes of the same class after an epoch, gate by gate; by default the last."""
    when = max(one.run.epochs) if epoch is None else epoch
    found = [one.finding(when, "validation", f"nearest {gate}") for gate in gates]
    return [float("nan") if share is None else float(share) for share in found]


def nearest_rates(one: Followed, gates: Sequence[str], epoch: int | None = None) -> list[Rate]:
    """Return the same as so many of the samples."""
    number = len(one.run.samples.validation)
    return [Rate(round(share * number), number) for share in nearest_shares(one, gates, epoch)]


def curves(name: str, followed: Sequence[Followed]) -> Picture:
    """Draw scores and numbers of codes over epochs, one column per rate."""
    are_classifiers = all(one.run.task is CLASSIFICATION for one in followed)
    panels: dict[str, dict[str, dict[tuple[str, str], Line]]] = {}
    for one in followed:
        deepest = f"codes of {one.gates[-1].name}"
        kinds = {"score": one.run.task.score, "codes": "codes", "codes,\nlast gate": deepest}
        if are_classifiers:
            kinds |= {
                "codes with a\ncorrect sample": RIGHT,
                "codes with a correct\nsample, last gate": f"correct {deepest}",
            }
        kinds = {one.run.task.score if label == "score" else label: what for label, what in kinds.items()}
        for label, what in kinds.items():
            column = panels.setdefault(label, {}).setdefault(f"rate {one.run.rate:g}", {})
            for part in one.run.samples.parts():
                found = [one.finding(epoch, part, what) for epoch in one.run.epochs]
                column[one.run.label, part] = (
                    one.run.epochs,
                    [float("nan") if number is None else float(number) for number in found],
                )
    caption = "In training, at each learning rate: how well networks do, and how many different codes samples have."
    return Picture(name, plots.training_curves(panels), caption)


def grid(
    name: str, followed: Sequence[Followed], *, shown: Sequence[int], gates: Sequence[str] | None, setting: Setting
) -> Picture:
    """Draw embeddings of codes, epochs below each other and gates beside each other.

    Parameters
    ----------
    name : str
        Of the picture.
    followed : sequence of Followed
        Their gates stand beside each other; of the same samples.
    shown : sequence of int
        Epochs.
    gates : sequence of str, optional
        Those to draw; all by default.
    setting : Setting
    """
    method = "umap" if find_spec("umap") else "mds"
    columns: list[str] = []
    drawn: list[tuple[rs.codespace.Embedding, ...]] = []
    for one in followed:
        for gate in one.gates:
            if gates is None or gate.name in gates:
                setting.progress(f"Embedding the codes of {gate.name}, {one.run.label}")
                codes = [one.codes(epoch, gate.name) for epoch in shown]
                drawn.append(rs.codespace.embed_series(codes, method=method, seed=setting.seed))
                columns.append(gate.name if len(followed) == 1 else f"{one.run.label} {gate.name}")
    samples = followed[0].run.samples
    figure = rs.plots.embeddings(
        [[series[place].points for series in drawn] for place in range(len(shown))],
        followed[0].labels,
        rows=[f"epoch {epoch}" for epoch in shown],
        columns=columns,
        names=samples.names,
    )
    how = {"umap": "UMAP of their nearest codes in Hamming distance", "mds": "classical scaling of Hamming distances"}
    network = followed[0].run.label if len(followed) == 1 else "each head"
    caption = (
        f"Codes of {len(followed[0].labels):,} validation samples of {samples.validation.name} in the plane, by "
        f"{how[method]}: {network} at rate {followed[0].run.rate:g}, "
        "gates beside each other, epochs below each other, each turned to lie as near as it can to the one above."
    )
    return Picture(name, figure, caption)
