// Coordinate hit-and-run: see reluscope.geometry.sampling.
#pragma once

#include "arrays.hpp"

namespace reluscope {

// Numbers between 0 and 1, one after the other.
struct Uniform {
    void* state;
    double (*next)(void*);
    double operator()() const { return next(state); }
};

struct Pace {
    std::size_t burn_in, thinning;
    // After so many steps slacks are computed afresh.
    std::size_t refresh;
};

// So many points of one chain, in coordinates of the axes; columns (axis, row) are the speeds at which slacks shrink,
// room is what there is of them at the start.
Table<double> walk(Rows<const double> columns, View<double> room, std::size_t draws, const Pace& pace,
                   const Uniform& uniform);

}  // namespace reluscope
