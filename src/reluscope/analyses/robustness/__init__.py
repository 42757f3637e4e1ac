"""How far points are from where something changes: their region's boundary, and the decision boundary."""

from reluscope.analyses.robustness.decision import DecisionDistances, decision_distance

__all__ = ["DecisionDistances", "decision_distance"]
