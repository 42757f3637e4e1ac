"""What a layer cannot see: the inputs that give one output, as a point, a polytope, an unbounded set or none."""

from reluscope.analyses.preimages.layer import Layer as Layer
from reluscope.analyses.preimages.layer import layer_inputs as layer_inputs
from reluscope.analyses.preimages.layer import read_layer as read_layer
from reluscope.analyses.preimages.mixed_system import MixedSystem as MixedSystem
from reluscope.analyses.preimages.mixed_system import system as system
