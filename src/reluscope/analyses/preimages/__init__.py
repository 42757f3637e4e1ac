"""What a layer cannot see: the inputs that give one output, as a point, a polytope, an unbounded set or none."""

from reluscope.analyses.preimages.certificates import Check as Check
from reluscope.analyses.preimages.certificates import Farkas as Farkas
from reluscope.analyses.preimages.certificates import FullRank as FullRank
from reluscope.analyses.preimages.certificates import PositiveCombination as PositiveCombination
from reluscope.analyses.preimages.certificates import RecessionDirection as RecessionDirection
from reluscope.analyses.preimages.certificates import SecondPoint as SecondPoint
from reluscope.analyses.preimages.classify import classify as classify
from reluscope.analyses.preimages.classify import classify_at as classify_at
from reluscope.analyses.preimages.kinds import Decider as Decider
from reluscope.analyses.preimages.kinds import Kind as Kind
from reluscope.analyses.preimages.kinds import Preimages as Preimages
from reluscope.analyses.preimages.layer import Layer as Layer
from reluscope.analyses.preimages.layer import layer_inputs as layer_inputs
from reluscope.analyses.preimages.layer import read_layer as read_layer
from reluscope.analyses.preimages.mixed_system import MixedSystem as MixedSystem
from reluscope.analyses.preimages.mixed_system import system as system
from reluscope.analyses.preimages.omnidirectional import Omnidirectional as Omnidirectional
from reluscope.analyses.preimages.omnidirectional import is_omnidirectional as is_omnidirectional
from reluscope.analyses.preimages.pieces import PreimagePieces as PreimagePieces
from reluscope.analyses.preimages.pieces import of_class as of_class
from reluscope.analyses.preimages.pieces import of_features as of_features
from reluscope.analyses.preimages.pieces import of_polytope as of_polytope
from reluscope.analyses.preimages.pullback import within_region as within_region
