// Boundary matrices over the field of two elements, reduced column by column.
#pragma once

#include "arrays.hpp"

namespace reluscope {

// For each row the column whose lowest entry it is after the reduction from the left to the right, NONE without one.
// Columns that are cleared are taken to be zero. An entry that is there twice is none.
Vector<std::int64_t> reduce_columns(ListsView columns, std::size_t num_rows, View<bool> is_cleared);

}  // namespace reluscope
