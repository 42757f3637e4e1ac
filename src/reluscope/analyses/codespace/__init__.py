"""What codes over data say: how many differ, how many units are active."""

from reluscope.analyses.codespace.activation_rate import activation_rate
from reluscope.analyses.codespace.distinct import DistinctCodes, distinct_codes

__all__ = ["DistinctCodes", "activation_rate", "distinct_codes"]
