// Regions on the two sides of facets: see reluscope.partitions.table.gathered_cells.
#pragma once

#include "arrays.hpp"

namespace reluscope {

struct Neighbors {
    // Pairs of different regions, the smaller first, in order.
    Vector<std::int64_t> left, right;
    std::int64_t num_unmatched = 0;
};

// Joins facets of equal keys. A facet is unmatched that is alone with its key, or all of whose like are of one region,
// unless one of them lies on a wall.
Neighbors join_facets(Rows<const std::uint64_t> keys, View<std::int64_t> regions, View<bool> on_walls);

}  // namespace reluscope
