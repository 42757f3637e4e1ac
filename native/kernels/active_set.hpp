// The shortest vector of a polyhedron: see reluscope.geometry.programs.active_set.
#pragma once

#include "arrays.hpp"

namespace reluscope {

// The u with rows u <= slack, of which the first are equations, and lower <= u <= upper; rows have length 1.
struct ShortestProblem {
    Rows<const double> rows;
    View<double> slack;
    std::size_t num_equations;
    View<double> lower, upper;
};

// How a search ended; the same numbers as in reluscope.geometry.programs.active_set.
enum class Ending { FOUND, BEYOND, EMPTY, STALLED };

struct ShortestVector {
    Ending ending = Ending::STALLED;
    Vector<double> vector, rows, upper, lower;
};
ShortestVector shortest_vector(const ShortestProblem& problem, double bound, double tolerance);

}  // namespace reluscope
