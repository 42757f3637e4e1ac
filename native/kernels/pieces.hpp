// Pieces of units on the cells of a chunk: see reluscope.partitions.cutting.
#pragma once

#include "arrays.hpp"

namespace reluscope {

// Put units exactly at their breakpoints where they were decided to be, so that no noise passes the gate.
void settle_at(Rows<double> pre, View<std::int64_t> units, View<double> levels, Rows<const double> heights,
               bool is_single);

// For every cell and unit, how many breakpoints are below: as in the parent, and those passed since.
template <class Piece>
Table<Piece> count_below(Rows<const Piece> pieces, View<Piece> constants, View<std::int64_t> parent,
                         View<std::int64_t> units, Rows<const bool> positive) {
    Table<Piece> counts(parent.size(), pieces.width());
    for (std::size_t cell = 0; cell < parent.size(); ++cell) {
        const Piece* before = pieces[parent[cell]];
        Piece* row = counts[cell];
        for (std::size_t unit = 0; unit < pieces.width(); ++unit)
            row[unit] = static_cast<Piece>(before[unit] + constants[unit]);
        for (std::size_t i = 0; i < units.size(); ++i)
            row[units[i]] = static_cast<Piece>(row[units[i]] + positive[cell][i]);
    }
    return counts;
}

}  // namespace reluscope
