// Values of a function that is affine on every polygon of a complex, from its values at some vertices: at three corners
// of a polygon that are no line they determine it at the others.
#pragma once

#include "arrays.hpp"

namespace reluscope {

// Vertices that are evaluated, in ascending order, and for each of the others, in ascending order, which of them it is
// a combination of.
struct Spanning {
    Vector<std::int64_t> evaluated, derived;
    Lists of;
    Vector<double> weights;
    // A value may be off by so many times the error of those evaluated without others before them, and by as much as a
    // function changes along so much; and the most roundings that a combination has, relative to that factor.
    Vector<double> factor, drift;
    double roundings = 0.0;
};

// Chooses vertices so that what errors of those derived grow by stays within limits. At `kinks` from a vertex a function
// may have the kinks that it has on the edges there.
Spanning spanning_vertices(ListsView cells, Rows<const double> points, View<double> kinks, View<double> factor,
                           View<double> drift, double most_factor, double most_drift);

// Fills rows with combinations of others, which are no such rows themselves.
void combine_rows(Rows<double> rows, View<std::int64_t> derived, ListsView of, View<double> weights);

}  // namespace reluscope
