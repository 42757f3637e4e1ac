"""Boolean functions: spectra, NPN classes, swaps values, networks with proven weights, small problems' local optima."""

from reluscope_studies.boolean.constructions import (
    Construction,
    alternating,
    by_depth,
    by_search,
    by_width,
    network_of,
    parity_network,
    wrong_inputs,
)
from reluscope_studies.boolean.directions import num_changes, small_direction
from reluscope_studies.boolean.function import BooleanFunction, all_inputs
from reluscope_studies.boolean.hardest import HardFunction, largest_swaps, search_hardest
from reluscope_studies.boolean.local_optima import (
    SingleUnitState,
    SteadyState,
    case_loss,
    sign_cases,
    single_unit_states,
    steady_states,
)
from reluscope_studies.boolean.npn import NpnClass, npn_class, npn_classes, num_npn_classes
from reluscope_studies.boolean.orderings import Orderings, strict_orderings
from reluscope_studies.boolean.smallest import SmallestKnown, smallest_known
from reluscope_studies.boolean.spectra import (
    degree,
    entropy,
    influences,
    noise_sensitivity,
    spectrum,
    total_influence,
)
from reluscope_studies.boolean.swapping import Swaps, swaps
from reluscope_studies.boolean.thresholds import ThresholdTest, threshold_degree, threshold_test
from reluscope_studies.boolean.trained import ReachedStates, parameters_of, reached_states

__all__ = [
    "BooleanFunction",
    "Construction",
    "HardFunction",
    "NpnClass",
    "Orderings",
    "ReachedStates",
    "SingleUnitState",
    "SmallestKnown",
    "SteadyState",
    "Swaps",
    "ThresholdTest",
    "all_inputs",
    "alternating",
    "by_depth",
    "by_search",
    "by_width",
    "case_loss",
    "degree",
    "entropy",
    "influences",
    "largest_swaps",
    "network_of",
    "noise_sensitivity",
    "npn_class",
    "npn_classes",
    "num_changes",
    "num_npn_classes",
    "parameters_of",
    "parity_network",
    "reached_states",
    "search_hardest",
    "sign_cases",
    "single_unit_states",
    "small_direction",
    "smallest_known",
    "spectrum",
    "steady_states",
    "strict_orderings",
    "swaps",
    "threshold_degree",
    "threshold_test",
    "total_influence",
    "wrong_inputs",
]
