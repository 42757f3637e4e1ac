// Bounds of values on cells, of which two linear functions per entry are known at the corners of every cell.
#pragma once

#include "arrays.hpp"

namespace reluscope {

struct CellRanges {
    Table<double> low, high;
};
// The least of centre - radius and the largest of centre + radius on every cell; its corners are rows from one offset to
// the next.
CellRanges cell_ranges(Rows<const double> centers, Rows<const double> radii, View<std::int64_t> offsets);

// Lines with a slope and a value at 0, one below and one above for each unit and cell.
struct LinesView {
    Rows<const double> slopes, starts;
};
struct CornerBounds {
    Table<double> centers, radii;
};
// Centre and radius, at the corners of cells, of the functions on the lines below and above of functions that lie
// between centre - radius and centre + radius; radii are widened by a rounding relative to the values.
CornerBounds between_lines(Rows<const double> centers, Rows<const double> radii, View<std::int64_t> offsets,
                           const LinesView& below, const LinesView& above, double rounding);

}  // namespace reluscope
