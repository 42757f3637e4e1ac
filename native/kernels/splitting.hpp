// Subdivision of a complex by functions that are affine on each of its cells: see reluscope.geometry.cutting.splitting.
#pragma once

#include "complexes.hpp"

namespace reluscope {

// Of vertices `factor` and `drift` say that functions are known there up to so many times their rounding, and up to what
// they change along so much.
struct Placed {
    Rows<const double> points;
    View<double> blur, skew, factor, drift;
};

// What is known of the functions that cut, one entry for each.
struct CutErrors {
    View<double> rounding, slopes, floor;
};

struct Subdivided {
    ComplexArrays complex;
    Table<double> points;
    Vector<double> blur, skew, factor, drift;
    Vector<std::int64_t> seams, parent;
    Table<std::uint8_t> sides;
    Vector<std::int64_t> tail, head;
    Vector<double> share;
    Table<double> heights;
    Vector<double> snapped;
    std::int64_t num_done = 0, num_undecided = 0;
};

Subdivided subdivide(const ComplexView& cells, const Placed& placement, View<std::int64_t> seams,
                     Rows<const double> heights, const CutErrors& errors, std::size_t limit);

}  // namespace reluscope
