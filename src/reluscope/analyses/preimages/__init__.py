"""What a layer cannot see: the inputs that give one output, as a point, a polytope, an unbounded set or none."""

from reluscope.analyses.boxes.pullback import within_region
from reluscope.analyses.preimages.approximations import Approximation
from reluscope.analyses.preimages.classify import classify, classify_at
from reluscope.analyses.preimages.image_distance import distance_to_image
from reluscope.analyses.preimages.input_pieces import InputPieces
from reluscope.analyses.preimages.invariance_search import SameFeatures, invariant
from reluscope.analyses.preimages.invariant_set import invariant_set
from reluscope.analyses.preimages.inverses import local_inverse
from reluscope.analyses.preimages.kinds import Decider, PreimageKind, Preimages
from reluscope.analyses.preimages.layer import GateLayer
from reluscope.analyses.preimages.mixed_system import system
from reluscope.analyses.preimages.nearness import elsewhere_bounds
from reluscope.analyses.preimages.preimage_pieces import PreimagePieces
from reluscope.analyses.preimages.reading_layers import layer_inputs, read_layer
from reluscope.analyses.preimages.region_distances import distance_to_range, reached_from_elsewhere
from reluscope.analyses.verification.preimages_of import of
from reluscope.moved_names import refuse

__all__ = [
    "Approximation",
    "Decider",
    "GateLayer",
    "InputPieces",
    "PreimageKind",
    "PreimagePieces",
    "Preimages",
    "SameFeatures",
    "classify",
    "classify_at",
    "distance_to_image",
    "distance_to_range",
    "elsewhere_bounds",
    "invariant",
    "invariant_set",
    "layer_inputs",
    "local_inverse",
    "of",
    "reached_from_elsewhere",
    "read_layer",
    "system",
    "within_region",
]


def __getattr__(name: str) -> object:
    raise refuse("reluscope.preimages", name)
