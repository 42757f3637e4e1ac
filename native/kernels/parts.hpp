// Polygons cut into the parts where each of several affine outputs wins (Sutherland and Hodgman's clipping).
#pragma once

#include "arrays.hpp"

namespace reluscope {

struct WinningParts {
    Vector<std::int64_t> classes, regions, sizes;
    // Of all parts, back to back.
    Table<double> corners;
};
WinningParts winning_parts(Rows<const double> outputs, Rows<const double> vertices, ListsView all,
                           View<std::int64_t> regions, double error);

}  // namespace reluscope
