// Many convex polygons, or intervals, in ragged arrays: corners in order, sizes, and the decision boundary on them.
#pragma once

#include "arrays.hpp"

namespace reluscope {

// The corners of every region in order: ascending on a line, counter-clockwise around its witness in the plane.
Vector<std::int32_t> ordered_corners(Rows<const double> vertices, ListsView regions, Rows<const double> witnesses);

// The length or area of every region, corners in order.
Vector<double> measures(Rows<const double> vertices, ListsView regions);

struct Chords {
    Vector<std::int64_t> regions;
    Table<std::int64_t> classes;
    // (d * d) end points of each.
    Table<double> ends;
};
// Where two outputs tie for the maximum inside regions of a line or a plane.
Chords find_chords(Rows<const double> outputs, Rows<const double> vertices, ListsView regions, double error);

struct FlatFacets {
    Vector<std::int64_t> facets;
    Table<std::int64_t> classes;
};
// The facets along which two outputs tie for the maximum and change places, with the two outputs.
FlatFacets find_flat_facets(Rows<const double> outputs, Rows<const double> witness, View<std::int64_t> left,
                            View<std::int64_t> right, Rows<const std::int64_t> ends, double error);

}  // namespace reluscope
