"""The report of a comparison: sentences, findings, tables with the paper's numbers beside ours, pictures."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import inf

import numpy as np

import reluscope as rs
from reluscope.studies import Outcome, Picture, Record, Setting, Table
from reluscope_studies import plots
from reluscope_studies.interruption import Interruption
from reluscope_studies.zhang2020._comparison import Comparison
from reluscope_studies.zhang2020._networks import KINDS, Variant
from reluscope_studies.zhang2020._plan import Plan
from reluscope_studies.zhang2020._questions import PLACES, QUESTIONS, Answers, cosines_of
from reluscope_studies.zhang2020._redrawn import redrawn
from reluscope_studies.zhang2020._statements import verdicts

# What the paper's tables print.
PRINTED_MEASURES = {"test accuracy": "%", "classes, the paper's test": "", "distortion": ""}
# What is asked of the networks of a rate, as --only names it.
PARTS = (*QUESTIONS, "likeliest", "facets")


def compare(setting: Setting, plan: Plan) -> Outcome:
    """Train and ask what is not in the records yet, and report all that is; of the rates that the setting wants."""
    rates = tuple(rate for rate in plan.rates if any(setting.wants(f"{rate:g}-{part}") for part in PARTS))
    if not rates:
        raise rs.errors.InputError(
            f"no learning rate and question are called so: --only takes one as {plan.rates[0]:g}-{PARTS[0]}"
        )
    plan = replace(plan, rates=rates)
    work = Comparison(setting, plan)
    with Interruption() as ctrl_c:
        work.finish()
    return Report(work).outcome(ctrl_c.came)


class Report:
    """The findings, tables and pictures of a comparison, finished or not."""

    def __init__(self, work: Comparison) -> None:
        self.work = work
        self.setting, self.plan, self.workshop, self.asked = work.setting, work.plan, work.workshop, work.asked

    def outcome(self, interrupted: bool) -> Outcome:
        """Return the outcome, as far as the comparison has come."""
        looked = self._directions()
        parts = (self._accuracies(), self._inspheres(), self._classes(), self._surrounding_regions(), _angles(looked))
        findings = tuple(one for found, _ in parts for one in found)
        tables = tuple(table for _, table in parts if table.rows)
        return Outcome(
            self._sentences(),
            findings,
            tables,
            (*self._published(findings), *self._pictures(looked)),
            interrupted,
            verdicts=verdicts(
                findings,
                self.plan.rates,
                redrawn(self.plan.compared, self.work.answers, self.setting.seed),
                points=self.plan.inquiry.points,
                of="convolutional" if self.plan.architecture.convolutions else "dense",
                published=self.plan.published,
            ),
        )

    def _sentences(self) -> tuple[str, ...]:
        plan, training, testing = self.plan, self.workshop.training, self.workshop.testing
        inquiry = plan.inquiry
        target = "the mean of another class" if inquiry.target == "mean" else "a point of another class"
        number = sum(len(self.work.trained(variant)) for variant in plan.compared)
        said = [
            (
                f"{number} of {len(plan.compared) * plan.replicates} networks, {plan.architecture.describe()}, trained "
                f"on {training.name} ({len(training):,} samples, scaled to [-1, 1]) and measured on {testing.name} "
                f"({len(testing):,}): plain, with batch norm before every ReLU, and with dropout of 0.2 after it."
            ),
            (
                "The paper leaves open how it stopped early and how strong its dropout and its attack are; here: "
                f"{plan.fit.describe(plan.rates)}. Adversaries are looked "
                f"for by projected gradient ascent in 40 steps within {inquiry.radius:g} of the point in linf."
            ),
            (
                f"Regions are cut down to [-1, 1]^{testing.points.shape[1]}. Manifold regions are those of up to "
                f"{len(self.asked.rows):,} test points drawn at random, as many as tables say in brackets; decision "
                f"regions lie where the way to {target} leaves the point's class for the last time, adversarial "
                "regions where the way to an adversary does."
            ),
            (
                "Which classes live in a region is decided exactly. The paper asks whether a class's likeliest point "
                "belongs to the class, which finds too few among three classes or more; both numbers are given. "
                "Distortion depends on which of equally likely points is meant: here the nearest."
            ),
            *(f"{note[0].upper()}{note[1:]}: {data.name}." for data in (training, testing) for note in data.notes),
        ]
        if self.setting.size == "small":
            said.append("This is the small size, which shows the same at a smaller scale; numbers are not the paper's.")
        return tuple(said)

    def _domain(self, variant: Variant, number: int, networks: int) -> str:
        which = f"{number:,} test points of {self.workshop.testing.name}"
        return f"regions of {which}, cut down to {self.asked.box.describe()}; {networks} networks, {variant.label}"

    # What is reported, one method for each part: findings and a table.

    def _accuracies(self) -> tuple[list[rs.Finding], Table]:
        findings, cells = [], {}
        for variant in self.plan.compared:
            found = [one.accuracy for one in self.work.trained(variant)]
            if found:
                value = float(np.mean([float(one) for one in found]))
                claim = rs.Claim.EXACT if all(one.claim is rs.Claim.EXACT for one in found) else rs.Claim.ESTIMATE
                findings.append(
                    rs.Finding(
                        value,
                        claim,
                        name=f"test accuracy: {variant.label}",
                        definition=f"mean share of points whose class is their label, over {len(found)} networks",
                        domain=self.workshop.testing.name,
                        method="float64 forward passes",
                        source="zhang2020",
                        tolerance=1e-12 if claim is rs.Claim.EXACT else None,
                    )
                )
                cells["test accuracy", variant.rate, variant.kind] = f"{100 * value:.1f} %"
        return findings, self._table(cells, "Test accuracies.", "{:.1f} %")

    def _inspheres(self) -> tuple[list[rs.Finding], Table]:
        findings, cells = [], {}
        for variant, place in product(self.plan.compared, PLACES):
            answers = self.work.answers("inspheres", variant)
            radii = _joined(answers, f"radius {place}")
            if len(radii):
                gap = float(_joined(answers, f"gap {place}").max())
                findings.append(
                    rs.Finding.of(
                        float(np.median(radii)),
                        upper=float(np.median(radii)) + gap,  # a radius is that of a ball inside
                        name=f"median inradius, {place} regions: {variant.label}",
                        definition="radius of the largest ball inside the region and the box",
                        domain=self._domain(variant, len(radii), len(answers)),
                        method="interior-point method with duality gap",
                        source="zhang2020",
                    )
                )
                cells[f"inradius, {place}", variant.rate, variant.kind] = f"{np.median(radii):.3g} ({len(radii)})"
        return findings, self._table(cells, "Median inradii, with the numbers of regions measured.", "")

    def _classes(self) -> tuple[list[rs.Finding], Table]:
        findings, cells = [], {}
        measures = {
            "classes in a region": ("number", "classes with a point of the region at which they are strictly largest"),
            "classes, the paper's test": ("at likeliest", "classes that their likeliest points belong to"),
            "distortion": ("distortion", "distance to the farthest of the nearest likeliest points of all classes"),
        }
        for variant, (measure, (part, definition)) in product(self.plan.compared, measures.items()):
            answers = self.work.answers("classes", variant)
            values = _joined(answers, part)
            if not len(values):
                continue
            is_number = part != "distortion"
            unknown = int(_joined(answers, f"unknown {part}").sum()) if is_number else 0
            claim = (rs.Claim.LOWER if unknown else rs.Claim.EXACT) if is_number else rs.Claim.ESTIMATE
            findings.append(
                rs.Finding(
                    float(values.mean()),
                    claim,
                    name=f"{measure}: {variant.label}",
                    definition=f"mean number of {definition}" if is_number else definition,
                    domain=self._domain(variant, len(values), len(answers)),
                    method="convex programs with proofs",
                    source="zhang2020",
                    tolerance=1e-12 if claim is rs.Claim.EXACT else None,
                    num_undecided=unknown,
                )
            )
            cells[measure, variant.rate, variant.kind] = f"{values.mean():.3f} ({len(values)})"
        caption = (
            "Mean number of classes in a manifold region, exactly and by the paper's test, and mean distortion, with "
            "the numbers of regions measured."
        )
        return findings, self._table(cells, caption, "{:.3f}")

    def _surrounding_regions(self) -> tuple[list[rs.Finding], Table]:
        findings, cells = [], {}
        for variant in self.plan.compared:
            answers = self.work.answers("surrounding_regions", variant)
            numbers = _joined(answers, "number")
            if not len(numbers):
                continue
            is_exact = bool((_joined(answers, "is exact") == 1).all())
            total, count = (sum(one[part].sum() for one in answers) for part in ("cosine sum", "cosine count"))
            median = float(np.median(numbers))
            findings.append(
                rs.Finding.of(
                    median,
                    upper=None if is_exact else inf,
                    name=f"median number of regions along rays: {variant.label}",
                    definition=f"distinct regions on {self.plan.inquiry.rays} random rays of length "
                    f"{self.plan.inquiry.reach:g} along which no logit changes at first",
                    domain=self._domain(variant, len(numbers), len(answers)),
                    method="exact partition of every ray",
                    source="zhang2020",
                    resolution=1e-12 if is_exact else None,
                )
            )
            cells["regions along rays", variant.rate, variant.kind] = f"{median:,.0f} ({len(numbers)})"
            if count:
                findings.append(
                    rs.Finding.estimate(
                        float(total / count),
                        name=f"mean cosine of decision directions: {variant.label}",
                        definition="between the gradients of the difference of the two largest logits, at the point "
                        "and in every other region met",
                        domain=self._domain(variant, len(numbers), len(answers)),
                        method="random rays",
                        source="zhang2020",
                    )
                )
                cells["cosine", variant.rate, variant.kind] = f"{total / count:.3f}"
        caption = (
            "Median number of distinct regions on the rays of a point, with the numbers of points, and mean cosine "
            "between the decision directions there and at the point."
        )
        return findings, self._table(cells, caption, "")

    def _table(self, cells: Mapping[tuple[str, float, str], str], caption: str, form: str) -> Table:
        """Return a table of cells by measure, rate and kind, the paper's numbers beside ours where it has any."""
        measures = dict.fromkeys(measure for measure, _, _ in cells)
        published = self.plan.published
        with_paper = any((measure, rate) in published for measure, rate in product(measures, self.plan.rates))
        rows = []
        for measure, rate in product(measures, self.plan.rates):
            row = [measure, f"{rate:g}"]
            for place, kind in enumerate(KINDS):
                row.append(cells.get((measure, rate, kind), ""))
                if with_paper:
                    numbers = published.get((measure, rate))
                    row.append(form.format(numbers[place]) if numbers else "")
            rows.append(tuple(row))
        columns = [name for kind in KINDS for name in ((kind, "paper") if with_paper else (kind,))]
        return Table(("measure", "rate", *columns), tuple(rows), caption)

    def _kept(self, question: str, variant: Variant) -> Record | None:
        """Return what is kept of a question about one region, if it is wanted."""
        return self.setting.records.get(f"{variant.name}-{question}") if self.work.wants(question, variant) else None

    def _directions(self) -> dict[Variant, tuple[rs.local.Directions, rs.local.Directions | None]]:
        """Return angles between all hyperplanes of one region, and between its facets, for every network there is."""
        looked = {}
        for variant in self.plan.compared:
            trained = self.workshop.kept(variant)
            if trained is None:
                continue
            self.setting.progress(f"Angles of {variant.name}")
            (every,) = rs.local.directions(trained.network, self.work.shown)
            record = self._kept("facets", variant)
            rows = None if record is None else [record.arrays["sources"]]
            alone = None if rows is None else rs.local.directions(trained.network, self.work.shown, rows=rows)[0]
            looked[variant] = every, alone
        return looked

    def _published(self, findings: tuple[rs.Finding, ...]) -> Iterator[Picture]:
        """Yield a picture of the numbers of the paper's tables beside ours."""
        values = {one.name: float(one) for one in findings}
        panels = {}
        for measure, unit in PRINTED_MEASURES.items():
            numbers = [self.plan.published.get((measure, variant.rate)) for variant in self.plan.compared]
            ours = [values.get(f"{measure}: {variant.label}", np.nan) for variant in self.plan.compared]
            if any(numbers) and not np.isnan(ours).all():
                papers = [
                    np.nan if found is None else found[KINDS.index(variant.kind)]
                    for found, variant in zip(numbers, self.plan.compared, strict=True)
                ]
                scale = 100 if unit == "%" else 1
                panels[f"{measure}, %" if unit else measure] = (np.array(papers), {"here": scale * np.array(ours)})
        if panels:
            yield Picture(
                f"{self.plan.name}-published",
                plots.panels_beside(panels, rows=[variant.label for variant in self.plan.compared]),
                "The paper's tables as a picture: its means and ours.",
            )

    def _pictures(
        self, looked: Mapping[Variant, tuple[rs.local.Directions, rs.local.Directions | None]]
    ) -> Iterator[Picture]:
        compared = self.plan.compared
        for rate in self.plan.rates if any(self.work.answers("inspheres", variant) for variant in compared) else ():
            kinds = {one.kind: self.work.answers("inspheres", one) for one in compared if one.rate == rate}
            yield Picture(
                f"{self.plan.name}-inspheres-{rate:g}",
                rs.plots.size_distributions(
                    {
                        f"{place} regions": {kind: _joined(found, f"radius {place}") for kind, found in kinds.items()}
                        for place in PLACES
                    }
                ),
                f"Inradii of regions at three places, at learning rate {rate:g}.",
            )
        if any(self.work.answers("surrounding_regions", variant) for variant in compared):
            yield self._surrounding_regions_picture()
        if any(self._kept("likeliest", variant) for variant in compared):
            yield self._likeliest_picture()
        for variant, (every, _) in looked.items():
            yield Picture(
                f"{self.plan.name}-directions-{variant.kind.replace(' ', '-')}-{variant.rate:g}",
                rs.plots.directions(every),
                f"Angles between all hyperplanes of the region of one test point: {variant.label}.",
            )

    def _surrounding_regions_picture(self) -> Picture:
        numbers: dict[str, dict[str, np.ndarray]] = {}
        cosines: dict[str, dict[str, np.ndarray]] = {}
        for variant in self.plan.compared:
            answers = self.work.answers("surrounding_regions", variant)
            rate = f"rate {variant.rate:g}"
            numbers.setdefault(rate, {})[variant.kind] = _joined(answers, "number").astype(np.int64)
            found = np.concatenate([np.zeros(0), *(cosines_of(one) for one in answers)])
            cosines.setdefault(rate, {})[variant.kind] = found
        inquiry = self.plan.inquiry
        return Picture(
            f"{self.plan.name}-surrounding-regions",
            rs.plots.surrounding_regions(numbers, cosines),
            f"Distinct regions on {inquiry.rays} random rays of length {inquiry.reach:g} from each point, along which "
            "no logit changes at first, and the cosines between decision directions there and at the point.",
        )

    def _likeliest_picture(self) -> Picture:
        """Draw the likeliest points of all classes in the regions of one point."""
        kept = {one: self._kept("likeliest", one) for one in self.plan.compared}
        rows = [one for one, record in kept.items() if record is not None]
        found = [record.arrays for record in kept.values() if record is not None]
        rows = [one for one, arrays in zip(rows, found, strict=True) if len(arrays["points"])]
        found = [arrays for arrays in found if len(arrays["points"])]
        own = [rs.classification.predicted_classes(self.workshop.trained(one).network, self.work.shown) for one in rows]
        data = self.workshop.testing
        return Picture(
            f"{self.plan.name}-likeliest",
            rs.plots.likeliest(
                np.concatenate([arrays["points"] for arrays in found]),
                np.concatenate([arrays["classes"] for arrays in found]),
                np.concatenate(own),
                x=np.repeat(self.work.shown, len(rows), axis=0),
                shape=data.shape,
                rows=[f"{one.kind} {one.rate:g}" for one in rows],
            ),
            f"Where in the region of one point of {data.name} each class is likeliest: of all points that are as "
            "likely, the nearest.",
        )


