// Coordinate hit-and-run: see reluscope.geometry.polyhedra.sampling.
#pragma once

#include "arrays.hpp"

namespace reluscope {

// Numbers between 0 and 1, one after the other.
struct Uniform {
    void* state;
    double (*next)(void*);
    double operator()() const { return next(state); }
};

// A chain: where it is, in coordinates of the axes, and what is left of each row's slack there.
struct Chain {
    std::span<double> place, slack;
};

// Go so many steps; columns (axis, row) are the speeds at which slacks shrink. Returns how many were made: no more than
// take a moment.
std::size_t walk(Rows<const double> columns, const Chain& chain, std::size_t steps, const Uniform& uniform);

// Compute the slacks anew, from what there is of them at the start.
void refresh(Rows<const double> columns, View<double> room, const Chain& chain);

}  // namespace reluscope
