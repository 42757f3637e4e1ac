// Faces of cells of any dimension: where they lie, and which pieces of a seam lie on top of each other.
#pragma once

#include "arrays.hpp"

namespace reluscope {

struct Middles {
    Table<double> means;
    Vector<std::uint8_t> is_bounded;
};
// The mean of the homogeneous vertices of each cell, and whether all are points.
Middles middles(View<std::int64_t> offsets, Rows<const double> vertices);

struct Extents {
    Table<double> centers;
    Vector<double> sizes;
};
// The mean of the vertices of each face, and how far they lie from it along an axis.
Extents extents(Rows<const double> points, ListsView lists, View<std::int64_t> faces);

// For each piece the nearest of its seam that is as good as in the same place, NONE without one. The order is by seam,
// and by height within a seam.
Vector<std::int64_t> nearest_in_place(View<std::int64_t> seams, Rows<const double> centers, View<double> sizes,
                                      View<double> heights, View<std::int64_t> order, double coincident);

}  // namespace reluscope
