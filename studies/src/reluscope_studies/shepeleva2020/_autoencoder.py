"""The paper's autoencoder, of all classes and of two: one protocol for both data sets."""

from collections.abc import Sequence

from reluscope.studies import Outcome, Picture, Setting, StatementVerdict
from reluscope_studies.shepeleva2020._following import RECONSTRUCTION, Followed, Plan, Run
from reluscope_studies.shepeleva2020._networks import ENCODER, autoencoder
from reluscope_studies.shepeleva2020._reporting import (
    curves,
    followed_outcome,
    grid,
    nearest_rates,
    nearest_shares,
)
from reluscope_studies.shepeleva2020._samples import Samples, pair_of, samples_of
from reluscope_studies.verdicts import increasing

RATE = 0.1
# Where the paper draws the clusters of codes, by study.
PLACES = {"autoencoder": "section 3, Figures 2a and 4", "autoencoder-cifar10": "section 3, Figures 3 and 4"}
CODED = tuple(f"encoder{number}" for number in range(1, len(ENCODER) + 1))


def follow_autoencoder(setting: Setting, plan: Plan) -> Outcome:
    """Train the networks that are not in the records yet, and look at their codes."""
    samples = samples_of(setting, plan.most, plan.trained_on)
    return followed_outcome(
        setting,
        plan,
        _runs(plan, samples, setting.seed),
        watched=lambda gate: True,
        pictures=lambda followed: _pictures(plan, followed, setting),
        said=lambda followed: (*_done(plan, samples), *_came_out(followed)),
        verdicts=lambda followed: _verdicts(plan, followed),
    )


def _runs(plan: Plan, samples: Samples, seed: int) -> list[Run]:
    """Return both trainings: of all classes, and of two."""
    return [
        Run(
            name,
            label,
            RATE,
            plan.batch,
            plan.until(plan.epochs),
            lambda: autoencoder(samples.training.shape, seed=seed),
            RECONSTRUCTION,
            chosen,
        )
        for name, label, chosen in (
            ("all-classes", "all classes", samples),
            ("two-classes", " and ".join(pair_of(samples).names), pair_of(samples)),
        )
    ]


def _pictures(plan: Plan, followed: Sequence[Followed], setting: Setting) -> tuple[Picture, ...]:
    grids = [
        grid(f"{plan.name}-{one.run.name}", [one], shown=plan.until(plan.shown), gates=CODED, setting=setting)
        for one in followed
    ]
    return (curves(f"{plan.name}-curves", followed), *grids)


def _done(plan: Plan, samples: Samples) -> list[str]:
    return [
        (
            f"{samples.describe()}, pixels in [0, 1]. An autoencoder of 128, 64, 32, 64 and 128 units; mean "
            f"cross-entropy between pixels and sigmoids of the outputs; gradient descent at rate {RATE} in batches of "
            f"{plan.batch}, {plan.until(plan.epochs)[-1]} epochs; weights after Glorot and Bengio (uniform), zero "
            "biases, no dropout. The network is taken up to the sigmoid, which has no codes."
        ),
        (
            "Figure 2 names the rate 0.01, the published code has 0.1. That code lists a dropout of 0.4 and does not "
            "use it, decodes with 128 and 256 units, where the paper says nothing, validates with its training file, "
            "and cuts activations to whole numbers before it asks whether they are positive, so that its bits say 'at "
            "least 1'. It gives UMAP the rows of the Hamming distances as features; here distances are distances. Its "
            "epochs 0, 4, 9 are epochs 1, 5, 10 here; 0 is before training."
        ),
    ]


def _came_out(followed: Sequence[Followed]) -> list[str]:
    lines = []
    for one in followed:
        shares = nearest_shares(one, CODED)
        lines.append(f"{one.run.label} {', '.join(f'{100 * share:.1f} %' for share in shares)}")
    if not lines:
        return []
    return [
        (
            "The paper: in higher layers of the encoder codes of different classes are less separated, the more so as "
            "training goes on. Share of validation samples whose nearest training code is of their class, in the three "
            f"gates of the encoder after the last epoch: {'; '.join(lines)}."
        )
    ]


def _verdicts(plan: Plan, followed: Sequence[Followed]) -> tuple[StatementVerdict, ...]:
    """Return what becomes of section 3, by the shares of nearest codes that are of the sample's class."""
    found = []
    for one in followed:
        last = nearest_rates(one, CODED)
        found.append(
            increasing(
                f"lower layers of the encoder separate classes better, last layer first ({one.run.label})",
                PLACES[plan.name],
                "clusters of higher layers cannot be well separated",
                last[::-1],
            )
        )
        (before,), after = nearest_rates(one, CODED[-1:], 0), last[-1]
        found.append(
            increasing(
                f"training makes the last layer separate them less, after it and before ({one.run.label})",
                PLACES[plan.name],
                "the effect gets stronger",
                [after, before],
            )
        )
    return tuple(found)
