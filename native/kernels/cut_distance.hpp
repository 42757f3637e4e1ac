// How far a box cut by a half-space is from the origin, at least: see `geometry/polyhedra/cut_boxes.py`.
#pragma once

#include "box_trees.hpp"

namespace reluscope {

// |u| over lower <= u <= upper with form u >= level, lowered for rounding; infinite where nothing is there.
double cut_distance(const double* lower, const double* upper, const double* form, double level, std::size_t dim, Length norm,
                    Vector<double>& room);

}  // namespace reluscope
