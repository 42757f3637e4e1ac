"""The glossary of the report: one line for each of its technical terms."""

GLOSSARY = (
    (
        "Gate",
        "a layer where the network can bend: ReLU, max pooling, and the like. Everything between gates is affine.",
    ),
    ("Unit", "one scalar of a gate. Its pieces are the affine functions it chooses among; a ReLU has two, 0 and z."),
    ("Code", "which piece every unit uses at a point."),
    (
        "Region",
        "a full-dimensional set of points with one code: a convex polyhedron, on which the network is one affine map.",
    ),
    ("Facet", "a piece of boundary between two regions; at least one unit changes its piece across it."),
    ("Decision boundary", "where the largest output changes."),
    (
        "EXACT",
        "a whole number that is right at the stated resolution; another number that is right within its tolerance.",
    ),
    ("LOWER, UPPER", "the truth is not below, or not above, this number."),
    ("ESTIMATE", "a number close to the truth, within the interval if one is given."),
    (
        "Dead unit",
        "a unit that stays on one flat piece at all samples, so that its output never changes: a ReLU below zero.",
    ),
    ("Code distance", "on how many units two codes differ (Hamming distance)."),
    ("Local map", "the affine map W z + b that the network is on the region of a sample."),
    ("Spectral norm", "the largest factor by which W stretches a direction."),
    (
        "Condition number",
        "the largest singular value of a map divided by the smallest that is not zero: how unstable it is to go back.",
    ),
    (
        "Preimage",
        "all inputs that a layer gives one output for: a singleton is one input, a compact preimage is bounded.",
    ),
    ("Margin", "how far the largest output is above another one, its rival."),
    ("Inscribed ball", "a largest ball inside a region; its radius says how thick the region is."),
)
