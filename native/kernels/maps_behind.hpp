// The affine functions of a gate's units on cells, from those of the units of the gate before: by sums that cells share.
#pragma once

#include "arrays.hpp"

namespace reluscope {

// A gate whose units' pieces are known, and the matrix behind it.
struct GateAndMatrix {
    // Row `piece`: slope and intercept of each unit there.
    Rows<const double> slopes, intercepts;
    // Row `unit of the gate`: the weights with which units of the next gate see it; and their constants.
    Rows<const double> weights;
    View<double> constants;
    // Rounding of a sum, relative to the sum of its absolute terms.
    double rounding;

    std::size_t num_units() const { return weights.size(); }
    std::size_t num_outputs() const { return weights.width(); }
};

// On some cells the functions that arrive at the gate, and bounds on the errors of their coefficients: row
// `cell * number of units + unit`, with the constant last. For other cells, in which of those they lie, and the pieces.
struct ArrivingMaps {
    Rows<const double> maps, errors;
    View<std::int64_t> cell_of;
    Rows<const std::uint16_t> pieces;
};

struct MapsBehind {
    Table<double> maps, errors;
};

// Sums over the gate's units in their order, those of slope and intercept 0 left out. Cells that come one after another
// in one cell share the sums over the units before the first in which they differ. The same for any number of threads.
MapsBehind maps_behind(const ArrivingMaps& arriving, const GateAndMatrix& between, std::size_t num_threads);

}  // namespace reluscope
