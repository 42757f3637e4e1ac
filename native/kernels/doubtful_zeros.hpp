// Vertices where a cut was decided to be zero, and what may be hidden there.
#pragma once

#include "signed_faces.hpp"

namespace reluscope {

// Where vertices are, heights of cuts there, and what is known of them. `raw` has heights of the cut at hand that were decided to be zero.
struct CutVertices {
    const Table<double>&points, &heights;
    View<double> raw, blur, factor, drift;
};

// A cut of a group, and what is known of its function.
struct CutAtHand {
    std::size_t column;
    Word bit;
    double rounding, slope, floor;
};

// How many zeros are in doubt in cells with strict signs; flat cells are seen as such. What a zero hides is as thick as
// the function is small there by how steep it is on the cell, which may be much less than elsewhere.
std::int64_t num_doubtful(const std::vector<SignedFaces>& faces, View<std::int32_t> pool, const CutVertices& vertices,
                          const CutAtHand& cut);

}  // namespace reluscope
