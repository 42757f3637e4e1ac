// Which polyhedra are bounded, by their directions of recession: see reluscope.partitions.table.boundedness.
#pragma once

#include "arrays.hpp"

namespace reluscope {

// Cones of the r on which some rows are at least 0, each by the rows of a range; with bounds on the errors of entries.
struct ConesView {
    View<std::int64_t> offsets;
    Rows<const double> rows, errors;
    std::size_t size() const { return offsets.size() - 1; }
};

struct Recession {
    // Whether 0 is all of a cone, and whether that is so whatever the rows are within their errors.
    Vector<std::uint8_t> is_bounded, is_proved;
};
Recession recession(const ConesView& cones, std::size_t num_threads);

}  // namespace reluscope
