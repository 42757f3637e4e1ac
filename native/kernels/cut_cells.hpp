// Cells shared out to threads, each to be cut along its edges or, failing that, by the general method.
#pragma once

#include "double_description.hpp"

namespace reluscope {

struct TakenCells {
    CutCells parts;
    // Of the cells, the first ones.
    std::size_t num_taken = 0;
};

// Cuts one cell after another, until the parts of all have no room. Each has all the room for itself, so that its parts
// do not depend on others, nor on the number of threads.
TakenCells cut_cells(const PolytopesView& cells, const CuttingUnits& units, std::size_t num_threads);

}  // namespace reluscope
