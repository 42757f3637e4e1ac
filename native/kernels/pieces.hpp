// Pieces of units on the cells of a chunk: see reluscope.partitions.complexes.cutting.
#pragma once

#include <stdexcept>

#include "arrays.hpp"

namespace reluscope {

// Put units exactly at their breakpoints where they were decided to be, so that no noise passes the gate.
void settle_at(Rows<double> pre, View<std::int64_t> units, View<double> levels, Rows<const double> heights,
               bool is_single);

// Which pieces each unit has in some cell, one row for each piece.
template <class Piece> Table<std::uint8_t> pieces_in_use(Rows<const Piece> pieces, std::size_t num_pieces) {
    const std::size_t width = pieces.width();
    Table<std::uint8_t> used(num_pieces, width, 0);
    if (!pieces.size() || !width) return used;  // no columns: there may be any number of rows
    Vector<Piece> least(pieces[0], pieces[0] + width), most(least);
    // Bytes may be part of anything: the compiler is told that these places stay where they are.
    Piece *low = least.data(), *high = most.data();
    for (std::size_t cell = 1; cell < pieces.size(); ++cell) {
        const Piece* row = pieces[cell];
        for (std::size_t unit = 0; unit < width; ++unit) {
            low[unit] = row[unit] < low[unit] ? row[unit] : low[unit];
            high[unit] = high[unit] < row[unit] ? row[unit] : high[unit];
        }
    }
    // Each is checked where it is used: another thread may write to the array.
    const auto use = [&](std::size_t piece, std::size_t unit) {
        if (piece >= num_pieces) throw std::invalid_argument("expected pieces below their number");
        used[piece][unit] = 1;
    };
    for (std::size_t unit = 0; unit < width; ++unit) {
        use(low[unit], unit);
        use(high[unit], unit);
        if (high[unit] - low[unit] > 1)
            for (std::size_t cell = 0; cell < pieces.size(); ++cell) use(pieces[cell][unit], unit);
    }
    return used;
}

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