def _angles(
    looked: Mapping[Variant, tuple[rs.local.Directions, rs.local.Directions | None]],
) -> tuple[list[rs.Finding], Table]:
    """Return mean angles between the hyperplanes of one region."""
    findings, rows, gates = [], [], ()
    for variant, (every, alone) in looked.items():
        gates = every.gates
        row = [variant.kind, f"{variant.rate:g}", *(f"{angle:.1f}°" for angle in every.means.diagonal())]
        for name, found in (("hyperplanes", every), ("facets", alone)):
            if found is None:
                row += ["", ""]
                continue
            row += [f"{len(found):,}", f"{found.mean:.1f}°"]
            findings.append(
                rs.Finding.of(
                    found.mean,
                    name=f"mean angle between {name} in degrees: {variant.label}",
                    definition=f"mean over all pairs of {len(found):,} {name} of units, normals turned inward",
                    domain="the region of one test point",
                    method="all pairs, in float64",
                    source="zhang2020",
                    resolution=1e-5,
                )
            )
        rows.append(tuple(row))
    columns = (*(f"within {gate}" for gate in gates), "hyperplanes", "all pairs", "facets", "pairs of facets")
    caption = "Mean angles between hyperplanes of the region of one test point; facets are those inside the box."
    return findings, Table(("network", "rate", *columns), tuple(rows), caption)


def _joined(answers: list[Answers], part: str) -> np.ndarray:
    """Return the values of all replicates that are there."""
    values = np.concatenate([np.zeros(0), *(one[part] for one in answers)])
    return values[~np.isnan(values)]
