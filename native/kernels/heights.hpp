// The values of affine functions at vertices, a row for each.
#pragma once

#include "arrays.hpp"

namespace reluscope {

double distance(const double* one, const double* two, std::size_t dim);

// Write the convex combination of two rows in which the second has some share.
void mix(const double* one, const double* two, double share, std::size_t width, double* row);

// Fill the last rows in order: each is a convex combination of two rows that precede it.
void interpolate(Rows<double> rows, View<std::int64_t> tail, View<std::int64_t> head, View<double> share);

// The same for affine functions of values that bend between the two rows, as behind a gate. Their convex combination is
// off by the map of how far the values are off theirs, which is not zero for the units that bend there, and those alone.
void interpolate_bent(Rows<double> rows, Rows<const double> values, Rows<const double> weight, View<std::int64_t> tail,
                      View<std::int64_t> head, View<double> share);

// The largest slope of each column along edges, each given by its two ends.
Vector<double> steepest(Rows<const double> heights, Rows<const double> points, View<std::int32_t> ends);

struct Ranges {
    Vector<double> low, high;
};
// The smallest and the largest value of each column.
Ranges column_ranges(Rows<const double> heights);

}  // namespace reluscope
