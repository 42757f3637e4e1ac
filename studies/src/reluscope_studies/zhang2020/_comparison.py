"""Networks trained in different ways, compared by their linear regions, for both experiments of the paper.

All networks of a replicate begin with the same weights. Test points are asked about the inscribed balls of manifold,
decision and adversarial regions, the classes in their regions and the regions around them; angles between hyperplanes
are those of one point.
"""

from dataclasses import replace
from itertools import product

import numpy as np

import reluscope as rs
from reluscope.studies import Record, Setting
from reluscope_studies.labelled import labelled_data
from reluscope_studies.zhang2020._networks import Trained, Variant, Workshop, centred
from reluscope_studies.zhang2020._plan import Plan
from reluscope_studies.zhang2020._questions import QUESTIONS, Answers, Asked


class Comparison:
    """The networks of a plan and their answers."""

    def __init__(self, setting: Setting, plan: Plan) -> None:
        self.setting, self.plan = setting, plan
        training, testing = (centred(part) for part in labelled_data(setting))
        fits = {rate: replace(plan.fit, learning_rate=rate) for rate in plan.rates}
        self.workshop = Workshop(setting, plan.architecture, training, testing, fits)
        self.asked = Asked(setting, plan.inquiry, training, testing)

    def finish(self) -> None:
        """Train the networks of one replicate, ask them every question, then go on with the next."""
        for number in range(self.plan.replicates):
            variants = [replace(variant, replicate=number) for variant in self.plan.compared]
            for variant in variants:
                self.workshop.trained(variant)
            for question, variant in product(QUESTIONS, variants):
                if self.wants(question, variant):
                    self.asked.ask(question, variant.name, self.workshop.trained(variant).network)
            if number == 0:
                for variant in variants:
                    if self.wants("likeliest", variant):
                        self._find_likeliest(self.workshop.trained(variant))
                    if self.plan.with_facets and self.wants("facets", variant):
                        self._find_facets(self.workshop.trained(variant))

    def wants(self, question: str, variant: Variant) -> bool:
        """Return whether a network is to be asked a question."""
        return self.setting.wants(f"{variant.rate:g}-{question}")

    def _find_likeliest(self, trained: Trained) -> None:
        """Keep the likeliest point of every class in the region that is looked at."""
        name, records = f"{trained.variant.name}-likeliest", self.setting.records
        if name not in records:
            self.setting.progress(f"Likeliest points of {trained.variant.name}")
            found = rs.local.likeliest_in_regions(trained.network, self.shown, domain=self.asked.box)
            records[name] = Record({}, {"points": found.points, "classes": found.classes})

    def _find_facets(self, trained: Trained) -> None:
        """Keep which rows are facets of the region that is looked at."""
        name, records = f"{trained.variant.name}-facets", self.setting.records
        if name in records:
            return
        self.setting.progress(f"Facets of {trained.variant.name}")
        found = rs.local.region_facets(trained.network, self.shown, domain=self.asked.box)
        records[name] = Record({}, {"sources": found.sources[found.sources[:, 0] >= 0]})

    @property
    def shown(self) -> np.ndarray:
        """The point whose hyperplanes are looked at."""
        return self.asked.testing.points[self.asked.rows[:1]]

    def trained(self, variant: Variant) -> list[Trained]:
        """Return the networks there are that differ from one in their seed only."""
        found = (self.workshop.kept(one) for one in self.plan.replicas(variant))
        return [one for one in found if one is not None]

    def answers(self, question: str, variant: Variant) -> list[Answers]:
        """Return the answers of all these networks that have any."""
        asked = self.plan.replicas(variant) if self.wants(question, variant) else []
        found = (self.asked.answers(question, one.name) for one in asked)
        return [answers for answers in found if answers]
