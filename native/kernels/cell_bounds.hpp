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

// One continuous piecewise-linear function for each unit: rows are breakpoints in ascending order, and the slopes and
// intercepts of the pieces between them, one more.
struct PiecesView {
    Rows<const double> breakpoints, slopes, intercepts;
};
// Lines with a slope and a start at 0, one below and one above for each unit and cell.
struct LinesView {
    Rows<const double> slopes, starts;
};
struct Lines {
    Table<double> slopes, starts;
};
struct Relaxed {
    Lines below, above;
    CellRanges range;
};
// Lines below and above functions over the ranges of their arguments, those that are best at the middle among the lines
// with a slope of the function and that between the ends; and the range of the functions. All are wider by a rounding
// relative to the terms they are computed from.
Relaxed relax(Rows<const double> low, Rows<const double> high, const PiecesView& pieces, double rounding);

struct CornerBounds {
    Table<double> centers, radii;
};
// Centre and radius, at the corners of cells, of the functions on the lines below and above of functions that lie
// between centre - radius and centre + radius; radii are wider by a rounding relative to the terms.
CornerBounds between_lines(Rows<const double> centers, Rows<const double> radii, View<std::int64_t> offsets,
                           const LinesView& below, const LinesView& above, double rounding);

}  // namespace reluscope
